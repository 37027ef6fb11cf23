"""What a run is asked for: everything that decides what it does, stored with it so that it can go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from graph_research.app.clock import parse_timestamp
from graph_research.app.workspace import Workspace, is_file_name
from graph_research.errors import Action, Hint, UserMistake, suggestion
from graph_research.providers.llm.model_spec import EXTRACTIVE, SCRIPTED
from graph_research.providers.search.base import LOCAL
from graph_research.research.models.phase import PHASES
from graph_research.research.models.report_options import ReportOptions, ReportType
from graph_research.settings.config import ROLES, Settings
from graph_research.settings.groups import REDUCTION, SOURCE_RULES

OWN_GRAPH = "own graph"
"""What the graph of a run is called whose request holds its definition; nothing else can be called so."""
QUESTION_CHARS = 50_000
"""The longest question."""
_DEFINITION_SECONDS = 7_200.0
"""How long a drive of a graph that came with its request takes at most: meanwhile it has one of the places for jobs."""

_Number = TypeVar("_Number", int, float)

_INPUT_SETTINGS = (
    "max_iterations",
    "max_sub_queries",
    "max_sources_per_query",
    "max_searches",
    "max_concurrent",
    "source_types",
    "system_prompt",
)

KEPT_SETTINGS = (
    "follow_links",
    "fetch_pdfs",
    *SOURCE_RULES,
    "allow_local_terms_in_web_queries",
    *REDUCTION,
)
"""What decides which calls a run makes and with which words, beside its models, searches and input."""


class QuestionInvalid(UserMistake):
    """A question that is empty or too long."""


class RequestInvalid(UserMistake):
    """An option of a run with a value that it cannot have."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a run is asked for. Paths are absolute; `now` fixes the clock.

    `question` is that of a research; None for a run of any other graph. `definition` is the text of a graph that stands
    in no file of this machine and may name what is known here. `inputs` are values for the graph's input channels; of
    those of a research the graph takes what it declares. An empty `search` is chosen when the run is created; `skipped`
    names those that were left out then, and why. `economies` say what was planned smaller then to keep within its
    limits. `settings` are those that decide which calls are made, for a replay;
    the rules for sources among them hold wherever the run goes on. `max_cost` is in USD, `max_tokens`
    counts input and output. The run pauses before each of the nodes `pause_before`, and before every node while it
    `steps`.
    """

    graph: str = "deep_research"
    definition: str | None = None
    question: str | None = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = (EXTRACTIVE,)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    search: tuple[str, ...] = (LOCAL,)
    skipped: tuple[str, ...] = ()
    economies: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    interactive: bool = False
    pause_before: tuple[str, ...] = ()
    steps: bool = False
    max_cost: float | None = None
    max_tokens: int | None = None
    timeout_seconds: float | None = None
    now: str | None = None

    @property
    def time_limit(self) -> float | None:
        """The seconds that a drive of the run may take; None: as many as its graph says."""
        most = None if self.definition is None else _DEFINITION_SECONDS
        return min((seconds for seconds in (self.timeout_seconds, most) if seconds is not None), default=None)

    @property
    def has_own_graph(self) -> bool:
        """Whether the graph was written by the user, so that its state need not be that of a research."""
        return self.definition is not None or is_file_name(self.graph)

    def to_json(self) -> dict[str, Any]:
        """The request as plain JSON, for the run's metadata."""
        return {**asdict(self), "roles": {role: list(specs) for role, specs in self.roles.items()}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunRequest:
        """The inverse of `to_json`; a key that a later version wrote is ignored."""
        known: dict[str, Any] = {name: value for name, value in data.items() if name in cls.__dataclass_fields__}
        lists = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        named: Mapping[str, Sequence[str]] = known.get("roles") or {}
        return cls(**{**known, **lists, "roles": {role: tuple(specs) for role, specs in named.items()}})


def rule_settings(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Rules for the sources of one run, as settings. `RequestInvalid` for a name that is none of them."""
    for name in rules:
        if name not in SOURCE_RULES:
            help = suggestion(name, SOURCE_RULES) + f"rules are {', '.join(SOURCE_RULES)}"
            raise RequestInvalid(f"no rule for sources is called {name[:80]!r}", help=help)
    return dict(rules)


def request_for(
    workspace: Workspace,
    question: str | None = None,
    *,
    graph: str = "deep_research",
    definition: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    roles: Sequence[str] = (),
    max_cost: float | None = None,
    max_tokens: int | None = None,
    interactive: bool | None = None,
    plan_first: bool = False,
    pause_before: Sequence[str] = (),
    now: str | None = None,
) -> RunRequest:
    """Complete a question, or the name of a graph and its `inputs`, with the settings in force. `roles` are `ROLE=SPEC`
    texts, which win over the settings. `ask` nodes ask only in an `interactive` run; None: in one without a question.
    A research that is to show its `plan_first` waits once it is made. A `definition` takes the place of a named graph.

    Raises `QuestionInvalid` and `RequestInvalid`; nothing is started and nothing but file names is looked at.
    """
    if now is not None:
        parse_timestamp(now)
    settings = workspace.settings
    given = dict(inputs or {})
    checked = None if question is None else _checked_question(question)
    models = _models(workspace)
    roles_of_run = {**_configured_roles(workspace), **_roles_of(roles, workspace.folder)}
    if question is not None:
        configured = {name: getattr(settings, name) for name in _INPUT_SETTINGS}
        configured["plan_first"] = plan_first or None
        configured["report_options"] = _report_options(settings)
        given = {name: _as_json(value) for name, value in configured.items() if value is not None} | given
    return RunRequest(
        question=checked,
        graph=_graph_name(graph, workspace.folder) if definition is None else OWN_GRAPH,
        definition=definition,
        inputs=given,
        models=models,
        roles=roles_of_run,
        search=_absolute_specs(settings.search_providers, workspace.folder),
        library=tuple(_absolute(folder, workspace.folder) for folder in settings.library),
        settings=settings.model_dump(mode="json", include=set(KEPT_SETTINGS)),
        interactive=question is None if interactive is None else interactive,
        pause_before=tuple(pause_before),
        max_cost=_above_zero(max_cost, "max_cost"),
        max_tokens=_above_zero(max_tokens, "max_tokens"),
        timeout_seconds=settings.task_timeout,
        now=now,
    )


def changed_request(
    workspace: Workspace,
    request: RunRequest,
    *,
    graph: str | None = None,
    definition: str | None = None,
    roles: Sequence[str] = (),
) -> RunRequest:
    """The request of a fork: as its parent's, but for another graph (file, name or definition) and the roles that are
    named."""
    all_roles = {**request.roles, **_roles_of(roles, workspace.folder)}
    if graph is None and definition is None:
        return replace(request, roles=all_roles, steps=False)
    named = OWN_GRAPH if graph is None else _graph_name(graph, workspace.folder)
    return replace(request, graph=named, definition=definition, roles=all_roles, pause_before=(), steps=False)


def with_settings_of(workspace: Workspace, request: RunRequest, names: Sequence[str] = KEPT_SETTINGS) -> Workspace:
    """The workspace with those of its settings that the run was made with."""
    kept = {name: value for name, value in request.settings.items() if name in names}
    try:
        settings = Settings.model_validate({**workspace.settings.model_dump(), **kept})
    except ValidationError as error:
        raise RequestInvalid(
            "the settings that the run was made with are not valid", help="use the version that made it"
        ) from error
    return replace(workspace, configuration=replace(workspace.configuration, settings=settings))


RequestLimits = tuple[float | None, int | None, float | None]
"""`max_cost` in USD, `max_tokens` and `timeout_seconds`."""
NO_LIMITS: RequestLimits = (None, None, None)


def with_limits(
    request: RunRequest, max_cost: float | None, max_tokens: int | None, timeout_seconds: float | None
) -> RunRequest:
    """The request of a stored run with new limits in place of its own, where they are given."""
    return replace(
        request,
        max_cost=_above_zero(max_cost, "max_cost") or request.max_cost,
        max_tokens=_above_zero(max_tokens, "max_tokens") or request.max_tokens,
        timeout_seconds=_above_zero(timeout_seconds, "timeout_seconds") or request.timeout_seconds,
    )


def _checked_question(question: str) -> str:
    if not question.strip():
        raise QuestionInvalid("the question is empty", help="ask something, in 1 to 50,000 characters")
    if len(question) > QUESTION_CHARS:
        raise QuestionInvalid(
            f"the question has {len(question):,} characters", help=f"shorten it to at most {QUESTION_CHARS:,}"
        )
    if not valid_text(question):
        raise QuestionInvalid("the question is not valid text", help="remove bytes that are not UTF-8")
    return question


def valid_text(text: str) -> bool:
    """Whether a store can hold the text and a terminal has given it whole."""
    return "\x00" not in text and not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def _report_options(settings: Settings) -> dict[str, Any]:
    return ReportOptions(
        length=settings.length,
        type=ReportType(settings.report_type),
        language=settings.language,
        audience=settings.audience,
    ).to_json()


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _above_zero(value: _Number | None, name: str) -> _Number | None:
    if value is not None and not value > 0:
        raise RequestInvalid(
            f"{name} must be greater than 0, and is {value}", hint=Hint(Action.SET_OPTION, options={name: ""})
        )
    return value


def _models(workspace: Workspace) -> tuple[str, ...]:
    """Each text may be a list with commas, as that of a role may."""
    from graph_research.providers.llm.catalog import default_models, whole_spec  # only a new run needs the adapters

    named = workspace.settings.default_provider or default_models(workspace.environ)
    specs = _absolute_specs([spec for specs in named for spec in specs.split(",")], workspace.folder)
    return tuple(whole_spec(spec) for spec in specs)


def _configured_roles(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    from graph_research.providers.llm.catalog import default_roles, whole_spec  # as above

    own = workspace.configuration.role_specs()
    named = own.get("research") or (_models(workspace) if workspace.settings.default_provider else ())
    given = {role: specs for role, specs in default_roles(workspace.environ, named).items() if "gathering" not in own}
    return {
        role: tuple(whole_spec(spec, role) for spec in _absolute_specs(specs, workspace.folder))
        for role, specs in {**given, **own}.items()
    }


def _roles_of(texts: Sequence[str], folder: Path) -> dict[str, tuple[str, ...]]:
    roles: dict[str, tuple[str, ...]] = {}
    for text in texts:
        role, equals, spec = text.partition("=")
        if not equals or not spec:
            raise RequestInvalid(
                f"{text[:80]!r} is not ROLE=SPEC",
                help="such as report=extractive",
                hint=Hint(Action.SET_OPTION, options={"roles": ""}),
            )
        if role not in (*ROLES, *PHASES):
            names = f"roles are {', '.join(ROLES)}, phases {', '.join(PHASES)}"
            raise RequestInvalid(f"no model role {role[:80]!r}", help=suggestion(role, (*ROLES, *PHASES)) + names)
        roles[role] = (*roles.get(role, ()), *_absolute_specs(spec.split(","), folder))
    return roles


def _absolute_specs(specs: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Specs that name a file name it absolutely, so that a run can be resumed from anywhere."""
    return tuple(_absolute_spec(spec.strip(), folder) for spec in specs if spec.strip())


def _absolute_spec(spec: str, folder: Path) -> str:
    kind, _, rest = spec.partition(":")
    return f"{kind}:{_absolute(rest, folder)}" if kind == SCRIPTED and rest else spec


def _graph_name(name: str, folder: Path) -> str:
    """The name of a known graph, or a graph file by its whole path, so that a run can be resumed from anywhere."""
    return _absolute(name, folder) if is_file_name(name) else name


def _absolute(path: str, folder: Path) -> str:
    return str((folder / Path(path).expanduser()).absolute())
