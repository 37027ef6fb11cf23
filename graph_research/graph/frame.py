"""The run loop: one graph in motion, the root of a run or a subgraph under it, step by step to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from graph_research.graph.address import Address, path_of
from graph_research.graph.checkpoint.base import RunPatch, RunRow, Snapshot, StepRow
from graph_research.graph.checkpoint.fold import Folded, fold
from graph_research.graph.codec import encode
from graph_research.graph.compiler import Graph
from graph_research.graph.errors import GraphChanged, GuardFailed, NodeFailed
from graph_research.graph.events import EdgeTaken, NodeStarted, RunEnded, RunPaused, RunStarted
from graph_research.graph.position import Active, Interruption, Position
from graph_research.graph.session import Draft, Session
from graph_research.graph.spec import EdgeSpec
from graph_research.graph.start import first_values
from graph_research.graph.state import Delta, State, replaced
from graph_research.graph.visit import Failure, Outcome, Suspended, Visit, digest, failure_of, first_of

__all__ = ["Ended", "Frame", "NewRun"]

_LEAST_TAIL_BYTES = 16_384
_ROW_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """The row of a run that is to be stored, and the texts it refers to."""

    row: RunRow
    texts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a graph ended. `cause` is `cancelled`, `timeout`, `error` or None, `error` what the last event edge took or
    what no edge took."""

    status: str
    cause: str | None = None
    error: Mapping[str, Any] | None = None


class _Interrupted(Exception):
    """The whole graph is cancelled or out of time."""


class Frame:
    """A graph's state and position, and the loop that moves them. Memory moves first, the write follows at once: when
    the write fails the run is over, and when it is cancelled it is durable all the same."""

    def __init__(self, graph: Graph, session: Session, scope: str, folded: Folded, *, loaded: bool) -> None:
        self.graph = graph
        self.session = session
        self.scope = scope
        self.path = path_of(scope)
        self.state = folded.state
        self.position = folded.position
        self._step = folded.step
        self._tail_bytes = folded.tail_bytes
        self._snapshot_bytes = folded.snapshot_bytes
        self._routes = session.routes(graph)
        self._visits = dict(session.history.visits.get(scope, {}))
        self._visits.pop("", None)
        for active in folded.position.active:
            self._visits[active.node] = max(active.visit, self._visits.get(active.node, 0))
        self._resumed = {(active.node, active.visit) for active in folded.position.active} if loaded else set()
        self._cause: str | None = None
        self._fence: asyncio.Timeout | None = None
        self._deadline: float | None = None
        self._limited = folded.position.interruption is None
        self.ended = self._end_of(folded.position)
        self._look()

    @classmethod
    async def start(
        cls,
        graph: Graph,
        session: Session,
        given: Mapping[str, Any],
        *,
        scope: str = "",
        chain: bytes = b"",
        root: NewRun | None = None,
    ) -> Frame:
        """A new graph run, stored with its first values. Raises `InputInvalid`."""
        values = first_values(graph, given)
        texts: dict[str, str] = {}
        data = encode({"replace": values}, texts)
        step = session.next_step()
        active = Active(node=graph.spec.start, visit=1, entered=step)
        position = Position(active=(active,), chain=digest(chain, data))
        folded = Folded(
            state=State(values), position=position, step=step, tail_bytes=len(data) + _ROW_BYTES, snapshot_bytes=0
        )
        frame = cls(graph, session, scope, folded, loaded=False)
        row = frame._mark(step, "started", position, data)
        events = frame._started([active])
        if root is None:
            await session.write(steps=[row], events=events, texts=texts)
        else:
            opening = (RunStarted, {"graph": graph.spec.name})
            await session.create(root.row, row, [opening, *events], {**texts, **root.texts})
        if frame.ended:
            await frame._end_at_once()
        return frame

    @classmethod
    async def load(cls, graph: Graph, session: Session, scope: str) -> Frame | None:
        """A graph run as it was stored; None if it never started. Raises `GraphChanged` if it stands on a node that
        the graph has no longer."""
        folded = await fold(session.store, session.run_id, scope)
        if folded is None:
            return None
        came_from = folded.position.interruption
        for active in (*folded.position.active, *(came_from.active if came_from else ())):
            if active.node not in graph.spec.nodes:
                raise GraphChanged(
                    f'run {session.run_id} stands on node "{path_of(scope)}{active.node}", which is gone',
                    help="put the node back, or start a new run",
                )
        return cls(graph, session, scope, folded, loaded=True)

    @property
    def resumable(self) -> bool:
        """Whether there is something to go on with: it has not ended, or an event led it to its end."""
        return self.ended is None or (self.ended.status != "completed" and self.position.interruption is not None)

    def limit(self, seconds: float | None) -> None:
        """Give the graph `seconds` from now."""
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds

    def interrupt(self, cause: str) -> None:
        """Stop what runs, and go over the edges for `cause`."""
        self._cause = cause
        if self._fence is not None and not self._fence.expired():
            self._fence.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> Ended:
        """Step on to the end. Raises `Suspended` where a human is waited for."""
        while self.ended is None:
            await self._superstep()
        return self.ended

    async def _superstep(self) -> None:
        waiting = [active for active in self.position.active if not active.done]
        if (
            waiting
            and self._limited
            and (most := self.graph.spec.limits.steps) is not None
            and sum(self._visits.values()) > most
        ):
            await self._divert(failure_of(waiting[0], "error", "NodeFailed", f"more than {most} steps (limits.steps)"))
            return
        try:
            await self._pause_before(waiting)
            outcomes = await self._fenced(waiting)
        except _Interrupted:
            await self._divert(self._interruption())
        else:
            await self._leave(outcomes)

    # Running the active nodes

    async def _fenced(self, waiting: Sequence[Active]) -> Sequence[Outcome]:
        """Run the nodes until they have ended, or the graph is interrupted."""
        if self._cause or (self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline):
            raise _Interrupted
        if len(waiting) == 1 and self.graph.spec.nodes[waiting[0].node].kind == "set":
            return [await self._visited(waiting[0])]
        try:
            async with asyncio.timeout_at(self._deadline) as self._fence:
                return await self._together(waiting)
        except TimeoutError:
            if self._fence is None or not self._fence.expired():
                raise
            raise _Interrupted from None
        finally:
            self._fence = None

    async def _together(self, waiting: Sequence[Active]) -> Sequence[Outcome]:
        if len(waiting) == 1:
            return [await self._visited(waiting[0])]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._branch(active)) for active in waiting]
        except BaseExceptionGroup as several:
            raise first_of(several) from None
        results = [task.result() for task in tasks]
        for result in results:
            if isinstance(result, Suspended):
                raise result
        return [result for result in results if isinstance(result, Outcome)]

    async def _branch(self, active: Active) -> Outcome | Suspended:
        """One of several nodes of a step: its result is durable as it ends, and counts when all have ended."""
        try:
            outcome = await self._visited(active)
        except Suspended as stop:
            return stop
        if not outcome.written:
            await self.session.write(
                steps=[outcome.row], calls=outcome.calls, events=outcome.events, texts=outcome.texts
            )
        return replace(outcome, written=True)

    async def _visited(self, active: Active) -> Outcome:
        earlier: Sequence[StepRow] = ()
        if (active.node, active.visit) in self._resumed:
            rows = await self.session.store.step_rows(self.session.run_id, self.scope, active.entered)
            earlier = [row for row in rows if row.node == active.node and row.visit == active.visit]
        return await Visit(self, active, earlier).run()

    async def child(self, name: str, handoff: Mapping[str, Any], address: Address) -> tuple[dict[str, Any], bytes]:
        """Run a subgraph to its end, from where it was if it had started: its output and the hash of its way there."""
        graph = self.graph.subgraphs[name]
        frame: Frame | None = None
        while frame is None:
            scope = f"{address.key}/"
            if scope in self.session.history.visits:
                frame = await Frame.load(graph, self.session, scope)
                if frame is not None and not (frame.resumable or frame.ended == Ended(status="completed")):
                    frame, address = None, address._replace(attempt=address.attempt + 1)
                elif frame is not None:
                    await frame.reopen()
            else:
                frame = await Frame.start(graph, self.session, handoff, scope=scope, chain=self.position.chain)
        frame.limit(graph.spec.limits.seconds)
        ended = await frame.run()
        if ended.status != "completed":
            reason = f": {ended.error['type']}: {ended.error['message']}" if ended.error else ""
            raise NodeFailed(f'subgraph "{name}" ended {ended.status}{reason}')
        outputs = {channel: frame.state.values[channel] for channel, spec in graph.spec.channels.items() if spec.output}
        return outputs, frame.position.chain

    # Leaving the active nodes

    async def _leave(self, outcomes: Sequence[Outcome]) -> None:
        """Reduce what the nodes gave, pick the edges, and commit both."""
        outcomes = self._without_conflicts(outcomes)
        loops = dict(self.position.loops)
        taken: dict[str, list[tuple[EdgeSpec, Failure | None]]] = {}
        for outcome in outcomes:
            if outcome.failure is not None:
                edge, failure = self._event_edge(outcome.active, outcome.failure, loops)
                if edge is None:
                    await self._end_here(failure, outcomes)
                    return
                taken[outcome.active.node] = [(edge, failure)]
        before = (self._step, self.position)
        self._apply(outcomes)
        await self._pause_after(outcomes)
        for active in self.position.active:
            if active.node not in taken:
                try:
                    edges = self._routes.leave(active.node, self.scope_values, loops)
                except (GuardFailed, NodeFailed) as problem:
                    failure = failure_of(active, "error", type(problem).__name__, str(problem))
                    edge, failure = self._event_edge(active, failure, loops)
                    if edge is None:
                        await self._end_here(failure, outcomes)
                        return
                    taken, before = {active.node: [(edge, failure)]}, (_step_of(outcomes, self._step), self.position)
                    break
                taken[active.node] = [(edge, None) for edge in edges]
        await self._move(taken, loops, outcomes, before)

    def _without_conflicts(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Nodes that ran side by side may not replace the same channel: the later in the file has failed."""
        if len(outcomes) < 2:
            return outcomes
        outcomes = sorted(outcomes, key=lambda outcome: self._routes.order[outcome.active.node])
        writers: dict[str, str] = {}
        checked = []
        for outcome in outcomes:
            replacing = (outcome.delta or {}).get("replace", {})
            for channel in replacing:
                other = writers.setdefault(channel, outcome.active.node)
                if other != outcome.active.node:
                    message = f'"{other}" and "{outcome.active.node}" replaced channel "{channel}" in the same step'
                    failure = failure_of(outcome.active, "error", "NodeFailed", message)
                    outcome = replace(outcome, failure=failure, delta=None)
                    break
            checked.append(outcome)
        return checked

    def _apply(self, outcomes: Sequence[Outcome]) -> None:
        """The state after the nodes, and a position in which they are done but not left."""
        for outcome in outcomes:
            if outcome.delta is not None:
                self.state.apply(outcome.delta)
                self._tail_bytes += len(outcome.row.delta or b"") + _ROW_BYTES
        hashes = [outcome.row.hash for outcome in outcomes if outcome.delta is not None]
        active = sorted(self.position.active, key=lambda active: self._routes.order[active.node])
        self.position = Position(
            active=tuple(one if one.done else replace(one, done=True) for one in active),
            chain=digest(self.position.chain, *hashes) if hashes else self.position.chain,
            loops=self.position.loops,
            arrived=self.position.arrived,
            interruption=self.position.interruption,
            applied=_applied(outcomes),
        )
        self._look()

    async def _move(
        self,
        taken: Mapping[str, Sequence[tuple[EdgeSpec, Failure | None]]],
        loops: dict[str, int],
        outcomes: Sequence[Outcome],
        before: tuple[int, Position],
    ) -> None:
        """Take the edges: enter their targets, and commit everything since the last step."""
        step = _step_of(outcomes, None) or self.session.next_step()
        edges = [(node, edge, failure) for node, leaving in taken.items() for edge, failure in leaving]
        for _node, edge, failure in edges:
            if failure is not None and edge.source == "*":
                edges = [(_node, edge, failure)]
        failed = next((failure for _, _, failure in edges if failure is not None), None)
        active, arrived = self._entered(edges, step)
        interruption = self.position.interruption
        if failed is not None:
            interruption = _interruption(failed, *before)
            self._limited = False
        if any(one.node in self._routes.hopeful for one in active if not self._is_end(one)):
            interruption, self._limited = None, True
        self.position = Position(
            active=active,
            chain=digest(self.position.chain, orjson.dumps(loops, option=orjson.OPT_SORT_KEYS)),
            loops=loops,
            arrived=arrived,
            interruption=interruption,
            applied=self.position.applied,
        )
        self._step = step
        self._look()
        self.ended = self._end_of(self.position)
        visits = {one.node: one.visit for one in before[1].active}
        events = [self._told(node, visits.get(node, 0), edge, failure) for node, edge, failure in edges]
        await self._commit(step, outcomes, [*events, *self._started(active)], cancelled=_cancelled(failed))

    def _entered(
        self, edges: Sequence[tuple[str, EdgeSpec, Failure | None]], step: int
    ) -> tuple[tuple[Active, ...], Mapping[str, Sequence[str]]]:
        """The nodes that become active, and who has arrived at joins that still wait."""
        arrived = {node: list(sources) for node, sources in self.position.arrived.items()}
        targets: dict[str, Failure | None] = {}
        for node, edge, failure in edges:
            join = self.graph.spec.nodes[edge.target].join
            if not join or failure is not None:
                targets[edge.target] = failure
                continue
            arrived.setdefault(edge.target, []).append(node)
            if set(join) <= set(arrived[edge.target]):
                del arrived[edge.target]
                targets[edge.target] = None
        if not targets:
            targets = dict.fromkeys(arrived)
            arrived = {}
        active = []
        for target in sorted(targets, key=lambda name: self._routes.order[name]):
            failure = targets[target]
            self._visits[target] = self._visits.get(target, 0) + 1
            error = None if failure is None else failure.error
            active.append(Active(node=target, visit=self._visits[target], entered=step, error=error))
        return tuple(active), arrived

    # Interruptions and ends

    def _interruption(self) -> Failure:
        active = self.position.active[0]
        if self._cause == "cancelled":
            return failure_of(active, "cancelled", "Cancelled", "the run was cancelled")
        return failure_of(active, "timeout", "TimeoutError", "the time for the whole graph is over")

    async def _divert(self, failure: Failure) -> None:
        """Lead all active nodes over the one edge for an event, or end where they stand."""
        self._cause = self._deadline = None
        loops = dict(self.position.loops)
        for active in self.position.active:
            edge, failure = self._event_edge(active, failure, loops)
            if edge is not None:
                self.position = replace(self.position, applied=None)
                await self._move({active.node: [(edge, failure)]}, loops, (), (self._step, self.position))
                return
        await self._end_here(failure, ())

    def _event_edge(self, active: Active, failure: Failure, loops: dict[str, int]) -> tuple[EdgeSpec | None, Failure]:
        """The edge for a failure; if its guard fails there is none, and the guard's failure is what happened."""
        try:
            return self._routes.divert(
                active.node, failure.event, {**self.scope_values, "error": failure.error}, loops
            ), failure
        except (GuardFailed, NodeFailed) as problem:
            return None, failure_of(active, "error", type(problem).__name__, str(problem))

    async def _end_here(self, failure: Failure, outcomes: Sequence[Outcome]) -> None:
        """No edge takes the failure: the graph ends, and its position stays for whoever resumes it."""
        status = "failed" if failure.event == "error" else "aborted"
        self.ended = Ended(status=status, cause=failure.event, error=failure.error)
        applied = any(active.done for active in self.position.active)
        if applied:
            self._step = _step_of(outcomes, None) or self.session.next_step()
            await self._commit(self._step, outcomes, [], cancelled=True)
            return
        fresh = [outcome for outcome in outcomes if not outcome.written]
        patch, events = self._ending(cancelled=True)
        await self.session.write(
            steps=[outcome.row for outcome in fresh],
            calls=[call for outcome in fresh for call in outcome.calls],
            events=[*(event for outcome in fresh for event in outcome.events), *events],
            texts={name: text for outcome in fresh for name, text in outcome.texts.items()},
            run=patch,
        )

    async def reopen(self) -> None:
        """Go back to where an event edge led away from, if the graph has ended over one."""
        came_from = self.position.interruption
        if self.ended is None or came_from is None or self.ended.status == "completed":
            return
        folded = await fold(self.session.store, self.session.run_id, self.scope, came_from.step)
        delta = replaced(self.state.values, folded.state.values if folded else {})
        self.position = Position(
            active=came_from.active,
            chain=bytes.fromhex(came_from.chain),
            loops=came_from.loops,
            arrived=came_from.arrived,
        )
        self.ended, self._limited = None, True
        self._resumed = {(active.node, active.visit) for active in came_from.active}
        await self.amend("rewound", delta)

    async def _end_at_once(self) -> None:
        patch, events = self._ending(cancelled=False)
        await self.session.write(events=events, run=patch)

    async def add_channels(self) -> None:
        """Give the channels that the graph had not when the run began their defaults."""
        channels = self.graph.spec.channels
        new = {name: spec.default for name, spec in channels.items() if name not in self.state.values}
        if new:
            await self.amend("amended", {"replace": new})

    async def amend(self, status: str, delta: Delta) -> None:
        """Change the state outside of any node, at the position where the graph stands."""
        texts: dict[str, str] = {}
        data = encode(delta, texts)
        self.state.apply(delta)
        self._look()
        self._step = self.session.next_step()
        self.position = replace(self.position, applied=None)
        self._tail_bytes += len(data) + _ROW_BYTES
        row = self._mark(self._step, status, self.position, data)
        await self.session.write(steps=[row], texts=texts)

    async def _pause_before(self, waiting: Sequence[Active]) -> None:
        for active in waiting:
            if self.graph.spec.nodes[active.node].pause == "before" and not active.passed:
                passed = tuple(replace(one, passed=one.passed or one is active) for one in self.position.active)
                self.position = replace(self.position, active=passed)
                await self.amend("paused", {})
                raise self._pausing(active, "before")

    async def _pause_after(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if self.graph.spec.nodes[outcome.active.node].pause == "after" and outcome.failure is None:
                self._step = _step_of(outcomes, None) or self.session.next_step()
                await self._commit(self._step, outcomes, [], cancelled=False)
                raise self._pausing(outcome.active, "after")

    def _pausing(self, active: Active, when: str) -> Suspended:
        fields = {"path": self.path + active.node, "visit": active.visit, "when": when}
        return Suspended("paused", Address(self.scope, active.node, active.visit).key, (RunPaused, fields))

    # Commits

    async def _commit(
        self, step: int, outcomes: Sequence[Outcome], events: Sequence[Draft], *, cancelled: bool
    ) -> None:
        """Write the position, with the row of the only node of this step or with one of its own."""
        position = self.position.to_bytes()
        calls: list[Any] = []
        texts: dict[str, str] = {}
        fresh = next((outcome for outcome in outcomes if not outcome.written), None)
        if fresh is None:
            row = self._mark(step, "moved", self.position, None)
        else:
            row = fresh.row._replace(position=position)
            calls, texts, events = [*fresh.calls], {**fresh.texts}, [*fresh.events, *events]
        patch, ending = self._ending(cancelled=cancelled)
        await self.session.write(
            steps=[row],
            calls=calls,
            events=[*events, *ending],
            texts=texts,
            snapshot=self._snapshot(step, position, texts),
            run=patch,
        )

    def _snapshot(self, step: int, position: bytes, texts: dict[str, str]) -> Snapshot | None:
        """All channels, when the deltas since the last snapshot have outgrown it."""
        if self._tail_bytes <= max(self._snapshot_bytes, _LEAST_TAIL_BYTES):
            return None
        values = encode(self.state.values, texts)
        self._snapshot_bytes, self._tail_bytes = len(values), 0
        return Snapshot(scope=self.scope, step=step, values=values, position=position)

    def _ending(self, *, cancelled: bool) -> tuple[RunPatch | None, list[Draft]]:
        """What the run's own row and log say when its root has ended, or has followed a request to cancel."""
        if self.scope or not (self.ended or cancelled):
            return None, []
        now = self.session.clock.now().timestamp()
        if self.ended is None:
            return RunPatch(status="running", updated_at=now, cancel_done=True), []
        ended = self.ended
        patch = RunPatch(
            status=ended.status,
            updated_at=now,
            cause=ended.cause,
            error=None if ended.error is None else orjson.dumps(ended.error),
            cancel_done=True,
        )
        return patch, [(RunEnded, {"status": ended.status, "cause": ended.cause, "error": ended.error})]

    def _mark(self, step: int, status: str, position: Position, delta: bytes | None) -> StepRow:
        return StepRow(
            step=step,
            scope=self.scope,
            node="",
            visit=0,
            item=None,
            attempt=1,
            status=status,
            started_at=self.session.clock.now().timestamp(),
            seconds=0.0,
            hash=position.chain,
            delta=delta,
            position=position.to_bytes(),
        )

    def _started(self, active: Sequence[Active]) -> list[Draft]:
        return [
            (NodeStarted, {"path": self.path + one.node, "visit": one.visit, "node": one.node})
            for one in active
            if not self._is_end(one)
        ]

    def _told(self, node: str, visit: int, edge: EdgeSpec, failure: Failure | None) -> Draft:
        return EdgeTaken, {
            "path": self.path + node,
            "visit": visit,
            "source": node,
            "target": edge.target,
            "loop": edge.loop,
            "on": None if failure is None else failure.event,
        }

    def _look(self) -> None:
        """What expressions see from now on."""
        loops = {name: self.position.loops.get(name, 0) for name in self.graph.spec.loops}
        self.scope_values: Mapping[str, Any] = {**self.state.values, "loops": loops}

    def _is_end(self, active: Active) -> bool:
        return self.graph.spec.nodes[active.node].kind == "end"

    def _end_of(self, position: Position) -> Ended | None:
        """How the graph has ended if it stands on an end; on several the first of the file counts."""
        for active in position.active:
            if self._is_end(active):
                status = self.graph.spec.nodes[active.node].target or "completed"
                if status == "completed" or position.interruption is None:
                    return Ended(status=status)
                return Ended(status=status, cause=position.interruption.cause, error=position.interruption.error)
        return None


def _applied(outcomes: Sequence[Outcome]) -> Sequence[int] | None:
    if len(outcomes) == 1 and not outcomes[0].written:
        return None
    return [outcome.row.step for outcome in outcomes if outcome.delta is not None]


def _step_of(outcomes: Sequence[Outcome], default: Any) -> Any:
    """The step of the only node's row, which is still to be written."""
    return next((outcome.row.step for outcome in outcomes if not outcome.written), default)


def _cancelled(failure: Failure | None) -> bool:
    return failure is not None and failure.event == "cancelled"


def _interruption(failure: Failure, step: int, position: Position) -> Interruption:
    return Interruption(
        cause=failure.event,
        step=step,
        chain=position.chain.hex(),
        active=position.active,
        loops=position.loops,
        arrived=position.arrived,
        error=failure.error,
    )
