"""Sentences that say the same: near-duplicates, and the same statement with the same value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from graph_research.research.extractive.ranking import Ranked
from graph_research.research.extractive.sentences import Sentence
from graph_research.research.extractive.sources import SourceFacts
from graph_research.text.language.quantities import agree
from graph_research.text.relevance.conflicts import SourceSentence
from graph_research.text.relevance.statements import Frame, frames, same_statement

_ALIKE = 88.0
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, kw_only=True)
class Group:
    """`lead` is quoted; `others` say the same elsewhere. Score and facet are the best member's."""

    lead: Sentence
    others: tuple[Sentence, ...]
    score: float
    facet: int

    @property
    def passages(self) -> tuple[Sentence, ...]:
        return (self.lead, *self.others)


class _Merged:
    """A group while it grows."""

    def __init__(self, first: Ranked, read: list[Frame]) -> None:
        self.members = [first]
        self.frames = read

    def fits(self, ranked: Ranked, read: list[Frame]) -> bool:
        return any(_alike(member.passage, ranked.passage) for member in self.members) or _same_values(self.frames, read)


def merge(ranked: Sequence[Ranked], sources: Mapping[str, SourceFacts], most: int) -> list[Group]:
    """The first `most` groups in the order of their best members. Of each source a group keeps one sentence.

    The member of the best tier leads; overlapping quotes of one document count as one.
    """
    growing: list[_Merged] = []
    for item in ranked:
        read = frames(source_sentence(item.passage, sources))
        known = next((group for group in growing if group.fits(item, read)), None)
        if known is not None:
            known.members.append(item)
        elif len(growing) < most:
            growing.append(_Merged(item, read))
    return [_group(merged, sources) for merged in growing]


def source_sentence(passage: Sentence, sources: Mapping[str, SourceFacts]) -> SourceSentence:
    """The passage as the search for contradictions takes it; copies of one text are one origin."""
    facts = sources[passage.source_id]
    return SourceSentence(
        source_id=passage.source_id,
        origin=facts.copy_of,
        text=passage.text,
        start=passage.start,
        end=passage.end,
        title=passage.title,
        heading=passage.heading,
    )


def _group(merged: _Merged, sources: Mapping[str, SourceFacts]) -> Group:
    best = merged.members[0]
    ordered = sorted(merged.members, key=lambda item: (sources[item.passage.source_id].tier_rank, -item.score))
    lead = ordered[0].passage
    others: dict[str, Sentence] = {}
    for item in ordered[1:]:
        if item.passage.source_id != lead.source_id:
            others.setdefault(item.passage.source_id, item.passage)
    return Group(lead=lead, others=tuple(others.values()), score=best.score, facet=best.facet)


def _alike(one: Sentence, other: Sentence) -> bool:
    if one.source_id == other.source_id and one.start < other.end and other.start < one.end:
        return True
    if _NUMBERS.findall(one.text) != _NUMBERS.findall(other.text):
        return False
    smaller, larger = sorted((one.stem_set, other.stem_set), key=len)
    if len(smaller) * 2 < len(larger):
        return False
    if len(smaller & larger) >= 0.85 * len(larger):
        return True
    return fuzz.token_sort_ratio(one.text, other.text, score_cutoff=_ALIKE) > 0.0


def _same_values(one: list[Frame], other: list[Frame]) -> bool:
    """Whether every value of the shorter sentence is given for the same thing in the other."""
    if not one or not other:
        return False
    fewer, more = sorted((one, other), key=len)
    return all(any(same_statement(a, b) and agree(a.value, b.value) for b in more) for a in fewer)
