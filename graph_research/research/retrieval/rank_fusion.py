"""Fusion: the lists of several search providers become one, every document once, with all that was known of it kept.

Reciprocal-rank fusion after Cormack, Clarke and Büttcher, “Reciprocal rank fusion outperforms Condorcet and individual
rank learning methods” (SIGIR 2009): a document's score is the sum of 1 / (60 + rank) over the lists that hold it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.providers.search.base import Extent, SearchHit
from graph_research.providers.search.support.doi import normal_doi
from graph_research.research.models.source import Tier
from graph_research.research.retrieval.deduplication import Identity
from graph_research.research.scoring.tiers import CREDIBILITY, tier_of_address

RANK_CONSTANT = 60
"""k of the paper."""


@dataclass(frozen=True, kw_only=True)
class FusedHit:
    """A document with what every provider said of it. `hits` are those merged, best rank first; `hit.metadata` holds
    `found_by`, a list of `{provider, rank, url}` with ranks from 1."""

    hit: SearchHit
    score: float
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    hit: SearchHit
    rank: int
    list: int
    identity: Identity


def fuse(lists: Sequence[Sequence[SearchHit]], flagged: Collection[str] = ()) -> list[FusedHit]:
    """One list of all documents, best first; equal scores in the order of the providers.

    `lists` holds each provider's hits; a provider ranks by relevance, and equal relevance in its own order. Of a
    document found at several addresses, one in a `flagged` domain is used only where there is no other.
    """
    found = [ranked for place, hits in enumerate(lists) for ranked in _ranked(hits, place)]
    groups = [_group(members, flagged) for members in _by_title(_by_mark(found))]
    return sorted(groups, key=lambda group: -group.score)


def ranked_again(fused: Sequence[FusedHit], worth: Sequence[float]) -> list[FusedHit]:
    """The documents ordered by the sum of two reciprocal ranks: that of their present order and that of their worth. Of
    equal ones the one that is worth more comes first."""
    by_worth = sorted(range(len(fused)), key=lambda place: (-worth[place], place))
    rank_of = {place: rank for rank, place in enumerate(by_worth, start=1)}
    order = sorted(
        range(len(fused)),
        key=lambda place: (-1 / (RANK_CONSTANT + place + 1) - 1 / (RANK_CONSTANT + rank_of[place]), rank_of[place]),
    )
    return [fused[place] for place in order]


def _ranked(hits: Sequence[SearchHit], place: int) -> list[_Ranked]:
    ordered = sorted(hits, key=lambda hit: -hit.relevance)
    return [
        _Ranked(hit=hit, rank=rank, list=place, identity=Identity.of_hit(hit))
        for rank, hit in enumerate(ordered, start=1)
    ]


def _by_mark(found: Sequence[_Ranked]) -> list[list[_Ranked]]:
    """Groups that share an address, a DOI or a text, directly or through each other."""
    group_of = list(range(len(found)))
    first_with: dict[tuple[str, str], int] = {}
    for place, ranked in enumerate(found):
        for mark in ranked.identity.marks:
            other = group_of[first_with.setdefault(mark, place)]
            own = group_of[place]
            if own != other:
                group_of = [min(own, other) if group in (own, other) else group for group in group_of]
    groups: dict[int, list[_Ranked]] = {}
    for ranked, group in zip(found, group_of, strict=True):
        groups.setdefault(group, []).append(ranked)
    return list(groups.values())


def _by_title(groups: Sequence[list[_Ranked]]) -> list[list[_Ranked]]:
    """Groups of the same work joined, unless one provider lists both: it knows them as two works."""
    joined: list[list[_Ranked]] = []
    for group in groups:
        same = next((other for other in joined if _one_work(other, group)), None)
        if same is None:
            joined.append(list(group))
        else:
            same.extend(group)
    return joined


def _one_work(one: Sequence[_Ranked], other: Sequence[_Ranked]) -> bool:
    if {member.list for member in one} & {member.list for member in other}:
        return False
    return any(mine.identity.same_work(theirs.identity) for mine in one for theirs in other)


def _group(members: Sequence[_Ranked], flagged: Collection[str]) -> FusedHit:
    ordered = sorted(members, key=lambda member: (member.rank, member.list))
    best: dict[int, int] = {}
    for member in ordered:
        best.setdefault(member.list, member.rank)
    score = sum(1 / (RANK_CONSTANT + rank) for rank in best.values())
    found_by = [{"provider": member.hit.provider, "rank": member.rank, "url": member.hit.url} for member in ordered]
    hits = tuple(member.hit for member in ordered)
    return FusedHit(hit=_merged(hits, found_by, flagged), score=score, hits=hits)


def _merged(hits: Sequence[SearchHit], found_by: Sequence[dict[str, Any]], flagged: Collection[str]) -> SearchHit:
    """The hit with the richest text, of equal ones that at the most credible address; what it lacks is filled in from
    the others, the best rank first."""
    richest = min(hits, key=lambda hit: _poverty(hit, tier_of_address(hit.url, flagged)))
    others = [hit for hit in hits if hit is not richest]
    ordered = [richest, *others]
    metadata: dict[str, Any] = {}
    for hit in reversed(ordered):
        metadata.update(hit.metadata)
    metadata.pop("extent", None)
    if "extent" in richest.metadata:
        metadata["extent"] = richest.metadata["extent"]
    return replace(
        richest,
        title=_first(hit.title for hit in ordered) or "",
        url=_first(hit.url for hit in ordered),
        snippet=_first(hit.snippet for hit in ordered) or "",
        relevance=max(hit.relevance for hit in hits),
        tier=_first(hit.tier for hit in ordered),
        publisher=_first(hit.publisher for hit in ordered),
        authors=max((hit.authors for hit in ordered), key=len),
        published_at=max((hit.published_at or "" for hit in ordered), key=len) or None,
        doi=_first(normal_doi(hit.doi) for hit in ordered) or richest.doi,
        metadata={**metadata, "found_by": list(found_by)},
    )


def _poverty(hit: SearchHit, tier: Tier) -> tuple[bool, int, int, float]:
    return tier is Tier.FLAGGED, list(Extent).index(_extent(hit)), -len(hit.document.text), -CREDIBILITY[tier]


def _extent(hit: SearchHit) -> Extent:
    return hit.extent if hit.document.text.strip() else Extent.NOTHING


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)
