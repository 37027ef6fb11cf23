"""Screening of search hits: near-copies of a better one in the same library, and pages that only list names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_research.providers.search.base import SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit
from graph_research.research.scoring.origin import NEAR_DUPLICATE, word_runs
from graph_research.text.language.words import index_text, language_of
from graph_research.text.sentences import PROSE, sentence_spans

_LEAST_SENTENCES = 0.1  # of what was found in a page; an index has names, references and page numbers
_LEAST_SENTENCE_WORDS = 5
_LEAST_LIST_CHARS = 600  # of what was found; a short list may be all that there is
_LEAST_ENTRIES = 10
_ENDS = (".", "!", "?", "。", "！", "？")
_CLOSING = "\"'”’)] "
_DIGIT = re.compile(r"\d")


def screened(fused: Sequence[FusedHit], known: Sequence[tuple[str, str]] = ()) -> list[FusedHit]:
    """The documents without those of which nearly all that was found stands in a better one of the same
    library, as an older version or another format does; pages that only list names come last.

    `known` are the libraries and texts of sources that are there already.
    """
    better = list(known)
    kept: list[FusedHit] = []
    for document in sorted(fused, key=lambda document: lists_names(document.hit)):
        library, found = document.hit.metadata.get("library"), _found(document.hit)
        if library and found and any(other == library and _holds(text, found) for other, text in better):
            continue
        kept.append(document)
        better.append((library or "", document.hit.document.text))
    return kept


def lists_names(hit: SearchHit) -> bool:
    """Whether what was found in a document are entries without sentences and without numbers that could be values: an
    index, a table of contents, a list of all pages. Tables and code are not judged."""
    document = hit.document
    spans = [(passage.start, passage.end) for passage in hit.passages]
    if sum(end - start for start, end in spans) < _LEAST_LIST_CHARS:
        return False
    blocks = [
        block for block in document.blocks if any(block.start < end and start < block.end for start, end in spans)
    ]
    if any(block.kind not in (*PROSE, "heading", "boilerplate") for block in blocks):
        return False
    entries = [
        document.text[start:end]
        for block in blocks
        if block.kind in PROSE
        for start, end in sentence_spans(document.text, block.start, block.end)
    ]
    if len(entries) < _LEAST_ENTRIES or 2 * sum(bool(_DIGIT.search(entry)) for entry in entries) > len(entries):
        return False
    language = language_of(document.text)
    sentences = sum(len(entry) for entry in entries if _is_sentence(entry, language))
    return sentences < _LEAST_SENTENCES * sum(map(len, entries))


def _is_sentence(text: str, language: str) -> bool:
    ends = text.rstrip(_CLOSING).endswith(_ENDS)
    return ends and len(index_text(text, language).split()) >= _LEAST_SENTENCE_WORDS


def _found(hit: SearchHit) -> frozenset[str]:
    return frozenset().union(*(word_runs(hit.document.text[part.start : part.end]) for part in hit.passages))


def _holds(text: str, found: frozenset[str]) -> bool:
    return len(found & word_runs(text)) >= NEAR_DUPLICATE * len(found)
