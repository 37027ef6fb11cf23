"""The dry run of a node: its handoff and the first outside call it would make, with nothing sent and nothing stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.parents import parent_rows, recorded_answers
from graph_research.graph.context import Clock
from graph_research.graph.debugger.call_stack import Level
from graph_research.graph.debugger.stops import NotPossible
from graph_research.graph.definition.spec import CALLING_KINDS
from graph_research.graph.execution.attempts import call_node, next_attempt
from graph_research.graph.execution.fan_out import item_scope, items_of
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_visit import NodeVisit
from graph_research.graph.execution.run_loop import RunLoop
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.rows import CallRow
from graph_research.graph.state.state_at import fold
from graph_research.graph.statuses import InnerCall
from graph_research.graph.values.codec import duplicate


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """The first outside call of a node: its kind and request; `kind` is None where it makes none, and `why` says so or
    is the error. `handoff` is None for a node that is given none."""

    handoff: Mapping[str, Any] | None = None
    kind: str | None = None
    request: Any = None
    why: str = ""


async def dry_run(
    level: Level, store: Checkpointer, run_id: str, *, clock: Clock, interactive: bool, item: int = 0
) -> DryRun:
    """Run the node of `level` up to its first call; with `each`, for one item.

    Raises `NotPossible` for an item that the node does not have.
    """
    spec = level.graph.spec.nodes[level.node]
    if spec.kind not in CALLING_KINDS:
        return DryRun(why=f"a `{spec.kind}` node makes no outside call")
    visit, first_call = await _node_visit(level, store, run_id, clock, interactive=interactive)
    index = item if spec.each else None
    if index is not None and not 0 <= index < (count := len(items_of(visit))):
        raise NotPossible(f'node "{level.node}" has {count} items, no item {item}', help="they count from 0")
    handoff, why = None, "the node makes no outside call"
    try:
        handoff = _handoff(visit, index)
        if spec.kind == "graph":
            return DryRun(handoff=handoff, why="the nodes of its graph make the outside calls")
        attempt, _ = next_attempt(visit, index)
        context = JournalContext(visit.session, visit.address(index, attempt), spec.role)
        await context.recall()
        await call_node(visit, handoff, context)
    except _Stopped:
        pass
    except BaseExceptionGroup as several:
        _, other = several.split(_Stopped)
        if other is not None and not isinstance(other, ExceptionGroup):
            raise
        why = str(other)
    except Exception as problem:  # noqa: BLE001 -- whatever the node fails with is what is shown
        why = f"it fails: {type(problem).__name__}: {problem}"
    if first_call.kind is None:
        return DryRun(handoff=handoff, why=why)
    return DryRun(handoff=handoff, kind=first_call.kind, request=first_call.request)


async def handoff_of(level: Level, store: Checkpointer, run_id: str, *, clock: Clock) -> dict[str, Any]:
    """What the node of `level` would be given now; with `each` for its first item, empty where there is none."""
    visit, _ = await _node_visit(level, store, run_id, clock, interactive=False)
    if not level.graph.spec.nodes[level.node].each:
        return _handoff(visit, None)
    return _handoff(visit, 0) if items_of(visit) else {}


def _handoff(visit: NodeVisit, item: int | None) -> dict[str, Any]:
    return visit.handoff(visit.scope if item is None else item_scope(visit, item, items_of(visit)[item]))


async def _node_visit(
    level: Level, store: Checkpointer, run_id: str, clock: Clock, *, interactive: bool
) -> tuple[NodeVisit, _FirstCall]:
    """The visit as the run would begin it, in a session that nothing is written in."""
    session = RunSession(store=store, run_id=run_id, clock=clock, interactive=interactive)
    row = await store.run_row(run_id)
    session.seed = row.seed
    first_call = _FirstCall(store, [run_id, *await parent_rows(store, row)])
    session.inherited, session.refuse = first_call.recorded, first_call.refuse
    folded = await fold(store, run_id, level.namespace, level.step)
    assert folded is not None, "a level of the stack has begun"
    graph_run = GraphRun(level.graph, session, level.namespace, folded, loaded=False)
    place = (level.node, level.visit)
    standing = (active for active in folded.position.active if (active.node, active.visit) == place)
    active = next(standing, ActiveNode(*place, level.step))
    earlier = await graph_run.rows_of(active, level.step)
    return NodeVisit(graph_run, RunLoop(graph_run).child, active, earlier), first_call


class _Stopped(BaseException):
    """The first call was asked for; no handler catches it."""


class _FirstCall:
    """Holds the first request that is made, and refuses all; only recorded times are given again."""

    def __init__(self, store: Checkpointer, run_ids: Sequence[str]) -> None:
        self.kind: str | None = None
        self.request: Any = None
        self._store = store
        self._run_ids = run_ids

    async def recorded(self, key: str) -> Sequence[CallRow]:
        return [row for row in await recorded_answers(self._store, self._run_ids, key) if row.kind == InnerCall.NOW]

    async def refuse(self, _: Address, kind: str, request: Any, __: CallRow | None) -> None:
        if self.kind is None:
            self.kind, self.request = kind, duplicate(request)
        raise _Stopped
