"""One research from question to report, as the command line and `deep_research` drive it."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graph_research.app.clock import make_clock
from graph_research.app.files import OutputUnwritable, check_writable
from graph_research.app.graphs.catalog import load
from graph_research.app.graphs.local_files import with_neighbours
from graph_research.app.library import Indexing
from graph_research.app.request import RequestInvalid, ResearchRequest, changed_request, request_for, with_limits
from graph_research.app.runs.budget import Budget, within_budget
from graph_research.app.runs.imported import inherited, is_foreign, refuse_foreign, without_pages
from graph_research.app.runs.limits import Reached, limit_reached
from graph_research.app.runs.report import Built, NoReport, build_from_store, write_report
from graph_research.app.runs.state_edits import edited
from graph_research.app.runs.status import error_text, waiting_for
from graph_research.app.store import Store, metadata_of, open_store, request_of
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.models import build_router, prices_of
from graph_research.app.wiring.replay_registry import offline_registry
from graph_research.app.wiring.search import build_searches, with_searches
from graph_research.app.wiring.services import build_registry, build_services
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.audit_log import AuditLog
from graph_research.errors import GraphResearchError, check_name
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import RunExists, UnknownRun
from graph_research.graph.events import Event
from graph_research.graph.runtime import NO_ANSWER, Runtime
from graph_research.graph.state.position import Position
from graph_research.research.hooks import Hooks

__all__ = [
    "Research",
    "ResearchResult",
    "deep_research",
    "fork_research",
    "new_run_id",
    "open_research",
    "refuse_known",
    "reopen_research",
]


@dataclass(frozen=True, kw_only=True)
class ResearchResult:
    """How a research ended. `parent` is the run that a fork comes from; `report` maps `md`, `html`, `json` to files,
    None where there is none; `confidence` is 0 to 1; `waiting_for` is the question that it asks, `limit` the one
    that ended it, `summary` the short answer in plain text."""

    run_id: str
    question: str
    status: str
    parent: str | None = None
    cause: str | None = None
    error: str | None = None
    waiting_for: str | None = None
    limit: Reached | None = None
    report: Mapping[str, str] | None = None
    confidence: float | None = None
    iterations: int = 1
    statistics: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    sources: int = 0
    citations: int = 0

    def to_json(self) -> dict[str, Any]:
        """The result as `run --json` prints it."""
        return asdict(self)


class Research:
    """One research, checked and ready: `events` drives it, `result` says how it ended and writes its report.

    An async context manager: an error that nobody named leaves a crash marker for the run.
    """

    def __init__(
        self,
        *,
        workspace: Workspace,
        request: ResearchRequest,
        run_id: str,
        store: Store,
        graph: Graph,
        budget: Budget,
        out: Path,
        new: bool,
        accept_changes: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """`metadata` takes the place of what is kept with a stored run."""
        self.request = request
        self.run_id = run_id
        self.budget = budget
        self._workspace = workspace
        self._store = store
        self._graph = graph
        self._out = out
        self._new = new
        self._accept_changes = accept_changes
        self._metadata = metadata

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, GraphResearchError):
            self._workspace.home.write_crash(self.run_id, error)

    async def events(self, answer: str | None = None) -> AsyncGenerator[Event, None]:
        """Start the run or go on with it, until it ends or waits; each event is written to the audit log first."""
        going_on = not self._new
        stream = self._stream(answer)
        with AuditLog(self._workspace.home.audit_file(self.run_id)) as log:
            if going_on:
                for missed in await self._store.events(self.run_id, after=log.last_seq):
                    log.write(missed.to_json())
            async with aclosing(stream):
                async for event in stream:
                    if event.seq is not None:
                        log.write(event.to_json())
                    yield event

    @property
    def parts(self) -> tuple[Graph, Store]:
        """The graph and the store, for whoever drives the run in another way."""
        return self._graph, self._store

    def given(self) -> tuple[dict[str, Any], dict[str, object]]:
        """What a new run is started with: its input, and what is kept with it."""
        declared = {name for name, channel in self._graph.spec.channels.items() if channel.input}
        given = {"question": self.request.question, "research_id": self.run_id, **self.request.inputs}
        return {name: value for name, value in given.items() if name in declared}, metadata_of(self.request)

    async def fork(self, parent: str, step: int, assignments: Sequence[str]) -> None:
        """Become a new run that begins where `parent` stood after `step`, with `PATH=JSON` edits of its state."""
        values = edited(await self._store.state(parent, step), assignments)
        metadata = {**metadata_of(self.request), **inherited(await self._store.run(parent))}
        await self._runtime().fork(parent, step, values=values, new_run_id=self.run_id, metadata=metadata)
        self._new = False

    async def state(self) -> Mapping[str, Any]:
        """The latest committed state."""
        return await self._store.state(self.run_id)

    async def node(self) -> str:
        """The node that a stored run goes on with, empty where there is none: of one that an event has led to its end,
        the node that it led away from."""
        record = await self._store.run(self.run_id)
        placed = await self._store.last_position(self.run_id)
        position = Position.from_bytes(placed.position, placed.hash) if placed and placed.position else None
        if position is not None and position.interruption is not None and record.status in {"aborted", "failed"}:
            return position.interruption.active[0].node
        return record.nodes[0] if record.nodes else ""

    async def waiting_for(self) -> str | None:
        """What the run asks, if it waits for an answer."""
        return await waiting_for(self._store, await self._store.run(self.run_id))

    async def result(self) -> ResearchResult:
        """How the run stands; where it has something to report, the report is written."""
        record = await self._store.run(self.run_id)
        reached = await limit_reached(
            self._store, record, timeout_seconds=self.request.timeout_seconds, spent=self.budget.spent()
        )
        result = ResearchResult(
            run_id=self.run_id,
            question=self.request.question,
            status=record.status,
            parent=record.parent,
            cause=record.cause,
            error=error_text(record) if reached is None else reached.words,
            limit=reached,
            waiting_for=await waiting_for(self._store, record),
        )
        if record.status not in {"completed", "aborted"} or record.cause == "error":
            return replace(result, iterations=(await self.state()).get("iteration") or 1)
        try:
            built = await build_from_store(self._store, self.run_id, prices_of(self._workspace.settings))
        except NoReport:
            return replace(result, iterations=(await self.state()).get("iteration") or 1)
        report = built.report
        return replace(
            result,
            report=self._written(built),
            confidence=report.confidence.value,
            iterations=report.iterations,
            statistics=report.statistics.to_json(),
            summary="\n".join(statement.text for statement in report.short_answer),
            sources=len(report.sources),
            citations=len(report.citations),
        )

    def _written(self, built: Built) -> Mapping[str, str]:
        try:
            return write_report(self._workspace, built, self._out, self._graph)
        except OutputUnwritable as error:
            elsewhere = f"graph-research resume {self.run_id} --out FOLDER"
            raise OutputUnwritable(
                error.message, help=f"the run is kept; write its report elsewhere with: {elsewhere}"
            ) from error

    def _runtime(self) -> Runtime:
        return Runtime(
            self._graph,
            checkpointer=self._store,
            clock=make_clock(self.request.now),
            interactive=self.request.interactive,
            timeout_seconds=self.request.timeout_seconds,
        )

    def _stream(self, answer: str | None) -> AsyncGenerator[Event, None]:
        runtime = self._runtime()
        if self._new:
            self._new = False
            values, metadata = self.given()
            return runtime.stream(values, run_id=self.run_id, metadata=metadata)
        return runtime.resume(
            self.run_id,
            answer=NO_ANSWER if answer is None else answer,
            accept_changes=self._accept_changes,
            metadata=self._metadata,
        )


def new_run_id() -> str:
    """`run-` and 10 random hex digits."""
    return f"run-{secrets.token_hex(5)}"


@asynccontextmanager
async def open_research(
    workspace: Workspace,
    request: ResearchRequest,
    *,
    run_id: str | None = None,
    out: Path | None = None,
    on_index: Indexing | None = None,
    make_id: Callable[[], str] = new_run_id,
    hooks: Hooks | None = None,
) -> AsyncIterator[Research]:
    """A new research, with everything checked that can be checked before it starts: models, searches, library, graph,
    run id and the folder for the report. Library folders are indexed on the way. `hooks` guide it between phases."""
    chosen = make_id() if run_id is None else check_name(run_id, "run id")
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(workspace.home))
        await refuse_known(store, chosen)
        request = await with_searches(workspace, request)
        research = await _assembled(
            workspace, request, store, stack, run_id=chosen, out=out, on_index=on_index, hooks=hooks
        )
        yield await stack.enter_async_context(research)


@asynccontextmanager
async def reopen_research(
    workspace: Workspace,
    run_id: str,
    *,
    out: Path | None = None,
    accept_changes: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout_seconds: float | None = None,
    offline: bool = False,
) -> AsyncIterator[Research]:
    """A stored research with the models, searches and options it was started with; a limit given here replaces its
    own for good. `accept_changes` goes on although the graph, a prompt or a schema has changed; `offline` goes on
    without models and searches, and writes no report: for a run that is only to end."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(workspace.home))
        record = await store.run(check_name(run_id, "run id"))
        request = request_of(record)
        if request is None:
            raise UnknownRun(f"run {run_id} is no research", help="`graph run` started it")
        if not accept_changes and record.status != "completed":
            refuse_foreign(record, request)
        limited = with_limits(request, max_cost, max_tokens, timeout_seconds)
        research = await _assembled(
            workspace,
            limited,
            store,
            stack,
            run_id=run_id,
            out=out,
            new=False,
            metadata=None if limited == request else {**record.metadata, **metadata_of(limited)},
            accept_changes=accept_changes,
            offline=offline,
            agreed=accept_changes or not is_foreign(record),
        )
        yield await stack.enter_async_context(research)


@asynccontextmanager
async def fork_research(
    workspace: Workspace,
    parent: str,
    step: int,
    *,
    assignments: Sequence[str] = (),
    graph: str | None = None,
    roles: Sequence[str] = (),
    run_id: str | None = None,
    out: Path | None = None,
    accept_changes: bool = False,
) -> AsyncIterator[Research]:
    """A new research that goes on from a step of a stored one, with edited state, another graph or other models. What
    the parent recorded is used again where the request is unchanged. `accept_changes` agrees to what a run that came in
    a bundle asks."""
    chosen = new_run_id() if run_id is None else check_name(run_id, "run id")
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(workspace.home))
        record = await store.run(check_name(parent, "run id"))
        request = request_of(record)
        if request is None:
            raise UnknownRun(f"run {parent} is no research", help="`graph run` started it")
        if not accept_changes:
            refuse_foreign(record, request)
        await refuse_known(store, chosen)
        request = changed_request(workspace, request, graph=graph, roles=roles)
        agreed = accept_changes or not is_foreign(record)
        research = await _assembled(
            workspace, request, store, stack, run_id=chosen, out=out, index=False, agreed=agreed
        )
        await research.fork(parent, step, assignments)
        yield await stack.enter_async_context(research)


async def refuse_known(store: Store, run_id: str) -> None:
    """`RunExists` where the id is taken."""
    try:
        await store.run(run_id)
    except UnknownRun:
        return
    raise RunExists(
        f"a run {run_id} exists", help=f"choose another --run-id, or go on with it: graph-research resume {run_id}"
    )


async def _assembled(
    workspace: Workspace,
    request: ResearchRequest,
    store: Store,
    stack: AsyncExitStack,
    *,
    run_id: str,
    out: Path | None,
    new: bool = True,
    metadata: Mapping[str, Any] | None = None,
    accept_changes: bool = False,
    index: bool = True,
    on_index: Indexing | None = None,
    hooks: Hooks | None = None,
    offline: bool = False,
    agreed: bool = True,
) -> Research:
    budget = Budget(
        run_id=run_id,
        prices=prices_of(workspace.settings),
        max_tokens=request.max_tokens,
        max_cost=request.max_cost,
    )
    opened = await stack.enter_async_context(open_clients(workspace))
    clients = opened if agreed else without_pages(opened)
    if not new:
        calls = await store.calls(run_id)
        budget.count_recorded(calls)
        clients.pages.keep_recorded(calls)
    folder = workspace.folder / "research" / run_id if out is None else workspace.folder / out
    there = with_neighbours(workspace, request.graph)
    if offline:
        registry = offline_registry(there, request)
    else:
        models = within_budget(build_router(request.models, request.roles, clients), budget, stop=store.request_cancel)
        search = build_searches(workspace, request.search, request.library, clients).cached()
        folders = [str(one) for one in search.folders]
        services = build_services(
            there,
            models=models,
            search=search.providers,
            folders=folders,
            pages=clients.pages,
            hooks=hooks,
            read_state=store.state,
        )
        registry = build_registry(there, services)
    graph = _limited(load(workspace, request.graph, registry), request)
    if not offline:
        check_writable(folder)
        await search.prepare(workspace, index=new and index, on_index=on_index)
    return Research(
        workspace=workspace,
        request=request,
        run_id=run_id,
        store=store,
        graph=graph,
        budget=budget,
        out=folder,
        new=new,
        accept_changes=accept_changes,
        metadata=metadata,
    )


def _limited(graph: Graph, request: ResearchRequest) -> Graph:
    """The graph within the request's concurrency; refused where it answers no question."""
    channels = graph.spec.channels
    if "question" not in channels or not channels["question"].input:
        raise RequestInvalid(
            f'graph "{graph.spec.name}" has no input channel "question"',
            help=f"run it with: graph-research graph run {request.graph}",
        )
    given = {"question", "research_id", *request.inputs}
    lacking = [name for name, channel in channels.items() if channel.input and channel.required and name not in given]
    if lacking:
        raise RequestInvalid(
            f'graph "{graph.spec.name}" needs more than a question: {", ".join(lacking)}',
            help=f"give it with: graph-research graph run {request.graph} --set {lacking[0]}=JSON",
        )
    at_once = request.inputs.get("max_concurrent")
    nodes = {
        name: node
        if at_once is None or isinstance(node.at_once, str)
        else replace(node, at_once=min(node.at_once, at_once))
        for name, node in graph.spec.nodes.items()
    }
    return replace(graph, spec=replace(graph.spec, nodes=nodes))


async def deep_research(
    question: str,
    *,
    llm: str | Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    library: Sequence[str | Path] = (),
    search: Sequence[str] | None = None,
    graph: str = "deep_research",
    max_iterations: int | None = None,
    max_sub_queries: int | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout_seconds: float | None = None,
    run_id: str | None = None,
    now: str | None = None,
    out: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    hooks: Hooks | None = None,
) -> ResearchResult:
    """Research one question and write its report into `out` (default `./research/RUN_ID/`).

    Models may cost `max_cost` USD and use `max_tokens`, input and output together; beyond either the run is aborted.
    `hooks.on_think_pause(state, prompt)` is called after each phase; what it returns guides the next one.
    What is not given comes from the settings. A folder's own files are used only if its user agreed to them before,
    but for what a graph file that is named finds beside it in the place of nothing.
    The run is kept in the data home like one of the command line. Raises `UserMistake` for a request that cannot be
    started; a run that fails is a result with `status` and `cause`.
    """
    options = {
        "default_provider": [llm] if isinstance(llm, str) else llm and list(llm),
        "search_providers": search and list(search),
        "library": [str(folder) for folder in library] or None,
        "max_iterations": max_iterations,
        "max_sub_queries": max_sub_queries,
        "task_timeout": timeout_seconds,
    }
    workspace = open_workspace(
        os.environ if environ is None else environ, Path.cwd(), may_use=lambda _: None, options=options
    )
    named = [f"{role}={spec}" for role, spec in (roles or {}).items()]
    request = request_for(
        workspace, question, graph=graph, roles=named, now=now, max_cost=max_cost, max_tokens=max_tokens
    )
    folder = Path(out) if out else None
    async with open_research(workspace, request, run_id=run_id, out=folder, hooks=hooks) as research:
        async with aclosing(research.events()) as events:
            async for _ in events:
                pass
        return await research.result()
