"""Languages by tag: their English names, and which of them a question is written in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from graph_research.text.language.frequencies import frequency
from graph_research.text.language.tables import facts
from graph_research.text.language.words import language_counts, language_of

_NAMES = facts("name")
_DIRECTIONS = facts("direction")
_VARIANTS: Mapping[str, str] = {
    **dict.fromkeys(("zh-tw", "zh-hk", "zh-mo", "zh-hant"), "Traditional Chinese"),
    **dict.fromkeys(("zh-cn", "zh-sg", "zh-hans"), "Simplified Chinese"),
}
_COMPARED = ("en", "de", "es", "fr", "it", "nl", "pl", "pt")
_RARER = ("ca", "cs", "da", "fi", "hu", "id", "lt", "no", "ro", "sv", "tr", "vi")
_MOSTLY_KNOWN = 0.6  # of the words, for not to look further
_CLEAR = 2  # words of one language more than of any other
_UNKNOWN_ZIPF = 1.5
_ENGLISH_FIRST = 1.0  # titles and names of things are English more often than not
_CHARS_OF_A_WORD = 1.5
_FEWEST_WORDS, _FEWEST_KNOWN = 5, 0.3
_LEAST_ZIPF = 2.4  # of all words on average, in one of the rarer languages
UNDETERMINED = "und"
"""The BCP 47 tag of a language that nobody could tell."""
_MOST_CHARS = 4_000
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")
"""The letters of CO2 and IPv6 are no words."""
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]{2,}")


def primary(tag: str) -> str:
    """The language of a BCP 47 tag without region and script: `pt` of `pt-BR`."""
    return tag.partition("-")[0].lower()


def is_known(tag: str) -> bool:
    """Whether a tag begins with the ISO 639-1 code of a language that texts are told to be in."""
    return primary(tag) in _NAMES


def is_traditional_chinese(tag: str) -> bool:
    """Whether a tag names Chinese in traditional characters, by its script or its region."""
    return _variant(tag) == "Traditional Chinese"


def _variant(tag: str) -> str | None:
    return _VARIANTS.get("-".join(tag.lower().split("-")[:2]))


def direction(tag: str) -> str:
    """`rtl` for a language that is written from right to left, else `ltr`."""
    return _DIRECTIONS.get(primary(tag), "ltr")


def has_italics(tag: str) -> bool:
    """Whether a language's script has slanted letters; Chinese and Japanese characters have no such form."""
    return primary(tag) not in ("ja", "zh")


def language_name(tag: str) -> str:
    """The English name of a BCP 47 tag's language, such as `German` or `Portuguese (pt-BR)`; else the tag itself."""
    if variant := _variant(tag):
        return variant
    name = _NAMES.get(primary(tag))
    return tag if name is None else f"{name} ({tag})" if "-" in tag else name


def question_language(question: str) -> str:
    """The ISO 639-1 code of the language of a short text; `en` where nothing tells, and `und` where no language that
    comes into question has its words.

    Where its commonest words leave it open, all its words are looked up in the languages that come into question.
    """
    return _question_language(question[:_MOST_CHARS])


@lru_cache(maxsize=256)
def _question_language(question: str) -> str:
    han, latin = len(_HAN.findall(question)), len(_LATIN.findall(question))
    first = language_of(question)
    if first in ("ja", "zh") or (han > 1 and han / _CHARS_OF_A_WORD >= latin):
        return "ja" if re.search("[\u3040-\u30ff]", question) else "zh"
    written = _WORD.findall(question.lower())
    counts = language_counts(written)
    ranked = sorted(counts.values(), reverse=True)
    if not latin or (len(ranked) > 1 and ranked[0] - ranked[1] >= _CLEAR):
        return first
    likely = [language for language, count in counts.items() if count and count == ranked[0]]
    best = _likeliest(written, [*_COMPARED, *likely])
    if _known(written, best) < _MOSTLY_KNOWN:
        best = _likeliest(written, [best, *_RARER])
    return best if len(written) < _FEWEST_WORDS or _is_told(written, best) else UNDETERMINED


def _is_told(written: Sequence[str], language: str) -> bool:
    """Whether the words are those of the language. A rarer one shares short words with languages that have no list:
    its words must be common in it, too."""
    if language in _RARER:
        return sum(frequency(word, language) for word in written) >= _LEAST_ZIPF * len(written)
    return _known(written, language) >= _FEWEST_KNOWN


def _likeliest(written: Sequence[str], languages: Sequence[str]) -> str:
    scores = {
        language: sum(max(frequency(word, language), _UNKNOWN_ZIPF) for word in written)
        + (_ENGLISH_FIRST if language == "en" else 0.0)
        for language in languages
    }
    return max(scores, key=lambda language: scores[language])


def _known(written: Sequence[str], language: str) -> float:
    """The share of the words that the language's list has."""
    return sum(frequency(word, language) > 0.0 for word in written) / max(1, len(written))
