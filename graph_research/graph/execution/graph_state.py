"""The state and position of one graph of a run, and the edits of them that no node makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GraphChanged, HandoffInvalid, InputInvalid
from graph_research.graph.events import Draft, NodeStarted
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.execution.step_writer import Ended, NewRun, StepWriter
from graph_research.graph.state.address import path_of
from graph_research.graph.state.position import ActiveNode, Position, digest
from graph_research.graph.state.reducers import Delta, DeltaRefused, State, make_delta, replaced
from graph_research.graph.state.rows import StepRow
from graph_research.graph.state.state_at import Folded, fold
from graph_research.graph.state.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import duplicate, encode, unstorable


class GraphState:
    """The root graph of a run or a subgraph under it. What is in memory changes before the write of it is awaited."""

    def __init__(self, graph: Graph, session: RunSession, namespace: str, folded: Folded, *, loaded: bool) -> None:
        self.graph = graph
        self.session = session
        self.namespace = namespace
        self.path = path_of(namespace)
        self.state = folded.state
        self.position = folded.position
        self.step = folded.step
        self.writer = StepWriter(
            graph, session, namespace, tail_bytes=folded.tail_bytes, snapshot_bytes=folded.snapshot_bytes
        )
        self.routes = session.routes(graph)
        self.visits = dict(session.earlier_visits.get(namespace, {}))
        self.visits.pop("", None)
        came_from = folded.position.interruption
        active = (*folded.position.active, *(came_from.active if came_from else ()))
        for node, visit in [*(node[:2] for node in active), *folded.position.abandoned.items()]:
            self.visits[node] = max(visit, self.visits.get(node, 0))
        self.resumed = {node[:2] for node in folded.position.active} if loaded else set()
        self.ended = self.end_of(folded.position)
        self._initial_loops = dict.fromkeys(graph.spec.loops, 0)
        self.refresh_scope()

    @classmethod
    async def start(
        cls,
        graph: Graph,
        session: RunSession,
        given: Mapping[str, Any],
        *,
        namespace: str = "",
        chain: bytes = b"",
        root: NewRun | None = None,
    ) -> Self:
        """A new graph run, stored with its first values. Raises `InputInvalid`."""
        values = first_values(graph, given)
        texts: dict[str, str] = {}
        data = encode({"replace": values}, texts)
        step = session.next_step()
        active = ActiveNode(node=graph.spec.start, visit=1, entered=step)
        position = Position(active=(active,), chain=digest(chain, data))
        folded = Folded(state=State(values), position=position, step=step, tail_bytes=0, snapshot_bytes=0)
        run = cls(graph, session, namespace, folded, loaded=False)
        row = run.writer.mark(step, StepStatus.STARTED, position, data)
        await run.writer.start(row, run.node_events(position.active), texts, root)
        if run.ended and not namespace:
            await run.writer.end(run.ended)
        return run

    @classmethod
    async def load(cls, graph: Graph, session: RunSession, namespace: str) -> Self | None:
        """A graph run as it was stored; None if it never started. Raises `GraphChanged` if it stands on a node that
        the graph no longer has."""
        folded = await fold(session.store, session.run_id, namespace)
        if folded is None:
            return None
        came_from = folded.position.interruption
        for active in (*folded.position.active, *(came_from.active if came_from else ())):
            if active.node not in graph.spec.nodes:
                raise GraphChanged(
                    f'run {session.run_id} stands on node "{path_of(namespace)}{active.node}", which is gone',
                    help="put the node back, or start a new run",
                )
        return cls(graph, session, namespace, folded, loaded=True)

    @property
    def cancelled(self) -> bool:
        """Whether it is on the way to the end that a request to cancel has led to."""
        return self.position.interruption is not None and self.position.interruption.cause == Cause.CANCELLED

    @property
    def completed(self) -> bool:
        """Whether it has reached an end with the status `completed`."""
        return self.ended is not None and self.ended.status == RunStatus.COMPLETED

    @property
    def resumable(self) -> bool:
        """Whether it can go on: it has not ended, or an event led it to its end."""
        return self.ended is None or (not self.completed and self.position.interruption is not None)

    async def rewind(self) -> None:
        """If the graph has ended over an event edge, return to where that edge was taken."""
        came_from = self.position.interruption
        if self.ended is None or came_from is None or self.completed:
            return
        folded = await fold(self.session.store, self.session.run_id, self.namespace, came_from.step)
        delta = replaced(self.state.values, folded.state.values if folded else {})
        self.position = Position(
            active=came_from.active,
            chain=bytes.fromhex(came_from.chain),
            loops=came_from.loops,
            join_arrivals=came_from.join_arrivals,
            abandoned=self.position.without(self.position.active),
        )
        self.ended = None
        self.resumed = {node[:2] for node in came_from.active}
        await self.edit_state(StepStatus.REWOUND, delta)

    async def add_channels(self) -> None:
        """Give the channels that the graph did not have when the run began their defaults."""
        channels = self.graph.spec.channels
        new = {name: spec.default for name, spec in channels.items() if name not in self.state.values}
        if new:
            await self.edit_state(StepStatus.AMENDED, {"replace": new})

    async def edit_state(self, status: StepStatus, delta: Delta) -> None:
        """Change the state outside of any node, at the position where the graph stands."""
        await self.writer.record(self.edit_row(status, delta))

    def node_events(self, active: Sequence[ActiveNode]) -> list[Draft]:
        """The events that these nodes start."""
        return [
            {"type": NodeStarted.type, "path": self.path + node.node, "visit": node.visit, "node": node.node}
            for node in active
            if node.node not in self.routes.ends
        ]

    def refresh_scope(self) -> None:
        """Rebuild what expressions see."""
        loops = {**self._initial_loops, **self.position.loops}
        self.scope_values: Mapping[str, Any] = {**self.state.values, "loops": loops}

    def mark_done(self) -> None:
        """Stand at nodes that have ended and that no edge has left."""
        self.position = self.position._replace(active=tuple(map(ActiveNode.ended, self.position.active)))

    def edit_row(self, status: StepStatus, delta: Delta) -> StepRow:
        """Change the state, and return the row that says so; its texts go with the next write."""
        texts: dict[str, str] = {}
        data = encode(delta, texts)
        for name, text in texts.items():
            self.session.keep_text(name, text)
        self.state.apply(delta)
        self.step = self.session.next_step()
        if not self.namespace and status in CLEARS_FAILURES:
            self.session.clear_failures()
        self.position = self.position._replace(applied=None)
        self.refresh_scope()
        self.writer.count(data)
        return self.writer.mark(self.step, status, self.position, data)

    def end_of(self, position: Position) -> Ended | None:
        """How the graph has ended if it stands on an end; of several ends the first of the file counts."""
        for active in position.active:
            if (status := self.routes.ends.get(active.node)) is not None:
                if status == RunStatus.COMPLETED or position.interruption is None:
                    return Ended(status=status)
                return Ended(status=status, cause=position.interruption.cause, error=position.interruption.error)
        return None


def first_values(graph: Graph, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every channel's value at the start: what is given, else its default. Raises `InputInvalid`.

    Where no channel is declared as input, each may be given: such a graph is tried out, not called by others.
    """
    channels = graph.spec.channels
    inputs = [name for name, channel in channels.items() if channel.input] or list(channels)
    for name in given:
        if name not in inputs:
            what = "is no input" if name in channels else "does not exist"
            raise InputInvalid(
                f'channel "{name}" of graph "{graph.spec.name}" {what}',
                help=f"inputs are {', '.join(inputs)}",
            )
    for name in inputs:
        if channels[name].required and name not in given:
            raise InputInvalid(f'graph "{graph.spec.name}" needs "{name}"', help="give it as input")
    if graph.typed:
        given = duplicate(given)
    for name, value in given.items():
        try:
            graph.channels[name].check(value, graph.spec.start)
        except HandoffInvalid as problem:
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}": {problem.message}') from problem
    try:
        make_delta(channels, given, {})
        values = duplicate({name: given.get(name, channel.default) for name, channel in channels.items()})
        return dict(graph.to_stored(values, {}, graph.spec.start))
    except (DeltaRefused, HandoffInvalid) as problem:
        raise InputInvalid(f'input of graph "{graph.spec.name}": {problem.message}') from problem


def refuse_unstorable(graph: Graph, given: Mapping[str, Any]) -> None:
    """Raise `InputInvalid` where an input holds what no store can keep, such as NaN."""
    for name, value in given.items():
        if found := unstorable(value):
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}" holds {found}, which cannot be stored')
