"""The run loop: drives one graph, the root of a run or a subgraph under it, superstep by superstep to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import Any

from graph_research.graph.errors import GraphTimeout, NodeFailed
from graph_research.graph.execution.attempts import first_of
from graph_research.graph.execution.cancel_scope import CancelScope, ScopeCancelled
from graph_research.graph.execution.fan_out import finished_items
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.graph_state import Ended
from graph_research.graph.execution.node_result import (
    Cancelled,
    Failure,
    NodeResult,
    Suspended,
    Unrecorded,
    failure_of,
)
from graph_research.graph.execution.node_run import NodeRun
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.statuses import FAILURES, Cause

_LONGEST_TURN_SECONDS = 0.01
"""Nodes that wait for nothing let other tasks use the event loop after this time."""


class RunLoop:
    """Drives `graph_run` to its end; `interrupt` ends it early from outside."""

    def __init__(self, graph_run: GraphRun) -> None:
        self.graph_run = graph_run
        self.interruptions_handled = 0
        """How many event edges were taken for interruptions: a request that came before them has been followed."""
        self._cause: Cause | None = None
        self._scope: CancelScope | None = None
        self._deadline: float | None = None

    def interrupt(self, cause: Cause) -> None:
        """Cancel the nodes that run, and take the edge for `cause`."""
        self._cause = cause
        if self._scope is not None:
            self._scope.cancel()

    async def run(self, seconds: float | None = None) -> Ended:
        """Run to the end, or for `seconds`. Raises `Suspended` at a question or a pause."""
        event_loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._scope = scope = CancelScope(task)
        turn_began = event_loop.time()
        self._deadline = None if seconds is None else turn_began + seconds
        timer = None if self._deadline is None else event_loop.call_at(self._deadline, self._on_deadline)
        try:
            while self.graph_run.ended is None:
                await self._superstep(scope)
                if event_loop.time() - turn_began > _LONGEST_TURN_SECONDS:
                    await asyncio.sleep(0)
                    turn_began = event_loop.time()
        finally:
            if timer is not None:
                timer.cancel()
        return self.graph_run.ended

    async def _superstep(self, scope: CancelScope) -> None:
        """Run the nodes that wait to run, then move the graph on; or interrupt it."""
        run = self.graph_run
        waiting = [active for active in run.position.active if not active.done]
        if (interruption := self._interruption(waiting)) is None:
            for active in waiting if run.routes.pausing or run.session.pauses_before is not None else ():
                if not active.passed and self._pauses_before(active.node):
                    await run.pause_before(active)
            try:
                with scope:
                    alone = len(waiting) == 1
                    results = [await self._run_node(waiting[0])] if alone else await self._run_together(waiting)
            except ScopeCancelled:
                interruption = self._ended_early()
            except Unrecorded:
                if (interruption := self._recorded_interruption(waiting)) is None:
                    raise
            else:
                # several results are stored before the graph moves on: the recorded run may have ended in between
                interruption = self._recorded_interruption(waiting)
        if interruption is None:
            await run.advance(results)
        else:
            await self._interrupt(interruption)

    def _pauses_before(self, node: str) -> bool:
        run = self.graph_run
        if run.graph.spec.nodes[node].pause == "before":
            return True
        asked = run.session.pauses_before
        return asked is not None and not run.namespace and asked(node)

    def _interruption(self, waiting: Sequence[ActiveNode]) -> Failure | None:
        """What keeps the nodes from running: `limits.steps`, a request to cancel, or the time limit."""
        run = self.graph_run
        limit = run.graph.spec.limits.steps
        # on the way to the end that an event edge has led to, the limit does not apply
        if limit is not None and waiting and run.position.interruption is None and sum(run.visits.values()) > limit:
            exceeded = NodeFailed(
                f"more than {limit} steps", help="raise `limits.steps` of the graph before it goes on"
            )
            return failure_of(waiting[0], Cause.ERROR, exceeded)
        if run.session.replay is not None:
            return self._recorded_interruption(waiting)
        if self._cause or (self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline):
            return self._ended_early()
        return None

    def _recorded_interruption(self, waiting: Sequence[ActiveNode]) -> Failure | None:
        """In a replay: what interrupted the recorded run here."""
        replay = self.graph_run.session.replay
        if replay is None:
            return None
        self._cause = replay.interruption(self.graph_run.namespace, waiting)
        return None if self._cause is None else self._ended_early()

    def _ended_early(self) -> Failure:
        active = self.graph_run.position.active[0]
        if self._cause == Cause.CANCELLED:
            return failure_of(active, Cause.CANCELLED, Cancelled("the run was cancelled"))
        return failure_of(active, Cause.TIMEOUT, GraphTimeout("the time for the whole graph is over"))

    def _on_deadline(self) -> None:
        if self._deadline is not None and self._scope is not None:
            self._scope.cancel()

    async def _interrupt(self, failure: Failure) -> None:
        """Move the graph over the edge for an interruption, keeping what the items of a fan-out have given: the run
        that is resumed returns to the state before, and reduces all items when all have ended."""
        self._cause = self._deadline = None
        if await self.graph_run.interrupt(failure, partial(finished_items, self.graph_run, self.child)):
            self._cause = None  # a request to cancel that came meanwhile is this one
            self.interruptions_handled += 1

    async def _run_together(self, waiting: Sequence[ActiveNode]) -> Sequence[NodeResult]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._run_branch(active)) for active in waiting]
        except BaseExceptionGroup as several:
            raise first_of(several) from None
        results = [task.result() for task in tasks]
        for result in results:
            if isinstance(result, (Suspended, Unrecorded)):
                raise result
        return [result for result in results if isinstance(result, NodeResult)]

    async def _run_branch(self, active: ActiveNode) -> NodeResult | Suspended | Unrecorded:
        """One of several nodes of a superstep: its result is stored as it ends, and counts when all have ended."""
        try:
            result = await self._run_node(active)
        except (Suspended, Unrecorded) as stop:
            return stop
        if not result.written:
            await self.graph_run.record(result.row, result.calls, result.events)
        return result._replace(written=True)

    def _run_node(self, active: ActiveNode) -> Awaitable[NodeResult]:
        return NodeRun(self.graph_run, self.child, active).run()

    async def child(self, name: str, handoff: Mapping[str, Any], address: Address) -> tuple[dict[str, Any], bytes]:
        """Run a subgraph to its end, from where it stands if it had started: its output and its chain of hashes."""
        graph = self.graph_run.graph.subgraphs[name]
        run = await self._child_run(name, handoff, address)
        await RunLoop(run).run(graph.spec.limits.seconds if run.session.replay is None else None)
        if not run.completed:
            assert run.ended is not None
            error = run.ended.error
            reason = f": {error['type']}: {error['message']}" if error else ""
            raise NodeFailed(f'subgraph "{name}" ended {run.ended.status}{reason}')
        outputs = {channel: run.state.values[channel] for channel, spec in graph.spec.channels.items() if spec.output}
        return outputs, run.position.chain

    async def _child_run(self, name: str, handoff: Mapping[str, Any], address: Address) -> GraphRun:
        """The subgraph's run: that of the attempt if it can go on, else that of a next attempt."""
        graph, session = self.graph_run.graph.subgraphs[name], self.graph_run.session
        while (namespace := f"{address.key}/") in session.earlier_visits:
            run = await GraphRun.load(graph, session, namespace)
            assert run is not None
            if run.ended is not None and not await self._failed_since(address, run.step):
                return run
            if run.resumable or run.completed:
                await run.rewind()
                await run.add_channels()
                return run
            address = address._replace(attempt=address.attempt + 1)
        return await GraphRun.start(graph, session, handoff, namespace=namespace, chain=self.graph_run.position.chain)

    async def _failed_since(self, address: Address, end: int) -> bool:
        """Whether the node of a subgraph that ended at step `end` has failed since; if not, that end counts."""
        session = self.graph_run.session
        rows = await session.store.step_rows(session.run_id, self.graph_run.namespace, after=end)
        return any(row[2:5] == address[1:4] and row.status in FAILURES for row in rows)
