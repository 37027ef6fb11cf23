"""How many sources give the same measure: what several state of a thing is the answer more often than what one does."""

from __future__ import annotations

from collections import defaultdict

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.research.scoring.origin import independent
from graph_research.text.language.quantities import values
from graph_research.text.language.words import language_of, terms

_Measure = tuple[str, str, float, float]
"""A word of the question, and the unit and bounds of a value in a text that has the word."""


def agreeing(analysis: Analysis, part: int) -> list[int]:
    """For each group, how many origins besides its own give one of its measures beside the same word of the part."""
    measures = [_measures(group, analysis, part) for group in analysis.groups]
    origins: defaultdict[_Measure, set[str]] = defaultdict(set)
    for group, found in zip(analysis.groups, measures, strict=True):
        for measure in found:
            origins[measure].update(analysis.sources[quote.source_id].origin for quote in group.quotes)
    return [max((independent(origins[measure]) - 1 for measure in found), default=0) for found in measures]


def _measures(group: Group, analysis: Analysis, part: int) -> set[_Measure]:
    query, text = analysis.parts[part].query, group.lead.text
    shared = query.own_terms.intersection(terms(text, language_of(text)))
    measured = [value for value in values(text) if value.unit and not value.date] if shared else []
    return {(term, value.unit, value.low, value.high) for value in measured for term in shared}
