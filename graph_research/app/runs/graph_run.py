"""Running any graph, also one that knows nothing of research: `graph run`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from graph_research.app.clock import make_clock
from graph_research.app.graphs.catalog import graph_file, load
from graph_research.app.graphs.local_files import with_neighbours
from graph_research.app.library import Indexing
from graph_research.app.request import GraphRequest, changed_request, with_limits
from graph_research.app.runs.budget import Budget, within_budget
from graph_research.app.runs.imported import inherited, is_foreign, refuse_foreign, without_pages
from graph_research.app.runs.limits import Reached, limit_reached
from graph_research.app.runs.research import new_run_id, refuse_known
from graph_research.app.runs.state_edits import edited, read_assignment
from graph_research.app.runs.status import error_text, waiting_for
from graph_research.app.store import Store, graph_metadata_of, graph_request_of, open_store
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.models import build_router, prices_of
from graph_research.app.wiring.replay_registry import offline_registry
from graph_research.app.wiring.search import Searches, build_searches, with_searches
from graph_research.app.wiring.services import build_registry, build_services
from graph_research.app.workspace import Workspace
from graph_research.errors import check_name
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import InputInvalid
from graph_research.graph.events import Event
from graph_research.graph.runtime import NO_ANSWER, Runtime
from graph_research.providers.clients import Clients

__all__ = [
    "GraphRun",
    "GraphRunResult",
    "fork_graph_run",
    "open_graph_run",
    "reopen_graph_run",
    "values_of",
]


@dataclass(frozen=True, kw_only=True)
class GraphRunResult:
    """How a graph's run stands; `state` holds all its channels, `outputs` names those declared `output: true`.
    `limit` is the one that ended it."""

    run_id: str
    status: str
    cause: str | None
    error: str | None
    waiting_for: str | None
    state: Mapping[str, Any]
    limit: Reached | None = None
    outputs: tuple[str, ...] = ()
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class GraphRun:
    """A run of any graph. `values` is its input, None for one that is stored and goes on; `kept` takes the place of
    what is kept with that."""

    run_id: str
    store: Store
    runtime: Runtime
    request: GraphRequest
    budget: Budget
    values: Mapping[str, Any] | None
    accept_changes: bool = False
    kept: Mapping[str, Any] | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """What is kept with the run, so that it can go on."""
        return graph_metadata_of(self.request)

    async def events(self, answer: str | None = None) -> AsyncGenerator[Event, None]:
        """Start the run or go on with it, until it ends or waits."""
        if self.values is not None:
            stream = self.runtime.stream(dict(self.values), run_id=self.run_id, metadata=self.metadata)
        else:
            given = NO_ANSWER if answer is None else answer
            stream = self.runtime.resume(
                self.run_id, answer=given, accept_changes=self.accept_changes, metadata=self.kept
            )
        async with aclosing(stream):
            async for event in stream:
                yield event

    async def waiting_for(self) -> str | None:
        """What the run asks, if it waits for an answer."""
        return await waiting_for(self.store, await self.store.run(self.run_id))

    async def result(self) -> GraphRunResult:
        """How the run stands now."""
        record = await self.store.run(self.run_id)
        reached = await limit_reached(
            self.store, record, timeout_seconds=self.request.timeout_seconds, spent=self.budget.spent()
        )
        return GraphRunResult(
            run_id=self.run_id,
            status=record.status,
            cause=record.cause,
            error=error_text(record) if reached is None else reached.words,
            limit=reached,
            waiting_for=await waiting_for(self.store, record),
            state=await self.store.state(self.run_id),
            parent=record.parent,
            outputs=tuple(name for name, channel in self.runtime.graph.spec.channels.items() if channel.output),
        )


@asynccontextmanager
async def open_graph_run(
    workspace: Workspace,
    request: GraphRequest,
    values: Mapping[str, Any],
    *,
    run_id: str | None = None,
    on_index: Indexing | None = None,
) -> AsyncIterator[GraphRun]:
    """A new run of the graph that is asked for, with the folders of its library indexed on the way. An interactive one
    stops at an `ask` node, to be answered with `resume`."""
    chosen = new_run_id() if run_id is None else check_name(run_id, "run id")
    graph_file(workspace, request.name)
    async with open_store(workspace.home) as store, open_clients(workspace) as clients:
        await refuse_known(store, chosen)
        request = await with_searches(workspace, request)
        search = build_searches(workspace, request.search, request.library, clients)
        run = _assembled(workspace, store, chosen, request, search, values, clients)
        if search.folders or _searches(run.runtime.graph):
            await search.prepare(workspace, index=True, on_index=on_index)
            yield run
        else:
            yield replace(run, request=replace(request, skipped=()))


@asynccontextmanager
async def reopen_graph_run(
    workspace: Workspace,
    run_id: str,
    *,
    accept_changes: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout_seconds: float | None = None,
    offline: bool = False,
) -> AsyncIterator[GraphRun]:
    """A stored run of a graph, to go on with; `accept_changes` although its definition has changed. A limit given here
    replaces its own for good; `offline` goes on without models and searches, for a run that is only to end."""
    async with open_store(workspace.home) as store, open_clients(workspace) as opened:
        record = await store.run(check_name(run_id, "run id"))
        if not accept_changes and record.status != "completed":
            refuse_foreign(record, graph_request_of(record))
        clients = opened if accept_changes or not is_foreign(record) else without_pages(opened)
        stored = graph_request_of(record)
        request = with_limits(stored, max_cost, max_tokens, timeout_seconds)
        search = None if offline else build_searches(workspace, request.search, request.library, clients)
        run = _assembled(workspace, store, run_id, request, search, None, clients, accept_changes=accept_changes)
        calls = await store.calls(run_id)
        run.budget.count_recorded(calls)
        clients.pages.keep_recorded(calls)
        yield run if request == stored else replace(run, kept={**record.metadata, **graph_metadata_of(request)})


@asynccontextmanager
async def fork_graph_run(
    workspace: Workspace,
    parent: str,
    step: int,
    *,
    assignments: Sequence[str] = (),
    graph: str | None = None,
    roles: Sequence[str] = (),
    run_id: str | None = None,
    accept_changes: bool = False,
) -> AsyncIterator[GraphRun]:
    """A new run that goes on from a step of a stored one, with edited state, another graph or other models.
    `accept_changes` agrees to what a run that came in a bundle asks."""
    chosen = new_run_id() if run_id is None else check_name(run_id, "run id")
    async with open_store(workspace.home) as store, open_clients(workspace) as opened:
        record = await store.run(check_name(parent, "run id"))
        await refuse_known(store, chosen)
        if not accept_changes:
            refuse_foreign(record, graph_request_of(record))
        clients = opened if accept_changes or not is_foreign(record) else without_pages(opened)
        request = changed_request(workspace, graph_request_of(record), graph=graph, roles=roles)
        search = build_searches(workspace, request.search, request.library, clients)
        run = _assembled(workspace, store, chosen, request, search, None, clients)
        values = edited(await store.state(parent, step), assignments)
        metadata = {**run.metadata, **inherited(record)}
        await run.runtime.fork(parent, step, values=values, new_run_id=chosen, metadata=metadata)
        yield run


def values_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Input channels from `PATH=JSON` texts; a dotted path sets a key inside of a channel's object."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        path, value = read_assignment(assignment)
        _put(values, path.split("."), value)
    return values


def _put(values: dict[str, Any], keys: Sequence[str], value: Any) -> None:
    *outer, last = keys
    for key in outer:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            raise InputInvalid(f"--set {'.'.join(keys)[:80]}: {key!r} is no object", help="set the whole channel")
        values = inner
    values[last] = value


def _searches(graph: Graph) -> bool:
    """Whether the graph or one inside of it has a `search` node."""
    own = any(node.kind == "run" and node.target == "search" for node in graph.spec.nodes.values())
    return own or any(_searches(child) for child in graph.subgraphs.values())


def _assembled(
    workspace: Workspace,
    store: Store,
    run_id: str,
    request: GraphRequest,
    search: Searches | None,
    values: Mapping[str, Any] | None,
    clients: Clients,
    *,
    accept_changes: bool = False,
) -> GraphRun:
    """Without `search` the run asks no model either."""
    budget = Budget(
        run_id=run_id,
        prices=prices_of(workspace.settings),
        max_tokens=request.max_tokens,
        max_cost=request.max_cost,
    )
    there = with_neighbours(workspace, request.name)
    if search is None:
        registry = offline_registry(there, request)
    else:
        models = within_budget(build_router(request.models, request.roles, clients), budget, stop=store.request_cancel)
        folders = [str(folder) for folder in search.folders]
        services = build_services(
            there, models=models, search=search.cached().providers, folders=folders, pages=clients.pages
        )
        registry = build_registry(there, services)
    runtime = Runtime(
        load(workspace, request.name, registry),
        checkpointer=store,
        clock=make_clock(request.now),
        interactive=request.interactive,
        timeout_seconds=request.timeout_seconds,
    )
    return GraphRun(
        run_id=run_id,
        store=store,
        runtime=runtime,
        request=request,
        budget=budget,
        values=values,
        accept_changes=accept_changes,
    )
