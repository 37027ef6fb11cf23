"""The report as data: `report.json`, whose schema is `schemas/report.json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from graph_research.research.evidence.cited import (
    Citation,
    CitedBlock,
    CitedContradiction,
    CitedSection,
    CitedStatement,
)
from graph_research.research.llm.usage import Retries, RoleUse, Usage, UsageTotals
from graph_research.research.models.decision import Decision
from graph_research.research.models.draft import statements_of
from graph_research.research.models.fidelity import ContentFidelity, FidelityLevel
from graph_research.research.models.record import Record
from graph_research.research.models.source import RetrievalMethod


class ReportClaim(Record):
    """A scored claim. `support` and `against` are source ids, `citations` the
    ids of the citations that carry it in this report; `edited` where the user changed its text or its confidence.
    `origins` counts who stands behind `support`, `level` is the confidence as a word, `why` its reasons."""

    id: str
    text: str
    confidence: float = Field(ge=0, le=1)
    support: list[str]
    against: list[str]
    contradiction: bool
    support_strength: float
    citations: list[str]
    edited: bool = False
    level: Literal["high", "medium", "low"] = "low"
    origins: int = 0
    why: list[str] = Field(default_factory=list)


class MatrixDifference(Record):
    """A source that does not contradict a claim but means another date, unit, scope or definition."""

    source: str
    nature: Literal["date", "unit", "scope", "definition"]


class MatrixRow(Record):
    """Where each source stands on a claim; all are ids."""

    claim: str
    supports: list[str]
    refutes: list[str]
    differs: list[MatrixDifference]
    silent: list[str]


class ReportRevision(Record):
    """A change of the report after its run that holds in this version. `what` names what was changed, `at` is when.
    `change` says what an edit did: `text`, `confidence` or `drop`, and of a refresh that it gave sentences another
    wording: `rewritten`; it is empty for all else."""

    kind: str
    change: Literal["", "text", "confidence", "drop", "rewritten"] = ""
    what: str
    at: str


class NamedVersion(Record):
    """The newest version of a thing that the sources name."""

    name: str
    version: str


class ReportSource(Record):
    """A source with its scores. `n` is the number it is cited by, null where it is not cited, `citations` the ids of
    the citations that quote it, `origin` its publisher, host or authors. `superseded` is the address of a newer
    version, empty where the source says itself that it is superseded, null for a current one. `archive_hash` names the
    canonical text, `bytes_hash` the file or page as it was read, null where these bytes are not known. `folder` is the
    name of the folder of a local document that was added, `licence` what the document says of itself, and `warnings`
    what of its file could not be read."""

    id: str
    title: str
    authors: list[str]
    publisher: str | None
    url: str | None
    doi: str | None
    tier: str
    composite: float
    published_at: str | None
    retrieved_at: str | None
    quality: str
    fidelity: str
    origin: str
    authority: float
    recency: float
    relevance: float
    credibility: float
    provider: str
    retrieval_method: RetrievalMethod = RetrievalMethod.WEB
    archive_hash: str
    characters: int
    n: int | None = None
    citations: list[str]
    superseded: str | None = None
    bytes_hash: str | None = None
    folder: str | None = None
    licence: str | None = None
    warnings: list[str] = Field(default_factory=list)

    @property
    def is_read(self) -> bool:
        """Whether anything of it was shown to a model, or is cited."""
        return bool(self.citations) or self.fidelity != FidelityLevel.DROPPED


class ReportGap(Record):
    """A question that the sources leave open, or left open at first where `addressed`. It was found in `iteration` and
    resolved in `addressed_in`."""

    id: str
    description: str
    priority: int
    severity: str | None
    addressed: bool
    suggested_queries: list[str]
    iteration: int = 1
    addressed_in: int | None = None


class ConfidenceFactor(Record):
    """One factor of the confidence; `value` is text for people."""

    name: str
    value: str
    effect: str = ""


class ReportConfidence(Record):
    """The job's confidence, 0 to 1, its word, and why. `value` is null where nothing was scored."""

    value: float | None
    level: Literal["high", "medium", "low", "none"]
    factors: list[ConfidenceFactor]
    strong: list[str]
    weak: list[str]


class SearchUse(Record):
    """How often a search provider was asked, failed, and was skipped, because it serves none of the source types or
    because no word of the query may be sent to it."""

    provider: str
    asked: int
    failed: int
    skipped: int


class GatheringStatistics(Record):
    """Counts of searches, pages, summaries and topics. `queries_limited` are web searches from which words of local
    documents were removed, `pages_…` the pages of search results, `excerpts_dropped` excerpts of summaries that no
    archived text holds, `excluded` by reason the search results that the source rules do not allow."""

    searches: list[SearchUse] = Field(default_factory=list)
    duplicates_skipped: int = 0
    excluded: dict[str, int] = Field(default_factory=dict)
    queries_limited: int = 0
    pages_read: int = 0
    pages_failed: int = 0
    sources_summarized: int = 0
    summaries_failed: int = 0
    excerpts_dropped: int = 0
    topics_compressed: int = 0
    compressions_failed: int = 0


class ReportStatistics(Record):
    """Time, calls, tokens and cost, by role and phase (`usage`) and by role and model (`model_roles`). Seconds are wall
    clock; `model_seconds` sums calls that may have overlapped. `statements` counts the sentences of each status,
    `token_limit_retries` prompts that were cut and sent again."""

    wall_seconds: float
    model_seconds: float
    calls: int
    searches: int
    retries: list[Retries] = Field(default_factory=list)
    possibly_paid_twice: int
    usage: list[Usage]
    totals: UsageTotals
    model_roles: dict[str, RoleUse] = Field(default_factory=dict)
    token_limit_retries: int = 0
    content_fidelity: ContentFidelity
    gathering: GatheringStatistics = Field(default_factory=GatheringStatistics)
    sources_found: int
    sources_cited: int
    origins_cited: int
    statements: dict[str, int] = Field(default_factory=dict)


class SubQueryOutcome(Record):
    """A sub-question of the plan and its outcome; `limits` are what its reading did not find or could not read."""

    id: str
    query: str
    status: str
    iteration: int
    sources: int
    error: str | None = None
    limits: list[str] = Field(default_factory=list)


class ReportDecision(Record):
    """One entry of the decision log in words; `issues` are those of the gate it looked at, in that phase."""

    agent: str
    action: str
    rationale: str
    timestamp: str
    phase: str
    issues: list[str]


class ReportMetadata(Record):
    """What the run recorded of itself: `agent_decisions` is the decision log of the state, entry by entry."""

    agent_decisions: list[Decision] = Field(default_factory=list)


class Report(Record):
    """One research, ready to be read. `[n]` is the number of a source.

    `partial` is true where the run ended before its end; then what there was is here and nothing is made up.
    `quotes_dropped` and `fabricated_dropped` count quotes that stand in no archived text and evidence ids that the
    writer made up, both thrown away before the report. `language` is a BCP 47 tag. `model` names every model used,
    `models` each role's. Times are ISO 8601 in UTC. `version` counts from 1, the report as the run wrote it;
    `revisions` are the user's changes since that hold.
    """

    format: Literal["report/2"] = "report/2"
    run_id: str
    graph: str
    graph_hash: str
    question: str
    title: str = ""
    language: str
    status: str
    cause: str | None
    error: str | None
    partial: bool
    model: str
    models: dict[str, str]
    search: list[str]
    started_at: str | None
    finished_at: str | None
    iterations: int
    notice: str
    found: bool
    written: bool
    searched: list[str]
    research_brief: str
    short_answer: list[CitedBlock]
    sections: list[CitedSection]
    contradictions: list[CitedContradiction]
    gaps: list[ReportGap]
    conclusions: list[CitedBlock]
    confidence: ReportConfidence
    claims: list[ReportClaim]
    matrix: list[MatrixRow] = Field(default_factory=list)
    citations: list[Citation]
    sources: list[ReportSource]
    newest_versions: list[NamedVersion] = Field(default_factory=list)
    more_evidence: list[CitedStatement]
    limitations: list[str]
    statistics: ReportStatistics
    sub_queries: list[SubQueryOutcome]
    decisions: list[ReportDecision]
    metadata: ReportMetadata = Field(default_factory=ReportMetadata)
    degraded: list[str]
    quotes_dropped: int
    fabricated_dropped: int
    version: int = 1
    revisions: list[ReportRevision] = Field(default_factory=list)

    @property
    def headline(self) -> str:
        """Its title, else the question."""
        return self.title or self.question

    def statements(self) -> Iterator[CitedStatement]:
        """Every statement, in reading order."""
        sections = (block for section in self.sections for block in section.blocks)
        yield from statements_of((*self.short_answer, *sections, *self.conclusions))
        yield from self.more_evidence


def report_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `report.json`, made from the model; `schemas/report.json` holds this."""
    schema = Report.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "report.json",
        **schema,
    }
