"""Sentences that lean on the one before them: they point back at it, or take it back."""

from __future__ import annotations

from collections.abc import Callable

from graph_research.text.language.opposites import takes_back
from graph_research.text.language.questions import points_back
from graph_research.text.language.words import language_of
from graph_research.text.sentences import SENTENCE_ENDS, sentence_spans

_LEANING_CHARS, _OPENING_WORDS = 300, 3
"""A sentence of so many characters at most that points back among its first words, such as "For these reasons, …", or
takes back what stands before it, such as "However, …", says what follows from a quote right before it, or under which
condition it holds; a quote that does says it of what stands before it."""


def end_of_leaning(text: str, end: int) -> int:
    """Where the sentence behind `end` ends if it leans on what stands before `end`."""
    return _end_behind(text, end, leans_back)


def end_of_taking_back(text: str, end: int) -> int:
    """Where the sentence behind `end` ends if it takes back what stands before `end`."""
    return _end_behind(text, end, _takes_back)


def start_before_leaning(text: str, start: int, end: int) -> int:
    """Where the sentence begins that stands before the quote from `start` to `end`, if the quote leans on it."""
    before = text[max(0, start - _LEANING_CHARS - 1) : start]
    begin, _ = next(reversed(sentence_spans(before)), (len(before), 0))
    is_whole = begin > 0 or len(before) <= _LEANING_CHARS
    return start - len(before) + begin if is_whole and leans_back(text[start:end]) else start


def leans_back(sentence: str) -> bool:
    """Whether the first words of a sentence point back at what stands before it, or take it back."""
    return points_back(" ".join(sentence.split()[:_OPENING_WORDS]), language_of(sentence)) or _takes_back(sentence)


def _takes_back(sentence: str) -> bool:
    return takes_back(sentence, language_of(sentence))


def _end_behind(text: str, end: int, leans: Callable[[str], bool]) -> int:
    behind = text[end : end + _LEANING_CHARS + 1]
    start, stop = next(iter(sentence_spans(behind)), (0, 0))
    is_whole = 0 < stop <= _LEANING_CHARS and behind[start:stop].endswith(SENTENCE_ENDS)
    return end + stop if is_whole and leans(behind[start:stop]) else end
