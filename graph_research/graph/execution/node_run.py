"""Runs one active node to its end: its update or its failure, ready to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import orjson

from graph_research.errors import GraphResearchError
from graph_research.graph.definition.spec import CALLING_KINDS
from graph_research.graph.errors import ENDS_THE_DRIVE, HandoffInvalid, InputInvalid, NodeFailed
from graph_research.graph.events import Draft, InputRequested, NodeFinished
from graph_research.graph.execution.attempts import run_attempts
from graph_research.graph.execution.fan_out import run_items
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_result import Failure, NodeResult, Suspended, failure_of
from graph_research.graph.execution.node_visit import FAILED, FINISHED, GaveUp, NodeVisit
from graph_research.graph.state.address import key_of
from graph_research.graph.state.reducers import Delta, DeltaRefused
from graph_research.graph.statuses import Cause, RunStatus
from graph_research.graph.values.codec import NotStorable, duplicate, encode, encode_with_copy


class NodeRun(NodeVisit):
    """A visit that is run."""

    async def run(self) -> NodeResult:
        """Run the node to its end. Raises `Suspended` when it has to wait for a human."""
        if self.active[:2] in self.graph_run.resumed:
            self.earlier = await self.graph_run.rows_of(self.active)
            if (stored := await self._stored_result()) is not None:
                return stored
        clock = self.session.clock
        began = clock.monotonic()
        context: JournalContext | None = None
        failure: Failure | None = None
        delta: Delta | None = None
        parts: Iterable[bytes] = ()
        try:
            if self.program.each is not None:
                delta, parts = await run_items(self)
            elif self.spec.kind in CALLING_KINDS:
                delta, context = await run_attempts(self, None, self.scope, began, self._update_of)
                parts = self.chains.values()
            else:
                delta = self._own_update()
        except GaveUp as end:
            failure, context = end.failure, end.context
        except GraphResearchError as problem:
            if isinstance(problem, ENDS_THE_DRIVE):
                raise
            failure = failure_of(self.active, Cause.ERROR, problem)
        seconds = clock.monotonic() - began
        try:
            return self._result(seconds, context, delta, failure, parts)
        except NotStorable as problem:
            shown = self.unstorable((delta or {}).values(), problem)
            failure = failure_of(self.active, Cause.ERROR, shown, context.attempt if context else 1)
            return self._result(seconds, context, None, failure, ())

    async def _stored_result(self) -> NodeResult | None:
        """How the visit ended if it had: its update, or a failure that nothing has come of yet."""
        for row in reversed(self.earlier):
            if row.item is not None or row.delta is None:
                continue
            if row.status == FINISHED:
                return NodeResult(self.active, row, delta=await self.session.value(row.delta), written=True)
            if row.status == FAILED and row.step > self.session.failures_cleared_at:
                failure = Failure.from_stored(await self.session.value(row.delta))
                return NodeResult(self.active, row, failure=failure, written=True)
        return None

    def _result(
        self,
        seconds: float,
        context: JournalContext | None,
        delta: Delta | None,
        failure: Failure | None,
        parts: Iterable[bytes],
    ) -> NodeResult:
        attempt, position, texts = context.attempt if context else 1, self.graph_run.position, dict[str, str]()
        event: Draft
        if failure is not None:
            status, data, hashed = FAILED, encode(failure.stored, texts), position.chain
            event = self.failed_event(failure, None, attempt, retry=False)
        else:
            status = FINISHED
            data, delta = (encode(delta, texts), delta) if self.program.makes_json else encode_with_copy(delta, texts)
            hashed = self.hash(None, data, orjson.dumps(position.loops, None, orjson.OPT_SORT_KEYS), *parts)
            event = self.graph_run.event(NodeFinished, self.active, node=self.active.node, seconds=seconds)
        row = self.row(None, attempt, status, seconds, hashed, data)
        if texts:
            self.session.keep_texts(texts)
        calls, events = context.pending() if context else ([], [])
        events.append(event)
        return NodeResult(self.active, row, delta, failure, calls, events)

    def _update_of(self, output: Any) -> Delta:
        return self.delta(self.program.update({**self.scope, "output": output}))

    def _own_update(self) -> Delta:
        """The update of a `set` or `ask` node."""
        if self.spec.kind == "set":
            return self.delta(self.program.assign(self.scope))
        assert self.spec.into is not None
        return self.delta({self.spec.into: self._answer()})

    def _answer(self) -> Any:
        key = key_of(self.graph_run.namespace, self.spec.name, self.active.visit)
        if key in self.session.answers:
            misfit: DeltaRefused | HandoffInvalid | None = None
            for answer in _readings(duplicate(self.session.answers[key])):
                try:
                    self.check(self.spec.schema, answer)
                    self.delta({self.spec.into or "": answer})
                except (DeltaRefused, HandoffInvalid) as problem:
                    misfit = problem
                else:
                    return answer
            assert misfit is not None, "an answer has a reading"
            refused = InputInvalid(f"the answer does not fit: {misfit.message}", help="answer again")
            raise self._asking(key, refused) from misfit
        if self.session.interactive or key == self.session.asked:
            raise self._asking(key)
        if self.program.default is None:
            raise NodeFailed(
                f'node "{self.spec.name}" asks, the run is not interactive and there is no `default`',
                help="give the node a `default`, or run interactively",
            )
        return self.program.default.evaluate(self.scope)

    def _asking(self, key: str, refused: InputInvalid | None = None) -> Suspended:
        assert self.program.ask is not None
        event = self.graph_run.event(InputRequested, self.active, question=self.program.ask.evaluate(self.scope))
        return Suspended(RunStatus.AWAITING_INPUT, key, event, refused)


def _readings(answer: Any) -> Iterator[Any]:
    """An answer as it was given; a text, for a question that takes none, as the JSON that it is."""
    yield answer
    if isinstance(answer, str):
        with suppress(orjson.JSONDecodeError):
            yield orjson.loads(answer)
