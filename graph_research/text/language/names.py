"""Names in a text that other texts do not have, and texts of names alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.compounds import compound_parts
from graph_research.text.language.dates import MONTH_NUMBERS
from graph_research.text.language.opposites import CAPITALISED_NOUNS
from graph_research.text.language.units import UNITS
from graph_research.text.language.words import MOST_WEIGHT, UNSPACED, language_of, read_sentence, stem, weight

_OF_UNITS = frozenset(word for name in UNITS for word in name.split())
_WORD = deferred(r"[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;|•(\[“\"„«»–—/`*]|^\s*[-–]|\d[.)])\s*$")
_LABEL = re.compile(r"\s*([^\W\d_]+)((?:[ -][^\W\d_]\w*){1,3})\s?[:：]")
"""What a text is about, in two to four words before a colon."""
_PART = re.compile(r"[^\W\d_](?:(?<=[A-Z])[A-Z]+|[a-z]+)")
_OF_CODE = re.compile(r"(?<!\w)(?!\d)(?:\w*[^\W_]_+[^\W_]\w*|(?<=[^\W\d_][^\W\d_]\.)[A-Z]\w+|\w+(?=\(\)))", re.ASCII)
"""A name that no language changes: with an underscore, behind a name and a point, or before `()`."""
_GIVEN_NAME = deferred(r"(?:^|\s)([^\W\d_a-z][^\W\d_A-Z]+)\s(?:van\s|de\s|di\s|da\s|del\s)?$")
"""What may be a given name right before another name."""
_PLURAL = re.compile(r"[A-Z]{2,}s")  # of an abbreviation
_DERIVED = re.compile(r"(?:ing|ed|ly|ness|ions?|able|ible|ers?|ism|less|ful|ity|ments?|[^s]s)$")
_LEAST_OF_A_NAME = 1.0  # weight
_LEAST_COMMON = 4  # letters that the forms of a word share
_LONGEST_ENDING = 3


def new_names(
    text: str, known: Sequence[str], *, at_start: bool = True, language: str = "", translated: bool | None = None
) -> list[str]:
    """The names of a text that no known text has, as they are written. Of a rare word with a capital at the beginning
    of a sentence nobody knows whether it is a name; it counts only with `at_start`, and not where it begins a label of
    several words; nor does a name of code without it, since advice may use what no source names. The text is in
    `language`, and was `translated` from that of the known texts or not; what is not given is told from the texts.

    A name has a capital letter that neither the beginning of a sentence nor the language explains, or one after its
    first letter (`PostgreSQL`), or it is one of code (`lock_timeout`, `asyncio.Lock`, `shutdown()`). Common
    abbreviations, units and months are not names. A name may have another ending ("Italian", "Italy"), and one with a
    capital within it may be parted there ("macOS", "Mac OS X"). Texts of another language say nothing of most names,
    since these are translated, but for those of code, rare abbreviations and surnames behind a given name.
    """
    language = language or language_of(text)
    if translated is None:
        translated = language != language_of("\n".join(known))
    read = [_read(other, language) for other in known]
    held = frozenset[str]().union(*(words for words, _ in read))
    stems = frozenset[str]().union(*(stems for _, stems in read))
    of_code = _OF_CODE.findall(text) if at_start else ()
    return [
        name
        for name in dict.fromkeys((*_names(text, language, translated=translated, at_start=at_start), *of_code))
        if not (
            name in _OF_UNITS
            or name.lower() in MONTH_NUMBERS
            or stem(name, language) in stems
            or any(_is_form(name.lower(), word) for word in held)
            or _is_parted(name, known)
        )
    ]


def names_alone(text: str) -> bool:
    """Whether each word that says something begins with a capital letter, as in a line of authors or of the institute
    that they work for. In a script without capital letters no text is one of names alone."""
    _, written = read_sentence(text)
    return all(word.weight == 0.0 or text[word.start].isupper() for word in written)


def _names(text: str, language: str, *, translated: bool, at_start: bool) -> Iterator[str]:
    end_of_lead = _end_of_lead(text)
    for match in _WORD.finditer(text):
        name = _singular(match[0])
        if not any(letter.isupper() for letter in name) or len(name) < 2 or name[0].isdigit():
            continue
        is_rare = weight(name, language) >= MOST_WEIGHT
        if any(letter.isupper() for letter in name[1:]) and not name.isupper():
            yield name
        elif name.isupper():
            if is_rare:
                yield name
        elif translated and language not in UNSPACED:
            if is_rare and not compound_parts(name, language) and _is_surname(text[: match.start()], language):
                yield name
        elif language in CAPITALISED_NOUNS:
            if is_rare and not compound_parts(name, language):
                yield name
        elif _SENTENCE_START.search(text[: match.start()]):
            if at_start and is_rare and match.end() != end_of_lead and not _DERIVED.search(name):
                yield name
        elif weight(name, language) > 0.0:
            yield name


def _end_of_lead(text: str) -> int:
    """Where the first word of a label ends, if it has several words and only the first has a capital; -1 otherwise."""
    label = _LABEL.match(text)
    return label.end(1) if label and label[2].islower() else -1


def _is_surname(before: str, language: str) -> bool:
    """Whether what stands before a rare word with a capital ends in a given name, as far as a language tells where
    nouns have capitals too: one that is none of its common words and does not begin a sentence."""
    given = _GIVEN_NAME.search(before)
    if given is None or _SENTENCE_START.search(before[: given.start(1)]):
        return False
    return given[1][0].isupper() and weight(given[1], language) >= _LEAST_OF_A_NAME


def _singular(word: str) -> str:
    """An abbreviation without the `s` of its plural, anything else as it is."""
    return word[:-1] if _PLURAL.fullmatch(word) else word


def _is_parted(name: str, known: Sequence[str]) -> bool:
    """Whether a known text has the parts of a name with a capital within it as words of their own."""
    parts = _PART.findall(name)
    parted = re.compile(rf"(?<!\w){'[ -]'.join(parts)}(?!\w)", re.IGNORECASE)
    return len(parts) > 1 and "".join(parts) == name and any(map(parted.search, known))


def _is_form(one: str, other: str) -> bool:
    """Whether two words differ in an ending of a few letters."""
    short, long = sorted((one, other), key=len)
    short = short[:-1] if short[-1:] in "aeiouy" else short
    return len(short) >= _LEAST_COMMON and long.startswith(short) and len(long) - len(short) <= _LONGEST_ENDING


@lru_cache(maxsize=1024)
def _read(text: str, language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a text in lower case, and their stems. Several sentences often cite the same text."""
    words = frozenset(_singular(word).lower() for word in (*_WORD.findall(text), *_OF_CODE.findall(text)))
    return words, frozenset(stem(word, language) for word in words)
