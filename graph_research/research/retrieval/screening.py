"""Screening of search hits: near-copies of a better one in the same library, and pages that only list names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from graph_research.providers.search.base import Passage, SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit
from graph_research.research.scoring.origin import NEAR_DUPLICATE, word_runs
from graph_research.text.document import Block, Document
from graph_research.text.language.words import index_text, language_of
from graph_research.text.sentences import PROSE, sentence_spans

_LEAST_SENTENCES = 0.1  # of what was found in a page; an index has names, references and page numbers
_MOST_UNJUDGED = 0.1  # of what was found in a page; an alphabetical list may have its letters in a table
_LEAST_SENTENCE_WORDS = 5
_LEAST_LIST_CHARS = 600  # of what was found; a short list may be all that there is
_LEAST_ENTRIES = 10
_ENDS = (".", "!", "?", "。", "！", "？")
_CLOSING = "\"'”’)] "
_DIGIT = re.compile(r"\d")


def screened(fused: Sequence[FusedHit], known: Sequence[tuple[str, str]] = ()) -> list[tuple[FusedHit, bool]]:
    """The documents without near-copies: those of which nearly all that was found stands in a better document of the
    same library, such as an older version or another format. Pages that only list names come last, marked with True.

    `known` are the libraries and texts of sources that are there already.
    """
    better = list(known)
    kept: list[tuple[FusedHit, bool]] = []
    judged = [(document, lists_names(document.hit)) for document in fused]
    for document, names_only in sorted(judged, key=lambda pair: pair[1]):
        library = document.hit.metadata.get("library")
        found = _found(document.hit) if library else frozenset()
        if found and any(other == library and _holds(text, found) for other, text in better):
            continue
        kept.append((document, names_only))
        better.append((library or "", document.hit.document.text))
    return kept


def lists_names(hit: SearchHit) -> bool:
    """Whether what was found in a document are entries without sentences and without numbers that could be values: an
    index, a table of contents, a list of all pages. Tables and code are not judged; a page with more than a tenth of
    them is none."""
    document = hit.document
    if sum(passage.end - passage.start for passage in hit.passages) < _LEAST_LIST_CHARS:
        return False
    blocks = [block for block in _blocks_of(document, hit.passages) if block.kind not in ("heading", "boilerplate")]
    prose = [block for block in blocks if block.kind in PROSE]
    if _chars(prose) < (1 - _MOST_UNJUDGED) * _chars(blocks):
        return False
    language = language_of(document.text)
    enough = _LEAST_SENTENCES * _chars(prose)
    entries: list[str] = []
    sentences = 0
    for block in prose:
        for start, end in sentence_spans(document.text, block.start, block.end):
            entry = document.text[start:end]
            entries.append(entry)
            sentences += len(entry) if _is_sentence(entry, language) else 0
            if sentences >= enough:
                return False
    with_digits = sum(bool(_DIGIT.search(entry)) for entry in entries)
    if len(entries) < _LEAST_ENTRIES or 2 * with_digits > len(entries):
        return False
    return sentences < _LEAST_SENTENCES * sum(map(len, entries))


def _blocks_of(document: Document, passages: Sequence[Passage]) -> list[Block]:
    """The blocks in which passages stand."""
    merged: list[list[int]] = []
    for start, end in sorted((passage.start, passage.end) for passage in passages):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    ends = [end for _, end in merged]
    after = ((block, bisect_right(ends, block.start)) for block in document.blocks)
    return [block for block, place in after if place < len(merged) and merged[place][0] < block.end]


def _chars(blocks: Sequence[Block]) -> int:
    return sum(block.end - block.start for block in blocks)


def _is_sentence(text: str, language: str) -> bool:
    ends = text.rstrip(_CLOSING).endswith(_ENDS)
    return ends and len(index_text(text, language).split()) >= _LEAST_SENTENCE_WORDS


def _found(hit: SearchHit) -> frozenset[str]:
    return frozenset().union(*(word_runs(hit.document.text[part.start : part.end]) for part in hit.passages))


def _holds(text: str, found: frozenset[str]) -> bool:
    return len(found & word_runs(text)) >= NEAR_DUPLICATE * len(found)
