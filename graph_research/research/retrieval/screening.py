"""Screening of search hits: near-copies of a better one in the same library, and pages that only list names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_research.providers.search.base import SearchHit
from graph_research.research.retrieval.rank_fusion import FusedHit
from graph_research.research.scoring.origin import NEAR_DUPLICATE, all_word_runs, word_runs
from graph_research.text.name_lists import lists_names

_NUMBER = re.compile(r"\d+")
_SHORT_CHARS = 16_000
"""A text of so many characters has no more words than those of which the runs are kept."""


def screened(fused: Sequence[FusedHit], known: Sequence[tuple[str, str]] = ()) -> list[tuple[FusedHit, bool]]:
    """The documents without near-copies: those of which nearly all that was found stands in a better document of the
    same library, such as an older version or another format, so that a copy takes no place of a document that says
    something else. A copy that has another number between the same words stays: the two disagree. Pages that only list
    names come last, marked with True.

    `known` are the libraries and texts of sources that are there already.
    """
    libraries = {document.hit.metadata.get("library") for document in fused}
    better = [(library, _whole(text)) for library, text in known if library in libraries]
    kept: list[tuple[FusedHit, bool]] = []
    judged = [(document, lists_names(document.hit.document)) for document in fused]
    for document, names_only in sorted(judged, key=lambda pair: pair[1]):
        library = document.hit.metadata.get("library")
        found = _found(document.hit) if library else frozenset()
        if found and any(of == library and _repeats(runs, found) for of, runs in better):
            continue
        kept.append((document, names_only))
        if library:
            better.append((library, _whole(document.hit.document.text)))
    return kept


def _repeats(runs: frozenset[str], found: frozenset[str]) -> bool:
    """Whether most of what was found are runs of the better document, and none is one with another number."""
    other = found - runs
    return len(other) <= (1 - NEAR_DUPLICATE) * len(found) and _without_numbers(other).isdisjoint(
        _without_numbers(runs)
    )


def _without_numbers(runs: frozenset[str]) -> set[str]:
    """The runs that have numbers, with a sign in place of these."""
    return {without for run in runs if (without := _NUMBER.sub("#", run)) != run}


def _whole(text: str) -> frozenset[str]:
    """The runs of a whole text: what was found of a copy may stand anywhere, as in a manual on one page."""
    return word_runs(text) if len(text) <= _SHORT_CHARS else all_word_runs(text)


def _found(hit: SearchHit) -> frozenset[str]:
    return frozenset().union(*(word_runs(hit.document.text[part.start : part.end]) for part in hit.passages))
