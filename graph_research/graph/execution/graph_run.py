"""One graph in motion: how the results of its nodes, its interruptions and its pauses move it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import starmap
from typing import Any, Self

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import ExpressionFailed, GraphChanged, NodeFailed
from graph_research.graph.events import Draft, EdgeTaken, NodeStarted, RunPaused, RunStarted
from graph_research.graph.execution import transitions
from graph_research.graph.execution.graph_state import ROW_BYTES, Ended, GraphState
from graph_research.graph.execution.node_result import Failure, NodeResult, Suspended
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.execution.transitions import Loops, NoEdge, TakenEdge
from graph_research.graph.state.address import key_of, path_of
from graph_research.graph.state.inputs import first_values
from graph_research.graph.state.position import ActiveNode, Position, digest
from graph_research.graph.state.reducers import Delta, State
from graph_research.graph.state.rows import RunRow, StepRow
from graph_research.graph.state.state_at import Folded, fold
from graph_research.graph.statuses import Cause, RunStatus, StepStatus

_UNHANDLED = {Cause.TIMEOUT: StepStatus.TIMEOUT_UNHANDLED, Cause.CANCELLED: StepStatus.CANCELLED_UNHANDLED}
"""The status of the row of an interruption that no edge takes."""


class GraphRun(GraphState):
    """A graph that supersteps move, each of them durable before the next begins."""

    @classmethod
    async def start(
        cls,
        graph: Graph,
        session: RunSession,
        given: Mapping[str, Any],
        *,
        namespace: str = "",
        chain: bytes = b"",
        new: RunRow | None = None,
    ) -> Self:
        """A new graph run, stored with its first values; the root graph is stored with `new`, the row of the whole
        run. Raises `InputInvalid`."""
        values = first_values(graph, given)
        data = session.encode({"replace": values})
        step = session.next_step()
        position = Position(active=(ActiveNode(graph.spec.start, 1, step),), chain=digest(chain, data))
        tail = len(data) + ROW_BYTES
        folded = Folded(state=State(values), position=position, step=step, tail_bytes=tail, snapshot_bytes=0)
        run = cls(graph, session, namespace, folded, loaded=False)
        opening = [] if new is None else [{"type": RunStarted.type, "graph": graph.spec.name}]
        row = run.mark(StepStatus.STARTED, data)
        await session.write(steps=[row], events=[*opening, *run.node_events()], new=new)
        if run.ended and not namespace:
            await run.write_end()
        return run

    @classmethod
    async def load(cls, graph: Graph, session: RunSession, namespace: str = "") -> Self | None:
        """A graph run as it was stored; None if it never started. Raises `GraphChanged` if it stands on a node that
        the graph no longer has."""
        folded = await fold(session.store, session.run_id, namespace)
        if folded is None:
            return None
        for active in folded.position.standing:
            if active.node not in graph.spec.nodes:
                raise GraphChanged(
                    f'run {session.run_id} stands on node "{path_of(namespace)}{active.node}", which is gone',
                    help="put the node back, or start a new run",
                )
        return cls(graph, session, namespace, folded, loaded=True)

    def advance(self, results: Sequence[NodeResult]) -> Awaitable[None]:
        """Finish a superstep: reduce the updates of its nodes, take the edges out of them, and commit."""
        if len(results) == 1 == len(self.position.active):
            result = results[0]
            if result.active.node in self.routes.single_exit and result.delta is not None and not result.written:
                before = (self.step, self.position)
                self.reduce(result.delta, result.row.delta)
                try:
                    position, edge = transitions.single_exit(
                        result, self.position, self.routes, self.scope_values, self.visits
                    )
                except (ExpressionFailed, NodeFailed):
                    return self._leave([], self.position.loops, results, before)
                event = self._taken_event(result.active, edge, None)
                return self._enter(position, result.row.step, result, [event])
        return self._advance_all(results)

    async def _advance_all(self, results: Sequence[NodeResult]) -> None:
        """The same for any number of nodes, some of which may have failed."""
        results = transitions.without_conflicts(results, self.routes)
        loops, taken = self.position.loops, list[TakenEdge]()
        try:
            for result in results:
                if result.failure is not None:
                    edge, loops = self._edge_for(result.active, result.failure, loops)
                    taken.append(edge)
        except NoEdge as end:
            await self._end(end.failure, _own(results))
            return
        before = (self.step, self.position)
        for result in results:
            if result.delta is not None:
                self.reduce(result.delta, result.row.delta)
        await self._leave(taken, loops, results, before)

    async def _leave(
        self,
        taken: Sequence[TakenEdge],
        loops: Loops,
        results: Sequence[NodeResult],
        before: tuple[int, Position],
    ) -> None:
        """Take the edges out of the nodes that have ended, beside those that failures take, and commit."""
        own = _own(results)
        self.position = transitions.reduced(self.position, results, self.routes)
        for result in results if self.routes.pausing else ():
            if self.graph.spec.nodes[result.active.node].pause == "after" and result.failure is None:
                self.mark_done()
                await self._commit_here(own)
                raise self._pausing(result.active, "after")
        failing = {edge.source.node for edge in taken}
        leaving = [node for node in self.position.active if node.node not in failing]
        try:
            exits, loops = transitions.exit_edges(leaving, self.routes, self.scope_values, loops)
        except NoEdge as stuck:
            await self._fail_exit(stuck, own)
            return
        await self._follow([*taken, *exits], loops, own, before)

    async def _fail_exit(self, stuck: NoEdge, own: NodeResult | None) -> None:
        """A node has ended but no edge can be taken: that is its failure, and its update stays."""
        self.mark_done()
        try:
            edge, loops = self._edge_for(stuck.active, stuck.failure, self.position.loops)
        except NoEdge as end:
            await self._end(end.failure, own)
            return
        await self._follow([edge], loops, own, (own.row.step if own else self.step, self.position))

    async def interrupt(self, failure: Failure, kept: Callable[[], Awaitable[Sequence[Delta]]]) -> bool:
        """Take the edge for an event that concerns the graph as a whole, after the updates that `kept` returns; without
        such an edge the graph ends where it stands. Returns whether there was an edge."""
        status = _UNHANDLED.get(failure.event)
        for active in self.position.active:
            try:
                edge, loops = self._edge_for(active, failure, self.position.loops)
            except NoEdge as end:
                failure = end.failure
                continue
            self.position = self.position._replace(applied=None)
            before = (self.step, self.position)
            rows = [self.edit_row(StepStatus.ITEMS_KEPT, delta) for delta in await kept()]
            abandoned = self.position.without(self.position.active)
            self.position = self.position._replace(abandoned=abandoned)
            await self._follow([edge], loops, None, before, rows, StepStatus(failure.event))
            return True
        await self._end(failure, None, status)
        return False

    async def pause_before(self, active: ActiveNode) -> None:
        """Raise `Suspended` at a node with `pause: before`, which will not pause again."""
        passed = tuple(node._replace(passed=node.passed or node is active) for node in self.position.active)
        self.position = self.position._replace(active=passed)
        await self.edit_state(StepStatus.PAUSED, {})
        raise self._pausing(active, "before")

    def node_events(self) -> list[Draft]:
        """The events that the active nodes start."""
        ends = self.routes.ends
        return [self.event(NodeStarted, node, node=node.node) for node in self.position.active if node.node not in ends]

    def _edge_for(self, active: ActiveNode, failure: Failure, loops: Loops) -> tuple[TakenEdge, Loops]:
        return transitions.event_edge(active, failure, self.routes, self.scope_values, loops)

    def _follow(
        self,
        taken: Sequence[TakenEdge],
        loops: Loops,
        own: NodeResult | None,
        before: tuple[int, Position],
        rows: Sequence[StepRow] = (),
        status: StepStatus = StepStatus.MOVED,
    ) -> Awaitable[None]:
        """Take the edges, and commit everything since the last step."""
        step = own.row.step if own else self.session.next_step()
        position, taken, failed = transitions.follow(
            taken, self.position, self.routes, loops, step, self.visits, before
        )
        cancel_done = failed is not None and failed.event == Cause.CANCELLED
        return self._enter(position, step, own, list(starmap(self._taken_event, taken)), rows, status, cancel_done)

    def _enter(
        self,
        position: Position,
        step: int,
        own: NodeResult | None,
        events: list[Draft],
        rows: Sequence[StepRow] = (),
        status: StepStatus = StepStatus.MOVED,
        cancel_done: bool = False,
    ) -> Awaitable[None]:
        """Move to `position`, and commit the step."""
        turned = position.loops is not self.position.loops
        self.position, self.step, self.ended = position, step, self.end_of(position)
        for node in position.active:
            self.visits[node.node] = node.visit
        if turned:
            self.refresh_scope()
        return self.commit(own, events + self.node_events(), rows, status, cancel_done=cancel_done)

    async def _end(self, failure: Failure, own: NodeResult | None, status: StepStatus | None = None) -> None:
        """No edge takes the failure: the graph ends, and its position stays, so that it can be resumed. `status` is
        that of a row that says so."""
        ended = RunStatus.FAILED if failure.event == Cause.ERROR else RunStatus.ABORTED
        self.ended = Ended(status=ended, cause=failure.event, error=failure.error)
        if any(active.done for active in self.position.active):
            await self._commit_here(own)
            return
        await self.write_end(own, () if status is None else [self.edit_row(status, {})])

    def _commit_here(self, own: NodeResult | None) -> Awaitable[None]:
        self.step = own.row.step if own else self.session.next_step()
        return self.commit(own, ())

    def _pausing(self, active: ActiveNode, when: str) -> Suspended:
        key = key_of(self.namespace, active.node, active.visit)
        return Suspended(RunStatus.PAUSED, key, self.event(RunPaused, active, when=when))

    def _taken_event(self, source: ActiveNode, edge: EdgeSpec, failure: Failure | None) -> Draft:
        on = None if failure is None else failure.event
        return self.event(EdgeTaken, source, source=source.node, target=edge.target, loop=edge.loop, on=on)


def _own(results: Sequence[NodeResult]) -> NodeResult | None:
    """The result of the only node of a superstep, which is still to be written."""
    return results[0] if len(results) == 1 and not results[0].written else None
