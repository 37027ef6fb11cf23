"""Debugging: a new run, or a stored one, under a `Debugger`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.app.application import Application
from graph_research.app.clock import make_clock
from graph_research.app.request import RunRequest, request_for
from graph_research.app.runs.run import Run, new_run_id
from graph_research.app.store import metadata_of
from graph_research.app.workspace import Workspace
from graph_research.audit_log import AuditLog
from graph_research.errors import Action, Hint, NameInvalid, UserMistake
from graph_research.graph.debugger.stepper import Debugged, Debugger
from graph_research.graph.errors import UnknownRun
from graph_research.graph.events import Event
from graph_research.research.llm.usage import spending_of


class OnRequest(Protocol):
    """Gets what a run asks for before it is debugged; `new` where that is chosen now."""

    def __call__(self, request: RunRequest, *, new: bool) -> None: ...


class NothingToDebug(UserMistake):
    """Neither a question, nor a run, nor a graph was named."""


@dataclass(frozen=True, kw_only=True)
class DebugRequest:
    """What to debug: the stored run `what`, a new research of the question `what`, or without it a run of `graph`."""

    what: str | None = None
    graph: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    """Input channels of a run of `graph`."""
    roles: Sequence[str] = ()
    interactive: bool | None = None
    """Whether `ask` nodes ask; None: those of a graph do, those of a research take their defaults."""
    max_cost: float | None = None
    """In USD; with it or `max_tokens`, a stored run has a new budget in place of its own."""
    max_tokens: int | None = None
    run_id: str | None = None
    now: str | None = None


@asynccontextmanager
async def debug(workspace: Workspace, request: DebugRequest, *, on_request: OnRequest) -> AsyncIterator[Debugged]:
    """The run that is asked for, under a debugger, not started yet. A stored one goes on with the graph as it is now,
    and with the models and searches that it began with.

    Raises `UnknownRun`, `NothingToDebug` and what a request that cannot be started raises.
    """
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(Application(workspace))
        if request.what is not None and await _is_stored(app, request.what):
            limits = (request.max_cost, request.max_tokens, workspace.settings.task_timeout)
            run, _ = await stack.enter_async_context(app.reopened(request.what, limits=limits))
            on_request(run.request, new=False)
            debugger, run_id = _debugger(workspace, run, stack), request.what
            yield Debugged(debugger=debugger, start=lambda: debugger.attach(run_id))
            return
        run = await stack.enter_async_context(app.prepared(_new(workspace, request), run_id=request.run_id))
        if run.may_search and run.searches is not None:
            await run.searches.prepare(workspace, index=True)
        on_request(run.request, new=True)
        debugger = _debugger(workspace, run, stack)
        metadata = metadata_of(run.request)
        yield Debugged(
            debugger=debugger, start=lambda: debugger.begin(run.input(), run_id=run.run_id, metadata=metadata)
        )


def _new(workspace: Workspace, request: DebugRequest) -> RunRequest:
    if request.what is None and request.graph is None:
        raise NothingToDebug(
            "nothing to debug is named",
            help="name a question, the id of a run, or a graph",
            hint=Hint(Action.SET_OPTION, options={"graph": ""}),
        )
    return request_for(
        workspace,
        request.what,
        graph=request.graph or "deep_research",
        inputs=request.values if request.what is None else None,
        roles=request.roles,
        max_cost=request.max_cost,
        max_tokens=request.max_tokens,
        interactive=request.interactive,
        now=request.now,
    )


async def _is_stored(app: Application, text: str) -> bool:
    """Whether `text` is the id of a stored run. `UnknownRun` for another single word: a typing error in an id would
    start a research."""
    try:
        await app.request(text)
    except NameInvalid:
        return False
    except UnknownRun as unknown:
        raise UnknownRun(
            unknown.message, run_id=text, help="end a question of one word with a question mark", hint=unknown.hint
        ) from unknown
    return True


def _debugger(workspace: Workspace, run: Run, stack: AsyncExitStack) -> Debugger:
    """A debugger that writes the audit log of each run it drives, forks too."""
    logs: dict[str, AuditLog] = {}

    def write_to_log(event: Event) -> None:
        run.budget.run_id = event.run_id
        if event.seq is None:
            return
        if event.run_id not in logs:
            logs[event.run_id] = stack.enter_context(AuditLog(workspace.home.audit_file(event.run_id)))
        logs[event.run_id].write(event.to_json())

    def cost(answer: Any) -> float | None:
        spending = spending_of(answer, run.budget.prices)
        return None if spending is None else spending.cost_usd

    debugger = Debugger(
        run.graph,
        run.store,
        clock=make_clock(run.request.now),
        interactive=run.request.interactive,
        listener=write_to_log,
        cost=cost,
        new_run_id=new_run_id,
        timeout_seconds=run.request.time_limit,
    )
    stack.push_async_callback(debugger.close)
    return debugger
