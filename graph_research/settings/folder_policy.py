"""What the settings file of a working directory may say once its user has agreed to it: it may be somebody else's."""

from __future__ import annotations

from typing import Any

from graph_research.settings.groups import REDUCTION, SOURCE_RULES

_MAY = frozenset(
    {
        *SOURCE_RULES,
        *REDUCTION,
        "model_timeout",
        "job_model_timeout",
        "reasoning_effort",
        "max_iterations",
        "max_sub_queries",
        "max_sources_per_query",
        "max_searches",
        "max_concurrent",
        "source_types",
        "follow_links",
        "fetch_pdfs",
        "search_timeout",
        "page_timeout",
        "page_max_bytes",
        "content_archive_enabled",
        "summarization_timeout",
        "task_timeout",
        "deep_research_archive_content",
        "tavily_search_depth",
        "tavily_include_raw_content",
        "tavily_include_domains",
        "tavily_exclude_domains",
        "tavily_time_range",
        "google_date_restrict",
        "wikipedia_language",
        "length",
        "report_type",
        "language",
        "audience",
        "system_prompt",
    }
)
"""How a research goes about its work: how much it does, where it looks, and with which wishes, as prompts may too."""

_SPECS = frozenset(
    {
        "default_provider",
        "deep_research_digest_provider",
        "deep_research_digest_providers",
        "summarization_providers",
        "search_providers",
        *(f"{role}_model" for role in ("research", "summarization", "compression", "reflection")),
        *(f"{role}_model" for role in ("report", "verification")),
        *(f"{phase}_model" for phase in ("clarification", "planning", "gathering", "analysis")),
        *(f"{phase}_model" for phase in ("synthesis", "refinement")),
    }
)
"""Models and searches, which may be named and no more."""

_MAY_NOT = {
    "library": "data paths",
    "embedding_model": "data paths",
    "research_archive_dir": "data paths",
    "content_archive_ttl_hours": "what is removed from your data home",
    "model_keys": "keys",
    "cli_commands": "command lines",
    "model_price_overrides": "prices",
    "searxng_url": "addresses",
    "mcp_servers": "MCP servers",
    "fetch_allow_hosts": "hosts",
    "allow_local_terms_in_web_queries": "permission to send local words out",
    "contact_email": "who you are",
    "search_rate_limits": "how hard services are asked",
    "provider_cooldown": "how hard services are asked",
    "research_max_concurrency": "how much your machine does at once",
    "service_models": "what users of your service may choose",
    "service_graphs": "what users of your service may choose",
    "service_own_graphs": "what users of your service may choose",
    "telemetry_content": "what your traces show of your work",
    "tavily_extract": "who learns which pages you read",
    "deep_research_archive_retention_days": "what is removed from your data home",
}
"""What speaks for the user, reaches out, or touches what is theirs."""


def why_not(name: str, value: Any) -> str | None:
    """What a folder's file may not set, such as `data paths`; None where it may set this to that. A setting that is
    not listed here may not be set."""
    if name in _MAY:
        return None
    if name not in _SPECS:
        return _MAY_NOT.get(name, "this")
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    specs = [spec.strip() for text in texts for spec in text.split(",")]
    if any("@" in spec for spec in specs):
        return "model URLs"
    if any(spec.startswith(("[", "scripted:")) for spec in specs):
        return "command lines or files to read"
    if any(spec.startswith("mcp:") for spec in specs):
        return "your own MCP servers"
    return None
