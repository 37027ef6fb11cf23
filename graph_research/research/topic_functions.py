"""Functions of the research graphs on what the topic researchers found. Pure, over plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from graph_research.research.retrieval.deduplication import Identity, Seen
from graph_research.text.relevance.alike import said_again

Row = Mapping[str, Any]
Rows = Sequence[Row]


def new_sources(sources: Rows, outputs: Rows) -> list[Row]:
    """The sources of `outputs` that are not known yet, each once: by address, DOI, text, or title of the same work."""
    return _merged(sources, outputs)[0]


def topic_results(sources: Rows, outputs: Rows) -> list[Row]:
    """The topics of `outputs`, their source ids those under which `new_sources` keeps the sources."""
    same_as = _merged(sources, outputs)[1]
    return [_renamed(output["topic"], same_as) for output in outputs if output.get("topic")]


def topic_findings(sources: Rows, outputs: Rows) -> list[Row]:
    """The findings of `outputs`, each once, with the ids under which `new_sources` keeps their sources."""
    same_as = _merged(sources, outputs)[1]
    rows = [
        {**row, "source_ids": list(dict.fromkeys(same_as.get(name, name) for name in row["source_ids"]))}
        for row in flatten(outputs, "findings")
    ]
    return upserted([], rows)


def topic_evidence(sources: Rows, outputs: Rows) -> list[Row]:
    """The evidence of `outputs`, each piece once, with the id under which `new_sources` keeps its source."""
    same_as = _merged(sources, outputs)[1]
    rows = [
        {**row, "source_id": same_as.get(row["source_id"], row["source_id"])} for row in flatten(outputs, "evidence")
    ]
    return upserted([], rows)


def topic_fidelity(sources: Rows, outputs: Rows) -> list[Row]:
    """The fidelity records of `outputs`, with the ids under which `new_sources` keeps their sources; of those of one
    source the one with the largest share."""
    same_as = _merged(sources, outputs)[1]
    best: dict[str, Row] = {}
    for row in flatten(outputs, "content_fidelity"):
        source_id = same_as.get(row["source_id"], row["source_id"])
        record = {**row, "id": f"{row['phase']}:{source_id}", "source_id": source_id}
        before = best.get(record["id"])
        if before is None or before["compression_ratio"] < record["compression_ratio"]:
            best[record["id"]] = record
    return list(best.values())


def _renamed(topic: Row, same_as: Mapping[str, str]) -> Row:
    ids = list(dict.fromkeys(same_as.get(source_id, source_id) for source_id in topic["source_ids"]))
    text = topic.get("compressed_findings")
    if text is not None:
        for own, kept in same_as.items():
            text = text.replace(own, kept)
    return {**topic, "source_ids": ids, "compressed_findings": text}


def _merged(sources: Rows, outputs: Rows) -> tuple[list[Row], dict[str, str]]:
    """Sources not known yet, and under which id each of the outputs' sources is kept."""
    ids = {row["id"] for row in sources}
    seen = Seen()
    for row in sources:
        seen.add(Identity.of_source(row), row["id"])
    fresh: list[Row] = []
    same_as: dict[str, str] = {}
    for row in flatten(outputs, "sources"):
        identity = Identity.of_source(row)
        kept = row["id"] if row["id"] in ids else seen.find(identity)
        if kept is None:
            kept = row["id"]
            fresh.append(row)
            ids.add(kept)
            seen.add(identity, kept)
        same_as[row["id"]] = kept
    return fresh, same_as


def read_whole(topics: Rows, sources: Rows) -> list[str]:
    """The ids of the sources whose whole text a topic was read for."""
    read = {name for topic in topics if topic.get("compressed_findings") for name in topic["source_ids"]}
    return [row["id"] for row in sources if row["id"] in read and row["metadata"].get("shown_share", 1.0) == 1.0]


def unread_sources(sources: Rows, topics: Rows) -> list[Row]:
    """The sources that no topic found."""
    found = {name for topic in topics for name in topic["source_ids"]}
    return [row for row in sources if row["id"] not in found]


def brought_new(sub_queries: Rows, topics: Rows, iteration: int) -> bool:
    """Whether this iteration's topics were read for findings, or found a source that no earlier topic found: the
    sources of those were read in their own iterations, by topic or all together."""
    ids = {row["id"] for row in sub_queries if row["iteration"] == iteration}
    own = [topic for topic in topics if topic["sub_query_id"] in ids]
    earlier = {name for topic in topics if topic["sub_query_id"] not in ids for name in topic["source_ids"]}
    return any(topic.get("compressed_findings") or not earlier.issuperset(topic["source_ids"]) for topic in own)


def with_open_limits(topics: Rows, told: Sequence[str]) -> list[Row]:
    """The topics with each of their limits once, without those that say no more than what is `told` elsewhere, such as
    limits that findings answer."""
    again = said_again(flatten(topics, "limits"), told)
    place = count()
    return [
        {**topic, "limits": [limit for limit in topic.get("limits") or [] if next(place) not in again]}
        for topic in topics
    ]


def flatten(rows: Rows, key: str) -> list[Any]:
    """The lists under `key` of all rows, one after the other."""
    return [item for row in rows for item in row.get(key) or []]


def upserted(rows: Rows, changed: Rows) -> list[Row]:
    """The rows, those whose id is in `changed` replaced in place, and the others of `changed` behind them."""
    by_id = {row["id"]: row for row in (*rows, *changed)}
    return list(by_id.values())
