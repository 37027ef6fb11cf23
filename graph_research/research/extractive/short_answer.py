"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.research.extractive.analysis import MOST_ROWS, Analysis, Group, Quote
from graph_research.text.language.words import language_of, terms
from graph_research.text.relevance.short_answer import Candidate, chosen

_MOST_OF_SEVERAL = 4


def short_answer(analysis: Analysis) -> list[Group]:
    """Empty where nothing is answered."""
    groups = analysis.groups
    answered = [number for number, part in enumerate(analysis.parts) if part.found] if groups else []
    picked = [
        _current(chosen(analysis.parts[number].query, _candidates(analysis, number)), groups, analysis)
        for number in answered
    ]
    most = max(1, _MOST_OF_SEVERAL // len(analysis.parts))
    quoted = [group for positions in picked for place in positions[:most] for group in _rows(groups[place], analysis)]
    return list(dict.fromkeys(quoted))


def _rows(group: Group, analysis: Analysis) -> list[Group]:
    """The group; of a small table every row where the group's has no word of the question, which then names columns."""
    lead = group.lead
    rows = [g for g in analysis.groups if (g.lead.source_id, g.lead.table) == (lead.source_id, lead.table)]
    asked = analysis.query.weights(language := language_of(lead.text))
    if lead.table < 0 or len(rows) > MOST_ROWS or asked.keys() & set(terms(lead.text, language)):
        return [group]
    return sorted(rows, key=lambda row: row.lead.start)


def _current(positions: Sequence[int], groups: Sequence[Group], analysis: Analysis) -> list[int]:
    """The positions without those of a superseded source where its newer version answers too."""
    sources = [groups[position].lead.source_id for position in positions]
    return [
        position
        for position, source in zip(positions, sources, strict=True)
        if analysis.sources[source].newer not in sources
    ]


def _candidates(analysis: Analysis, part: int) -> list[Candidate]:
    """The lead of each group, with the score of the best in the group, since they say the same."""
    return [
        Candidate(
            group.lead.text,
            max(_share(quote, part) for quote in (group.lead, *group.others)),
            kind=group.lead.kind,
        )
        for group in analysis.groups
    ]


def _share(quote: Quote, part: int) -> float:
    return quote.shares[part] if part < len(quote.shares) and not quote.completes_table else 0.0
