"""How sure the report may be, in one word, with every factor that made it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from graph_research.research.evidence.citations import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.finding import Claim, Gap
from graph_research.research.report.labels import ENGLISH
from graph_research.research.report.model import ConfidenceFactor, ReportConfidence
from graph_research.text.wording import counted

_HIGH, _MEDIUM = 0.7, 0.4
_STRONG_CLAIM = 0.6
_FULL_SOURCES = 10
"""Job confidence counts at most ten sources."""

Level = Literal["high", "medium", "low", "none"]


def confidence_of(
    scored: Mapping[str, Any], *, claims: Sequence[Claim], gaps: Sequence[Gap], cited: Cited, origins: int
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
            *_claim_factors(claims, int(scored.get("source_count") or 0)),
            _origins_factor(origins),
            _disagreements_factor(cited),
            _proved_factor(cited),
            _gaps_factor(gaps),
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


def _claim_factors(claims: Sequence[Claim], sources: int) -> list[ConfidenceFactor]:
    if not claims:
        return [ConfidenceFactor(name="Claims", value="none", effect="there are no claims to score")]
    mean = sum(claim.confidence for claim in claims) / len(claims)
    return [
        ConfidenceFactor(
            name="Mean confidence of the claims",
            value=f"{mean:.2f}",
            effect=f"{counted(len(claims), 'claim')}, each scored by its sources",
        ),
        ConfidenceFactor(
            name="Number of sources",
            value=str(sources),
            effect=f"× {min(sources / _FULL_SOURCES, 1):.2f}; {_FULL_SOURCES} or more count in full",
        ),
    ]


def _origins_factor(origins: int) -> ConfidenceFactor:
    effect = "publishers or authors of the cited sources; a single origin is never rated high"
    return ConfidenceFactor(name="Independent origins", value=str(origins), effect=effect)


def _disagreements_factor(cited: Cited) -> ConfidenceFactor:
    number = len(cited.contradictions)
    effect = "both sides are shown; each contradicting source lowers a claim by 0.15" if number else "none found"
    return ConfidenceFactor(name="Disagreements", value=str(number), effect=effect)


def _proved_factor(cited: Cited) -> ConfidenceFactor:
    facts = [row for row in cited.statements() if row.kind in (StatementKind.QUOTE, StatementKind.FACT)]
    carried = sum(fact.status is not Status.UNSUPPORTED for fact in facts)
    effect = (
        "each with a citation that was checked against the archived text"
        if carried == len(facts)
        else ("the rest is marked (unsupported)")
    )
    return ConfidenceFactor(name="Statements with proof", value=f"{carried} of {len(facts)}", effect=effect)


def _gaps_factor(gaps: Sequence[Gap]) -> ConfidenceFactor:
    still_open = sum(not gap.addressed for gap in gaps)
    effect = "listed in the report" if still_open else "none were noted"
    return ConfidenceFactor(name=ENGLISH.open_questions, value=str(still_open), effect=effect)
