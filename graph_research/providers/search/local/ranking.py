"""Ranking: which documents answer a question, and which of their passages.

A passage's value is FTS5's BM25 over its text, the headings above it and its document's title, where a word of the
title counts four times. A document is worth what its best passage is. Relevance is the share of the question's weight
(how rarely the language uses each word) that the best passage of a search carries; that of every other passage is as
much smaller as its value is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from graph_research.providers.search.base import Passage
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.query import parse_query

_CANDIDATES = 200  # passages, of which the best document may have many


@dataclass(frozen=True)
class RankedDocument:
    """A document's row, and its best passages, best first; the score of each is its relevance."""

    row: Row
    passages: Sequence[Passage]


def rank(
    index: Index, text: str, *, folders: Sequence[int] | None, most: int, most_passages: int
) -> list[RankedDocument]:
    """The best documents, best first; each text once. `folders` None is the whole index."""
    languages = index.rows("languages", folders=None if folders is None else orjson.dumps(folders).decode())
    query = parse_query(text, [row["language"] for row in languages], folders)
    if not query.match:
        return []
    rows = index.rows("best_passages", match=query.match, limit=max(_CANDIDATES, most * most_passages))
    by_text: dict[str, list[Row]] = {}
    for row in rows:
        same_text = by_text.setdefault(row["text_hash"], [])
        if not same_text or same_text[0]["document"] == row["document"]:
            same_text.append(row)
    share = (
        max(_covered(index, rows[0], weights) for weights in query.weights.values()) / rows[0]["value"] if rows else 0
    )
    return [
        RankedDocument(
            found[0],
            [Passage(start=row["start"], end=row["end"], score=share * row["value"]) for row in found[:most_passages]],
        )
        for found in list(by_text.values())[:most]
    ]


def _covered(index: Index, row: Row, weights: Mapping[str, float]) -> float:
    """The share of the question's weight that the terms in a passage have, 0 to 1."""
    held = index.rows("terms_in_passage", id=row["id"], terms=orjson.dumps(list(weights)).decode())
    return sum(weights[found["term"]] for found in held) / sum(weights.values())
