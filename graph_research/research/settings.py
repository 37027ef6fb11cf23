"""The settings that the research itself reads, with the seeds' defaults; a run's own numbers are input channels."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ResearchSettings"]


@dataclass(frozen=True, kw_only=True)
class ResearchSettings:
    """What agents and handlers may be told beside their handoff.

    Counts are numbers of things, lengths are in characters. Sources of the numbers: requirements 2.2 (sub-queries),
    2.7 (20 sources, 1,000 characters each), 5.1 (iterations), 7.3 (clarification), 18.1 (cap of 8) and decision B35.
    """

    max_iterations: int = 3
    max_sub_queries: int = 5
    max_sources_per_query: int = 5
    max_searches: int = 3
    max_concurrent: int = 3
    source_types: tuple[str, ...] = ("web",)
    most_sub_queries: int = 8
    """No plan has more, whatever `max_sub_queries` says."""
    clarification_retries: int = 3
    repair_turns: int = 1
    """How often an answer that does not fit its schema is sent back with what is wrong."""
    scouting: bool = True
    """Search once for the question itself before planning, so that the plan can use the sources' own words."""
    scouting_results: int = 8
    analysis_sources: int = 20
    content_chars: int = 1_000
    """How much of one source a prompt shows."""
    max_output_tokens: int = 4_096
    report_output_tokens: int = 8_192
    folders: tuple[str, ...] = ()
    """Confines `local` search to these added folders; empty: the whole index."""
