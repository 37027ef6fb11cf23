"""The run loop: one graph in motion, the root of a run or a subgraph under it, step by step to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from graph_research.graph.checkpoint.base import StepRow
from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.errors import GuardFailed, NodeFailed
from graph_research.graph.events import Draft, EdgeTaken, RunPaused
from graph_research.graph.execution.cancel_scope import CancelScope, ScopeCancelled
from graph_research.graph.execution.failures import Failure, Suspended, failure_of, first_of
from graph_research.graph.execution.graph_run import Ended, GraphRun
from graph_research.graph.execution.node_result import NodeResult
from graph_research.graph.execution.node_run import NodeRun
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import ActiveNode, Interruption, Position
from graph_research.graph.state.statuses import Cause, RunStatus, StepStatus

__all__ = ["RunLoop"]


_Taken = tuple[ActiveNode, EdgeSpec, Failure | None]
"""A node that is left, an edge it takes, and the failure where that is an event edge."""


_LONGEST_TURN_SECONDS = 0.01
"""Nodes that wait for nothing let others have the event loop after this time."""


_UNHANDLED = {Cause.TIMEOUT: StepStatus.TIMEOUT_UNHANDLED, Cause.CANCELLED: StepStatus.CANCELLED_UNHANDLED}
"""The status of the row of an interruption that no edge takes."""


class RunLoop:
    """Moves `graph_run` step by step to its end; `limit` and `interrupt` fence it from outside."""

    def __init__(self, graph_run: GraphRun) -> None:
        self.graph_run = graph_run
        self.interruptions_handled = 0
        """How often an event led the graph away from its nodes; the request for it has been followed then."""
        self._cause: Cause | None = None
        self._fence: CancelScope | None = None
        self._deadline: float | None = None

    def limit(self, seconds: float | None) -> None:
        """Give the graph `seconds` from now."""
        self._deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds

    def interrupt(self, cause: Cause) -> None:
        """Stop what runs, and go over the edges for `cause`."""
        self._cause = cause
        if self._fence is not None:
            self._fence.cancel()

    async def run(self) -> Ended:
        """Step on to the end. Raises `Suspended` where a human is waited for."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._fence = fence = CancelScope(task)
        timer = None if self._deadline is None else loop.call_at(self._deadline, self._late)
        turned = loop.time()
        try:
            while self.graph_run.ended is None:
                await self._superstep(fence)
                if loop.time() - turned > _LONGEST_TURN_SECONDS:
                    await asyncio.sleep(0)
                    turned = loop.time()
        finally:
            if timer is not None:
                timer.cancel()
        return self.graph_run.ended

    def _late(self) -> None:
        if self._deadline is not None and self._fence is not None:
            self._fence.cancel()

    async def _superstep(self, fence: CancelScope) -> None:
        graph_run = self.graph_run
        waiting = [active for active in graph_run.position.active if not active.done]
        most = graph_run.graph.spec.limits.steps
        if most is not None and waiting and graph_run.limited and sum(graph_run.visits.values()) > most:
            await self._handle_interruption(
                failure_of(waiting[0], Cause.ERROR, "NodeFailed", f"more than {most} steps (limits.steps)")
            )
            return
        if graph_run.routes.pausing:
            await self._pause_before(waiting)
        if self._cause or (self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline):
            await self._handle_interruption(self._interruption())
            return
        try:
            with fence:
                alone = len(waiting) == 1
                results = [await self._visited(waiting[0])] if alone else await self._together(waiting)
        except ScopeCancelled:
            await self._handle_interruption(self._interruption())
            return
        if len(results) == 1 == len(graph_run.position.active) and graph_run.can_advance_directly(results[0]):
            await self._advance_single(results[0])
        else:
            await self._finish_superstep(results)

    async def _together(self, waiting: Sequence[ActiveNode]) -> Sequence[NodeResult]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._branch(active)) for active in waiting]
        except BaseExceptionGroup as several:
            raise first_of(several) from None
        results = [task.result() for task in tasks]
        for result in results:
            if isinstance(result, Suspended):
                raise result
        return [result for result in results if isinstance(result, NodeResult)]

    async def _branch(self, active: ActiveNode) -> NodeResult | Suspended:
        """One of several nodes of a step: its result is durable as it ends, and counts when all have ended."""
        try:
            result = await self._visited(active)
        except Suspended as stop:
            return stop
        if not result.written:
            await self.graph_run.session.write(
                steps=[result.row(self.graph_run.namespace)],
                calls=result.calls,
                events=result.events,
                texts=result.texts,
            )
        return result._replace(written=True)

    def _visited(self, active: ActiveNode) -> Awaitable[NodeResult]:
        resumed = self.graph_run.resumed and (active.node, active.visit) in self.graph_run.resumed
        return self._revisited(active) if resumed else NodeRun(self.graph_run, self.child, active).run()

    async def _revisited(self, active: ActiveNode) -> NodeResult:
        return await NodeRun(self.graph_run, self.child, active, await self._rows_of(active)).run()

    async def _rows_of(self, active: ActiveNode) -> Sequence[StepRow]:
        """What is stored of a visit so far."""
        rows = await self.graph_run.session.store.step_rows(
            self.graph_run.session.run_id, self.graph_run.namespace, active.entered
        )
        return [row for row in rows if row.node == active.node and row.visit == active.visit]

    async def child(self, name: str, handoff: Mapping[str, Any], address: Address) -> tuple[dict[str, Any], bytes]:
        """Run a subgraph to its end, from where it was if it had started: its output and the hash of its way there."""
        graph = self.graph_run.graph.subgraphs[name]
        graph_run: GraphRun | None = None
        while graph_run is None:
            namespace = f"{address.key}/"
            if namespace in self.graph_run.session.history.visits:
                graph_run = await GraphRun.load(graph, self.graph_run.session, namespace)
                if (
                    graph_run is not None
                    and graph_run.ended is not None
                    and not await self._noticed(address, graph_run.step)
                ):
                    break
                if graph_run is not None and not (
                    graph_run.resumable or graph_run.ended == Ended(status=RunStatus.COMPLETED)
                ):
                    graph_run, address = None, address._replace(attempt=address.attempt + 1)
                elif graph_run is not None:
                    await graph_run.rewind()
            else:
                graph_run = await GraphRun.start(
                    graph, self.graph_run.session, handoff, namespace=namespace, chain=self.graph_run.position.chain
                )
        loop = RunLoop(graph_run)
        if (recorded := graph_run.session.recorded_interruptions) is None:
            loop.limit(graph.spec.limits.seconds)
        else:
            recorded.limited(graph_run.namespace, loop.interrupt)
        ended = await loop.run()
        if ended.status != RunStatus.COMPLETED:
            reason = f": {ended.error['type']}: {ended.error['message']}" if ended.error else ""
            raise NodeFailed(f'subgraph "{name}" ended {ended.status}{reason}')
        outputs = {
            channel: graph_run.state.values[channel] for channel, spec in graph.spec.channels.items() if spec.output
        }
        return outputs, graph_run.position.chain

    async def _noticed(self, address: Address, end: int) -> bool:
        """Whether the node of a subgraph that ended at step `end` has failed of it since; if not, that end counts."""
        rows = await self.graph_run.session.store.step_rows(
            self.graph_run.session.run_id, self.graph_run.namespace, after=end
        )
        place = (address.node, address.visit, address.item)
        return any(
            (row.node, row.visit, row.item) == place and row.status in (StepStatus.FAILED, StepStatus.RETRIED)
            for row in rows
        )

    def _advance_single(self, result: NodeResult) -> Awaitable[None]:
        """Nearly every step: one node has given its update, and one edge leads to a node that waits for no other."""
        graph_run, left, step = self.graph_run, result.active, result.step
        _, _, loops, join_arrivals, interruption, _, abandoned = graph_run.position
        graph_run.reduce(result)
        graph_run.refresh_scope()
        try:
            edge = graph_run.routes.first(left.node, graph_run.scope_values, loops)
        except (GuardFailed, NodeFailed) as problem:
            graph_run.position = graph_run.position._replace(chain=result.hash, applied=None)
            return self._finish_without_edge(left, problem, (result,))
        if edge.loop is not None:
            loops = {**loops}
            graph_run.routes.count(edge, loops)
        if edge.target in graph_run.routes.can_complete:
            interruption = None
        entered = graph_run.entered(edge.target, step)
        started = graph_run.enter(
            Position((entered,), result.hash, loops, join_arrivals, interruption, None, abandoned), step
        )
        return graph_run.commit(result, [self._edge_event(left, edge, None), *started])

    async def _finish_superstep(self, results: Sequence[NodeResult]) -> None:
        """Reduce what the nodes gave, pick the edges, and commit both."""
        graph_run = self.graph_run
        results = self._without_conflicts(results)
        loops = dict(graph_run.position.loops)
        taken: list[_Taken] = []
        failing = set()
        for result in results:
            if result.failure is not None:
                edge, failure = self._event_edge(result.active, result.failure, loops)
                if edge is None:
                    await self._end_without_edge(failure, results)
                    return
                taken.append((result.active, edge, failure))
                failing.add(result.active.node)
        before = (graph_run.step, graph_run.position)
        graph_run.apply(results)
        if graph_run.routes.pausing:
            await self._pause_after(results)
        for active in graph_run.position.active:
            if active.node in failing:
                continue
            try:
                edges = graph_run.routes.leave(active.node, graph_run.scope_values, loops)
            except (GuardFailed, NodeFailed) as problem:
                await self._finish_without_edge(active, problem, results)
                return
            taken += [(active, edge, None) for edge in edges]
        await self._take_edges(taken, loops, results, before)

    async def _finish_without_edge(
        self, active: ActiveNode, problem: GuardFailed | NodeFailed, results: Sequence[NodeResult]
    ) -> None:
        """A node's work is done, but no edge can be taken: that is its error, and its update stays."""
        self.graph_run.mark_done()
        loops = dict(self.graph_run.position.loops)
        failure = failure_of(active, Cause.ERROR, type(problem).__name__, str(problem))
        edge, failure = self._event_edge(active, failure, loops)
        if edge is None:
            await self._end_without_edge(failure, results)
            return
        own = _own(results)
        before = (own.step if own else self.graph_run.step, self.graph_run.position)
        await self._take_edges([(active, edge, failure)], loops, results, before)

    def _without_conflicts(self, results: Sequence[NodeResult]) -> Sequence[NodeResult]:
        """Nodes that ran side by side may not replace the same channel: the later in the file has failed."""
        results = sorted(results, key=lambda result: self.graph_run.routes.order[result.active.node])
        writers: dict[str, str] = {}
        checked = []
        for result in results:
            replacing = (result.delta or {}).get("replace", {})
            for channel in replacing:
                other = writers.setdefault(channel, result.active.node)
                if other != result.active.node:
                    message = f'"{other}" and "{result.active.node}" replaced channel "{channel}" in the same step'
                    failure = failure_of(result.active, Cause.ERROR, "NodeFailed", message)
                    result = result._replace(failure=failure, delta=None)
                    break
            checked.append(result)
        return checked

    def _take_edges(
        self,
        taken: Sequence[_Taken],
        loops: dict[str, int],
        results: Sequence[NodeResult],
        before: tuple[int, Position],
        kept: Sequence[StepRow] | None = None,
    ) -> Awaitable[None]:
        """Take the edges: enter their targets, and commit everything since the last step. With `kept`, the rows of what
        is kept of them, the nodes have not ended but are led away from."""
        graph_run, own = self.graph_run, _own(results)
        step = own.step if own else graph_run.session.next_step()
        if any(failure is not None for _, _, failure in taken):
            taken = [one for one in taken if one[1].source == "*"][:1] or taken
        failed = next((failure for _, _, failure in taken if failure is not None), None)
        active, join_arrivals = self._entered(taken, step)
        left, chain, _, _, interruption, applied, abandoned = graph_run.position
        if failed is not None:
            interruption = _interruption(failed, *before)
        if any(one.node in graph_run.routes.can_complete for one in active):
            interruption = None
        status = StepStatus.MOVED
        if kept is not None and failed is not None:
            abandoned, status = graph_run.position.without(left), StepStatus(failed.event)
        started = graph_run.enter(Position(active, chain, loops, join_arrivals, interruption, applied, abandoned), step)
        events = [*(self._edge_event(*one) for one in taken), *started]
        cancelled = failed is not None and failed.event == Cause.CANCELLED
        return graph_run.commit(own, events, cancelled=cancelled, kept=kept or (), status=status)

    def _entered(
        self, taken: Sequence[_Taken], step: int
    ) -> tuple[tuple[ActiveNode, ...], Mapping[str, Sequence[str]]]:
        """The nodes that become active, and who has join_arrivals at joins that still wait."""
        graph_run = self.graph_run
        join_arrivals = {node: list(sources) for node, sources in graph_run.position.join_arrivals.items()}
        targets: dict[str, Failure | None] = {}
        for left, edge, failure in taken:
            join = graph_run.graph.spec.nodes[edge.target].join
            if not join or failure is not None:
                targets[edge.target] = failure
                continue
            join_arrivals.setdefault(edge.target, []).append(left.node)
            if set(join) <= set(join_arrivals[edge.target]):
                del join_arrivals[edge.target]
                targets[edge.target] = None
        if not targets:
            targets = dict.fromkeys(join_arrivals)
            join_arrivals = {}
        ordered = sorted(targets, key=graph_run.routes.order.__getitem__)
        return tuple(graph_run.entered(target, step, targets[target]) for target in ordered), join_arrivals

    def _interruption(self) -> Failure:
        active = self.graph_run.position.active[0]
        if self._cause == Cause.CANCELLED:
            return failure_of(active, Cause.CANCELLED, "Cancelled", "the run was cancelled")
        return failure_of(active, Cause.TIMEOUT, "TimeoutError", "the time for the whole graph is over")

    async def _handle_interruption(self, failure: Failure) -> None:
        """Lead all active nodes over the one edge for an event, or end where they stand."""
        stopped = _UNHANDLED.get(failure.event)
        self._cause = self._deadline = None
        loops = dict(self.graph_run.position.loops)
        for active in self.graph_run.position.active:
            edge, failure = self._event_edge(active, failure, loops)
            if edge is not None:
                self.graph_run.position = self.graph_run.position._replace(applied=None)
                before = (self.graph_run.step, self.graph_run.position)
                kept = await self._finished_items()
                await self._take_edges([(active, edge, failure)], loops, (), before, kept)
                self._cause = None  # a request to cancel that was noticed meanwhile is this one
                self.interruptions_handled += 1
                return
        await self._end_without_edge(failure, (), stopped)

    async def _finished_items(self) -> Sequence[StepRow]:
        """What the finished items of a fan-out gave is in the state of the aborted run, though the node never ends.

        A run that is resumed goes back to the state before, and reduces all items when all have ended.
        """
        rows = []
        for active in self.graph_run.position.active:
            if self.graph_run.graph.programs[active.node].each is None or active.done:
                continue
            delta = await NodeRun(self.graph_run, self.child, active, await self._rows_of(active)).finished_items()
            if delta is not None:
                rows.append(self.graph_run.edit_row(StepStatus.ITEMS_KEPT, delta))
        return rows

    def _event_edge(
        self, active: ActiveNode, failure: Failure, loops: dict[str, int]
    ) -> tuple[EdgeSpec | None, Failure]:
        """The edge for a failure; if its guard fails there is none, and the guard's failure is what happened."""
        try:
            return self.graph_run.routes.divert(
                active.node, failure.event, {**self.graph_run.scope_values, "error": failure.error}, loops
            ), failure
        except (GuardFailed, NodeFailed) as problem:
            return None, failure_of(active, Cause.ERROR, type(problem).__name__, str(problem))

    async def _end_without_edge(
        self, failure: Failure, results: Sequence[NodeResult], stopped: StepStatus | None = None
    ) -> None:
        """No edge takes the failure: the graph ends, and its position stays for whoever resumes it. `stopped` is the
        status of a row that is to tell so."""
        status = RunStatus.FAILED if failure.event == Cause.ERROR else RunStatus.ABORTED
        self.graph_run.ended = Ended(status=status, cause=failure.event, error=failure.error)
        applied = any(active.done for active in self.graph_run.position.active)
        if applied:
            await self._commit_here(results, cancelled=True)
            return
        fresh = [result for result in results if not result.written]
        patch, events = self.graph_run.ending(cancelled=True)
        rows = [result.row(self.graph_run.namespace) for result in fresh]
        await self.graph_run.session.write(
            steps=rows if stopped is None else [*rows, self.graph_run.edit_row(stopped, {})],
            calls=[call for result in fresh for call in result.calls],
            events=[*(event for result in fresh for event in result.events), *events],
            texts={name: text for result in fresh for name, text in result.texts.items()},
            run=patch,
        )

    def _commit_here(self, results: Sequence[NodeResult], *, cancelled: bool) -> Awaitable[None]:
        own = _own(results)
        self.graph_run.step = own.step if own else self.graph_run.session.next_step()
        return self.graph_run.commit(own, (), cancelled=cancelled)

    async def _pause_before(self, waiting: Sequence[ActiveNode]) -> None:
        for active in waiting:
            if self.graph_run.graph.spec.nodes[active.node].pause == "before" and not active.passed:
                passed = tuple(
                    one._replace(passed=one.passed or one is active) for one in self.graph_run.position.active
                )
                self.graph_run.position = self.graph_run.position._replace(active=passed)
                await self.graph_run.edit_state(StepStatus.PAUSED, {})
                raise self._pausing(active, "before")

    async def _pause_after(self, results: Sequence[NodeResult]) -> None:
        for result in results:
            if self.graph_run.graph.spec.nodes[result.active.node].pause == "after" and result.failure is None:
                self.graph_run.mark_done()
                await self._commit_here(results, cancelled=False)
                raise self._pausing(result.active, "after")

    def _pausing(self, active: ActiveNode, when: str) -> Suspended:
        told = {"type": RunPaused.type, "path": self.graph_run.path + active.node, "visit": active.visit, "when": when}
        return Suspended(RunStatus.PAUSED, Address(self.graph_run.namespace, active.node, active.visit).key, told)

    def _edge_event(self, left: ActiveNode, edge: EdgeSpec, failure: Failure | None) -> Draft:
        return {
            "type": EdgeTaken.type,
            "path": self.graph_run.path + left.node,
            "visit": left.visit,
            "source": left.node,
            "target": edge.target,
            "loop": edge.loop,
            "on": None if failure is None else failure.event,
        }


def _own(results: Sequence[NodeResult]) -> NodeResult | None:
    """What the only node of a step gave, and what is still to be written."""
    return next((result for result in results if not result.written), None)


def _interruption(failure: Failure, step: int, position: Position) -> Interruption:
    return Interruption(
        cause=failure.event,
        step=step,
        chain=position.chain.hex(),
        active=position.active,
        loops=position.loops,
        join_arrivals=position.join_arrivals,
        error=failure.error,
    )
