"""One visit of a node: what it sees, the checks of what it is given and gives, and the rows that it leaves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.events import Draft, NodeFailed
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_result import Failure
from graph_research.graph.state.address import Address, key_of
from graph_research.graph.state.position import ActiveNode, digest
from graph_research.graph.state.reducers import Delta, make_delta
from graph_research.graph.state.rows import StepRow
from graph_research.graph.statuses import StepStatus
from graph_research.graph.values.codec import NotStorable, duplicate, unstorable

FINISHED, FAILED, _RETRIED = map(str, (StepStatus.FINISHED, StepStatus.FAILED, StepStatus.RETRIED))
"""Statuses of rows as plain strings, which SQLite binds faster."""

Child = Callable[[str, Mapping[str, Any], Address], Awaitable[tuple[dict[str, Any], bytes]]]
"""Runs a subgraph: name, handoff and address to output and chain of hashes."""


class GaveUp(Exception):
    """The last attempt of a node or of one of its items has failed."""

    def __init__(self, failure: Failure, context: JournalContext | None = None) -> None:
        super().__init__(failure.error["message"])
        self.failure = failure
        self.context = context


class NodeVisit:
    """`child` runs a subgraph; `earlier` are the rows that an interrupted run stored of this visit."""

    def __init__(self, graph_run: GraphRun, child: Child, active: ActiveNode, earlier: Sequence[StepRow] = ()) -> None:
        self.graph_run = graph_run
        self.child = child
        self.session = graph_run.session
        self.active = active
        self.spec = graph_run.graph.spec.nodes[active.node]
        self.program = graph_run.graph.programs[active.node]
        self.path = graph_run.path + active.node
        self.earlier = earlier
        self.chains: dict[int | None, bytes] = {}
        """The hashes that subgraph runs ended with, by item."""
        scope = graph_run.scope_values
        self.scope = scope if active.error is None else {**scope, "error": active.error}

    def delta(self, update: Mapping[str, Any]) -> Delta:
        """The update sorted by reducers, every operand checked against its channel."""
        graph, values = self.graph_run.graph, self.graph_run.state.values
        if graph.typed:
            update = graph.to_stored(update, values, self.spec.name)
        if self.spec.name in graph.replacing:
            self._check_channels(update)
            return {"replace": update}
        delta = make_delta(graph.spec.channels, update, values)
        for reducer, operands in delta.items():
            if reducer == "merge":
                operands = {name: {**(values.get(name) or {}), **(operand or {})} for name, operand in operands.items()}
            if reducer != "add":
                self._check_channels(operands)
        return delta

    def handoff(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """What the handler, prompt or subgraph is given, made from `scope` and checked: a copy, where it could change
        something of it. A subgraph makes its own."""
        handoff, spec = self.program.handoff(scope), self.spec
        only_reads = spec.kind == "run" and spec.target in self.graph_run.graph.registry.read_only_handlers
        if spec.kind != "graph" and not only_reads:
            handoff = duplicate(handoff)
        self.check(self.spec.input.schema if self.spec.input else None, handoff)
        return handoff

    def accepted(self, output: Any, scope: Mapping[str, Any]) -> Any:
        """An output, checked: a copy of a handler's, and the values that a subgraph has ended with."""
        try:
            if self.spec.kind != "graph":
                output = duplicate(output)
        except NotStorable as problem:
            update = self.program.update({**scope, "output": output, "outputs": [output], "errors": []})
            raise self.unstorable([update], problem) from problem
        self.check(self.spec.output.schema if self.spec.output else None, output)
        return output

    def check(self, schema: str | None, value: Any) -> None:
        """Raise `HandoffInvalid` where a value does not fit the schema with this name."""
        if schema is not None:
            self.graph_run.graph.contracts[schema].check(value, self.spec.name)

    def unstorable(self, updates: Iterable[Mapping[str, Any]], problem: NotStorable) -> GraphResearchError:
        """The error for what cannot be stored, with the channel that would have got it; `problem` if none would."""
        for update in updates:
            for channel, value in update.items():
                if found := unstorable(value):
                    return HandoffInvalid(
                        f'node "{self.spec.name}": channel "{channel}" would hold {found}, which cannot be stored',
                        node=self.spec.name,
                        schema=channel,
                        path=found.partition(" at ")[2],
                        value=value,
                        help=problem.help,
                    )
        return problem

    def address(self, item: int | None = None, attempt: int = 1) -> Address:
        """The address of an attempt, or of an item's."""
        return Address(self.graph_run.namespace, self.active.node, self.active.visit, item, attempt)

    def failed_event(self, failure: Failure, item: int | None, attempt: int, *, retry: bool) -> Draft:
        """The event of a failed attempt."""
        path, visit, node = self.address(item).path, self.active.visit, self.active.node
        place = {"path": path, "visit": visit, "node": node, "error": failure.summary, "will_retry": retry}
        return {"type": NodeFailed.type, **place, "attempt": attempt, "item": item}

    async def record_retry(self, context: JournalContext, failure: Failure, seconds: float) -> None:
        """Store an attempt that failed and that another follows."""
        calls, events = context.pending()
        data, chain = self.session.encode(failure.stored), self.graph_run.position.chain
        row = self.row(context.item, context.attempt, _RETRIED, seconds, chain, data)
        failed = self.failed_event(failure, context.item, context.attempt, retry=True)
        await self.graph_run.record(row, calls, [*events, failed])

    def row(
        self, item: int | None, attempt: int, status: str, seconds: float, hashed: bytes, data: bytes | None
    ) -> StepRow:
        """The row of a node, an item or an attempt that ends now. In a replay, raises `Unrecorded` if it did not."""
        if self.session.replay is not None:
            self.session.replay.check_end(self.address(item, attempt))
        step, namespace, (node, visit) = self.session.next_step(), self.graph_run.namespace, self.active[:2]
        started_at = self.session.clock.now().timestamp() - seconds
        return StepRow(step, namespace, node, visit, item, attempt, status, started_at, seconds, hashed, data, None)

    def hash(self, item: int | None, data: bytes, *parts: bytes) -> bytes:
        """The chain of hashes after this visit or one of its items."""
        key = key_of(self.graph_run.namespace, self.active.node, self.active.visit, item)
        return digest(self.graph_run.position.chain, key.encode(), data, *parts)

    def _check_channels(self, values: Mapping[str, Any]) -> None:
        channels, node = self.graph_run.graph.channels, self.spec.name
        for channel, value in values.items():
            if value is not None:
                channels[channel].check(value, node)
