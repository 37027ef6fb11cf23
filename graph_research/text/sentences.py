"""Sentences of a block of text, by offset."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import pairwise

from sentencex import get_sentence_boundaries

from graph_research.text.document import BlockKind
from graph_research.text.language.tables import facts
from graph_research.text.language.words import language_of

MAX_CHARS = 2_000
"""No sentence is longer. The splitter's time grows with the square of what it is given, so longer blocks are parted."""

SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？")
"""Text that ends otherwise is a title, a term, a name in a list, or broken off."""

# Blocks that are written in sentences.
PROSE: Collection[BlockKind] = frozenset({"paragraph", "item", "quote"})

_NO_END = re.compile(r"[^.!?\n\x80-\U0010ffff]*")
_NUMBERED = re.compile(r"\d\.$")
_NUMBER_ALONE = re.compile(r"\d{1,3}(?:\.\d{1,3})*\.")
"""The number of a section or an item, which belongs to what follows it."""
_FOUND_BEFORE = 16  # characters that the longest of these may be
_END = re.compile(r"[.!?][\"'”’)\]]{0,2}(?:\[\d{1,3}\])*\s(?=[^\Wa-z\d_])|[。！？｡][」』”’）]{0,2}(?=\w)")
# A unit of one letter, or of two with a prefix, behind a number, which the splitter takes for an abbreviation:
# `33.7 mg/l. The`, `190 km. La`.
_MEASURED = re.compile(
    r"\d[ \u00a0\u202f]?(?:[^\W\d_]{1,4}[23²³]?/)?[cdkmµ]?[adghlmst]\.\s+(?=[^\W\da-z_](?:[^\W\d_]|\s))"
)
_BEFORE_DIGIT = re.compile(r"[。！？｡](?=\d)")
"""Where the splitter takes what follows for a decimal place."""
_DOTTED = re.compile(r"(?<![\w.-])[^\W\d_]{1,4}\.-?[^\W\d_]{1,4}(?:[.-]{1,2}[^\W\d_]{1,4})*\.$")
"""An abbreviation with dots in it, as every language has many: `c.-à-d.`, `d.w.z.`, `m.in.`"""
_UNSPACED_ENDS = "。！？｡"  # nothing stands between these and the next sentence


def sentence_spans(text: str, start: int = 0, end: int | None = None, *, language: str = "") -> list[tuple[int, int]]:
    """`(start, end)` of each sentence in `text[start:end]`, which is one block; offsets are those of `text`, whose
    `language` is told from itself where it is not given."""
    last = len(text) if end is None else end
    language = language or language_of(text)
    stretches = _stretches(text, start, last, language)
    return [span for low, high in stretches for span in _spans(text[low:high], low, language)]


def _stretches(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Pieces of at most `MAX_CHARS`, cut where a sentence ends, else between words, else anywhere."""
    while end - start > MAX_CHARS:
        window = text[start : start + MAX_CHARS]
        ends = [match.end() for match in _END.finditer(window) if _is_end(window, 0, match.end(), language)]
        cut = start + (ends[-1] if ends else window.rfind(" ") + 1 or MAX_CHARS)
        yield start, cut
        start = cut
    yield start, end


def _spans(part: str, offset: int, language: str) -> list[tuple[int, int]]:
    if _NO_END.fullmatch(part):
        return [(offset + first, offset + last) for first, last in [_stripped(part, 0, len(part))] if first < last]
    spans: list[tuple[int, int]] = []
    starts = {boundary["start_index"] for boundary in get_sentence_boundaries(language, part)}
    missed = {match.end() for pattern in (_MEASURED, _BEFORE_DIGIT) for match in pattern.finditer(part)}
    for first, last in pairwise([*sorted(starts | missed), len(part)]):
        if spans and not _is_end(part, spans[-1][0], first, language):
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    found = (_stripped(part, *span) for span in spans)
    return [(offset + first, offset + last) for first, last in found if first < last]


def _is_end(text: str, start: int, boundary: int, language: str) -> bool:
    """Whether the sentence that began at `start` may end at `boundary`, where the splitter wants another to begin."""
    end, next_start = _stripped(text, start, boundary)[1], _stripped(text, boundary, len(text))[0]
    if next_start == len(text) or _NUMBER_ALONE.fullmatch(text, start, end):
        return False
    before, after = text[max(start, end - _FOUND_BEFORE) : end], text[next_start]
    spaced = text[boundary - 1].isspace() or text[boundary].isspace()
    if not spaced and (after.isalnum() or after in "<-"):  # `filter.<driver>.required`, `c.-à-d.`
        return before[-1:] in _UNSPACED_ENDS
    if _behind_dots("never_last", language).search(before):
        return False
    goes_on = after.islower() or after.isdigit()
    if goes_on and (_DOTTED.search(before) or _behind_dots("abbreviations", language, re.IGNORECASE).search(before)):
        return False
    return not (after.islower() and _NUMBERED.search(before))


@cache
def _behind_dots(subject: str, language: str, flags: int = 0) -> re.Pattern[str]:
    """Abbreviations of a language, and of English, at the end of a text."""
    listed = facts(subject)
    written = "|".join(dict.fromkeys((listed["en"], listed.get(language, listed["en"]))))
    return re.compile(rf"(?:^|[\s(\[“\"'’])(?:{written})\.$", flags)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
