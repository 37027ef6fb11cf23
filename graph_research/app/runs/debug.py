"""Debugging: a new research, a new run of any graph, or a stored run, under a `Debugger`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.app.clock import make_clock
from graph_research.app.request import GraphRequest, ResearchRequest, graph_request_for, request_for
from graph_research.app.runs.graph_run import GraphRun, open_graph_run, reopen_graph_run
from graph_research.app.runs.research import Research, new_run_id, open_research, reopen_research
from graph_research.app.runs.status import is_research
from graph_research.app.workspace import Workspace
from graph_research.audit_log import AuditLog
from graph_research.errors import Action, Hint, NameInvalid, UserMistake, check_name
from graph_research.graph.debugger.stepper import Debugged, Debugger
from graph_research.graph.errors import UnknownRun
from graph_research.graph.events import Event
from graph_research.providers.llm.model_data import Prices
from graph_research.research.llm.usage import spending_of

__all__ = ["DebugRequest", "NothingToDebug", "debug"]


class Told(Protocol):
    """Is told what a run asks, before it is debugged; `new` where that is chosen now."""

    def __call__(self, request: ResearchRequest | GraphRequest, *, new: bool) -> None: ...


class NothingToDebug(UserMistake):
    """Neither a question, nor a run, nor a graph was named."""

    code = "nothing-to-debug"


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
async def debug(workspace: Workspace, request: DebugRequest, *, told: Told) -> AsyncIterator[Debugged]:
    """The run that is asked for, under a debugger, not started yet. A stored one goes on with the graph as it is now,
    and with the models and searches that it began with.

    Raises `UnknownRun`, `NothingToDebug` and what a request that cannot be started raises.
    """
    async with AsyncExitStack() as stack:
        if request.what is not None and await _is_stored(workspace, request.what):
            yield await _stored(workspace, request.what, request, stack, told)
        elif request.what is not None:
            yield await _research(workspace, request.what, request, stack, told)
        elif request.graph is not None:
            yield await _graph_run(workspace, request.graph, request, stack, told)
        else:
            raise NothingToDebug(
                "nothing to debug is named",
                help="name a question, the id of a run, or a graph",
                hint=Hint(Action.SET_OPTION, options={"graph": ""}),
            )


async def _is_stored(workspace: Workspace, text: str) -> bool:
    """Whether a run is meant. A single word is no question here: a slip in an id would start a research."""
    try:
        await is_research(workspace, check_name(text, "run id"))
    except NameInvalid:
        return False
    except UnknownRun as unknown:
        raise UnknownRun(unknown.message, help="a question has more than one word", hint=unknown.hint) from unknown
    return True


async def _stored(
    workspace: Workspace, run_id: str, request: DebugRequest, stack: AsyncExitStack, told: Told
) -> Debugged:
    limits: dict[str, Any] = {
        "max_cost": request.max_cost,
        "max_tokens": request.max_tokens,
        "timeout_seconds": workspace.settings.task_timeout,
    }
    if await is_research(workspace, run_id):
        research = await stack.enter_async_context(reopen_research(workspace, run_id, **limits))
        told(research.request, new=False)
        debugger = _of_research(workspace, research, stack)
    else:
        run = await stack.enter_async_context(reopen_graph_run(workspace, run_id, **limits))
        told(run.request, new=False)
        debugger = _of_graph_run(run, stack)
    return Debugged(debugger=debugger, start=lambda: debugger.attach(run_id))


async def _research(
    workspace: Workspace, question: str, request: DebugRequest, stack: AsyncExitStack, told: Told
) -> Debugged:
    asked = request_for(
        workspace,
        question,
        graph=request.graph or "deep_research",
        roles=request.roles,
        max_cost=request.max_cost,
        max_tokens=request.max_tokens,
        interactive=bool(request.interactive),
        now=request.now,
    )
    research = await stack.enter_async_context(open_research(workspace, asked, run_id=request.run_id))
    told(research.request, new=True)
    debugger = _of_research(workspace, research, stack)
    values, metadata = research.given()
    return Debugged(debugger=debugger, start=lambda: debugger.begin(values, run_id=research.run_id, metadata=metadata))


async def _graph_run(
    workspace: Workspace, name: str, request: DebugRequest, stack: AsyncExitStack, told: Told
) -> Debugged:
    interactive = request.interactive is not False
    asked = graph_request_for(
        workspace,
        name,
        roles=request.roles,
        max_cost=request.max_cost,
        max_tokens=request.max_tokens,
        interactive=interactive,
        now=request.now,
    )
    run = await stack.enter_async_context(open_graph_run(workspace, asked, request.values, run_id=request.run_id))
    told(run.request, new=True)
    debugger = _of_graph_run(run, stack)
    return Debugged(
        debugger=debugger,
        start=lambda: debugger.begin(request.values, run_id=run.run_id, metadata=run.metadata),
    )


def _of_graph_run(run: GraphRun, stack: AsyncExitStack) -> Debugger:
    def told(event: Event) -> None:
        run.budget.run_id = event.run_id

    debugger = Debugger(
        run.runtime.graph,
        run.store,
        clock=make_clock(run.request.now),
        interactive=run.request.interactive,
        listener=told,
        cost=_costs(run.budget.prices),
        new_run_id=new_run_id,
        timeout_seconds=run.request.timeout_seconds,
    )
    stack.push_async_callback(debugger.close)
    return debugger


def _of_research(workspace: Workspace, research: Research, stack: AsyncExitStack) -> Debugger:
    """A debugger that writes the audit log of each run it drives, forks too."""
    graph, store = research.parts
    logs: dict[str, AuditLog] = {}

    def told(event: Event) -> None:
        research.budget.run_id = event.run_id
        if event.seq is None:
            return
        if event.run_id not in logs:
            logs[event.run_id] = stack.enter_context(AuditLog(workspace.home.audit_file(event.run_id)))
        logs[event.run_id].write(event.to_json())

    debugger = Debugger(
        graph,
        store,
        clock=make_clock(research.request.now),
        interactive=research.request.interactive,
        listener=told,
        cost=_costs(research.budget.prices),
        new_run_id=new_run_id,
        timeout_seconds=research.request.timeout_seconds,
    )
    stack.push_async_callback(debugger.close)
    return debugger


def _costs(prices: Prices) -> Callable[[Any], float | None]:
    def cost(answer: Any) -> float | None:
        spending = spending_of(answer, prices)
        return None if spending is None else spending.cost_usd

    return cost
