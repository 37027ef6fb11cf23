"""What requests about a job that has ended, and their answers, hold as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from graph_research.app.request import RequestLimits
from graph_research.app.revisions.changes import Revised
from graph_research.graph.errors import Severity
from graph_research.providers.search.local.records import PassageHit
from graph_research.research.report.verification import Verification
from graph_research.research.revision.difference import ReportDifference
from graph_research.research.revision.refreshed import SourceNow, TouchedSentence
from graph_research.service.models import MODELS, Definition, ModelNames, Name, Roles

_TEXT_CHARS = 5_000
_DEFINITION_CHARS = 200_000
_GRAPH = """graph: countdown
version: "1"
state: {n: {type: integer, default: 3}}
start: tick
loops: {down: {while: n > 0, most: 10}}
nodes:
  tick: {set: {n: n - 1}}
  done: {end: completed}
edges:
  - {from: tick, to: tick, when: n > 0, loop: down}
  - {from: tick, to: done}
"""
Text = Annotated[str, Field(min_length=1, max_length=_TEXT_CHARS)]


class VerificationResource(Verification):
    """The verification of a job's report."""

    job_id: str


class VersionResource(BaseModel):
    """A version of a report: the change that made it, and whether that still holds."""

    version: int
    kind: str
    what: str
    at: str
    holds: bool


class VersionList(BaseModel):
    """The versions of a report, the first one first."""

    job_id: str
    versions: list[VersionResource]


class SourceExclusion(BaseModel):
    """The source that a report is to do without: its number in the report, id, URL or path."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"source": "1"}]})

    source: Text


class ClaimEdit(BaseModel):
    """A change of a claim or sentence, named by its id or by a piece of its text: another text, which counts as the
    user's own, another confidence, or that it is dropped."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"claim": "s1", "drop": True}]})

    claim: Text
    text: Text | None = None
    drop: bool = False
    confidence: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)


class RevisionResource(BaseModel):
    """A new version of a report, what differs from the one before, and the calls of models and searches it took."""

    job_id: str
    version: int
    kind: str
    what: str
    calls: int
    difference: ReportDifference

    @classmethod
    def of(cls, job_id: str, revised: Revised) -> RevisionResource:
        fields: dict[str, Any] = {name: getattr(revised, name) for name in ("version", "kind", "what", "calls")}
        return cls(job_id=job_id, difference=revised.difference, **fields)


class SourceRefresh(BaseModel):
    """With `rewrite` a version is made in which the sentences that a changed source touches are quoted anew or left
    out; `model`, or else the one that wrote the report, writes them, where one did."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"rewrite": False}]})

    rewrite: bool = False
    model: ModelNames | None = Field(None, description=MODELS)


class FreshnessResource(BaseModel):
    """The cited sources as they are now, the sentences that their changes touch, and the new version where one was
    made. `fetched` counts the pages that were asked for."""

    job_id: str
    fetched: int
    sources: list[SourceNow]
    sentences: list[TouchedSentence]
    revision: RevisionResource | None


class _Limited(BaseModel):
    """What a job may take."""

    max_cost: float | None = Field(None, gt=0, allow_inf_nan=False, description="In USD")
    max_tokens: int | None = Field(None, gt=0, le=2**53, description="Input and output together")
    timeout_seconds: float | None = Field(None, gt=0, le=86_400, description="Of the whole job")

    @property
    def limits(self) -> RequestLimits:
        return self.max_cost, self.max_tokens, self.timeout_seconds


class FollowUpQuestion(_Limited):
    """A further question to a finished research."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "How high is the tidal range?"}]}
    )

    question: Text


class ForkSubmission(_Limited):
    """The step after which a new job goes on, without it where this one was stopped; values that are put into its state
    after that step, by dotted path, such as `max_iterations` or `sub_queries.0.query`; another graph, models by the
    role that they take, and limits in place of the old ones."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"step": 0, "set": {"plan_first": True}}]}
    )

    step: int | None = Field(
        None, ge=0, le=2**31, description="As `history` has it; without one where this job stopped"
    )
    set: dict[Annotated[str, Field(max_length=500)], Any] = Field(
        default_factory=dict, max_length=100, description="Values in the state after the step, by dotted path"
    )
    graph: Name | None = Field(None, description="A graph that the operator offers")
    definition: Definition | None = Field(None, description="Another one in place of a graph of your own, as YAML")
    roles: Roles = {}


class StandingResource(BaseModel):
    """Where the run of a job stands: its `phase` (in a graph without phases the node), how many sources and findings it
    has, what models took so far by role and phase, and how much of the sources they were shown. `retries` counts
    requests that were sent again."""

    job_id: str
    phase: str | None
    iteration: int
    step: int
    sources: int
    findings: int
    retries: Sequence[Mapping[str, Any]]
    usage: Sequence[Mapping[str, Any]]
    content_fidelity: Mapping[str, Any]


class _Visit(BaseModel):
    """A visit of a node."""

    step: int
    node: str
    visit: int
    item: int | None
    attempt: int
    status: str
    hash: str


class StepResource(_Visit):
    """A step of a run. `node` is the path from the root, `item` the item of a fan-out."""

    started_at: str
    seconds: float | None


class StepList(BaseModel):
    """The steps of a job's run, in their order."""

    job_id: str
    steps: list[StepResource]


class StateResource(_Visit):
    """The state after a step, of the graph that the step belongs to. `update` is what the step itself gave."""

    job_id: str
    update: Any
    state: Mapping[str, Any]


class DifferenceResource(BaseModel):
    """What leads from one run, step or version of a report to another: sentences, claims, state and calls."""

    old: Mapping[str, Any]
    new: Mapping[str, Any]
    sentences: list[Mapping[str, Any]]
    claims: list[Mapping[str, Any]]
    state: list[Mapping[str, Any]]
    calls: Mapping[str, Any]


class RunReplay(BaseModel):
    """A replay on the recorded answers: how many steps came out the same, and the first one that did not."""

    steps: int
    identical: bool
    first_difference: Mapping[str, Any] | None
    taken_over: int


class ReplayResource(RunReplay):
    """A replay of a job's run."""

    job_id: str


class BundleCheck(BaseModel):
    """A bundle: its run, its size and hash, its replay, and the verification of its report where it has one."""

    run_id: str
    bytes: int
    sha256: str
    status: str
    question: str | None
    replay: RunReplay
    verification: Verification | None


class AuditRequest(BaseModel):
    """An uploaded document, and the library or libraries that it is compared with: `uploads`, and folders that the
    operator shares. Where a model serves the role `verification`, it judges what code found."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"document": "tides.md", "library": "uploads"}]}
    )

    document: Name
    library: Name | Annotated[list[Name], Field(min_length=1, max_length=20)] = "uploads"
    model: ModelNames | None = Field(None, description=MODELS)
    roles: Roles = {}


class AuditFormat(StrEnum):
    """What an audit is written as."""

    JSON = "json"
    MARKDOWN = "md"
    HTML = "html"


class Drawing(StrEnum):
    """What a graph is drawn as. Not as PNG: its renderer lets nothing else of the process run for seconds."""

    SVG = "svg"
    HTML = "html"
    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"


class GraphDefinition(BaseModel):
    """A graph of one's own as YAML, and the form of picture that is wanted of it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"definition": _GRAPH, "picture": "mermaid"}]}
    )

    definition: str = Field(min_length=1, max_length=_DEFINITION_CHARS)
    picture: Drawing | None = None


class GraphFinding(BaseModel):
    """What is wrong at a place of a graph. Lines and columns count from 1; a `warning` does not make it invalid."""

    line: int
    column: int
    code: str
    severity: str
    message: str
    help: str


class GraphCheck(BaseModel):
    """Whether a graph would run, and all that was found. `picture` is null where it would not, or none was wanted."""

    valid: bool
    findings: list[GraphFinding]
    picture: str | None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> GraphCheck:
        findings = [GraphFinding(**row) for row in found["findings"]]
        is_valid = not any(finding.severity == Severity.ERROR for finding in findings)
        return cls(valid=is_valid, findings=findings, picture=found["picture"])


class PassageList(BaseModel):
    """The best passages, best first."""

    passages: Sequence[PassageHit]


class Options(BaseModel):
    """What a submission may name: graphs, models, the roles that they take, searches, libraries, formats of a report.
    `own_graphs`: whether it may bring a graph of the user's own."""

    graphs: list[str]
    own_graphs: bool
    models: list[str]
    roles: list[str]
    searches: list[str]
    libraries: list[str]
    report_formats: list[str]
