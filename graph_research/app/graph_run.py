"""Running any graph, also one that knows nothing of research: `graph run`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from graph_research.app.clock import make_clock
from graph_research.app.definitions import graph_file, load
from graph_research.app.models import build_router
from graph_research.app.research import new_run_id, refuse_known
from graph_research.app.runs import error_text, waiting_for
from graph_research.app.search import build_searches
from graph_research.app.services import build_registry, build_services
from graph_research.app.store import Store, open_store
from graph_research.app.workspace import Workspace
from graph_research.errors import check_name
from graph_research.graph.errors import InputInvalid
from graph_research.graph.events import Event
from graph_research.graph.runtime import NO_ANSWER, Runtime

__all__ = ["GraphRun", "GraphRunResult", "open_graph_run", "reopen_graph_run", "values_of"]

_KEY = "graph_run"


@dataclass(frozen=True, kw_only=True)
class GraphRunResult:
    """How a graph's run stands; `state` holds all its channels."""

    run_id: str
    status: str
    cause: str | None
    error: str | None
    waiting_for: str | None
    state: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class GraphRun:
    """A run of any graph. `values` is its input, None for one that is stored and goes on."""

    run_id: str
    store: Store
    runtime: Runtime
    metadata: Mapping[str, Any]
    values: Mapping[str, Any] | None
    accept_changes: bool = False

    async def events(self, answer: str | None = None) -> AsyncGenerator[Event, None]:
        """Start the run or go on with it, until it ends or waits."""
        if self.values is not None:
            stream = self.runtime.stream(dict(self.values), run_id=self.run_id, metadata=dict(self.metadata))
        else:
            given = NO_ANSWER if answer is None else answer
            stream = self.runtime.resume(self.run_id, answer=given, accept_changes=self.accept_changes)
        async with aclosing(stream):
            async for event in stream:
                yield event

    async def waiting_for(self) -> str | None:
        """What the run asks, if it waits for an answer."""
        return await waiting_for(self.store, await self.store.run(self.run_id))

    async def result(self) -> GraphRunResult:
        """How the run stands now."""
        record = await self.store.run(self.run_id)
        return GraphRunResult(
            run_id=self.run_id,
            status=record.status,
            cause=record.cause,
            error=error_text(record),
            waiting_for=await waiting_for(self.store, record),
            state=await self.store.state(self.run_id),
        )


@asynccontextmanager
async def open_graph_run(
    workspace: Workspace,
    name: str,
    values: Mapping[str, Any],
    *,
    run_id: str | None = None,
    now: str | None = None,
) -> AsyncIterator[GraphRun]:
    """A new run of the graph that `name` means. It stops at an `ask` node, to be answered with `resume`."""
    chosen = new_run_id() if run_id is None else check_name(run_id, "run id")
    file = graph_file(workspace, name)
    known = name if workspace.graphs.path(name) is not None else str((workspace.folder / file).absolute())
    async with open_store(workspace.home) as store:
        await refuse_known(store, chosen)
        yield _assembled(workspace, store, chosen, {"name": known, "now": now}, values)


@asynccontextmanager
async def reopen_graph_run(
    workspace: Workspace, run_id: str, *, accept_changes: bool = False
) -> AsyncIterator[GraphRun]:
    """A stored run of a graph, to go on with; `accept_changes` although its definition has changed."""
    async with open_store(workspace.home) as store:
        record = await store.run(check_name(run_id, "run id"))
        yield _assembled(workspace, store, run_id, record.metadata[_KEY], None, accept_changes=accept_changes)


def values_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Input channels from `PATH=JSON` texts; a dotted path sets a key inside of a channel's object."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path:
            raise InputInvalid(f"--set {assignment[:80]!r} is no PATH=JSON", help="such as --set n=5")
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise InputInvalid(
                f"--set {path[:80]}: {text[:80]!r} is no JSON: {error}", help=f"write text as --set '{path}=\"text\"'"
            ) from error
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


def _assembled(
    workspace: Workspace,
    store: Store,
    run_id: str,
    options: Mapping[str, Any],
    values: Mapping[str, Any] | None,
    *,
    accept_changes: bool = False,
) -> GraphRun:
    settings = workspace.settings
    models = build_router(settings.default_provider or ("extractive",), workspace.configuration.role_specs())
    search = build_searches(workspace, settings.search_providers, settings.library)
    folders = [str(folder) for folder in search.folders]
    services = build_services(workspace, models=models, search=search.providers, folders=folders)
    graph = load(workspace, options["name"], build_registry(workspace, services))
    runtime = Runtime(graph, checkpointer=store, clock=make_clock(options["now"]), interactive=True)
    return GraphRun(
        run_id=run_id,
        store=store,
        runtime=runtime,
        metadata={_KEY: dict(options)},
        values=values,
        accept_changes=accept_changes,
    )
