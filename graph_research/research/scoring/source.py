"""A source's composite score: authority, recency, relevance and credibility, weighted."""

from __future__ import annotations

import math
from datetime import datetime

from graph_research.research.models.source import SourceScore, Tier
from graph_research.research.scoring.tiers import AUTHORITY, CREDIBILITY
from graph_research.text.language.dates import moment

UNKNOWN_RECENCY = 0.5
_DECAY_DAYS = 180.0
_SECONDS_A_DAY = 86_400.0


def score_source(*, tier: Tier, relevance: float, published_at: str | None, now: datetime) -> SourceScore:
    """All four dimensions of a source whose authority follows from its tier."""
    authority = AUTHORITY[tier]
    credibility = CREDIBILITY[tier]
    fresh = recency(published_at, now)
    relevant = min(max(relevance, 0.0), 1.0)
    return SourceScore(
        authority=authority,
        recency=fresh,
        relevance=relevant,
        credibility=credibility,
        composite=composite(authority=authority, recency=fresh, relevance=relevant, credibility=credibility),
    )


def composite(*, authority: float, recency: float, relevance: float, credibility: float) -> float:
    """0.25 authority/100 + 0.20 recency + 0.35 relevance + 0.20 credibility, clamped to 0 to 1."""
    total = 0.25 * authority / 100 + 0.20 * recency + 0.35 * relevance + 0.20 * credibility
    return min(max(total, 0.0), 1.0)


def recency(published_at: str | None, now: datetime) -> float:
    """exp(-days/180), where a date in the future counts as today; 0.5 for an unknown date."""
    published = moment(published_at)
    if published is None:
        return UNKNOWN_RECENCY
    days = max((now - published).total_seconds() / _SECONDS_A_DAY, 0.0)
    return math.exp(-days / _DECAY_DAYS)
