"""Which sources get a digest, and in which order they are considered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from graph_research.research.models.source import Quality, Source

_QUALITY_RANK = {Quality.HIGH: 0, Quality.MEDIUM: 1, Quality.UNKNOWN: 2, Quality.LOW: 3}


class DigestPolicy(StrEnum):
    """`off`: no digests; `auto`: of long sources of at least medium quality; `always`: of every source with a text."""

    OFF = "off"
    AUTO = "auto"
    ALWAYS = "always"


class SkipReason(StrEnum):
    """Why a source got no digest."""

    NOT_ELIGIBLE = "not_eligible"
    ALREADY_DIGESTED = "already_digested"
    POLICY_OFF = "policy_off"
    BREAKER_OPEN = "breaker_open"


@dataclass(frozen=True, kw_only=True)
class DigestOptions:
    """The settings of digests. Lengths are in characters, `timeout` in seconds a source."""

    policy: DigestPolicy = DigestPolicy.AUTO
    min_chars: int = 10_000
    max_sources: int = 8
    timeout: float = 120.0
    max_concurrent: int = 3
    include_evidence: bool = True
    evidence_max_chars: int = 400
    max_evidence_snippets: int = 5


def skip_reason(source: Source, options: DigestOptions) -> SkipReason | None:
    """Why the source is not eligible; None where it is. A source that is known by a snippet only has no text."""
    if options.policy is DigestPolicy.OFF:
        return SkipReason.POLICY_OFF
    if source.is_digest:
        return SkipReason.ALREADY_DIGESTED
    if not source.characters or not source.content:
        return SkipReason.NOT_ELIGIBLE
    if options.policy is DigestPolicy.AUTO:
        is_good = source.quality in (Quality.HIGH, Quality.MEDIUM)
        if source.characters < options.min_chars or not is_good:
            return SkipReason.NOT_ELIGIBLE
    return None


def in_digest_order(sources: Iterable[Source]) -> list[Source]:
    """By quality, relevance and length, all falling, then by id; judged on the whole texts, before any digest."""
    return sorted(
        sources,
        key=lambda source: (_QUALITY_RANK[source.quality], -source.score.relevance, -source.characters, source.id),
    )
