"""Functions of the research graphs on what the topic researchers found. Pure, over plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from graph_research.research.retrieval.deduplication import Identity, Seen
from graph_research.text.relevance.alike import said_again
from graph_research.text.relevance.open_points import asked_again

Row = Mapping[str, Any]
Rows = Sequence[Row]


def new_sources(sources: Rows, outputs: Rows) -> list[Row]:
    """The sources of `outputs` that are not known yet, each once: by address, DOI, text, or title of the same work."""
    return _merged(sources, outputs)[0]


def quoted_sources(sources: Rows, evidence: Rows) -> list[Row]:
    """The sources that evidence is quoted from."""
    quoted = {row["source_id"] for row in evidence}
    return [source for source in sources if source["id"] in quoted]


def topic_results(sources: Rows, outputs: Rows) -> list[Row]:
    """The topics of `outputs`, their source ids those under which `new_sources` keeps the sources."""
    same_as = _merged(sources, outputs)[1]
    found = [output["topic"] for output in outputs if output.get("topic")]
    return [
        {**topic, "source_ids": list(dict.fromkeys(same_as.get(name, name) for name in topic["source_ids"]))}
        for topic in found
    ]


def readings(sub_queries: Rows, topics: Rows, iteration: int) -> list[Row]:
    """How the sources that this iteration's searches found are read: `{sub_query, queries, source_ids, other_topics,
    topic_count}` for each topic that has some to read, each source for one topic; `topic_count` is how many these are.

    A source that several topics found is read for the one whose searches ranked it best; the others are `other_topics`,
    `{query, queries, source_ids}`, for which these are read as well.
    """
    asked = {row["id"]: row for row in sub_queries if row["iteration"] == iteration}
    searched = [topic for topic in topics if topic["sub_query_id"] in asked and topic["queries"]]
    ranks: dict[str, dict[int, int]] = {}
    for place, topic in enumerate(searched):
        for rank, name in enumerate(topic["source_ids"]):
            ranks.setdefault(name, {})[place] = rank
    read_for = {name: min(found, key=found.__getitem__) for name, found in ranks.items()}
    rows: list[Row] = []
    for place, topic in enumerate(searched):
        own = [name for name in topic["source_ids"] if read_for[name] == place]
        others = sorted({other for name in own for other in ranks[name]} - {place})
        if own:
            row = {"sub_query": asked[topic["sub_query_id"]], "queries": topic["queries"], "source_ids": own}
            rows.append({**row, "other_topics": [_shared(searched[other], asked, own) for other in others]})
    return [{**row, "topic_count": len(rows)} for row in rows]


def _shared(topic: Row, asked: Mapping[str, Row], names: Sequence[str]) -> Row:
    """What a topic asks, and which of these sources it found as well."""
    query, found = asked[topic["sub_query_id"]]["query"], set(topic["source_ids"])
    return {"query": query, "queries": topic["queries"], "source_ids": [name for name in names if name in found]}


def read_topics(topics: Rows, outputs: Rows) -> list[Row]:
    """The topics, those that were read with their notes, their limits, and which sources were read for them."""
    read = {output["sub_query_id"]: output for output in outputs}
    return [
        {**topic, **{name: read[topic["sub_query_id"]][name] for name in ("compressed_findings", "limits", "read_ids")}}
        if topic["source_ids"] and topic["sub_query_id"] in read
        else topic
        for topic in topics
    ]


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
    """The ids of the sources whose whole text was read for a topic."""
    read = set(flatten(topics, "read_ids"))
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
    return any(topic.get("read_ids") or not earlier.issuperset(topic["source_ids"]) for topic in own)


def with_open_limits(topics: Rows, told: Sequence[str]) -> list[Row]:
    """The topics with their limits, of those that ask the same the one that asks most, without those that say no more
    than what is `told` elsewhere, such as limits that findings answer: one that asks for more is still open, and none
    that asks the same as one that is told and asks less."""
    limits = flatten(topics, "limits")
    again = said_again(limits)
    left = [place for place in range(len(limits)) if place not in again]
    again |= {left[n] for n in asked_again([limits[place] for place in left])} | said_again(limits, told)
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
