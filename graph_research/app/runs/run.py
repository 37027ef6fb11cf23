"""A run put together from its request: the graph with its models and searches, its input and its budget."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph_research.app.clock import make_clock
from graph_research.app.graphs.catalog import load
from graph_research.app.request import RequestInvalid, RunRequest, with_settings_of
from graph_research.app.runs.limits.budget import Budget, LimitReached, PagesInTime, SearchInTime, within_budget
from graph_research.app.runs.limits.estimate import Shape
from graph_research.app.runs.limits.reserve import Limits, Reserve, check_least, planned_within
from graph_research.app.store import Store
from graph_research.app.wiring.models import build_router
from graph_research.app.wiring.prices import prices_of
from graph_research.app.wiring.replay_registry import offline_registry
from graph_research.app.wiring.search import Searches, build_searches
from graph_research.app.wiring.services import build_registry, build_services
from graph_research.app.workspace import Workspace, with_neighbours
from graph_research.errors import Action, Hint, suggestion
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.execution.bounds import Bounds
from graph_research.graph.runtime import Runtime
from graph_research.providers.clients import Clients
from graph_research.research.digest.cache import DigestCache
from graph_research.research.hooks import Hooks
from graph_research.research.llm.services import AnswerSchemas
from graph_research.settings.groups import SOURCE_RULES

_OF_BROUGHT_GRAPHS = Bounds(steps=2_000, calls=2_000, characters=100_000_000)
"""About ten times what a thorough research takes: a graph that comes with a request is somebody else's than the
operator's, whose processor, memory and models it uses."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """How a run stands; `state` holds all its channels, `outputs` names those declared `output: true`. `waiting_for` is
    the question that it asks, `limit` the one that ended it, `parent` the run that a fork comes from."""

    run_id: str
    status: str
    cause: str | None
    error: str | None
    waiting_for: str | None
    state: Mapping[str, Any]
    limit: LimitReached | None = None
    outputs: tuple[str, ...] = ()
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that is ready to be driven. `searches` and `answers`, the schemas of its agents, are None for one that is
    only to end, without models and searches."""

    run_id: str
    request: RunRequest
    store: Store
    graph: Graph
    budget: Budget
    searches: Searches | None
    answers: AnswerSchemas | None = None

    @property
    def may_search(self) -> bool:
        """Whether there must be something to search: for a research, and for a graph that names a library or has a
        `search` node."""
        if self.searches is None:
            return False
        return self.request.question is not None or bool(self.searches.folders) or _has_search_node(self.graph)

    def runtime(self) -> Runtime:
        """What drives the run."""
        return Runtime(
            self.graph,
            checkpointer=self.store,
            clock=make_clock(self.request.now),
            interactive=self.request.interactive,
            timeout_seconds=self.request.time_limit,
            bounds=None if self.request.definition is None else _OF_BROUGHT_GRAPHS,
            pauses_before=self._pauses_before if self.request.pause_before or self.request.steps else None,
        )

    def _pauses_before(self, node: str) -> bool:
        return self.request.steps or node in self.request.pause_before

    def input(self) -> dict[str, Any]:
        """What the graph is started with."""
        if self.request.question is None:
            return dict(self.request.inputs)
        declared = {name for name, channel in self.graph.spec.channels.items() if channel.input}
        given = {"question": self.request.question, "research_id": self.run_id, **self.request.inputs}
        return {name: value for name, value in given.items() if name in declared}


def assemble(
    workspace: Workspace,
    store: Store,
    clients: Clients,
    run_id: str,
    request: RunRequest,
    *,
    offline: bool = False,
    hooks: Hooks | None = None,
    digests: DigestCache | None = None,
) -> Run:
    """The run of a request. An `offline` one names its models and searches, and asks none. `digests` are those of
    earlier runs."""
    budget = Budget(
        run_id=run_id,
        prices=prices_of(workspace.settings),
        max_tokens=request.max_tokens,
        max_cost=request.max_cost,
    )
    there = with_settings_of(with_neighbours(workspace, request.graph), request, SOURCE_RULES)
    searches, answers = None, None
    if offline:
        registry = offline_registry(there, request)
    else:
        models = within_budget(build_router(request.models, request.roles, clients), budget, stop=store.request_cancel)
        searches = build_searches(workspace, request.search, request.library, clients)
        services = build_services(
            there,
            models=models,
            search=[SearchInTime(provider=each, budget=budget) for each in searches.cached().providers],
            folders=[str(folder) for folder in searches.folders],
            pages=None if clients.pages is None else PagesInTime(pages=clients.pages, budget=budget),
            allowance=budget,
            hooks=hooks,
            read_state=store.state,
            instructions=store.instructions,
            digests=digests,
        )
        answers, registry = services.schemas, build_registry(there, services)
    graph = load(workspace, request.graph, registry, request.definition)
    _check_pauses(graph, request)
    if request.question is not None:
        graph = _for_question(graph, request)
        if _degrades(graph):
            budget.seconds = time_limit(graph, request)
            shape = Shape.of(request.inputs, request.models, request.roles, budget.prices)
            budget.reserve = Reserve.of(shape, limits_of(budget))
    return Run(
        run_id=run_id, request=request, store=store, graph=graph, budget=budget, searches=searches, answers=answers
    )


def planned_within_limits(run: Run) -> Run:
    """The run, planned smaller where its limits hold less than is asked for; `LimitTooSmall` where no report."""
    if run.budget.reserve is None:
        return run
    request, limits = run.request, limits_of(run.budget)
    shape = Shape.of(request.inputs, request.models, request.roles, run.budget.prices)
    check_least(shape, limits)
    inputs, _, economies = planned_within(request.inputs, shape, limits)
    return replace(run, request=replace(request, inputs=inputs, economies=economies))


def time_limit(graph: Graph, request: RunRequest) -> float | None:
    """The seconds that a drive of the run may take, by its own limit or that of its graph."""
    seconds = (request.time_limit, graph.spec.limits.seconds)
    return min((each for each in seconds if each is not None), default=None)


def limits_of(budget: Budget) -> Limits:
    """The limits of a run."""
    return Limits(tokens=budget.max_tokens, cost=budget.max_cost, seconds=budget.seconds)


def _degrades(graph: Graph) -> bool:
    """Whether the graph writes a report and says what it did with less."""
    return {"draft", "degraded"} <= graph.spec.channels.keys()


def new_run_id() -> str:
    """`run-` and 10 random hex digits."""
    return f"run-{secrets.token_hex(5)}"


def _has_search_node(graph: Graph) -> bool:
    own = any(node.kind == "run" and node.target == "search" for node in graph.spec.nodes.values())
    return own or any(_has_search_node(child) for child in graph.subgraphs.values())


def _check_pauses(graph: Graph, request: RunRequest) -> None:
    for name in request.pause_before:
        if name in graph.spec.nodes and graph.spec.nodes[name].kind == "end":
            raise RequestInvalid(
                f'graph "{graph.spec.name}" does not pause before {name!r}, which ends the run',
                help="pause before a node that leads there",
            )
        if name not in graph.spec.nodes:
            raise RequestInvalid(
                f'graph "{graph.spec.name}" has no node {name[:80]!r} to pause before',
                help=suggestion(name, graph.spec.nodes) + f"its nodes are {', '.join(graph.spec.nodes)}",
            )


def _for_question(graph: Graph, request: RunRequest) -> Graph:
    """The graph within the request's concurrency; refused where it answers no question."""
    channels = graph.spec.channels
    if "question" not in channels or not channels["question"].input:
        raise RequestInvalid(
            f'graph "{graph.spec.name}" has no input channel "question"',
            help="declare `question: {type: string, input: true}`"
            if request.definition
            else "run it without a question",
            hint=None if request.definition else Hint(Action.RUN_GRAPH, request.graph),
        )
    if request.inputs.get("plan_first") and "plan_first" not in channels:
        raise RequestInvalid(
            f'graph "{graph.spec.name}" has no input channel "plan_first" and cannot wait with its plan',
            help="run it without waiting for its plan",
        )
    given = {"question", "research_id", *request.inputs}
    lacking = [name for name, channel in channels.items() if channel.input and channel.required and name not in given]
    if lacking:
        raise RequestInvalid(
            f'graph "{graph.spec.name}" needs more than a question: {", ".join(lacking)}',
            help="give it as input",
            hint=Hint(Action.RUN_GRAPH, request.graph, {"assignments": f"{lacking[0]}=JSON"}),
        )
    at_once = request.inputs.get("max_concurrent")
    if at_once is None:
        return graph
    nodes = {
        name: node if isinstance(node.at_once, str) else replace(node, at_once=min(node.at_once, at_once))
        for name, node in graph.spec.nodes.items()
    }
    return replace(graph, spec=replace(graph.spec, nodes=nodes))
