"""Sections of a report: groups of sentences clustered by what they speak of, under phrases found in the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.clusters import cluster, unit
from graph_research.research.extractive.headings import choose_heading
from graph_research.research.extractive.question import Question
from graph_research.research.extractive.ranking import Pool
from graph_research.research.extractive.sources import SourceFacts

__all__ = ["Outline", "Section", "outline"]

_MOST_SECTIONS = 6
_FEWEST_SECTIONS = 3
_LARGEST = 5
_MOST_ON_PAGE = 22
_FILLED = 4
_FEWEST = 2
_SHARED_ON_PAGE = 18
_LEAST_SIMILARITY = 0.12
_FACET_WEIGHT = 1.0
_HEADING_WEIGHT = 0.4
_CLAUSE_WEIGHT = 0.5


@dataclass(frozen=True, kw_only=True)
class Section:
    """Groups in reading order: facet, tier, date, then place in the document."""

    heading: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """At most six sections of two to five groups, and what did not fit, best first."""

    sections: tuple[Section, ...]
    rest: tuple[Group, ...]


def outline(groups: Sequence[Group], question: Question, pool: Pool, sources: Mapping[str, SourceFacts]) -> Outline:
    """Sections by clustering. A sentence that stands alone goes to the rest, unless that leaves too few sections."""
    page, rest = _page(groups, question)
    vectors = [_vector(group, question, pool) for group in page]
    clusters = cluster(vectors, most=_MOST_SECTIONS, largest=_LARGEST, least_similarity=_LEAST_SIMILARITY)
    kept = _kept([[page[index] for index in members] for members in clusters])
    on_page = {group for members in kept for group in members}
    left = _filled_up(kept, [group for group in [*page, *rest] if group not in on_page])
    sections: list[Section] = []
    for members in sorted(kept, key=lambda inside: _reading_place(inside, question)):
        heading = choose_heading(members, question, pool, [section.heading for section in sections])
        ordered = sorted(members, key=lambda group: _reading_key(group, sources))
        sections.append(Section(heading=heading, groups=tuple(ordered)))
    return Outline(sections=tuple(sections), rest=tuple(left))


def _kept(clusters: Sequence[list[Group]]) -> list[list[Group]]:
    """The six best clusters of several members, and single ones where there are fewer than three."""
    ranked = sorted(clusters, key=lambda members: -sum(group.score for group in members))
    kept = [members for members in ranked if len(members) > 1][:_MOST_SECTIONS]
    alone = [members for members in ranked if len(members) == 1]
    return kept + alone[: max(0, _FEWEST_SECTIONS - len(kept))]


def _filled_up(kept: Sequence[list[Group]], left: Sequence[Group]) -> list[Group]:
    """Adds to short sections what speaks of a facet that is only theirs, best first; returns what is left then."""
    room = _MOST_ON_PAGE - sum(len(members) for members in kept)
    remaining = []
    for group in left:
        homes = [members for members in kept if any(group.facet == other.facet for other in members)]
        wanted = _FILLED if group.facet >= 0 else _FEWEST
        if len(homes) == 1 and len(homes[0]) < wanted and room > 0:
            homes[0].append(group)
            room -= 1
        else:
            remaining.append(group)
    return remaining


def _page(groups: Sequence[Group], question: Question) -> tuple[list[Group], list[Group]]:
    """The best groups for one page, no facet with more than its share of it, and the others."""
    share = max(2, _SHARED_ON_PAGE // max(1, len(question.facets)))
    seen: Counter[int] = Counter()
    page: list[Group] = []
    rest: list[Group] = []
    for group in groups:
        seen[group.facet] += 1
        (page if seen[group.facet] <= share and len(page) < _MOST_ON_PAGE else rest).append(group)
    return page, rest


def _vector(group: Group, question: Question, pool: Pool) -> dict[str, float]:
    """TF-IDF of the sentence without the subject, with its heading, facet and clause as further dimensions."""
    subject = question.subject.stems if question.subject else frozenset()
    counts = Counter(base for base in group.lead.stems if base not in subject and not base[0].isdigit())
    weights = {base: count * pool.idf(base) for base, count in counts.items()}
    vector = unit(weights)
    frame = unit({base: pool.idf(base) for base in group.lead.frame_stems - subject})
    for base, value in frame.items():
        vector[base] = vector.get(base, 0.0) + _HEADING_WEIGHT * value
    if group.facet >= 0:
        vector[f"facet:{group.facet}"] = _FACET_WEIGHT
        vector[f"clause:{question.facets[group.facet].clause}"] = _CLAUSE_WEIGHT
    return unit(vector)


def _reading_place(groups: list[Group], question: Question) -> tuple[int, float]:
    """Sections follow the question's facets, those of no facet come last; then the best sentence first."""
    facets = Counter(group.facet for group in groups)
    facet = min(facets, key=lambda index: (-facets[index], index))
    return (facet if facet >= 0 else len(question.facets), -max(group.score for group in groups))


def _reading_key(group: Group, sources: Mapping[str, SourceFacts]) -> tuple[int, int, str, str, int]:
    facts = sources[group.lead.source_id]
    facet = group.facet if group.facet >= 0 else 99
    newest_first = "".join(chr(0x10FFFF - ord(char)) if char else "" for char in facts.date) or "\U0010ffff"
    return (facet, facts.tier_rank, newest_first, group.lead.source_id, group.lead.start)
