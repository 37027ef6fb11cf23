"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graph_research.research.extractive.analysis import MOST_ROWS, Analysis, Group, Quote
from graph_research.text.language.words import language_of, terms
from graph_research.text.relevance.query import Query
from graph_research.text.relevance.short_answer import Candidate, chosen

_MOST_OF_SEVERAL = 4
_AGREEING = 0.15
"""What a quotation gains for each doubling of the sources that say so."""


class ShortAnswer(NamedTuple):
    """Its quotations, none where nothing is answered, and what no quotation names of the things that one phrase of an
    answered part asks for."""

    groups: Sequence[Group]
    unanswered: Sequence[Query]


def short_answer(analysis: Analysis) -> ShortAnswer:
    """The answer that the quotations of an analysis give."""
    groups, answers = analysis.groups, _answers(analysis)
    picked = [_current(positions, groups, analysis) for _, positions in answers]
    most = max(1, _MOST_OF_SEVERAL // max(1, len(picked)))
    quoted = [group for positions in picked for place in positions[:most] for group in _rows(groups[place], analysis)]
    return ShortAnswer(list(dict.fromkeys(quoted)), [asked for asked, positions in answers if not positions])


def _answers(analysis: Analysis) -> list[tuple[Query, list[int]]]:
    """Each thing that an answered part asks for with the positions of the groups that answer it, best first."""
    answers = []
    for number, part in enumerate(analysis.parts):
        asked = part.query.asked_together if part.found and analysis.groups else ()
        candidates = _candidates(analysis, number) if asked else []
        for query in asked:
            if extreme := _extreme(analysis, number):
                answers.append((query, extreme))
                continue
            about = [p for p, one in enumerate(candidates) if len(asked) == 1 or _names(one.text, query)]
            answers.append((query, [about[place] for place in chosen(query, [candidates[p] for p in about])]))
    return answers


def _extreme(analysis: Analysis, part: int) -> list[int]:
    """The positions of the rows of the best table that have the largest or smallest value that a part asks for."""
    groups = analysis.groups
    found = [n for n, group in enumerate(groups) if group.lead.extreme and group.lead.part == part]
    found.sort(key=lambda n: -groups[n].lead.shares[part])
    best = [(groups[n].lead.source_id, groups[n].lead.table) for n in found[:1]]
    return [n for n in found if (groups[n].lead.source_id, groups[n].lead.table) in best]


def _names(text: str, query: Query) -> bool:
    """Whether a text has a word of what one of several things asks for, in the language of the question."""
    return not query.own_terms.isdisjoint(_terms(text, query.language))


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


def _current(positions: Sequence[int], groups: Sequence[Group], analysis: Analysis) -> list[int]:
    """The positions without those of a superseded source where its newer version answers too, and those of an earlier
    mail where the one that quotes it does."""
    leads = {position: groups[position].lead for position in positions}
    answering = {lead.source_id for lead in leads.values() if not lead.earlier}
    return [
        position
        for position, lead in leads.items()
        if (lead.source_id if lead.earlier else analysis.sources[lead.source_id].newer) not in answering
    ]


def _candidates(analysis: Analysis, part: int) -> list[Candidate]:
    """The lead of each group, with the score of the best in the group, since they say the same. A score for several
    things that are asked together says little of each: then it is more where several sources say so."""
    gain = _AGREEING if len(analysis.parts[part].query.asked_together) > 1 else 0.0
    return [
        Candidate(
            group.lead.text,
            max(_share(quote, part) for quote in group.quotes) * (1.0 + gain * math.log2(len(group.quotes))),
            kind=group.lead.kind,
            above=f"{group.lead.title} {group.lead.heading} {group.lead.header}",
        )
        for group in analysis.groups
    ]


def _share(quote: Quote, part: int) -> float:
    if part >= len(quote.shares) or quote.completes_table:
        return 0.0
    return quote.shares[part]
