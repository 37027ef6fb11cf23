"""Compounds that are written as one word (`Nitratgehalt`: nitrat, gehalt), as German and its neighbours form them.

A word is cut where the mean frequency of its parts is the highest, and left whole where it is more frequent itself
(Koehn and Knight, "Empirical methods for compound splitting", 2003).
"""

from __future__ import annotations

from functools import lru_cache

from graph_research.text.language.frequencies import COMMON_ZIPF, UNKNOWN_ZIPF, frequencies
from graph_research.text.language.tables import facts, listed

_LINKS = {language: ("", *links) for language, links in listed("compound_links").items()}
"""Letters that stand between the parts of a compound, or end its last one."""
_ENDINGS = {language: frozenset(endings) for language, endings in listed("compound_endings").items()}
"""Endings of words that are words of their own, too."""
_CAPITALISED = frozenset(facts("capitalised_nouns"))
_FEWEST_CHARS = 4
_FEWEST_CHARS_OF_AN_UNKNOWN_PART = 5
_MOST_CHARS = 64

_Way = tuple[float, tuple[str, ...]]


def compound_parts(word: str, language: str) -> tuple[str, ...]:
    """The parts of a noun in lower case, without the letters that join them; none for a word that is no compound. The
    first may be a word that the language's list does not have."""
    if language not in _LINKS or (language in _CAPITALISED and not word[:1].isupper()):
        return ()
    return _parts(word.lower(), language)


@lru_cache(maxsize=100_000)
def _parts(word: str, language: str) -> tuple[str, ...]:
    if not 2 * _FEWEST_CHARS <= len(word) <= _MOST_CHARS or not word.isalpha():
        return ()
    # By place, the ways to cut what stands from there on: by how many parts, their frequencies together and the parts.
    ways: dict[int, dict[int, _Way]] = {len(word): {0: (0.0, ())}}
    for start in range(len(word) - _FEWEST_CHARS, -1, -1):
        for end in filter(ways.__contains__, range(start + _FEWEST_CHARS, len(word) + (start > 0))):
            if known := _known(word[start:end], language):
                _extend(ways, start, end, known)
    if 0 not in ways:
        end = next(filter(ways.__contains__, range(_FEWEST_CHARS_OF_AN_UNKNOWN_PART, len(word) + 1)))
        _extend(ways, 0, end, (UNKNOWN_ZIPF, word[:end]))
    cut = max((total / count, parts) for count, (total, parts) in ways[0].items())
    return cut[1] if cut[0] > frequencies(language).get(word, UNKNOWN_ZIPF) else ()


def _extend(ways: dict[int, dict[int, _Way]], start: int, end: int, part: tuple[float, str]) -> None:
    """Add to the ways from `start` on those that begin with a part that ends at `end`."""
    here = ways.setdefault(start, {})
    for count, (total, parts) in ways[end].items():
        way = part[0] + total, (part[1], *parts)
        here[count + 1] = max(here.get(count + 1, way), way)


def _known(written: str, language: str) -> tuple[float, str] | None:
    """The frequency and the word of a part, which may end in the letters that join it to the next."""
    for link in () if written in _ENDINGS[language] else _LINKS[language]:
        part = written.removesuffix(link)
        if len(part) >= _FEWEST_CHARS and written.endswith(link) and part not in _ENDINGS[language]:
            found = frequencies(language).get(part, COMMON_ZIPF)
            if found < COMMON_ZIPF:
                return found, part
    return None
