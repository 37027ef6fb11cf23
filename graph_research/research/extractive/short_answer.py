"""The short answer: the best quotation of each part of the question, or the best few where it asks one thing."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.text.language.scope import scopes
from graph_research.text.relevance.short_answer import within_budget

_LESS_HELD, _OTHER_SCOPE = 1.0, 0.2


def short_answer(analysis: Analysis) -> list[Group]:
    """Empty where nothing is answered. A quotation comes later the less of the question it holds, and where it
    speaks of a plan, a rate or a part ("scheduled to begin") and the question does not."""
    answered = [number for number, part in enumerate(analysis.parts) if part.found]
    groups = _ordered(analysis)
    if not answered or not groups:
        return []
    if len(analysis.parts) > 1:
        return list(dict.fromkeys(_best_for(number, groups) for number in answered))
    leads = [group.lead for group in groups]
    picked = within_budget(analysis.query, [lead.text for lead in leads], [lead.covered for lead in leads])
    return [groups[position] for position in picked]


def _best_for(part: int, groups: Sequence[Group]) -> Group:
    return max(groups, key=lambda group: group.lead.shares[part] if part < len(group.lead.shares) else 0.0)


def _ordered(analysis: Analysis) -> list[Group]:
    language = analysis.query.language
    asked = scopes(analysis.query.text, language)
    most = max((group.lead.covered for group in analysis.groups), default=0.0) or 1.0

    def rank(group: Group) -> float:
        lowered = _LESS_HELD * (1.0 - group.lead.covered / most)
        return group.lead.score - lowered - _OTHER_SCOPE * bool(scopes(group.lead.text, language) - asked)

    return sorted(analysis.groups, key=rank, reverse=True)
