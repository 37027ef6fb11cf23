"""The settings that agents and handlers read, with their defaults; a run's own numbers are input channels."""

from __future__ import annotations

from dataclasses import dataclass, field

from graph_research.research.digest.eligibility import DigestOptions
from graph_research.research.source_rules import SourceRules


@dataclass(frozen=True, kw_only=True)
class ResearchSettings:
    """What agents and handlers know beside their handoff. Counts are numbers of things, lengths are in characters,
    times in seconds. A field that is called like a setting of the user has its value."""

    max_concurrent: int = 3
    source_types: tuple[str, ...] = ("web", "academic", "news")
    most_sub_queries: int = 8
    """No plan has more, whatever `max_sub_queries` says."""
    clarification_retries: int = 3
    repair_turns: int = 1
    """How often an answer that does not fit its schema is sent back with what is wrong."""
    scouting: bool = True
    """Search once for the question itself before planning, so that the plan can use the sources' own words."""
    scouting_results: int = 8
    scouting_titles: int = 40
    """So many results are asked for where only the library is searched; what is behind the first ones is shown by title
    to who plans."""
    analysis_sources: int = 20
    content_chars: int = 1_000
    """How much of one source a prompt shows."""
    token_management_enabled: bool = True
    """Fit prompts to the windows of models; without it a prompt shows `analysis_sources` sources with `content_chars`
    characters each."""
    token_safety_margin: float = 0.15
    """The share of a window that is left free, since tokens are estimated."""
    token_limit_recovery: bool = True
    """Cut a prompt that a model found too long and send it again."""
    default_context_tokens: int = 8_192
    """The window of a model on a server of the user's own, where neither the settings nor the server tell it; small,
    since some servers drop what is too long without a word."""
    allow_content_dropping: bool = False
    """Leave out whole sources where their headlines do not fit; else all of them are cut further."""
    source_chars: int | None = None
    """How much of one source a prompt shows at most; None: its share of the room that all sources have."""
    max_output_tokens: int = 4_096
    report_output_tokens: int = 8_192
    """What an analysis, or a section of the report, may take."""
    search_timeout: float = 60.0
    """How long one provider may take for one query; the others do not wait for it any longer."""
    follow_links: bool = True
    """Read the page of a hit that is known by a snippet only."""
    page_timeout: float = 30.0
    fetch_pdfs: bool = False
    """Read PDFs behind hits, also where `follow_links` is off."""
    rules: SourceRules = field(default_factory=SourceRules)
    """Which sources may be used, and which are flagged."""
    allow_local_terms_in_web_queries: bool = False
    """Let queries over the web hold words that stand in local documents only."""
    fetch_time_summarization: bool = True
    summarization_min_chars: int = 4_000
    """Shorter texts are not worth a summary; nor are those that fit into their share of a prompt, or have a passage
    that does."""
    summarization_chars: int = 50_000
    """How much of a text a summary is made of, around the passages that were found."""
    summarization_timeout: float = 60.0
    """For one source, with all retries and all models that are tried."""
    summarization_cache_enabled: bool = True
    topic_reflection: bool = True
    """Reflect after each search of a topic; without it a topic is searched once."""
    topic_compression: bool = True
    topic_chars: int = 128_000
    """How much material of one topic is read for notes and findings at most; its sources share it."""
    digest: DigestOptions = field(default_factory=DigestOptions)
    """Which sources are digested before the analysis, and how."""
    folders: tuple[str, ...] = ()
    """Confines `local` search to these added folders; empty: the whole index."""
