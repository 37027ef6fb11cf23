"""Running graphs: start a run, resume it, and watch its events as they become durable."""

from __future__ import annotations

import asyncio
import secrets
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from graph_research.errors import Action, Hint, check_name
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.identity import Change, definition, detailed_changes
from graph_research.graph.errors import GraphChanged, HandoffInvalid, InputInvalid
from graph_research.graph.events import Event, NodeStarted, RunEnded, RunResumed, RunStarted
from graph_research.graph.execution.bounds import Bounds
from graph_research.graph.execution.event_channel import EventChannel, EventStream
from graph_research.graph.execution.graph_run import GraphRun
from graph_research.graph.execution.node_result import Suspended
from graph_research.graph.execution.run_loop import RunLoop
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.history.fork import fork
from graph_research.graph.state.inputs import refuse_unstorable
from graph_research.graph.state.rows import RunPatch, RunRow
from graph_research.graph.statuses import END_STATUSES, Cause, RunStatus, StepStatus
from graph_research.graph.values.codec import unstorable

_NAMED_CHANGES = 6
_Prepare = Callable[[RunSession], Awaitable[RunLoop | None]]

NO_ANSWER: Final = object()
"""No answer is given; None would be the answer null."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A run as it stood when this process left it; `state` holds all channels of the root graph."""

    run_id: str
    status: str
    cause: str | None
    state: Mapping[str, Any]
    error: Mapping[str, Any] | None


class Runtime:
    """Runs one graph, many times if wanted, on one store.

    `interactive` lets `ask` nodes stop a run; `timeout_seconds` bounds each drive of a run, beside `limits.seconds`;
    `pauses_before` says of each node of the graph itself whether a run pauses before it, as with `pause: before`;
    `bounds` are what a run may take in all, beside the limits of its graph: a stream that passes them raises
    `RunTooLarge`;
    requests to cancel are looked for every `poll_seconds`. Every stream raises `StoreDamaged` when the store fails,
    and leaves a run that can be resumed when it is closed early or cancelled.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        checkpointer: Checkpointer,
        clock: Clock | None = None,
        interactive: bool = False,
        poll_seconds: float = 0.25,
        timeout_seconds: float | None = None,
        pauses_before: Callable[[str], bool] | None = None,
        bounds: Bounds | None = None,
        new_run_id: Callable[[], str] = lambda: f"run-{secrets.token_hex(6)}",
    ) -> None:
        self.graph = graph
        self.checkpointer = checkpointer
        self._clock = clock or SystemClock()
        self._interactive = interactive
        self._poll_seconds = poll_seconds
        self._timeout_seconds = timeout_seconds
        self._pauses_before = pauses_before
        self._bounds = bounds
        self._new_run_id = new_run_id
        self._driven: dict[str, RunLoop] = {}
        self._starting: dict[str, bool] = {}
        """Runs that are about to be driven, and whether `time_out` was called for them."""
        self._streams: dict[str, EventStream] = {}
        """The latest stream of each run, while it drives the run."""

    def stream(
        self,
        input: Mapping[str, Any],
        *,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Start a run and yield its events, each after its commit. The run waits while the consumer does.

        Raises `InputInvalid`, `RunExists`, `RunBusy`, `NameInvalid`. `metadata` is JSON of the caller, stored with
        the run.
        """
        name = self._name(run_id)

        async def prepare(session: RunSession) -> RunLoop:
            return await self._begin(session, input, metadata or {})

        return self._stream(name, prepare)

    async def create(
        self,
        input: Mapping[str, Any],
        *,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
    ) -> str:
        """Store a run that stands at its start and return its id; `resume` drives it. Raises as `stream`. `created_at`
        is when somebody asked for it, where that was earlier or goes by another clock."""
        name = self._name(run_id)
        lease = await self.checkpointer.lease(name)
        try:
            await self._begin(self._session(name), input, metadata or {}, created_at)
        finally:
            self._starting.pop(name, None)
            lease.release()
        return name

    def resume(
        self,
        run_id: str,
        *,
        answer: Any = NO_ANSWER,
        accept_changes: bool = False,
        metadata: Mapping[str, Any] | None = None,
        retry: bool = True,
    ) -> AsyncGenerator[Event, None]:
        """Resume a run where it stopped, and yield its new events; of a completed run its last event is repeated,
        without `retry` also of one that failed or was aborted.

        `answer` is for a run that awaits input; `metadata` replaces the stored metadata. Raises `UnknownRun`,
        `RunBusy`, `InputInvalid`, and `GraphChanged` when the graph, a schema or a prompt is not what the run began
        with, unless `accept_changes`.
        """

        async def prepare(session: RunSession) -> RunLoop | None:
            if not retry and (await self.checkpointer.run_row(run_id)).status in END_STATUSES:
                await self._repeat_end(session)
                return None
            return await self._reopen(session, answer, accept_changes, metadata)

        return self._stream(check_name(run_id, "run"), prepare)

    async def fork(
        self,
        run_id: str,
        step: int | None,
        *,
        values: Mapping[str, Any] | None = None,
        new_run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_at: datetime | None = None,
    ) -> str:
        """Make a new run that stands where `run_id` stood after `step`, with this runtime's graph and the edited
        `values` (whole channels), and return its id; `resume` runs it on. What the parent recorded is given again to
        calls whose request is unchanged. Raises as `history.fork.fork`; `created_at` as for `create`."""
        name = self._name(new_run_id)
        await fork(
            self.checkpointer,
            self.graph,
            run_id,
            step,
            run_id=name,
            now=self._clock.now().timestamp(),
            created_at=None if created_at is None else created_at.timestamp(),
            values=values,
            metadata=metadata,
        )
        return name

    async def run(
        self,
        input: Mapping[str, Any],
        *,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Start a run and drive it to its end or to a stop; errors inside the run are in the result."""
        name = self._name(run_id)
        await self._drive(self._session(name), lambda session: self._begin(session, input, metadata or {}))
        return await self.result(name)

    def time_out(self, run_id: str) -> None:
        """End the time of a run that this runtime drives or is about to drive; has no effect on other runs."""
        if run_id in self._driven:
            self._driven[run_id].interrupt(Cause.TIMEOUT)
        elif run_id in self._starting:
            self._starting[run_id] = True

    async def result(self, run_id: str) -> RunResult:
        """A stored run with its state."""
        record = await self.checkpointer.run(run_id)
        state = await self.state(run_id)
        return RunResult(run_id=run_id, status=record.status, cause=record.cause, state=state, error=record.error)

    async def state(self, run_id: str, step: int | None = None) -> dict[str, Any]:
        """The channels of a stored run after a step (the latest when None), with the types that this runtime's graph
        declares; the store's own `state` returns plain JSON. Raises `GraphChanged` if they do not fit these types."""
        state = await self.checkpointer.state(run_id, step)
        if not self.graph.typed or (await self.checkpointer.run_row(run_id)).graph != self.graph.spec.name:
            return state
        try:
            return self.graph.from_stored(state)
        except HandoffInvalid as problem:
            raise GraphChanged(
                f"the state of run {run_id} does not fit the types of its graph: {problem.message}",
                help="register the types as they were, or read the plain state from the store",
            ) from problem

    def _stream(self, run_id: str, prepare: _Prepare) -> AsyncGenerator[Event, None]:
        stream = EventStream()
        events = self._events(run_id, prepare, stream)
        stream.events = weakref.ref(events)
        return events

    async def _events(self, run_id: str, prepare: _Prepare, stream: EventStream) -> AsyncGenerator[Event, None]:
        event_channel = EventChannel()
        session, earlier = self._session(run_id, event_channel), self._streams.get(run_id)
        self._streams[run_id] = stream
        stream.drive = drive = asyncio.create_task(self._drive(session, prepare, earlier))
        drive.add_done_callback(lambda _: event_channel.close())
        try:
            while (event := await event_channel.receive()) is not None:
                yield event
            await drive
        finally:
            drive.cancel()
            await asyncio.wait([drive])
            if not drive.cancelled():
                drive.exception()
            if self._streams.get(run_id) is stream:
                del self._streams[run_id]

    def _name(self, run_id: str | None) -> str:
        """The id of a new run: the one that is given, else one that is made up."""
        return check_name(self._new_run_id() if run_id is None else run_id, "run")

    def _session(self, run_id: str, event_channel: EventChannel | None = None) -> RunSession:
        self._starting[run_id] = False
        session = RunSession(
            store=self.checkpointer,
            run_id=run_id,
            clock=self._clock,
            interactive=self._interactive,
            event_channel=event_channel,
        )
        session.pauses_before = self._pauses_before
        session.bounds = self._bounds
        return session

    async def _drive(self, session: RunSession, prepare: _Prepare, earlier: EventStream | None = None) -> None:
        if earlier is not None:
            await earlier.wait_if_left()
        lease = await self.checkpointer.lease(session.run_id)
        try:
            loop = await prepare(session)
            if loop is not None:
                await self._watched(loop)
        finally:
            self._starting.pop(session.run_id, None)
            lease.release()

    async def _watched(self, loop: RunLoop) -> None:
        """Run to the end or to a stop, polling for a request to cancel."""
        watcher = asyncio.create_task(self._watch(loop))
        limits = [seconds for seconds in (self._timeout_seconds, self.graph.spec.limits.seconds) if seconds is not None]
        run_id = loop.graph_run.session.run_id
        self._driven[run_id] = loop
        if self._starting.pop(run_id, False):
            loop.interrupt(Cause.TIMEOUT)
        try:
            await loop.run(min(limits, default=None))
        except Suspended as stop:
            await self._suspend(loop.graph_run.session, stop)
            if stop.refused is not None:
                raise stop.refused from None
        finally:
            del self._driven[run_id]
            watcher.cancel()
            await asyncio.wait([watcher])
            problem = None if watcher.cancelled() else watcher.exception()
        if problem is not None:
            raise problem

    async def _watch(self, loop: RunLoop) -> None:
        run_id = loop.graph_run.session.run_id
        while True:
            interruptions_handled = loop.interruptions_handled
            requested = await self.checkpointer.cancel_requested(run_id)
            if requested and loop.interruptions_handled == interruptions_handled and not loop.graph_run.cancelled:
                loop.interrupt(Cause.CANCELLED)
            await asyncio.sleep(self._poll_seconds)

    async def _suspend(self, session: RunSession, stop: Suspended) -> None:
        waiting = stop.key if stop.status == RunStatus.AWAITING_INPUT else None
        patch = RunPatch(status=stop.status, updated_at=self._clock.now().timestamp(), waiting=waiting)
        await session.write(events=[stop.draft], run=patch)

    async def _begin(
        self,
        session: RunSession,
        given: Mapping[str, Any],
        metadata: Mapping[str, Any],
        created_at: datetime | None = None,
    ) -> RunLoop:
        refuse_unstorable(self.graph, given)
        stored, texts = definition(self.graph)
        session.keep_texts(texts)
        now = self._clock.now().timestamp()
        row = RunRow(
            run_id=session.run_id,
            graph=self.graph.spec.name,
            graph_hash=self.graph.hash,
            definition=stored,
            status=RunStatus.RUNNING,
            cause=None,
            error=None,
            metadata=session.encode(metadata),
            input=session.encode(given),
            waiting=None,
            created_at=now if created_at is None else created_at.timestamp(),
            updated_at=now,
            parent=None,
            seed=session.run_id,
        )
        return RunLoop(await GraphRun.start(self.graph, session, given, new=row))

    async def _reopen(
        self, session: RunSession, answer: Any, accept_changes: bool, metadata: Mapping[str, Any] | None
    ) -> RunLoop | None:
        row = await self.checkpointer.run_row(session.run_id)
        if row.status == RunStatus.COMPLETED:
            await self._repeat_end(session)
            return None
        changed = row.graph_hash != self.graph.hash
        if changed and not accept_changes:
            changes = await detailed_changes(self.checkpointer.text, row.definition, self.graph)
            raise _changed(row, changes, answered=answer is not NO_ANSWER)
        await session.recall()
        graph_run = await GraphRun.load(self.graph, session)
        cancelled = await self.checkpointer.cancel_requested(session.run_id)
        if graph_run is None or not graph_run.resumable:
            raise InputInvalid(f"run {row.run_id} ended {row.status} by its own edges", help="fork it, or start anew")
        _check_answer(row, answer, cancelled)
        if answer is not NO_ANSWER and row.waiting is not None:
            session.answers[row.waiting] = answer
        session.asked = row.waiting
        if graph_run.ended is None and row.status in (RunStatus.FAILED, RunStatus.ABORTED):
            await graph_run.edit_state(StepStatus.RESUMED, {})
        await self._announce(session, row, metadata, changed=changed)
        await graph_run.rewind()
        if changed:
            await graph_run.add_channels()
        loop = RunLoop(graph_run)
        if cancelled:
            loop.interrupt(Cause.CANCELLED)
        return loop

    async def _announce(
        self, session: RunSession, row: RunRow, metadata: Mapping[str, Any] | None, *, changed: bool
    ) -> None:
        lost = await self.checkpointer.lose_calls(session.run_id)
        if not lost and not changed and metadata is None and await self._is_new(session.run_id):
            return
        stored, texts = definition(self.graph) if changed else (None, {})
        session.keep_texts(texts)
        patch = RunPatch(
            status=RunStatus.RUNNING,
            updated_at=self._clock.now().timestamp(),
            graph_hash=self.graph.hash if changed else None,
            definition=stored,
            metadata=None if metadata is None else session.encode(metadata),
        )
        event = {"type": RunResumed.type, "status": row.status, "possibly_paid_twice": lost}
        await session.write(events=[event], run=patch)

    async def _is_new(self, run_id: str) -> bool:
        """Whether nothing has happened in a run but its start."""
        first = await self.checkpointer.last_step(run_id)
        if first is None or first.step > 0:
            return False
        return all(isinstance(event, RunStarted | NodeStarted) for event in await self.checkpointer.events(run_id))

    async def _repeat_end(self, session: RunSession) -> None:
        for event in reversed(await self.checkpointer.events(session.run_id)):
            if isinstance(event, RunEnded):
                session.event_channel.send((event,))
                return


def _check_answer(row: RunRow, answer: Any, cancelled: bool) -> None:
    if row.status == RunStatus.AWAITING_INPUT and answer is NO_ANSWER and not cancelled:
        raise InputInvalid(f"run {row.run_id} waits for an answer", help="give one")
    if row.status != RunStatus.AWAITING_INPUT and answer is not NO_ANSWER:
        raise InputInvalid(
            f"run {row.run_id} is {row.status} and has asked nothing", help="resume it without an answer"
        )
    if answer is not NO_ANSWER and (found := unstorable(answer)):
        raise InputInvalid(f"the answer holds {found}, which cannot be stored", help="answer with valid text or JSON")


def _changed(row: RunRow, changes: Sequence[Change], *, answered: bool) -> GraphChanged:
    """Names the graphs that changed first: what else did is mostly a part of them."""
    named = [str(change) for change in sorted(changes, key=lambda change: change.part != "graph")]
    more = [f"{len(named) - _NAMED_CHANGES} more"] if len(named) > _NAMED_CHANGES else []
    return GraphChanged(
        f"run {row.run_id} began with another definition: "
        f"{', '.join([*named[:_NAMED_CHANGES], *more]) or 'its definition differs'}",
        help="restore what has changed, or accept the changes",
        hint=Hint(Action.RESUME_RUN, row.run_id, {"accept_changes": True, **({"answer": ""} if answered else {})}),
    )
