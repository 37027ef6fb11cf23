"""Ranking: which documents answer a question, and which of their passages.

A passage's value is FTS5's BM25 over its text, the headings above it and its document's title, where a word of the
title counts four times. A document is worth what its best passage is. Relevance is the share of the question's weight
(how rarely the language uses each word) that the best passage of a search carries; that of every other passage is as
much smaller as its value is.

With an embedding model, the passages that rank best by their words are ranked by meaning too, as sentences are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from graph_research.providers.search.base import Passage
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.query import parse_query
from graph_research.text.relevance.embedding import Embedder, nearness
from graph_research.text.relevance.ranking import OLD_VERSION, STANDARD

_CANDIDATES = 200  # passages, of which the best document may have many
_RANKED_BY_MEANING = 30


@dataclass(frozen=True)
class RankedDocument:
    """A document's row, and its best passages, best first; the score of each is its relevance."""

    row: Row
    passages: Sequence[Passage]


def rank(
    index: Index,
    text: str,
    *,
    folders: Sequence[int] | None,
    most: int,
    most_passages: int,
    embedder: Embedder | None = None,
) -> list[RankedDocument]:
    """The best documents, best first; each text once. `folders` None is the whole index."""
    languages = index.rows("languages", folders=None if folders is None else orjson.dumps(folders).decode())
    query = parse_query(text, [row["language"] for row in languages], folders)
    if not query.match:
        return []
    rows = index.rows("best_passages", match=query.match, limit=max(_CANDIDATES, most * most_passages))
    if embedder is not None:
        rows = _by_meaning(index, text, rows, embedder)
    rows = _old_versions_behind(rows)
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


def _old_versions_behind(rows: Sequence[Row]) -> list[Row]:
    """Passages of superseded documents are worth less, and never more than the newer version's best."""
    best: dict[tuple[int, str], float] = {}
    for row in rows:
        place = (row["folder"], row["url"])
        best[place] = max(row["value"], best.get(place, 0.0))

    def weighed(row: Row) -> Row:
        if row["superseded"] is None:
            return row
        newer: float = best.get((row["folder"], row["superseded"]), float(row["value"]))
        return {**row, "value": min(row["value"], newer) * OLD_VERSION}

    return sorted(map(weighed, rows), key=lambda row: -row["value"])


def _by_meaning(index: Index, text: str, rows: Sequence[Row], embedder: Embedder) -> list[Row]:
    best = rows[:_RANKED_BY_MEANING]
    documents = {number: index.document(number) for number in {row["document"] for row in best}}
    texts = [f"{row['own_title']}. {documents[row['document']].text[row['start'] : row['end']]}" for row in best]
    asked, *vectors = embedder.vectors([text, *texts])
    gains = nearness(asked, vectors)
    nearer = [{**row, "value": row["value"] + STANDARD.meaning * gain} for row, gain in zip(best, gains, strict=True)]
    return sorted([*nearer, *rows[_RANKED_BY_MEANING:]], key=lambda row: -row["value"])


def _covered(index: Index, row: Row, weights: Mapping[str, float]) -> float:
    """The share of the question's weight that the terms in a passage have, 0 to 1."""
    held = index.rows("terms_in_passage", id=row["id"], terms=orjson.dumps(list(weights)).decode())
    return sum(weights[found["term"]] for found in held) / sum(weights.values())
