"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from graph_research.research.extractive.analysis import MOST_ROWS, Analysis, Group, Part, Quote
from graph_research.research.scoring.origin import independent
from graph_research.text.language.words import held_share, language_of, terms
from graph_research.text.relevance.short_answer import Candidate, chosen

_MOST_OF_SEVERAL = 4
_ENOUGH = 0.5
"""Of the weight of a part's own words."""
_AGREEING = 0.15
"""What a quotation gains for each doubling of the independent sources that say so."""


def short_answer(analysis: Analysis) -> list[Group]:
    """The quotations that answer, none where nothing is answered. Where several parts are answered, each gets its share
    of four quotations, and more until these hold half of the part's own words, by weight."""
    answers = _answers(analysis)
    most = max(1, _MOST_OF_SEVERAL // max(1, len(answers)))
    quoted: list[Group] = []
    for part, groups in answers:
        own = {word.term: word.weight for word in part.query.own_words}
        held: set[str] = set()
        for count, group in enumerate(groups):
            if count >= most and held_share(own, held) >= _ENOUGH:
                break
            held |= _terms(group.lead.text, part.query.language)
            quoted += _rows(group, analysis)
    return list(dict.fromkeys(quoted))


def _answers(analysis: Analysis) -> list[tuple[Part, list[Group]]]:
    """Each answered part with the groups that answer it, best first."""
    answers = []
    for number, part in enumerate(analysis.parts if analysis.groups else ()):
        if part.found:
            positions = _extreme(analysis, number) or chosen(part.query, _candidates(analysis, number))
            answers.append((part, [analysis.groups[place] for place in _current(positions, analysis)]))
    return answers


def _extreme(analysis: Analysis, part: int) -> list[int]:
    """The positions of the rows of the best table that have the largest or smallest value that a part asks for."""
    groups = analysis.groups
    found = [n for n, group in enumerate(groups) if group.lead.extreme and group.lead.part == part]
    found.sort(key=lambda n: -groups[n].lead.shares[part])
    best = [(groups[n].lead.source_id, groups[n].lead.table) for n in found[:1]]
    return [n for n in found if (groups[n].lead.source_id, groups[n].lead.table) in best]


@lru_cache(maxsize=1024)
def _terms(text: str, language: str) -> frozenset[str]:
    """The terms of a quotation, which several parts of a question and rounds ask for."""
    return frozenset(terms(text, language))


def _rows(group: Group, analysis: Analysis) -> list[Group]:
    """The group; of a small table every row where the group's has no word of the question, which then names columns."""
    lead = group.lead
    rows = [g for g in analysis.groups if (g.lead.source_id, g.lead.table) == (lead.source_id, lead.table)]
    asked = analysis.query.weights(language := language_of(lead.text))
    if lead.extreme or lead.table < 0 or len(rows) > MOST_ROWS or asked.keys() & _terms(lead.text, language):
        return [group]
    return sorted(rows, key=lambda row: row.lead.start)


def _current(positions: Sequence[int], analysis: Analysis) -> list[int]:
    """The positions without those of a superseded source where its newer version answers too, and those of an earlier
    mail where the one that quotes it does."""
    leads = {position: analysis.groups[position].lead for position in positions}
    answering = {lead.source_id for lead in leads.values() if not lead.earlier}
    return [
        position
        for position, lead in leads.items()
        if (lead.source_id if lead.earlier else analysis.sources[lead.source_id].newer) not in answering
    ]


def _candidates(analysis: Analysis, part: int) -> list[Candidate]:
    """The lead of each group, with the score of the best in the group, since they say the same; the more independent
    sources say so, the more."""
    candidates = []
    for group in analysis.groups:
        origins = independent(analysis.sources[quote.source_id].origin for quote in group.quotes)
        score = max(_share(quote, part) for quote in group.quotes) * (1.0 + _AGREEING * math.log2(origins))
        above = f"{group.lead.title} {group.lead.heading} {group.lead.header}"
        candidates.append(Candidate(group.lead.text, score, kind=group.lead.kind, above=above))
    return candidates


def _share(quote: Quote, part: int) -> float:
    if part >= len(quote.shares) or quote.completes_table:
        return 0.0
    return quote.shares[part]
