"""Numbers in words, of all languages at once: up to twelve, tens and what languages write in one word with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from graph_research.text.language.tables import any_of, listed

_LISTED = (listed("numbers"), listed("higher_numbers"))
_BEFORE_TENS = listed("units_before_tens")
"""Of languages that say the units before the tens: their "one" in such a word, and what joins the two."""


def _spelled(language: str) -> Iterator[tuple[str, int]]:
    pairs = (entry.split("=") for table in _LISTED for entry in table.get(language, ()))
    own = {word.replace("_", " "): int(number) for word, number in pairs}
    yield from own.items()
    if language in _BEFORE_TENS:
        one, *joints = _BEFORE_TENS[language]
        yield from _compounds(own, one, joints)


def _compounds(own: Mapping[str, int], one: str, joints: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Numbers of a language that says the units before the tens, and those before a hundred and a thousand:
    `zweiundsechzig`, `zweihundert`, `zwanzigtausend`."""
    units = [(one, 1), *((word, number) for word, number in own.items() if number < 10)]
    tens = [(word, number) for word, number in own.items() if 20 <= number < 100]
    joined = [(unit + joint + ten, n + m) for unit, n in units for joint in joints for ten, m in tens]
    small = [(one, 1), *((word, number) for word, number in own.items() if number < 100), *joined]
    yield from joined
    yield from ((less + word, n * m) for word, m in own.items() if m >= 100 for less, n in small)


def _any(words: Iterable[str]) -> str:
    """A pattern for the longest of some words that stands somewhere, which looks at each of their letters once."""
    ends: dict[str, list[str]] = {}
    for word in words:
        ends.setdefault(word[:1], []).append(word[1:])
    is_whole = ends.pop("", None) is not None
    pieces = [re.escape(first) + _any(rest) for first, rest in sorted(ends.items())]
    return f"(?:{'|'.join(pieces)})" + ("?" if is_whole else "") if pieces else ""


_NUMBERS = dict(pair for language in _LISTED[0] for pair in _spelled(language))
_TENS = [word for word, number in _NUMBERS.items() if 20 <= number < 100 and number % 10 == 0]
_UP_TO_NINE = [word for word, number in _NUMBERS.items() if 0 < number < 10]
SPELLED = rf"{_any(_TENS)}(?:[ -]|\s(?:{any_of('before_units')})\s){_any(_UP_TO_NINE)}|{_any(_NUMBERS)}"
"""A pattern for a number in words, in lower case."""


def spelled_number(words: str) -> int:
    """The number of words such as `twenty-one`."""
    words = words.lower()
    return _NUMBERS.get(words) or sum(_NUMBERS.get(word, 0) for word in re.split(r"[ -]", words))
