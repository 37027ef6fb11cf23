"""Settings: their names, types and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from graph_research.errors import UserMistake
from graph_research.settings.report_wishes import LanguageCode, Length, Line, ReportTypeName
from graph_research.settings.value_types import (
    CommandLines,
    Day,
    Domains,
    Effort,
    Hosts,
    KeyNames,
    Languages,
    McpServers,
    MediaTypes,
    PriceTable,
    Rates,
    Seconds,
    SourceKinds,
    SourceTypes,
    Specs,
    Whole,
    Windows,
    web_server,
)

Role = Literal["research", "summarization", "compression", "reflection", "report", "verification"]
ROLES: tuple[Role, ...] = ("research", "summarization", "compression", "reflection", "report", "verification")


class SettingInvalid(UserMistake):
    """A setting with an unknown name, a wrong type, or in a place that may not set it."""


class Settings(BaseModel):
    """Every setting with its default. Timeouts are in seconds; a model list is a fallback order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    default_provider: Specs = Field(
        (),
        description="model specs for every role without its own; empty: by the keys that are set, else `extractive`",
    )
    research_model: Specs = Field((), description="model specs of the role `research`")
    summarization_model: Specs = Field((), description="model specs of the role `summarization`")
    compression_model: Specs = Field((), description="model specs of the role `compression`")
    reflection_model: Specs = Field((), description="model specs of the role `reflection`")
    report_model: Specs = Field((), description="model specs of the role `report`")
    verification_model: Specs = Field((), description="model specs of the role `verification`")
    clarification_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    planning_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    gathering_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    analysis_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    synthesis_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    refinement_model: Specs = Field((), description="model specs of the phase, for roles without their own")
    model_keys: KeyNames = Field({}, description="variables that hold the keys of your own model servers, by host")
    cli_commands: CommandLines = Field({}, description="command lines of `[cli]` models, by name")
    model_timeout: Seconds | None = Field(
        None, gt=0, allow_inf_nan=False, description="seconds for one model call; unset: 120, on your own servers 600"
    )
    job_model_timeout: Seconds = Field(
        60.0, gt=0, le=3600, description="seconds for one model call of a job; `model_timeout` goes before it"
    )
    reasoning_effort: Effort | None = Field(
        None, description="reasoning effort of the providers' own reasoning models; unset: the provider's default"
    )
    model_context_overrides: Windows = Field({}, description="context windows in tokens, by the beginning of a model")
    model_price_overrides: PriceTable = Field({}, description="prices in USD for a million tokens, by model")
    token_management_enabled: bool = Field(
        True, description="fit prompts to the models' windows; without it 20 sources of 1,000 characters are shown"
    )
    token_safety_margin: Seconds = Field(
        0.15, ge=0, le=0.9, allow_inf_nan=False, description="the share of a window that is left free"
    )
    default_context_tokens: Whole = Field(
        8_192, ge=1_024, description="the window of a model on your own server, where nothing tells it"
    )
    report_output_tokens: Whole = Field(
        8_192, ge=1_024, description="tokens that an analysis, or a section of the report, may take"
    )
    source_chars: Whole | None = Field(
        None, ge=300, description="characters of one source that a prompt shows at most; unset: its share of the room"
    )
    topic_chars: Whole = Field(
        128_000,
        ge=4_000,
        description="characters of the sources of one topic that are read at most; from 64,000 on the window decides",
    )
    token_limit_recovery: bool = Field(
        True, description="cut a prompt that a model found too long and send it again, three times at most"
    )
    allow_content_dropping: bool = Field(
        False, description="leave out whole sources where not even headlines of all fit; off: all are cut further"
    )
    runtime_overhead: Whole = Field(
        60_000, ge=0, description="tokens that a command-line agent itself takes of its model's window"
    )
    search_providers: Specs = Field(
        (), description="search providers, all of which are asked; empty: those with documents and with their keys set"
    )
    library: Specs = Field((), description="folders that `local` searches; empty: the whole index")
    embedding_model: str | None = Field(
        None,
        min_length=1,
        max_length=4_096,
        description="embedding model by which `extractive` and the library rank too: a folder or an installed package",
    )
    max_iterations: Whole = Field(3, ge=1, le=20, description="rounds of gathering and writing at most")
    max_sub_queries: Whole = Field(5, ge=1, le=8, description="sub-queries of a plan at most")
    max_sources_per_query: Whole = Field(
        5, ge=1, le=50, description="sources that one search adds to its sub-query at most"
    )
    max_searches: Whole = Field(3, ge=1, le=20, description="searches of one topic researcher at most")
    max_concurrent: Whole = Field(
        3,
        ge=1,
        le=64,
        description="sub-queries researched at the same time at most; and pages read, or sources summarized, by each",
    )
    source_types: SourceTypes = Field(
        ("web", "academic", "news"), description="kinds of sources asked for; searches without any are not asked"
    )
    follow_links: bool = Field(True, description="read the pages behind results that come as a snippet only")
    fetch_pdfs: bool = Field(False, description="read PDFs behind results; independent of `follow_links`")
    flagged_domains: Domains = Field(
        (), max_length=1_000, description="domains, with their subdomains, whose sources are rated as known to be wrong"
    )
    protected_sources: Specs = Field(
        (),
        max_length=1_000,
        description="domains, addresses and file names, with `*` for anything, whose sources are kept before others "
        "and shown as a headline at least",
    )
    allow_domains: Domains = Field(
        (), max_length=1_000, description="the only domains, with their subdomains, whose pages may be used; empty: all"
    )
    deny_domains: Domains = Field(
        (), max_length=1_000, description="domains, with their subdomains, whose pages may not be used"
    )
    source_kinds: SourceKinds = Field(
        (), description="the only kinds of sources that may be used: web, academic, news, local; empty: all"
    )
    media_types: MediaTypes = Field(
        (), description="the only media types of sources, such as pdf, docx, text/html or text/*; empty: all"
    )
    source_languages: Languages = Field(
        (), description="language codes that texts of sources may have, such as en; empty: all"
    )
    published_from: Day | None = Field(
        None, description="the first day, month or year of publication of a source, such as 2020-06"
    )
    published_until: Day | None = Field(None, description="the last day, month or year of publication of a source")
    licences: Specs = Field(
        (), max_length=100, description="the only licences of sources, such as cc-by or cc0; empty: any or none"
    )
    search_timeout: Seconds = Field(
        60.0, gt=0, le=3600, description="seconds that one search provider may take for a query"
    )
    page_timeout: Seconds = Field(30.0, gt=0, le=3600, description="seconds that one page may take")
    page_max_bytes: Whole = Field(
        10_000_000, ge=1_000, le=200_000_000, description="bytes of a page that are read at most; a longer one is left"
    )
    fetch_allow_hosts: Hosts = Field(
        (), description="hosts of your own, HOST or HOST:PORT, whose pages are read although they are not public"
    )
    allow_local_terms_in_web_queries: bool = Field(
        False, description="let queries over the web hold words that stand in local documents only"
    )
    fetch_time_summarization: bool = Field(
        True, description="have a source summarized that neither fits a prompt nor has a found passage that does"
    )
    summarization_providers: Specs = Field((), description="model specs tried after `summarization_model`, in order")
    summarization_cache_enabled: bool = Field(True, description="use the summary of a text again within a run")
    summarization_min_chars: Whole = Field(4_000, ge=0, description="characters from which on a text may be summarized")
    summarization_timeout: Seconds = Field(
        60.0, gt=0, le=3600, description="seconds that one summary may take, retries included"
    )
    topic_reflection: bool = Field(
        True, description="reflect after each search of a topic researcher; off: each searches once"
    )
    topic_compression: bool = Field(
        True,
        description="have what each topic researcher found read for findings and notes; off: the analyzer reads it",
    )
    deep_research_digest_policy: Literal["off", "auto", "always"] = Field(
        "auto", description="digests before the analysis: off, auto (long good sources that do not fit), always"
    )
    deep_research_digest_min_chars: Whole = Field(
        10_000, ge=0, description="characters from which on `auto` digests a source"
    )
    deep_research_digest_max_sources: Whole = Field(8, ge=1, le=100, description="sources digested a round at most")
    deep_research_digest_timeout: Seconds = Field(120.0, gt=0, le=3600, description="seconds that one digest may take")
    deep_research_digest_max_concurrent: Whole = Field(3, ge=1, le=64, description="digests made at the same time")
    deep_research_digest_include_evidence: bool = Field(
        True, description="give a digest the best passages of its source, word for word"
    )
    deep_research_digest_evidence_max_chars: Whole = Field(
        400, ge=50, le=500, description="characters of one such passage at most"
    )
    deep_research_digest_max_evidence_snippets: Whole = Field(
        5, ge=1, le=10, description="such passages of one source at most"
    )
    deep_research_digest_provider: str | None = Field(
        None, min_length=1, description="model spec that makes digests; unset: the analysis's models"
    )
    deep_research_digest_providers: Specs = Field((), description="model specs tried after that one, in order")
    research_max_concurrency: Whole = Field(3, ge=1, le=64, description="jobs of this data home in process at once")
    service_models: Specs = Field(
        (), description="model specs that users of the service may choose, beside `extractive`; they name no other"
    )
    service_graphs: Specs = Field(
        ("deep_research", "pipeline"), description="graphs that users of the service may choose"
    )
    service_own_graphs: bool | None = Field(
        None, description="users of the service may run graphs of their own; unset: where it has no tokens"
    )
    telemetry_content: bool = Field(
        False, description="send questions, prompts, answers, queries and messages of errors with OpenTelemetry traces"
    )
    task_timeout: Seconds | None = Field(
        None, gt=0, allow_inf_nan=False, description="seconds for a whole run; unset: the graph's limit"
    )
    deep_research_archive_content: bool = Field(
        True, description="write the texts of digested sources to files; the texts in the store stay in any case"
    )
    research_archive_dir: str | None = Field(
        None, min_length=1, max_length=4_096, description="the folder of these files; unset: `archive` in the data home"
    )
    content_archive_enabled: bool = Field(
        False, description="write texts that were dropped or shown in less than 30 % to files, as JSON records"
    )
    content_archive_ttl_hours: Whole = Field(
        168, ge=1, le=876_000, description="hours after which these records are removed"
    )
    deep_research_archive_retention_days: int = Field(
        30, ge=0, le=36_500, description="days after which `prune` removes archived texts that no stored report cites"
    )
    searxng_url: Annotated[str, AfterValidator(web_server)] | None = Field(
        None, description="the address of your SearXNG server, for the search `searxng`"
    )
    mcp_servers: McpServers = Field({}, description="MCP servers that are searched as `mcp:NAME`, by name", repr=False)
    contact_email: str | None = Field(
        None, pattern=r"^[^@\s<>]+@[^@\s<>]+$", max_length=254, description="your mail address, sent to open services"
    )
    search_rate_limits: Rates = Field({}, description="requests a second at most, by search provider")
    provider_cooldown: Seconds = Field(
        60.0, ge=0, le=3600, description="circuit breaker: seconds without requests to a server that mostly fails"
    )
    tavily_search_depth: Literal["basic", "advanced"] = Field("basic", description="search depth of `tavily`")
    tavily_include_raw_content: bool = Field(True, description="let `tavily` send the text of each page")
    tavily_include_domains: Specs = Field((), max_length=300, description="the only sites that `tavily` searches")
    tavily_exclude_domains: Specs = Field((), max_length=150, description="sites that `tavily` leaves out")
    tavily_time_range: Literal["day", "week", "month", "year"] | None = Field(
        None, description="how old what `tavily` finds may be"
    )
    tavily_extract: bool = Field(False, description="let Tavily read the pages behind results, with your key")
    google_date_restrict: str | None = Field(
        None, pattern=r"^[dwmy]\d{1,3}$", description="how old what `google` finds may be, such as d7, w2, m6 or y1"
    )
    wikipedia_language: str = Field(
        "en", pattern=r"^[a-z]{2,12}(-[a-z]{2,12})*$", description="the language whose `wikipedia` is searched"
    )
    length: Length = Field("standard", description="length of the report: brief, standard, long or a number of words")
    report_type: ReportTypeName = Field(
        "report", description="plan of the report: report, comparison, timeline, survey or memo"
    )
    language: LanguageCode | None = Field(None, description="language code of the report; unset: the question's")
    audience: Line | None = Field(None, max_length=500, description="who will read the report, in your words")
    system_prompt: str | None = Field(
        None, max_length=20_000, description="standing wishes for clarifying, planning and writing"
    )

    @field_validator("published_until")
    @classmethod
    def _is_not_before_its_beginning(cls, until: str | None, info: ValidationInfo) -> str | None:
        begins = info.data.get("published_from")
        if until and begins and until < begins[: len(until)]:
            raise ValueError(f"it ends before {begins}, where published_from begins")
        return until


PROVIDER_ALIASES: Mapping[str, str] = {
    f"{name}_provider": f"{name}_model" for name in (*ROLES, "clarification", "planning", "gathering", "analysis")
} | {f"{name}_provider": f"{name}_model" for name in ("synthesis", "refinement")}
"""Names of settings that hold the provider of the models that the setting itself names, or a whole spec."""

ALIASES: Mapping[str, str] = {
    "deep_research_digest_fetch_pdfs": "fetch_pdfs",
    "deep_research_follow_links": "follow_links",
    "deep_research_max_concurrent": "max_concurrent",
    "deep_research_max_iterations": "max_iterations",
    "deep_research_max_sources": "max_sources_per_query",
    "deep_research_max_sub_queries": "max_sub_queries",
    "deep_research_timeout": "task_timeout",
    "max_sources": "max_sources_per_query",
    **PROVIDER_ALIASES,
}
"""Other names of settings, accepted wherever a setting is given."""
