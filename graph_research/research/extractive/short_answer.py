"""The short answer: two or three sentences of different origin that together cover most of the question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.question import Facet, Question
from graph_research.research.extractive.ranking import DEFINES
from graph_research.research.extractive.sources import SourceFacts
from graph_research.text.language.stems import words

_PAIR = re.compile(r"[.!]\s[A-Z]")
_POINTS_BACK = re.compile(r"^(?:\w+\s){0,5}(?:this|these|such)\s")
_MOST = 3
_FEWEST = 2
_MOST_WORDS = 45
_LEAST_OF_BEST = 0.6
_CLUMSY_PAIR = 0.15
_CLUMSY_POINTER = 0.05
_TIER = 0.15
_SCORE = 0.35
_TYPED = 0.15
_SUBJECT = 0.2
_AGREED = 0.1
_DEFINED = 0.35


def short_answer(groups: Sequence[Group], question: Question, sources: Mapping[str, SourceFacts]) -> list[Group]:
    """Greedy: each sentence adds the most uncovered weight of the question, then rank; no two of one origin.

    Only well-ranked sentences are taken, and beyond the second only one that adds a facet. Where all that is well
    ranked has one origin, that one gives them all.
    """
    best = max((group.score for group in groups), default=0.0) or 1.0
    fit = [g for g in groups if g.score >= _LEAST_OF_BEST * best and len(words(g.lead.text)) <= _MOST_WORDS]
    origins = {sources[group.lead.source_id].origin for group in fit}
    picked: list[Group] = []
    while len(picked) < _MOST:
        covered = _covered(picked, question)
        taken = {sources[group.lead.source_id].origin for group in picked} if len(origins) > 1 else frozenset()
        options = [g for g in fit if g not in picked and sources[g.lead.source_id].origin not in taken]
        chosen = max(
            options,
            key=lambda g: _gain(g, question, covered) + _worth(g, question, best) + _tier(g, sources),
            default=None,
        )
        if chosen is None or (picked and len(picked) >= _FEWEST and _gain(chosen, question, covered) <= 0.0):
            break
        picked.append(chosen)
    return picked


def _covered(picked: Sequence[Group], question: Question) -> dict[Facet, float]:
    return {
        facet: max((facet.share(group.lead.stem_set) for group in picked), default=0.0) for facet, _ in question.parts
    }


def _gain(group: Group, question: Question, covered: Mapping[Facet, float]) -> float:
    total = sum(weight for _, weight in question.parts) or 1.0
    return (
        sum(
            weight * max(0.0, facet.share(group.lead.stem_set) - covered.get(facet, 0.0))
            for facet, weight in question.parts
        )
        / total
    )


def _tier(group: Group, sources: Mapping[str, SourceFacts]) -> float:
    return _TIER * (1.0 - sources[group.lead.source_id].tier_rank / 4)


def _worth(group: Group, question: Question, best: float) -> float:
    """Rank, agreement of several sources, the subject by name, a number or date where the question wants one.

    A pair of sentences, and one that opens on what came before it, is worth less here.
    """
    typed = (question.wants_number and re.search(r"\d", group.lead.text)) or (
        question.wants_date and re.search(r"\b(?:1\d|20)\d\d\b", group.lead.text)
    )
    subject = question.about(group.lead.stem_set)
    defines = not question.facets and DEFINES.match(group.lead.text)
    clumsy = _CLUMSY_PAIR if _PAIR.search(group.lead.text) else 0.0
    clumsy += _CLUMSY_POINTER if _POINTS_BACK.search(group.lead.text) else 0.0
    bonus = (_TYPED if typed else 0.0) + (_DEFINED if defines else 0.0) + (_AGREED if group.others else 0.0)
    return _SCORE * group.score / best + _SUBJECT * subject + bonus - clumsy
