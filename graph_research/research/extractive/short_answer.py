"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.text.relevance.short_answer import within_budget


def short_answer(analysis: Analysis) -> list[Group]:
    """Empty where nothing is answered."""
    answered = [number for number, part in enumerate(analysis.parts) if part.found]
    groups = analysis.groups
    if not answered or not groups:
        return []
    if len(analysis.parts) > 1:
        return list(dict.fromkeys(_best_for(number, groups) for number in answered))
    leads = [group.lead for group in groups]
    picked = within_budget(analysis.query, [lead.text for lead in leads], [lead.covered for lead in leads])
    return [groups[position] for position in picked]


def _best_for(part: int, groups: Sequence[Group]) -> Group:
    return max(groups, key=lambda group: group.lead.shares[part] if part < len(group.lead.shares) else 0.0)
