"""Confidence of a claim, from the strength of its supporting sources and those that contradict it, and of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.finding import Claim, Confidence

CONFIRMED_AT = 0.9
SPECULATION_BELOW = 0.3
HIGH_FROM, MEDIUM_FROM = 0.7, 0.4
ENOUGH_SOURCES = 10
LEAST_SUPPORT = 0.15
"""Quotes that hold less of a claim's words, by weight, do not support it."""
_ORDER = (Confidence.SPECULATION, Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH, Confidence.CONFIRMED)


@dataclass(frozen=True, kw_only=True)
class ClaimScore:
    """`support_strength` and `confidence` are 0 to 1."""

    support_strength: float
    confidence: float
    contradiction: bool


def score_claim(supporting: Sequence[float], contradicting: Sequence[float]) -> ClaimScore:
    """Score a claim from the composite scores of its sources.

    supportStrength is the mean of the n supports, 0 without any;
    confidence = clamp(min(support + 0.05 n, 1) - 0.15 m) for m contradicting sources.
    """
    strength = sum(supporting) / len(supporting) if supporting else 0.0
    raised = min(strength + 0.05 * len(supporting), 1.0)
    return ClaimScore(
        support_strength=strength,
        confidence=min(max(raised - 0.15 * len(contradicting), 0.0), 1.0),
        contradiction=bool(contradicting),
    )


def confidence_level(stated: Confidence, claim: float, origins: int, by_maker: int = 0) -> Confidence:
    """The level of a finding, from the analyzer's word, its claim's confidence and the number of its origins.

    The analyzer offers three levels; `confirmed` and `speculation` come from the claim. One origin is
    never more than `medium`, however many documents repeat it, and none is `speculation`. `by_maker` of the sources are
    authoritative documents of the maker of what the finding is about: two of them may be `high`, never `confirmed`.
    """
    if origins == 0 or claim < SPECULATION_BELOW:
        return Confidence.SPECULATION
    level = Confidence.CONFIRMED if stated is Confidence.HIGH and claim >= CONFIRMED_AT else stated
    alone = Confidence.HIGH if by_maker > 1 else Confidence.MEDIUM
    most = alone if origins == 1 else Confidence.CONFIRMED
    return min(level, most, key=_ORDER.index)


def claim_level(
    confidence: float, *, origins: int, against: int, by_maker: int, support: float
) -> Literal["high", "medium", "low"]:
    """The confidence of a claim as a word, as its writers see it and the report prints it.

    The word is that of the number. One origin, unless two of its documents are authoritative ones `by_maker`, or any
    origin against it make it at most medium; without an origin, with as many against it, or where the `support` by the
    words of its quotes is less than `LEAST_SUPPORT`, it is low.
    """
    if not origins or against >= origins or support < LEAST_SUPPORT or confidence < MEDIUM_FROM:
        return "low"
    is_whole = not against and (origins > 1 or by_maker > 1)
    return "high" if confidence >= HIGH_FROM and is_whole else "medium"


def job_confidence(claims: Sequence[Claim], source_count: int, origin_count: int) -> JobConfidence:
    """clamp(mean claim confidence x min(sources/10, 1)); 0 without claims."""
    mean = sum(claim.confidence for claim in claims) / len(claims) if claims else 0.0
    factor = min(source_count / ENOUGH_SOURCES, 1.0)
    return JobConfidence(
        confidence=min(max(mean * factor, 0.0), 1.0),
        claim_count=len(claims),
        source_count=source_count,
        has_contradictions=any(claim.contradiction for claim in claims),
        mean_claim_confidence=mean,
        source_factor=factor,
        origin_count=origin_count,
    )
