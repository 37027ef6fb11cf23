"""How sure the report may be, in one word, with every factor that made it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from graph_research.research.evidence.cited import Cited
from graph_research.research.evidence.claim_support import Status
from graph_research.research.evidence.claims import support_by
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.finding import Gap
from graph_research.research.models.source import Tier
from graph_research.research.report.formatting import number, percent
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import ConfidenceFactor, ReportClaim, ReportConfidence, ReportSource
from graph_research.research.scoring.claim import ENOUGH_SOURCES, HIGH_FROM, MEDIUM_FROM, claim_level
from graph_research.research.scoring.origin import independent
from graph_research.research.scoring.tiers import CREDIBILITY, Makers

Level = Literal["high", "medium", "low", "none"]


def confidence_of(
    scored: Mapping[str, Any],
    labels: Labels,
    *,
    claims: Sequence[ReportClaim],
    gaps: Sequence[Gap],
    limits: int,
    cited: Cited,
    origins: int,
    failures: int,
) -> ReportConfidence:
    """The state's `confidence` channel as a word with factors.

    `origins` counts who stands behind the cited sources, `limits` the points that reading did not find, `failures` the
    parts of the research that failed. The word is `high` only with two origins and where no part failed and no sentence
    failed its check. `strong` are the claims whose own word is high, none in a report whose word is low; all others are
    `weak` that are low, disputed or rest on one origin.
    """
    value = scored.get("confidence")
    is_whole = origins > 1 and not failures and not _unsupported_count(cited)
    level = _level(value, is_whole=is_whole)
    strong = [claim.id for claim in claims if claim.level == "high"] if level in ("high", "medium") else []
    return ReportConfidence(
        value=None if value is None else round(float(value), 4),
        level=level,
        factors=[
            *_claim_factors(claims, int(scored.get("source_count") or 0), labels),
            ConfidenceFactor(name=labels.origins, value=str(origins), effect=labels.origins_effect),
            _disagreements_factor(cited, labels),
            _proved_factor(cited, labels),
            _open_factor(labels.open_questions, sum(not gap.addressed for gap in gaps), labels),
            _open_factor(labels.not_found_in_reading, limits, labels),
        ],
        strong=strong,
        weak=[claim.id for claim in claims if claim.level == "low" or claim.contradiction or claim.origins < 2],
    )


def explained(
    claim: ReportClaim, sources: Mapping[str, ReportSource], makers: Makers, quotes: Sequence[str], labels: Labels
) -> ReportClaim:
    """The claim with its word and the reasons for it: independent origins, each counted once, the best tier of its
    sources, origins against it, and how far the words of its `quotes` support it.

    The word is that of `claim_level`.
    """
    behind, against = (
        independent(sources[name].origin for name in names if name in sources)
        for names in (claim.support, claim.against)
    )
    score = support_by(quotes, claim.text)
    by_maker = makers.documents(claim.text, [sources[name] for name in claim.support if name in sources])
    level = claim_level(claim.confidence, origins=behind, against=against, by_maker=by_maker, support=score)
    tiers = [sources[name].tier for name in claim.support if name in sources]
    best = max(tiers, key=lambda tier: CREDIBILITY[Tier(tier)], default=None)
    why = [
        labels.why_one_origin if behind == 1 else labels.reason_origins.format(n=behind),
        *([labels.why_tier.format(tier=labels.tiers[best])] if best else []),
        *([labels.why_against.format(n=against)] if against else []),
        *([labels.why_support.format(share=percent(score, labels))] if score < 1.0 else []),
    ]
    return claim.model_copy(update={"level": level, "origins": behind, "why": why})


def _unsupported_count(cited: Cited) -> int:
    """How many sentences failed their check."""
    return sum(row.status is Status.UNSUPPORTED for row in cited.statements())


def _level(value: float | None, *, is_whole: bool) -> Level:
    """The word of a number; `high` only where there is nothing that speaks against it."""
    if value is None:
        return "none"
    if value >= HIGH_FROM:
        return "high" if is_whole else "medium"
    return "medium" if value >= MEDIUM_FROM else "low"


def _claim_factors(claims: Sequence[ReportClaim], sources: int, labels: Labels) -> list[ConfidenceFactor]:
    if not claims:
        return [ConfidenceFactor(name=labels.no_claims, value=labels.none, effect=labels.no_claims_effect)]
    mean = sum(claim.confidence for claim in claims) / len(claims)
    share = number(min(sources / ENOUGH_SOURCES, 1), labels, 2)
    return [
        ConfidenceFactor(
            name=labels.claims_mean,
            value=number(mean, labels, 2),
            effect=labels.claims_mean_effect.format(n=len(claims)),
        ),
        ConfidenceFactor(
            name=labels.source_count,
            value=str(sources),
            effect=labels.source_count_effect.format(share=share, full=ENOUGH_SOURCES),
        ),
    ]


def _disagreements_factor(cited: Cited, labels: Labels) -> ConfidenceFactor:
    number = sum(row.is_open for row in cited.contradictions)
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


def _open_factor(name: str, number: int, labels: Labels) -> ConfidenceFactor:
    return ConfidenceFactor(
        name=name, value=str(number), effect=labels.open_effect if number else labels.no_open_effect
    )
