"""The confidence of a whole research job."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.finding import Claim

ENOUGH_SOURCES = 10


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
