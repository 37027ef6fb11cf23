"""What requests and answers hold, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.config import JsonDict

from graph_research.app.request import QUESTION_CHARS
from graph_research.jobs.job import Job, JobStatus
from graph_research.settings.report_wishes import LanguageCode, Length, Line, ReportTypeName
from graph_research.settings.value_types import Day, Domains, Languages, MediaTypes, SourceKinds, Specs

_QUESTION = "How do tidal lagoons change estuaries?"
_ID = "run-3f9c2a7e51"
_AT = "2026-01-01T12:00:00Z"
_JOB: JsonDict = {
    "id": _ID,
    "run_id": _ID,
    "status": "PROCESSING",
    "question": _QUESTION,
    "progress": 0.25,
    "stage": "retrieval",
    "created_at": _AT,
    "updated_at": _AT,
    "expires_at": "2026-01-02T12:00:00Z",
    "started_at": _AT,
    "finished_at": None,
    "waiting_for": None,
    "cancel_requested": False,
    "has_report": False,
    "error": None,
}
_DEFINITION_CHARS = 50_000
_GRAPH = """graph: search_twice
version: "1"
state:
  question: {type: string, input: true}
  also: {type: string, input: true, default: ""}
  sources: {type: array, reduce: append, default: [], output: true}
start: search
nodes:
  search:
    run: search
    each: "[question] + ([also] if also else [])"
    as: query
    input: {schema: search.input, with: {query: query, original_query: question}}
    output: {schema: search.output, into: {sources: 'flatten(outputs, "sources")'}}
  done: {end: completed}
edges:
  - {from: search, to: done}
"""
_PAUSING: JsonDict = {"question": _QUESTION, "pause_before": ["gather"]}
_OWN: JsonDict = {
    "question": _QUESTION,
    "definition": _GRAPH,
    "inputs": {"also": "tidal range"},
    "pause_before": ["search"],
}
Definition = Annotated[str, Field(min_length=1, max_length=_DEFINITION_CHARS)]
Name = Annotated[str, Field(min_length=1, max_length=128)]
ModelNames = Annotated[str, Field(min_length=1, max_length=500)]
MODELS = "A model that the operator offers; several with commas are a fallback order"
Roles = Annotated[
    dict[Name, ModelNames],
    Field(max_length=20, description="Models by the role that they take, such as `summarization`"),
]


class SourceRuleSettings(BaseModel):
    """Which sources a job may use, as the settings of these names. Denied, flagged and protected ones are added to
    those of the operator; anything else takes the place of what the operator has set."""

    model_config = ConfigDict(extra="forbid")

    allow_domains: Domains = Field((), max_length=1_000)
    deny_domains: Domains = Field((), max_length=1_000)
    flagged_domains: Domains = Field((), max_length=1_000)
    protected_sources: Specs = Field((), max_length=1_000)
    source_kinds: SourceKinds = ()
    media_types: MediaTypes = Field((), max_length=100)
    source_languages: Languages = Field((), max_length=100)
    published_from: Day | None = None
    published_until: Day | None = None
    licences: Specs = Field((), max_length=100)


class JobSubmission(BaseModel):
    """A question to be researched. What is not given is as the operator of the service has set it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"question": _QUESTION}, _PAUSING, _OWN]})

    question: str | None = Field(
        None,
        min_length=1,
        max_length=QUESTION_CHARS,
        description="Only a `definition` whose graph asks none needs none",
    )
    graph: Name = Field("deep_research", description="A research graph that the operator offers")
    definition: Definition | None = Field(
        None,
        description="A graph of your own as YAML in place of one that is offered; its channel `question`"
        " is an input where there is a question",
    )
    inputs: dict[Name, Any] = Field({}, max_length=100, description="Of a `definition`, its other input channels")
    model: ModelNames | None = Field(None, description=MODELS)
    roles: Roles = {}
    search: list[Name] | None = Field(None, max_length=20, description="The searches to be asked, such as `local`")
    library: list[Name] | None = Field(
        None,
        max_length=20,
        description="What `local` searches: `uploads`, and folders that the operator shares; all without it",
    )
    source_rules: SourceRuleSettings | None = Field(None, description="Which sources the research may use")
    max_iterations: int | None = Field(None, ge=1, le=20, description="Rounds at most")
    max_sub_queries: int | None = Field(None, ge=1, le=8, description="Sub-queries of the plan at most")
    max_cost: float | None = Field(None, gt=0, allow_inf_nan=False, description="In USD")
    max_tokens: int | None = Field(None, gt=0, le=2**53, description="Input and output together")
    timeout_seconds: float | None = Field(None, gt=0, le=86_400, description="Of the whole research")
    length: Length | None = Field(None, description="`brief`, `standard`, `long`, or a number of words")
    report_type: ReportTypeName | None = Field(None, description="How the report is built up")
    language: LanguageCode | None = Field(None, description="Of the report, such as `de`; else the question's")
    audience: Line | None = Field(None, description="Who will read the report")
    now: str | None = Field(None, max_length=64, description="Fixes the clock of the run, such as 2026-01-31T12:00:00Z")
    interactive: bool = Field(False, description="The research may ask; the job then awaits input")
    plan_first: bool = Field(False, description="The job awaits input with its plan; any answer approves it")
    pause_before: list[Name] = Field(
        [], max_length=50, description="Nodes of the graph before which the job awaits input, to `step` or `continue`"
    )

    @model_validator(mode="after")
    def _of_one_graph(self) -> JobSubmission:
        if self.question is None and self.definition is None:
            raise ValueError("a question is needed")
        if self.definition is not None and "graph" in self.model_fields_set:
            raise ValueError("name a graph or bring a definition, not both")
        if self.inputs and self.definition is None:
            raise ValueError("inputs are those of a definition")
        return self


class JobFailure(BaseModel):
    """Why a job failed."""

    code: str
    message: str


class JobResource(BaseModel):
    """A job. `progress` is 0 to 1 and never falls; `stage` is `decomposition`, `retrieval`, `scoring` or `synthesis`;
    `question` is empty where a graph of one's own has none; `waiting_for` is the question of one that awaits input;
    `has_report`: whether it has ended with a report."""

    model_config = ConfigDict(json_schema_extra={"examples": [_JOB]})

    id: str
    run_id: str
    status: JobStatus
    question: str
    progress: float
    stage: str | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    waiting_for: str | None
    cancel_requested: bool
    has_report: bool
    error: JobFailure | None

    @classmethod
    def of(cls, job: Job) -> JobResource:
        own = cls.model_fields.keys() - {"error", "has_report"}
        fields: dict[str, Any] = {name: getattr(job, name) for name in own}
        error = job.error and JobFailure(code=job.error.code, message=job.error.message)
        return cls(**fields, has_report=job.has_result, error=error)


class JobPage(BaseModel):
    """Jobs, the newest first. `next` is the value of `before` for those that follow, null where none do."""

    jobs: list[JobResource]
    next: str | None


class ResultResource(BaseModel):
    """The result of a job. `confidence` is 0 to 1; `tokens` is what its models used."""

    job_id: str
    markdown: str
    citations: list[Mapping[str, Any]]
    claims: list[Mapping[str, Any]]
    tokens: Mapping[str, Any]
    confidence: float | None
    claim_count: int
    source_count: int
    has_contradictions: bool


class OutputsResource(BaseModel):
    """The output channels of a job's graph, as its latest step left them."""

    job_id: str
    status: JobStatus
    outputs: Mapping[str, Any]


class SourceResource(BaseModel):
    """A source with every dimension of its score: `authority` 0 to 100, the others and their weighted sum `composite`
    0 to 1."""

    source_id: str
    title: str
    url: str | None
    published_at: str | None
    provider: str
    retrieval_method: str
    tier: str
    authority: float
    recency: float
    relevance: float
    credibility: float
    composite: float


class SourceList(BaseModel):
    """The sources of a job, the best first."""

    job_id: str
    sources: list[SourceResource]


class Answer(BaseModel):
    """What a job that awaits input goes on with."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"answer": "Only in Europe."}]})

    answer: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=QUESTION_CHARS)]


class DocumentResource(BaseModel):
    """A document of the user's. `problem` is why it could not be read, or only in part, when it was last indexed."""

    name: str = Field(examples=["notes.md"])
    bytes: int
    media_type: str | None
    uploaded_at: datetime
    problem: str | None


class DocumentList(BaseModel):
    """The documents of a user, by name."""

    documents: list[DocumentResource]


class PlannedQuery(BaseModel):
    """A sub-query of a plan."""

    model_config = ConfigDict(extra="allow")

    query: str = Field(min_length=1, max_length=5_000)


class ChecklistItem(BaseModel):
    """What the report is to say something about."""

    model_config = ConfigDict(extra="allow")

    text: str = Field(min_length=1, max_length=5_000)


class PlanBody(BaseModel):
    """A plan, as `GET` of it gives one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sub_queries": [{"query": _QUESTION}]}]})

    research_brief: str | None = Field(None, max_length=QUESTION_CHARS)
    sub_queries: list[PlannedQuery] = Field(min_length=1, max_length=8)
    checklist: list[ChecklistItem] = Field(default_factory=list, max_length=100)


class PlanResource(BaseModel):
    """The plan that a job waits with, for these searches (`providers`) and models by role (`default` for the others).
    `estimate` is what the whole is likely to take."""

    job_id: str
    research_brief: str | None
    sub_queries: list[Mapping[str, Any]]
    checklist: list[Mapping[str, Any]]
    providers: Sequence[str]
    models: Mapping[str, Sequence[str]]
    estimate: Mapping[str, Any]


class Wish(BaseModel):
    """A wish for the next phase."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"wish": "Look at prices, too."}]})

    wish: str = Field(min_length=1, max_length=5_000)


class WishList(BaseModel):
    """The wishes of a job, in their order."""

    job_id: str
    wishes: list[str]


class QueueSummary(BaseModel):
    """How many jobs of the user have each status, and how many jobs of all users are driven at once at most."""

    jobs: Mapping[JobStatus, int]
    max_concurrency: int


class Health(BaseModel):
    """`ok`."""

    status: str = Field(examples=["ok"])
