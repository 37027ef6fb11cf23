"""The run loop: one graph in motion, the root of a run or a subgraph under it, step by step to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from graph_research.graph.checkpoint.base import StepRow
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import GuardFailed, NodeFailed
from graph_research.graph.events import Draft, EdgeTaken, RunPaused
from graph_research.graph.execution.cancel_scope import Fence, Struck
from graph_research.graph.execution.failures import OUT_OF_TIME, Failure, Suspended, failure_of, first_of
from graph_research.graph.execution.graph_run import Ended, Frame
from graph_research.graph.execution.node_result import Outcome
from graph_research.graph.execution.node_run import Visit
from graph_research.graph.execution.run_session import STOPPED
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Active, Interruption, Position

__all__ = ["Loop"]


_Taken = tuple[Active, EdgeSpec, Failure | None]
"""A node that is left, an edge it takes, and the failure where that is an event edge."""


_LONGEST_TURN_SECONDS = 0.01
"""Nodes that wait for nothing let others have the event loop after this time."""


class Loop:
    """Moves `frame` step by step to its end; `limit` and `interrupt` fence it from outside."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.diversions = 0
        """How often an event led the graph away from its nodes; the request for it has been followed then."""
        self._cause: str | None = None
        self._fence: Fence | None = None
        self._deadline: float | None = None

    def limit(self, seconds: float | None) -> None:
        """Give the graph `seconds` from now."""
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds

    def interrupt(self, cause: str) -> None:
        """Stop what runs, and go over the edges for `cause`."""
        self._cause = cause
        if self._fence is not None:
            self._fence.strike()

    async def run(self) -> Ended:
        """Step on to the end. Raises `Suspended` where a human is waited for."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._fence = fence = Fence(task)
        timer = None if self._deadline is None else loop.call_at(self._deadline, self._late)
        turned = loop.time()
        try:
            while self.frame.ended is None:
                await self._superstep(fence)
                if loop.time() - turned > _LONGEST_TURN_SECONDS:
                    await asyncio.sleep(0)
                    turned = loop.time()
        finally:
            if timer is not None:
                timer.cancel()
        return self.frame.ended

    def _late(self) -> None:
        if self._deadline is not None and self._fence is not None:
            self._fence.strike()

    async def _superstep(self, fence: Fence) -> None:
        frame = self.frame
        waiting = [active for active in frame.position.active if not active.done]
        most = frame.graph.spec.limits.steps
        if most is not None and waiting and frame.limited and sum(frame.visits.values()) > most:
            await self._divert(failure_of(waiting[0], "error", "NodeFailed", f"more than {most} steps (limits.steps)"))
            return
        if frame.routes.pausing:
            await self._pause_before(waiting)
        if self._cause or (self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline):
            await self._divert(self._interruption())
            return
        try:
            with fence:
                alone = len(waiting) == 1
                outcomes = [await self._visited(waiting[0])] if alone else await self._together(waiting)
        except Struck:
            await self._divert(self._interruption())
            return
        if len(outcomes) == 1 == len(frame.position.active) and frame.is_straight(outcomes[0]):
            await self._lead_on(outcomes[0])
        else:
            await self._leave(outcomes)

    async def _together(self, waiting: Sequence[Active]) -> Sequence[Outcome]:
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
            await self.frame.session.write(
                steps=[outcome.row(self.frame.scope)],
                calls=outcome.calls,
                events=outcome.events,
                texts=outcome.texts,
            )
        return outcome._replace(written=True)

    def _visited(self, active: Active) -> Awaitable[Outcome]:
        resumed = self.frame.resumed and (active.node, active.visit) in self.frame.resumed
        return self._revisited(active) if resumed else Visit(self.frame, self.child, active).run()

    async def _revisited(self, active: Active) -> Outcome:
        return await Visit(self.frame, self.child, active, await self._rows_of(active)).run()

    async def _rows_of(self, active: Active) -> Sequence[StepRow]:
        """What is stored of a visit so far."""
        rows = await self.frame.session.store.step_rows(self.frame.session.run_id, self.frame.scope, active.entered)
        return [row for row in rows if row.node == active.node and row.visit == active.visit]

    async def child(self, name: str, handoff: Mapping[str, Any], address: Address) -> tuple[dict[str, Any], bytes]:
        """Run a subgraph to its end, from where it was if it had started: its output and the hash of its way there."""
        graph = self.frame.graph.subgraphs[name]
        frame: Frame | None = None
        while frame is None:
            scope = f"{address.key}/"
            if scope in self.frame.session.history.visits:
                frame = await Frame.load(graph, self.frame.session, scope)
                if frame is not None and frame.ended is not None and not await self._noticed(address, frame.step):
                    break
                if frame is not None and not (frame.resumable or frame.ended == Ended(status="completed")):
                    frame, address = None, address._replace(attempt=address.attempt + 1)
                elif frame is not None:
                    await frame.reopen()
            else:
                frame = await Frame.start(
                    graph, self.frame.session, handoff, scope=scope, chain=self.frame.position.chain
                )
        loop = Loop(frame)
        if (pace := frame.session.pace) is None:
            loop.limit(graph.spec.limits.seconds)
        else:
            pace.limited(frame.scope, loop.interrupt)
        ended = await loop.run()
        if ended.status != "completed":
            reason = f": {ended.error['type']}: {ended.error['message']}" if ended.error else ""
            raise NodeFailed(f'subgraph "{name}" ended {ended.status}{reason}')
        outputs = {channel: frame.state.values[channel] for channel, spec in graph.spec.channels.items() if spec.output}
        return outputs, frame.position.chain

    async def _noticed(self, address: Address, end: int) -> bool:
        """Whether the node of a subgraph that ended at step `end` has failed of it since; if not, that end counts."""
        rows = await self.frame.session.store.step_rows(self.frame.session.run_id, self.frame.scope, after=end)
        place = (address.node, address.visit, address.item)
        return any((row.node, row.visit, row.item) == place and row.status in ("failed", "retried") for row in rows)

    def _lead_on(self, outcome: Outcome) -> Awaitable[None]:
        """Nearly every step: one node has given its update, and one edge leads to a node that waits for no other."""
        frame, left, step = self.frame, outcome.active, outcome.step
        _, _, loops, arrived, interruption, _, dropped = frame.position
        frame.reduce(outcome)
        frame.look()
        try:
            edge = frame.routes.first(left.node, frame.scope_values, loops)
        except (GuardFailed, NodeFailed) as problem:
            frame.position = frame.position._replace(chain=outcome.hash, applied=None)
            return self._leave_failing(left, problem, (outcome,))
        if edge.loop is not None:
            loops = {**loops}
            frame.routes.count(edge, loops)
        if edge.target in frame.routes.hopeful:
            interruption = None
        entered = frame.entered(edge.target, step)
        started = frame.stand(Position((entered,), outcome.hash, loops, arrived, interruption, None, dropped), step)
        return frame.commit(outcome, [self._told(left, edge, None), *started])

    async def _leave(self, outcomes: Sequence[Outcome]) -> None:
        """Reduce what the nodes gave, pick the edges, and commit both."""
        frame = self.frame
        outcomes = self._without_conflicts(outcomes)
        loops = dict(frame.position.loops)
        taken: list[_Taken] = []
        failing = set()
        for outcome in outcomes:
            if outcome.failure is not None:
                edge, failure = self._event_edge(outcome.active, outcome.failure, loops)
                if edge is None:
                    await self._end_here(failure, outcomes)
                    return
                taken.append((outcome.active, edge, failure))
                failing.add(outcome.active.node)
        before = (frame.step, frame.position)
        frame.apply(outcomes)
        if frame.routes.pausing:
            await self._pause_after(outcomes)
        for active in frame.position.active:
            if active.node in failing:
                continue
            try:
                edges = frame.routes.leave(active.node, frame.scope_values, loops)
            except (GuardFailed, NodeFailed) as problem:
                await self._leave_failing(active, problem, outcomes)
                return
            taken += [(active, edge, None) for edge in edges]
        await self._move(taken, loops, outcomes, before)

    async def _leave_failing(
        self, active: Active, problem: GuardFailed | NodeFailed, outcomes: Sequence[Outcome]
    ) -> None:
        """A node's work is done, but no edge can be taken: that is its error, and its update stays."""
        self.frame.hold()
        loops = dict(self.frame.position.loops)
        failure = failure_of(active, "error", type(problem).__name__, str(problem))
        edge, failure = self._event_edge(active, failure, loops)
        if edge is None:
            await self._end_here(failure, outcomes)
            return
        own = _own(outcomes)
        before = (own.step if own else self.frame.step, self.frame.position)
        await self._move([(active, edge, failure)], loops, outcomes, before)

    def _without_conflicts(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Nodes that ran side by side may not replace the same channel: the later in the file has failed."""
        outcomes = sorted(outcomes, key=lambda outcome: self.frame.routes.order[outcome.active.node])
        writers: dict[str, str] = {}
        checked = []
        for outcome in outcomes:
            replacing = (outcome.delta or {}).get("replace", {})
            for channel in replacing:
                other = writers.setdefault(channel, outcome.active.node)
                if other != outcome.active.node:
                    message = f'"{other}" and "{outcome.active.node}" replaced channel "{channel}" in the same step'
                    failure = failure_of(outcome.active, "error", "NodeFailed", message)
                    outcome = outcome._replace(failure=failure, delta=None)
                    break
            checked.append(outcome)
        return checked

    def _move(
        self,
        taken: Sequence[_Taken],
        loops: dict[str, int],
        outcomes: Sequence[Outcome],
        before: tuple[int, Position],
        kept: Sequence[StepRow] | None = None,
    ) -> Awaitable[None]:
        """Take the edges: enter their targets, and commit everything since the last step. With `kept`, the rows of what
        is kept of them, the nodes have not ended but are led away from."""
        frame, own = self.frame, _own(outcomes)
        step = own.step if own else frame.session.next_step()
        if any(failure is not None for _, _, failure in taken):
            taken = [one for one in taken if one[1].source == "*"][:1] or taken
        failed = next((failure for _, _, failure in taken if failure is not None), None)
        active, arrived = self._entered(taken, step)
        left, chain, _, _, interruption, applied, dropped = frame.position
        if failed is not None:
            interruption = _interruption(failed, *before)
        if any(one.node in frame.routes.hopeful for one in active):
            interruption = None
        status = "moved"
        if kept is not None and failed is not None:
            dropped, status = frame.position.without(left), failed.event
        started = frame.stand(Position(active, chain, loops, arrived, interruption, applied, dropped), step)
        events = [*(self._told(*one) for one in taken), *started]
        cancelled = failed is not None and failed.event == "cancelled"
        return frame.commit(own, events, cancelled=cancelled, kept=kept or (), status=status)

    def _entered(self, taken: Sequence[_Taken], step: int) -> tuple[tuple[Active, ...], Mapping[str, Sequence[str]]]:
        """The nodes that become active, and who has arrived at joins that still wait."""
        frame = self.frame
        arrived = {node: list(sources) for node, sources in frame.position.arrived.items()}
        targets: dict[str, Failure | None] = {}
        for left, edge, failure in taken:
            join = frame.graph.spec.nodes[edge.target].join
            if not join or failure is not None:
                targets[edge.target] = failure
                continue
            arrived.setdefault(edge.target, []).append(left.node)
            if set(join) <= set(arrived[edge.target]):
                del arrived[edge.target]
                targets[edge.target] = None
        if not targets:
            targets = dict.fromkeys(arrived)
            arrived = {}
        ordered = sorted(targets, key=frame.routes.order.__getitem__)
        return tuple(frame.entered(target, step, targets[target]) for target in ordered), arrived

    def _interruption(self) -> Failure:
        active = self.frame.position.active[0]
        if self._cause == "cancelled":
            return failure_of(active, "cancelled", "Cancelled", "the run was cancelled")
        return failure_of(active, "timeout", "TimeoutError", OUT_OF_TIME)

    async def _divert(self, failure: Failure) -> None:
        """Lead all active nodes over the one edge for an event, or end where they stand."""
        stopped = STOPPED.get(failure.event)
        self._cause = self._deadline = None
        loops = dict(self.frame.position.loops)
        for active in self.frame.position.active:
            edge, failure = self._event_edge(active, failure, loops)
            if edge is not None:
                self.frame.position = self.frame.position._replace(applied=None)
                before = (self.frame.step, self.frame.position)
                kept = await self._finished_items()
                await self._move([(active, edge, failure)], loops, (), before, kept)
                self._cause = None  # a request to cancel that was noticed meanwhile is this one
                self.diversions += 1
                return
        await self._end_here(failure, (), stopped)

    async def _finished_items(self) -> Sequence[StepRow]:
        """What the finished items of a fan-out gave is in the state of the aborted run, though the node never ends.

        A run that is resumed goes back to the state before, and reduces all items when all have ended.
        """
        rows = []
        for active in self.frame.position.active:
            if self.frame.graph.programs[active.node].each is None or active.done:
                continue
            delta = await Visit(self.frame, self.child, active, await self._rows_of(active)).finished_items()
            if delta is not None:
                rows.append(self.frame.amended("kept", delta))
        return rows

    def _event_edge(self, active: Active, failure: Failure, loops: dict[str, int]) -> tuple[EdgeSpec | None, Failure]:
        """The edge for a failure; if its guard fails there is none, and the guard's failure is what happened."""
        try:
            return self.frame.routes.divert(
                active.node, failure.event, {**self.frame.scope_values, "error": failure.error}, loops
            ), failure
        except (GuardFailed, NodeFailed) as problem:
            return None, failure_of(active, "error", type(problem).__name__, str(problem))

    async def _end_here(self, failure: Failure, outcomes: Sequence[Outcome], stopped: str | None = None) -> None:
        """No edge takes the failure: the graph ends, and its position stays for whoever resumes it. `stopped` is the
        status of a row that is to tell so."""
        status = "failed" if failure.event == "error" else "aborted"
        self.frame.ended = Ended(status=status, cause=failure.event, error=failure.error)
        applied = any(active.done for active in self.frame.position.active)
        if applied:
            await self._commit_here(outcomes, cancelled=True)
            return
        fresh = [outcome for outcome in outcomes if not outcome.written]
        patch, events = self.frame.ending(cancelled=True)
        rows = [outcome.row(self.frame.scope) for outcome in fresh]
        await self.frame.session.write(
            steps=rows if stopped is None else [*rows, self.frame.amended(stopped, {})],
            calls=[call for outcome in fresh for call in outcome.calls],
            events=[*(event for outcome in fresh for event in outcome.events), *events],
            texts={name: text for outcome in fresh for name, text in outcome.texts.items()},
            run=patch,
        )

    def _commit_here(self, outcomes: Sequence[Outcome], *, cancelled: bool) -> Awaitable[None]:
        own = _own(outcomes)
        self.frame.step = own.step if own else self.frame.session.next_step()
        return self.frame.commit(own, (), cancelled=cancelled)

    async def _pause_before(self, waiting: Sequence[Active]) -> None:
        for active in waiting:
            if self.frame.graph.spec.nodes[active.node].pause == "before" and not active.passed:
                passed = tuple(one._replace(passed=one.passed or one is active) for one in self.frame.position.active)
                self.frame.position = self.frame.position._replace(active=passed)
                await self.frame.amend("paused", {})
                raise self._pausing(active, "before")

    async def _pause_after(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if self.frame.graph.spec.nodes[outcome.active.node].pause == "after" and outcome.failure is None:
                self.frame.hold()
                await self._commit_here(outcomes, cancelled=False)
                raise self._pausing(outcome.active, "after")

    def _pausing(self, active: Active, when: str) -> Suspended:
        told = {"type": RunPaused.type, "path": self.frame.path + active.node, "visit": active.visit, "when": when}
        return Suspended("paused", Address(self.frame.scope, active.node, active.visit).key, told)

    def _told(self, left: Active, edge: EdgeSpec, failure: Failure | None) -> Draft:
        return {
            "type": EdgeTaken.type,
            "path": self.frame.path + left.node,
            "visit": left.visit,
            "source": left.node,
            "target": edge.target,
            "loop": edge.loop,
            "on": None if failure is None else failure.event,
        }


def _own(outcomes: Sequence[Outcome]) -> Outcome | None:
    """What the only node of a step gave, and what is still to be written."""
    return next((outcome for outcome in outcomes if not outcome.written), None)


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
