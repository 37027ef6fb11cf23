"""How sure the report may be, in one word, with every factor that made it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from graph_research.research.evidence.citations import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.finding import Claim, Gap
from graph_research.research.report.formatting import number
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import ConfidenceFactor, ReportConfidence

_HIGH, _MEDIUM = 0.7, 0.4
_STRONG_CLAIM = 0.6
_FULL_SOURCES = 10
"""Job confidence counts at most ten sources."""

Level = Literal["high", "medium", "low", "none"]


def confidence_of(
    scored: Mapping[str, Any],
    labels: Labels,
    *,
    claims: Sequence[Claim],
    gaps: Sequence[Gap],
    cited: Cited,
    origins: int,
) -> ReportConfidence:
    """The state's `confidence` channel as a word with factors; one origin is never `high`.

    `origins` counts who stands behind the cited sources. A claim is strong from 0.6 on where nothing contradicts it.
    """
    value = scored.get("confidence")
    strong = [claim.id for claim in claims if claim.confidence >= _STRONG_CLAIM and not claim.contradiction]
    return ReportConfidence(
        value=None if value is None else round(float(value), 4),
        level=_level(value, origins),
        factors=[
            *_claim_factors(claims, int(scored.get("source_count") or 0), labels),
            ConfidenceFactor(name=labels.origins, value=str(origins), effect=labels.origins_effect),
            _disagreements_factor(cited, labels),
            _proved_factor(cited, labels),
            _gaps_factor(gaps, labels),
        ],
        strong=strong,
        weak=[claim.id for claim in claims if claim.id not in strong],
    )


def _level(value: float | None, origins: int) -> Level:
    if value is None:
        return "none"
    if value >= _HIGH:
        return "high" if origins > 1 else "medium"
    return "medium" if value >= _MEDIUM else "low"


def _claim_factors(claims: Sequence[Claim], sources: int, labels: Labels) -> list[ConfidenceFactor]:
    if not claims:
        return [ConfidenceFactor(name=labels.no_claims, value=labels.none, effect=labels.no_claims_effect)]
    mean = sum(claim.confidence for claim in claims) / len(claims)
    share = number(min(sources / _FULL_SOURCES, 1), labels, 2)
    return [
        ConfidenceFactor(
            name=labels.claims_mean,
            value=number(mean, labels, 2),
            effect=labels.claims_mean_effect.format(n=len(claims)),
        ),
        ConfidenceFactor(
            name=labels.source_count,
            value=str(sources),
            effect=labels.source_count_effect.format(share=share, full=_FULL_SOURCES),
        ),
    ]


def _disagreements_factor(cited: Cited, labels: Labels) -> ConfidenceFactor:
    number = len(cited.contradictions)
    effect = labels.disagreement_effect if number else labels.no_disagreement_effect
    return ConfidenceFactor(name=labels.disagreement_count, value=str(number), effect=effect)


def _proved_factor(cited: Cited, labels: Labels) -> ConfidenceFactor:
    facts = [row for row in cited.statements() if row.kind in (StatementKind.QUOTE, StatementKind.FACT)]
    carried = sum(fact.status is not Status.UNSUPPORTED for fact in facts)
    return ConfidenceFactor(
        name=labels.supported_statements,
        value=labels.of.format(n=carried, all=len(facts)),
        effect=labels.supported_effect if carried == len(facts) else labels.supported_partly_effect,
    )


def _gaps_factor(gaps: Sequence[Gap], labels: Labels) -> ConfidenceFactor:
    still_open = sum(not gap.addressed for gap in gaps)
    effect = labels.open_effect if still_open else labels.no_open_effect
    return ConfidenceFactor(name=labels.open_questions, value=str(still_open), effect=effect)
