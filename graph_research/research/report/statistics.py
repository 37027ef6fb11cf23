"""Statistics of a run: seconds, calls, tokens, cost, and how much of the sources the models were shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from graph_research.research.report.model import (
    ContentFidelity,
    GatheringStatistics,
    ReportSource,
    ReportStatistics,
    Usage,
    UsageTotals,
)
from graph_research.research.report.run_metadata import RunFacts

__all__ = ["statistics_of"]

_SHARES = {"full": 1.0, "condensed": 0.7, "compressed": 0.4, "digest": 0.3, "key_points": 0.2, "headline": 0.1}
"""What a level keeps of a text (requirements 13.4); a digest is expected at under a third."""

_FREE = frozenset({"extractive", "local"})


def statistics_of(
    run: RunFacts,
    sources: Sequence[ReportSource],
    origins: int,
    *,
    token_limit_retries: int = 0,
    gathering: GatheringStatistics | None = None,
) -> ReportStatistics:
    """The run's numbers; `origins` counts who stands behind the cited sources."""
    return ReportStatistics(
        wall_seconds=round(run.wall_seconds, 3),
        model_seconds=round(sum(row.seconds for row in run.usage), 3),
        calls=sum(row.calls for row in run.usage),
        searches=run.searches,
        retries=list(run.retries),
        possibly_paid_twice=0 if _is_free(run) else run.possibly_paid_twice,
        usage=list(run.usage),
        totals=_totals(run.usage),
        model_roles=dict(run.model_roles),
        token_limit_retries=token_limit_retries,
        content_fidelity=_fidelity(sources),
        gathering=gathering or GatheringStatistics(),
        sources_found=len(sources),
        sources_cited=sum(bool(source.citations) for source in sources),
        origins_cited=origins,
    )


def _is_free(run: RunFacts) -> bool:
    """Whether nothing that the run calls costs money, so that no call can have been paid twice."""
    return _FREE.issuperset({*run.models.values(), *run.search})


def _totals(rows: Sequence[Usage]) -> UsageTotals:
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return UsageTotals(
        calls=sum(row.calls for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost_usd=round(sum(costs), 6) if len(costs) == len(rows) else None,
    )


def _fidelity(sources: Sequence[ReportSource]) -> ContentFidelity:
    levels = Counter(source.fidelity for source in sources)
    shares = [_SHARES.get(source.fidelity, 0.0) for source in sources]
    score = sum(shares) / len(shares) if shares else 1.0
    return ContentFidelity(levels=dict(sorted(levels.items())), score=round(score, 4), band=_band(score))


def _band(score: float) -> Literal["full", "condensed", "compressed", "minimal"]:
    """The bands of requirements 13.9."""
    if score >= 0.9:
        return "full"
    if score >= 0.6:
        return "condensed"
    return "compressed" if score >= 0.3 else "minimal"
