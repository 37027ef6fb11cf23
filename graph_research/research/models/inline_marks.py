"""The two marks of Markdown that a writer may set within a sentence: `code` and **strong**.

A draft holds the text without marks and, beside it, what they stood around: checks, claims and exports see the words
alone, and every format sets them in its own way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_STRONG = re.compile(r"`[^`\n]+`|(?<![\w*])\*\*(?=\S)((?:`[^`\n]+`|[^*`\n])+)(?<=\S)\*\*(?![\w*])")
"""Code, in which stars are stars, or what is in bold, which may have code in it."""
_LAST_WORD, _FIRST_WORD = re.compile(r"\S*\s?$"), re.compile(r"^\s?\S*")


class Unmarked(NamedTuple):
    """A text without its marks, and what stood in them, each once, in the order of the text."""

    text: str
    code: list[str]
    strong: list[str]


def unmarked(text: str) -> Unmarked:
    """The text without its marks. A backtick or star without its partner stays. What could be a word of the language,
    such as `on`, and stands in the text without backticks, too, is code only with the words beside it, which stand
    around its backticks: "an `update` hook"."""
    strong = [_without_code(match[1]) for match in _STRONG.finditer(text) if match[1]]
    prose = _STRONG.sub(lambda match: match[1] or match[0], text)
    code, plain = Counter(match.strip() for match in _CODE.findall(prose)), _without_code(prose)
    found = Counter(piece for piece, is_code in cut_at(plain, code) if is_code)
    words = {name for name in code if name.isalpha() and found[name] > code[name]}
    names = (
        _with_neighbours(match) if (name := match[1].strip()) in words else name for match in _CODE.finditer(prose)
    )
    return Unmarked(plain, list(dict.fromkeys(filter(None, names))), list(dict.fromkeys(strong)))


def marked(text: str, code: Collection[str], strong: Collection[str]) -> str:
    """The text with its marks, as a model is shown what was written."""
    return "".join(
        f"**{_with_code(part, code)}**" if is_strong else _with_code(part, code)
        for part, is_strong in cut_at(text, strong)
    )


def standing_in(text: str, names: Collection[str]) -> list[str]:
    """Those of the names that stand in a text, as `cut_at` finds them."""
    return [name for name in names if any(is_name for _, is_name in cut_at(text, [name]))]


def plain_line(text: str) -> str:
    """The text without marks on one line, as headings, captions and titles are set."""
    return " ".join(unmarked(text).text.split())


def _with_code(text: str, code: Collection[str]) -> str:
    return "".join(f"`{piece}`" if is_code else piece for piece, is_code in cut_at(text, code))


def _without_code(text: str) -> str:
    return _CODE.sub(lambda match: match[1].strip(), text)


def _with_neighbours(match: re.Match[str]) -> str:
    """The marked word with the word before it and the one behind it, if there are such words."""
    before, behind = _without_code(match.string[: match.start()]), _without_code(match.string[match.end() :])
    return "".join([*_LAST_WORD.findall(before)[:1], f"`{match[1].strip()}`", *_FIRST_WORD.findall(behind)[:1]])


def cut_at(text: str, names: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The text cut at the names that stand in it as whole words, or as the first part of a compound such as
    `-wal`-Datei, the longest first, and which pieces are names. Of a name with words beside it in backticks only the
    name is cut out."""
    within = sorted(
        (name for name in names if name and _without_code(name) in text), key=lambda name: (-len(name), name)
    )
    if not within:
        yield text, False
        return
    pattern = "|".join(map(_pattern, within))
    for place, piece in enumerate(re.split(rf"(?<![\w-])({pattern})(?!\w|-[^A-ZÄÖÜ])", text)):
        if piece:
            yield piece, place % 2 == 1


def _pattern(name: str) -> str:
    before, *rest = map(re.escape, name.split("`"))
    return f"(?<={before}){rest[0]}(?={rest[1]})" if rest else before
