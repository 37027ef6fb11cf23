"""Whether a text leads to others instead of saying something: an index, a list of all pages, cross-references."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.text.document import Block, Document
from graph_research.text.language.words import common_share, language_of
from graph_research.text.sentences import PROSE, sentence_spans

_LEAST_CHARS = 4_000  # a shorter list is often the facts of a page in a column, or all that there is
_LEAST_COMMON = 0.12  # of the words; sentences, glossaries and lists of changes have 0.15 to 0.45
_LEAST_SENTENCES = 0.1  # of the characters
_MOST_UNJUDGED = 0.1  # of the characters; an alphabetical list may have its letters in a table
_MOST_NUMBERS = 0.1  # of the words
_LEAST_SENTENCE_WORDS = 5
_ENDS = (".", "!", "?", "。", "！", "？")
_AROUND_NUMBERS = ",.;:()[]–-"
_CLOSING = "\"'”’)] "


def lists_names(document: Document) -> bool:
    """Whether the blocks of a long text, apart from its headings, hold hardly a sentence, few of the words that
    sentences are made of, and few numbers, which could be values. Tables and code are not judged: a text with more than
    a tenth of them is none, nor is one in a language whose commonest words are not known."""
    text = document.text
    judged = [block for block in document.blocks if block.kind not in ("heading", "boilerplate")]
    prose = [block for block in judged if block.kind in PROSE]
    chars = _chars(prose)
    if chars < _LEAST_CHARS or chars < (1 - _MOST_UNJUDGED) * _chars(judged):
        return False
    words = " ".join(text[block.start : block.end] for block in prose).split()
    common = common_share(words, language_of(text))
    if common is None or common >= _LEAST_COMMON or sum(map(_is_number, words)) > _MOST_NUMBERS * len(words):
        return False
    spans = (span for block in prose for span in sentence_spans(text, block.start, block.end))
    return sum(end - start for start, end in spans if _is_sentence(text[start:end])) < _LEAST_SENTENCES * chars


def _chars(blocks: Sequence[Block]) -> int:
    return sum(block.end - block.start for block in blocks)


def _is_number(word: str) -> bool:
    return word.strip(_AROUND_NUMBERS).isdecimal()


def _is_sentence(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(_ENDS) and len(text.split()) >= _LEAST_SENTENCE_WORDS
