"""Names of settings that several parts of the program treat alike."""

from __future__ import annotations

SOURCE_RULES = (
    "flagged_domains",
    "protected_sources",
    "allow_domains",
    "deny_domains",
    "source_kinds",
    "media_types",
    "source_languages",
    "published_from",
    "published_until",
    "licences",
)
"""Which sources a run may use."""

REDUCTION = (
    "fetch_time_summarization",
    "summarization_min_chars",
    "summarization_cache_enabled",
    "topic_reflection",
    "topic_compression",
    "token_limit_recovery",
    "allow_content_dropping",
    "deep_research_digest_policy",
    "deep_research_digest_min_chars",
    "deep_research_digest_max_sources",
    "deep_research_digest_timeout",
    "deep_research_digest_max_concurrent",
    "deep_research_digest_include_evidence",
    "deep_research_digest_evidence_max_chars",
    "deep_research_digest_max_evidence_snippets",
    "model_context_overrides",
    "runtime_overhead",
    "token_management_enabled",
    "token_safety_margin",
    "default_context_tokens",
    "source_chars",
    "topic_chars",
    "report_output_tokens",
)
"""How much of what was read is shown to a model, and in which form."""
