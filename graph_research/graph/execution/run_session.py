"""What all graphs of one run share while a process drives it: store, step and event numbers, clock, event channel."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.parents import parent_rows, recorded_answers
from graph_research.graph.checkpoint.ports import missing_text
from graph_research.graph.context import Clock
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Draft, Event, event_of, packed_events
from graph_research.graph.execution.bounds import Bounds
from graph_research.graph.execution.event_channel import EventChannel
from graph_research.graph.execution.routing import Routes
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.rows import CallRow, RunPatch, RunRow, Snapshot, StepRow, Write
from graph_research.graph.statuses import CLEARS_FAILURES, Cause
from graph_research.graph.values.codec import decode, encode, references
from graph_research.graph.values.text_cache import TextCache


@dataclass(slots=True)
class _Batch:
    """The events of one write, and whether it is durable."""

    events: Sequence[Event]
    durable: bool = False


class Replay(Protocol):
    """The recorded run that a replay follows: what interrupted it, where its attempts ended. No time passes."""

    def interruption(self, namespace: str, active: Sequence[ActiveNode]) -> Cause | None:
        """What interrupted the graph run at the point that the replay has reached, where these nodes were still to be
        left, each interruption once."""
        ...

    def begin_attempt(self, address: Address, *, nested: bool) -> bool:
        """An attempt begins, `nested` if it runs a subgraph. Returns whether the recorded one ran out of time. Raises
        `Unrecorded` if it did not end."""
        ...

    def check_end(self, address: Address) -> None:
        """A node is about to end. Raises `Unrecorded` if it did not."""
        ...

    def in_order(self, items: Sequence[Address]) -> Sequence[Address]:
        """The items of a fan-out in the order of their next recorded steps; last those that have none."""
        ...

    def first_failed(self, items: Sequence[Address]) -> Address:
        """Of the items of a fan-out that are about to run, the one whose recorded failure comes first."""
        ...


class RunSession:
    """One process that drives one run. Steps and events get their numbers when a write is requested, in that order.
    Without an `event_channel` events are only stored."""

    def __init__(
        self,
        *,
        store: Checkpointer,
        run_id: str,
        clock: Clock,
        interactive: bool,
        event_channel: EventChannel | None = None,
    ) -> None:
        self.store = store
        self.run_id = run_id
        self.clock = clock
        self.interactive = interactive
        self.earlier_visits: Mapping[str, Mapping[str, int]] = {}
        """What the run had done before this process took it over: namespace to node to its highest visit."""
        self.earlier_call_keys: Collection[str] = ()
        """Attempts of earlier processes, by `Address.key`, whose calls the journal holds."""
        self.pauses_before: Callable[[str], bool] | None = None
        """Whether the run pauses before a node of the root graph, beside those with a `pause`; None: before none."""
        self.bounds: Bounds | None = None
        """What the run may take in all; None: what its graph allows."""
        self.seed = run_id
        """What ids and random numbers derive from."""
        self.inherited: Callable[[str], Awaitable[Sequence[CallRow]]] | None = None
        """Returns the journal entries of an attempt (`Address.key`) in the runs whose answers this one uses."""
        self.refuse: Callable[[Address, str, Any, CallRow | None], Awaitable[None]] | None = None
        """Called before an outside call is made, with its kind, request and inherited entry without an answer: raises
        if it may not be made."""
        self.replay: Replay | None = None
        """The recorded run that is replayed, which takes the place of time; None where time passes."""
        self.answers: dict[str, Any] = {}
        """Answers of a human, by the key of the node that asked."""
        self.failures_cleared_at = -1
        """Nodes that failed up to this step are tried again: the run was resumed or forked since."""
        self.asked: str | None = None
        """The key of the node whose question the run stopped for."""
        self.event_channel = event_channel or EventChannel(open=False)
        self._texts: dict[str, str] = {}
        self._known: set[str] = set()
        self._recent = TextCache()
        self._batches: deque[_Batch] = deque()
        self._routes: dict[int, Routes] = {}
        self._step = -1
        self._seq = 0
        self._call = 0
        self._characters = 0
        """Of all that was stored, counted where there are `bounds`."""

    async def recall(self) -> None:
        """Load what the store holds of the run."""
        visits: dict[str, dict[str, int]] = defaultdict(dict)
        for row in await self.store.step_rows(self.run_id, None):
            visits[row.scope][row.node] = max(row.visit, visits[row.scope].get(row.node, 0))
            self._step = row.step
            if not row.node and not row.scope and row.status in CLEARS_FAILURES:
                self.failures_cleared_at = row.step
        self.earlier_visits = visits
        if self.bounds is not None:
            self._characters = await _stored_characters(self.store, self.run_id, list(visits))
        self.earlier_call_keys, self._call = await self.store.call_keys(self.run_id)
        self._seq = await self.store.last_seq(self.run_id)
        run = await self.store.run_row(self.run_id)
        self.seed = run.seed
        if self.inherited is None and (parents := await parent_rows(self.store, run)):
            self.inherited = partial(recorded_answers, self.store, list(parents))

    async def value(self, data: bytes) -> Any:
        """A stored value with its texts."""
        return decode(data, await self.store.texts(references(data)))

    def routes(self, graph: Graph) -> Routes:
        """The routes of a graph of this run, built once."""
        if id(graph) not in self._routes:
            self._routes[id(graph)] = Routes.of(graph)
        return self._routes[id(graph)]

    def clear_failures(self) -> None:
        """Let nodes that have failed until now be tried again."""
        self.failures_cleared_at = self._step

    def next_step(self) -> int:
        """The number of a step that is about to be written."""
        self._step += 1
        return self._step

    def next_call(self) -> int:
        """The number of a journal entry that is about to be written."""
        self._call += 1
        return self._call

    def encode(self, value: Any) -> bytes:
        """A value as it is stored; its large texts go with the next write of the run."""
        texts: dict[str, str] = {}
        data = encode(value, texts)
        self.keep_texts(texts)
        return data

    def keep_texts(self, texts: Mapping[str, str]) -> None:
        """Store texts with the next write of the run."""
        for name, text in texts.items():
            if name not in self._known:
                self._texts[name] = text

    def put_text(self, name: str, text: str) -> None:
        """Store a text with the next write of the run, and have it at hand for `text`."""
        self._recent.add(name, text)
        self.keep_texts({name: text})

    async def text(self, name: str) -> str:
        """A text of the run that is stored or waits for the next write. `StoreDamaged` for any other, although the
        store may have it: whoever knows the hash of another run's text may not read it for that."""
        text = self._texts.get(name, self._recent.get(name))
        if text is None:
            if name not in self._known:
                self._known |= await self.store.text_hashes(self.run_id)
            if name not in self._known:
                raise missing_text(name)
            text = await self.store.text(name)
            self._recent.add(name, text)
        return text

    def write(
        self,
        *,
        steps: Sequence[StepRow] = (),
        calls: Sequence[CallRow] = (),
        events: Sequence[Draft] = (),
        snapshot: Snapshot | None = None,
        run: RunPatch | None = None,
        new: RunRow | None = None,
        alone: bool = False,
    ) -> Awaitable[None]:
        """One transaction, begun when this is awaited; with `new` it stores the run itself. Its events are sent when it
        and all earlier writes are durable; the call returns when the consumer has received them. `RunTooLarge` where
        the run takes more than its `bounds`; then nothing is written."""
        if self.bounds is not None:
            self._characters += sum(map(len, self._texts.values())) + sum(len(row.delta or b"") for row in steps)
            self.bounds.check(steps=self._step + 1, calls=self._call, characters=self._characters)
        batch = packed = None
        if events or self.event_channel.open:
            at, seq = self.clock.now(), self._seq + 1
            self._seq += len(events)
            packed = packed_events(events, seq=seq, at=at, step=self._step) if events else None
            if self.event_channel.open:
                batch = _Batch(
                    [
                        event_of(draft, run_id=self.run_id, seq=number, at=at, step=self._step)
                        for number, draft in enumerate(events, start=seq)
                    ]
                )
                self._batches.append(batch)
        texts, self._texts = self._texts, {}
        self._known.update(texts)
        write = Write(self.run_id, steps, calls, self._seq, packed, texts, snapshot, run, alone)
        written = self.store.write(write) if new is None else self.store.create(new, write)
        return written if batch is None else self._send_when_written(batch, written)

    async def _send_when_written(self, batch: _Batch, written: Awaitable[None]) -> None:
        try:
            await written
        except asyncio.CancelledError:
            self._send(batch)
            raise
        self._send(batch)
        await self.event_channel.wait_drained()

    def _send(self, batch: _Batch) -> None:
        """Send the events of a durable write, after those of earlier ones."""
        batch.durable = True
        while self._batches and self._batches[0].durable:
            events = self._batches.popleft().events
            if self.event_channel.open:
                self.event_channel.send(events)


async def _stored_characters(store: Checkpointer, run_id: str, scopes: Sequence[str]) -> int:
    """The characters of the updates and texts that a run has stored."""
    rows = [row for scope in scopes for row in await store.step_rows(run_id, scope)]
    texts = await store.texts(await store.text_hashes(run_id))
    return sum(map(len, texts.values())) + sum(len(row.delta or b"") for row in rows)
