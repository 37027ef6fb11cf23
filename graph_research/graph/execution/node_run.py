"""One visit of one node: its handoff, its attempts, the items of its fan-out, and the update that comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from graph_research.errors import GraphResearchError
from graph_research.graph.checkpoint.base import StepRow
from graph_research.graph.definition.spec import InputSpec, OutputSpec
from graph_research.graph.errors import HandoffInvalid, InputInvalid, StoreDamaged
from graph_research.graph.errors import NodeFailed as NodeFailedError
from graph_research.graph.events import Draft, InputRequested, ItemFinished, NodeFailed, NodeFinished
from graph_research.graph.execution.failures import (
    Failure,
    Suspended,
    failure_of,
    first_of,
    is_retried,
    seconds_until_next,
)
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_result import NodeResult
from graph_research.graph.state.address import Address, key_of
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.reducers import Delta, DeltaRefused, make_delta
from graph_research.graph.state.statuses import Cause, RunStatus, StepStatus
from graph_research.graph.state.step_hash import digest
from graph_research.graph.values.codec import NotStorable, decode, duplicate, encode, unstorable, without_tags
from graph_research.graph.values.json_schema import Contract

if TYPE_CHECKING:
    from graph_research.graph.execution.graph_run import GraphRun

__all__ = ["NodeRun", "check"]


_CALLING = frozenset({"run", "prompt", "graph"})
"""Kinds of nodes that do their work outside of the expressions of the graph."""

_Child = Callable[[str, Mapping[str, Any], Address], Awaitable[tuple[dict[str, Any], bytes]]]


class _GaveUp(Exception):
    """The last attempt of a node or of one of its items has failed."""

    def __init__(self, failure: Failure, context: JournalContext | None = None, attempt: int = 1) -> None:
        super().__init__(failure.error["message"])
        self.failure = failure
        self.context = context
        self.attempt = attempt


class _Ended(NamedTuple):
    """An item: its output or its failure, and the hash of either."""

    output: Any
    failure: Failure | None
    hash: bytes


class NodeRun:
    """Runs one active node. `child` runs a subgraph: name, handoff, address to output and hash. `earlier` are the rows
    that an interrupted run stored of this visit."""

    def __init__(self, graph_run: GraphRun, child: _Child, active: ActiveNode, earlier: Sequence[StepRow] = ()) -> None:
        self._graph_run = graph_run
        self._child = child
        self._session = graph_run.session
        self._active = active
        self._spec = graph_run.graph.spec.nodes[active.node]
        self._program = graph_run.graph.programs[active.node]
        self._path = graph_run.path + active.node
        self._earlier = earlier
        self._chains: dict[int | None, bytes] = {}
        """The hashes that subgraph runs ended with, by item."""
        self._scope = (
            graph_run.scope_values if active.error is None else {**graph_run.scope_values, "error": active.error}
        )

    async def run(self) -> NodeResult:
        """Run the node to its end. Raises `Suspended` when it has to wait for a human."""
        if self._earlier and (known := await self._known()) is not None:
            return known
        clock = self._session.clock
        started_at, began = clock.now().timestamp(), clock.monotonic()
        context: JournalContext | None = None
        failure: Failure | None = None
        delta: Delta | None = None
        attempt = 1
        parts: Iterable[bytes] = ()
        try:
            if self._program.each is not None:
                delta, parts = await self._fan_out(self.items())
            elif self._spec.kind in _CALLING:
                delta, context = await self._attempts(None, self._scope, self._updated, began)
                attempt, parts = context.attempt, self._chains.values()
            else:
                delta = self._update()
        except _GaveUp as end:
            failure, context, attempt = end.failure, end.context, end.attempt
        except GraphResearchError as problem:
            if isinstance(problem, StoreDamaged):
                raise
            failure = self._failure(Cause.ERROR, problem, 1)
        seconds = clock.monotonic() - began
        try:
            return self._outcome(started_at, seconds, attempt, context, delta, failure, parts)
        except NotStorable as problem:
            failure = self._failure(Cause.ERROR, self._unstorable((delta or {}).values(), problem), attempt)
            return self._outcome(started_at, seconds, attempt, context, None, failure, ())

    def items(self) -> list[Any]:
        """What the node runs for, where it has `each`. Raises `GuardFailed`, `NodeFailed`."""
        assert self._program.each is not None
        items = self._program.each.evaluate(self._scope)
        if not isinstance(items, list):
            raise NodeFailedError(f'node "{self._spec.name}": `each` gave {items!r:.80}, which is no list')
        return items

    def handoff(self, item: int | None = None) -> dict[str, Any]:
        """What the node is given; with `each` what it is given for one item. Raises `GuardFailed`, `HandoffInvalid`."""
        return self._handoff(self._scope if item is None else self._item_scope(item, self.items()[item]))

    async def call(self, handoff: Mapping[str, Any], item: int | None = None) -> Any:
        """Make the next attempt alone, without a time limit; nothing that comes of it is written."""
        attempt, _ = self._before(item)
        return await self._called(handoff, await self._context(item, attempt))

    def _unstorable(self, updates: Iterable[Mapping[str, Any]], problem: NotStorable) -> GraphResearchError:
        """What cannot be stored, with the channel that would have got it; `problem` where no channel is known."""
        for update in updates:
            for channel, value in update.items():
                if found := unstorable(value):
                    return HandoffInvalid(
                        f'node "{self._spec.name}": channel "{channel}" would hold {found}, which cannot be stored',
                        node=self._spec.name,
                        schema=channel,
                        path=found.partition(" at ")[2],
                        value=value,
                        help=problem.help,
                    )
        return problem

    async def _known(self) -> NodeResult | None:
        """How the visit ended, if it had: its update, or a failure that nothing has come of yet."""
        for row in reversed(self._earlier):
            if row.item is not None or row.delta is None:
                continue
            if row.status == StepStatus.FINISHED:
                return self._written(row, delta=await self._session.value(row.delta))
            if row.status == StepStatus.FAILED and row.step > self._session.failures_cleared_at:
                failure = Failure.from_stored(await self._session.value(row.delta))
                return self._written(row, failure=failure)
        return None

    def _written(self, row: StepRow, *, delta: Delta | None = None, failure: Failure | None = None) -> NodeResult:
        return NodeResult(
            active=self._active,
            step=row.step,
            attempt=row.attempt,
            started_at=row.started_at,
            seconds=row.seconds,
            hash=row.hash,
            data=row.delta,
            delta=delta,
            failure=failure,
            written=True,
        )

    def _outcome(
        self,
        started_at: float,
        seconds: float,
        attempt: int,
        context: JournalContext | None,
        delta: Delta | None,
        failure: Failure | None,
        parts: Iterable[bytes],
    ) -> NodeResult:
        texts: dict[str, str] = {}
        position, data = self._graph_run.position, None
        hashed = position.chain
        if delta is not None:
            data = encode(delta, texts)
            hashed = self._hash(None, data, orjson.dumps(position.loops, None, orjson.OPT_SORT_KEYS), *parts)
            if not self._program.plain:
                delta = decode(data, texts)
        calls, events = context.taken() if context else ([], [])
        active, step = self._active, self._session.next_step()
        path, visit, node = self._path, active.visit, active.node
        if failure is None:
            events.append({"type": NodeFinished.type, "path": path, "visit": visit, "node": node, "seconds": seconds})
        else:
            data = encode(failure.stored, texts)
            told = {"path": path, "visit": visit, "node": node, "error": failure.told, "will_retry": False}
            events.append({"type": NodeFailed.type, **told, "attempt": attempt})
        return NodeResult(
            active, step, attempt, started_at, seconds, hashed, data, delta, failure, calls, events, texts
        )

    def _update(self) -> Delta:
        """What a node gives that calls nothing."""
        if self._spec.kind == "set":
            return self._delta(self._program.assign(self._scope))
        assert self._spec.into is not None
        return self._delta({self._spec.into: self._answer()})

    def _updated(self, output: Any) -> Delta:
        return self._delta(self._program.update({**self._scope, "output": output}))

    # Attempts

    async def _attempts(
        self, item: int | None, scope: Mapping[str, Any], made: Callable[[Any], Any], began: float
    ) -> tuple[Any, JournalContext]:
        """What `made` makes of the output of the first attempt that succeeds, and the context of that attempt. The
        first began at `began`."""
        attempt, used = self._before(item) if self._earlier else (1, 0)
        while True:
            context = await self._context(item, attempt)
            seconds = self._spec.timeout_seconds
            timeout = None if seconds is None else asyncio.timeout(seconds)
            try:
                handoff = self._handoff(scope)
                if timeout is None:
                    output = await self._called(handoff, context)
                else:
                    async with timeout:
                        if self._session.recorded_interruptions is not None:
                            await self._session.recorded_interruptions.fenced(
                                context.address, timeout, nested=self._spec.kind == "graph"
                            )
                        output = await self._called(handoff, context)
                return made(self._accepted(output, scope)), context
            except (Suspended, StoreDamaged):
                raise
            except Exception as problem:
                expired = timeout is not None and isinstance(problem, TimeoutError) and timeout.expired()
                event = Cause.TIMEOUT if expired else Cause.ERROR
                told = TimeoutError("it took longer than its timeout_seconds") if expired else problem
                failure = self._failure(event, told, attempt)
                if used + 1 >= self._spec.retry.attempts or not is_retried(self._spec.retry, problem, event):
                    raise _GaveUp(failure, context, attempt) from problem
                await self._record_retry(context, failure, self._session.clock.monotonic() - began)
                wait = seconds_until_next(self._spec.retry, used, problem)
            if self._session.recorded_interruptions is None:
                await asyncio.sleep(wait)
            attempt, used, began = attempt + 1, used + 1, self._session.clock.monotonic()

    async def _context(self, item: int | None, attempt: int) -> JournalContext:
        node, visit = self._spec.name, self._active.visit
        context = JournalContext(self._session, self._graph_run.namespace, node, visit, item, attempt, self._spec.role)
        if self._session.remembers:
            await context.remember()
        return context

    def _before(self, item: int | None) -> tuple[int, int]:
        """The number of the attempt to make, and how many of the allowed ones are used up.

        A node that gave up is allowed all of them again; a subgraph goes on where it failed, in the same attempt.
        """
        statuses = [row.status for row in self._earlier if row.item == item]
        retried, failed = statuses.count(StepStatus.RETRIED), statuses.count(StepStatus.FAILED)
        used = list(reversed(statuses)).index(StepStatus.FAILED) if failed else retried
        return 1 + retried + (failed if self._spec.kind != "graph" else 0), used

    async def _record_retry(self, context: JournalContext, failure: Failure, seconds: float) -> None:
        calls, events = context.taken()
        texts: dict[str, str] = {}
        data = encode(failure.stored, texts)
        row = self._row(
            context.item, context.attempt, StepStatus.RETRIED, seconds, self._graph_run.position.chain, data
        )
        told = self._failed(context, failure, retry=True)
        await self._session.write(steps=[row], calls=calls, events=[*events, told], texts=texts)

    def _failed(self, context: JournalContext, failure: Failure, *, retry: bool) -> Draft:
        return {
            "type": NodeFailed.type,
            "path": context.path,
            "visit": context.visit,
            "node": self._spec.name,
            "error": failure.told,
            "will_retry": retry,
            "attempt": context.attempt,
            "item": context.item,
        }

    # What a node does

    def _handoff(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """What the handler, prompt or subgraph is given, made from `scope` and checked."""
        handoff: dict[str, Any] = duplicate(self._program.handoff(scope))
        if self._spec.input is not None:
            self._check(self._spec.input, handoff)
        return handoff

    def _accepted(self, output: Any, scope: Mapping[str, Any]) -> Any:
        """A copy of what came of it, checked."""
        try:
            output = duplicate(output)
        except NotStorable as problem:
            update = self._program.update({**scope, "output": output, "outputs": [output], "errors": []})
            raise self._unstorable([update], problem) from problem
        if self._spec.output is not None:
            self._check(self._spec.output, output)
        return output

    def _called(self, handoff: Mapping[str, Any], context: JournalContext) -> Awaitable[Any]:
        registry, target = self._graph_run.graph.registry, self._spec.target or ""
        if self._spec.kind == "run":
            if self._program.typed:
                handoff = self._program.built(handoff, self._spec.name)
            return registry.handlers[target](handoff, context)
        if self._spec.kind == "graph":
            return self._subgraph(target, handoff, context)
        if registry.prompter is None:
            raise NodeFailedError(f'node "{self._spec.name}": nobody runs prompts', help="register a prompter")
        schema = self._spec.output.schema if self._spec.output else None
        contract = self._graph_run.graph.contracts[schema].schema if schema else None
        return registry.prompter(target, self._spec.role or "", handoff, contract, context)

    async def _subgraph(self, name: str, handoff: Mapping[str, Any], context: JournalContext) -> Any:
        output, self._chains[context.item] = await self._child(name, handoff, context.address)
        return output

    def _answer(self) -> Any:
        key = key_of(self._graph_run.namespace, self._spec.name, self._active.visit)
        if key in self._session.answers:
            answer = duplicate(self._session.answers[key])
            try:
                if self._spec.schema is not None:
                    check(self._graph_run.graph.contracts[self._spec.schema], answer, self._spec.name)
                self._delta({self._spec.into or "": answer})
            except (DeltaRefused, HandoffInvalid) as problem:
                refused = InputInvalid(f"the answer does not fit: {problem.message}", help="answer again")
                raise self._asking(key, refused) from problem
            return answer
        if self._session.interactive or key == self._session.asked:
            raise self._asking(key)
        if self._program.default is None:
            raise NodeFailedError(
                f'node "{self._spec.name}" asks, the run is not interactive and there is no `default`',
                help="give the node a `default`, or run interactively",
            )
        return self._program.default.evaluate(self._scope)

    def _asking(self, key: str, refused: InputInvalid | None = None) -> Suspended:
        assert self._program.ask is not None
        question = self._program.ask.evaluate(self._scope)
        told = {"type": InputRequested.type, "path": self._path, "visit": self._active.visit, "question": question}
        return Suspended(RunStatus.AWAITING_INPUT, key, told, refused)

    # Fan-out

    async def _fan_out(self, items: Sequence[Any]) -> tuple[Delta, Sequence[bytes]]:
        """The update of all items, and the hashes of their ends."""
        self._suspended: dict[int, Suspended] = {}
        ended = await self._ended_before()
        waiting = iter([index for index in range(len(items)) if index not in ended])

        async def work() -> None:
            for index in waiting:
                ended[index] = await self._item(index, items[index])
                if self._suspended:
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._spec.at_once, len(items) - len(ended))):
                    group.create_task(self._guarded(work))
        except BaseExceptionGroup as several:
            raise first_of(several) from None
        if self._suspended:
            raise self._suspended[min(self._suspended)]
        return self._joined(items, [ended[index] for index in range(len(items))])

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        """Items that run when another one has to wait for a human are brought to their ends."""
        try:
            await work()
        except Suspended as stop:
            self._suspended[_item_of(stop.key, self._graph_run.namespace)] = stop

    async def finished_items(self) -> Delta | None:
        """The update of the items that have finished so far; None if there are none, or it cannot do without the
        others."""
        done: dict[int, bytes] = {}
        for row in self._earlier:
            if row.item is not None and row.delta is not None and row.status == StepStatus.FINISHED:
                done[row.item] = row.delta
        outputs = [await self._session.value(done[item]) for item in sorted(done)]
        if not outputs:
            return None
        try:
            return self._delta(self._program.update({**self._scope, "outputs": outputs, "errors": []}))
        except GraphResearchError:
            return None

    def _joined(self, items: Sequence[Any], ended: Sequence[_Ended]) -> tuple[Delta, Sequence[bytes]]:
        errors = [
            {"index": index, "item": item, "type": end.failure.error["type"], "message": end.failure.error["message"]}
            for index, (item, end) in enumerate(zip(items, ended, strict=True))
            if end.failure is not None
        ]
        outputs = [end.output for end in ended if end.failure is None]
        update = self._program.update({**self._scope, "outputs": outputs, "errors": errors})
        return self._delta(update), [end.hash for end in ended]

    async def _ended_before(self) -> dict[int, _Ended]:
        """The items that had ended. One's failure is the node's, unless the node failed of it and is tried again."""
        ended = {}
        gave_up = max(
            (row.step for row in self._earlier if row.item is None and row.status == StepStatus.FAILED), default=-1
        )
        for row in self._earlier:
            if row.item is None or row.delta is None or row.status == StepStatus.RETRIED:
                continue
            value = await self._session.value(row.delta)
            if row.status == StepStatus.FINISHED:
                ended[row.item] = _Ended(output=value, failure=None, hash=row.hash)
                continue
            failure = Failure.from_stored(value)
            if self._spec.on_item_error == "keep_going":
                ended[row.item] = _Ended(output=None, failure=failure, hash=row.hash)
            elif row.step > gave_up:
                raise _GaveUp(failure)
        return ended

    async def _item(self, index: int, item: Any) -> _Ended:
        scope = self._item_scope(index, item)
        began = self._session.clock.monotonic()
        try:
            output, context = await self._attempts(index, scope, _unchanged, began)
        except _GaveUp as end:
            assert end.context is not None
            ended = await self._end_item(end.context, None, end.failure, self._session.clock.monotonic() - began)
            if self._spec.on_item_error == "fail":
                raise _GaveUp(end.failure, None, 1) from end
            return ended
        return await self._end_item(context, output, None, self._session.clock.monotonic() - began)

    def _item_scope(self, index: int, item: Any) -> Mapping[str, Any]:
        return {**self._scope, self._spec.item_name: item, "index": index}

    async def _end_item(self, context: JournalContext, output: Any, failure: Failure | None, seconds: float) -> _Ended:
        texts: dict[str, str] = {}
        data = encode(output if failure is None else failure.error, texts)
        status = StepStatus.FINISHED if failure is None else StepStatus.FAILED
        chain = self._chains.get(context.item)
        hashed = self._hash(context.item, data) if chain is None else self._hash(context.item, data, chain)
        calls, events = context.taken()
        if failure is not None:
            data = encode(failure.stored, texts)
            events.append(self._failed(context, failure, retry=False))
        told = {"path": self._path, "visit": context.visit, "node": self._spec.name, "item": context.item}
        events.append({"type": ItemFinished.type, **told, "status": status, "seconds": seconds})
        row = self._row(context.item, context.attempt, status, seconds, hashed, data)
        await self._session.write(steps=[row], calls=calls, events=events, texts=texts)
        return _Ended(output=output, failure=failure, hash=hashed)

    # Rows, hashes, checks

    def _row(
        self, item: int | None, attempt: int, status: StepStatus, seconds: float, hashed: bytes, data: bytes | None
    ) -> StepRow:
        step, namespace, node, visit = (
            self._session.next_step(),
            self._graph_run.namespace,
            self._spec.name,
            self._active.visit,
        )
        started_at = self._session.clock.now().timestamp() - seconds
        return StepRow(step, namespace, node, visit, item, attempt, status, started_at, seconds, hashed, data, None)

    def _hash(self, item: int | None, data: bytes, *parts: bytes) -> bytes:
        key = key_of(self._graph_run.namespace, self._spec.name, self._active.visit, item)
        return digest(self._graph_run.position.chain, key.encode(), data, *parts)

    def _delta(self, update: Mapping[str, Any]) -> Delta:
        """The update sorted by reducers, every operand checked against its channel."""
        graph, values = self._graph_run.graph, self._graph_run.state.values
        if graph.typed:
            update = graph.plain(update, values, self._spec.name)
        if self._spec.name in graph.replacing:
            self._check_channels(update)
            return {"replace": update}
        delta = make_delta(graph.spec.channels, update, values)
        for reducer, operands in delta.items():
            if reducer == "merge":
                operands = {name: {**(values.get(name) or {}), **(operand or {})} for name, operand in operands.items()}
            if reducer != "add":
                self._check_channels(operands)
        return delta

    def _check_channels(self, values: Mapping[str, Any]) -> None:
        channels, node = self._graph_run.graph.channels, self._spec.name
        for channel, value in values.items():
            if value is not None:
                check(channels[channel], value, node)

    def _check(self, side: InputSpec | OutputSpec, value: Any) -> None:
        if side.schema is not None:
            check(self._graph_run.graph.contracts[side.schema], value, self._spec.name)

    def _failure(self, event: Cause, problem: BaseException, attempts: int) -> Failure:
        return failure_of(self._active, event, type(problem).__name__, str(problem), attempts)


def check(contract: Contract, value: Any, node: str) -> None:
    """`Contract.check`, where datetimes and the like count as their texts."""
    try:
        if contract.fits(value):
            return
    except ValueError:
        value = without_tags(value)
    contract.check(value, node)


def _unchanged(output: Any) -> Any:
    return output


def _item_of(key: str, namespace: str) -> int:
    return int(key[len(namespace) :].partition("[")[2].partition("]")[0])
