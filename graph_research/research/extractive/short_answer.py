"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.text.relevance.short_answer import within_budget

_SAME_ORIGIN = 0.1


def short_answer(analysis: Analysis) -> list[Group]:
    """Empty where nothing is answered. Of two quotations of nearly the same rank that of another origin is taken."""
    answered = [number for number, part in enumerate(analysis.parts) if part.found]
    if len(analysis.parts) > 1:
        return list(dict.fromkeys(_best_for(number, analysis.groups) for number in answered if analysis.groups))
    if not answered:
        return []
    ordered = _ordered(analysis)
    picked = within_budget(analysis.query, [g.lead.text for g in ordered], [g.lead.covered for g in ordered])
    return [ordered[position] for position in picked]


def _best_for(part: int, groups: Sequence[Group]) -> Group:
    return max(groups, key=lambda group: group.lead.shares[part] if part < len(group.lead.shares) else 0.0)


def _ordered(analysis: Analysis) -> list[Group]:
    """The groups by rank, lower where the origin was taken before."""
    seen: set[str] = set()
    ranked = []
    for group in sorted(analysis.groups, key=lambda group: -group.lead.score):
        origin = analysis.sources[group.lead.source_id].origin
        ranked.append((group.lead.score - _SAME_ORIGIN * (origin in seen), group))
        seen.add(origin)
    return [group for _, group in sorted(ranked, key=lambda pair: -pair[0])]
