"""The events of a run, each stored in the transaction that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

import orjson


class EventType(StrEnum):
    """The types of events, as they are stored and sent."""

    RUN_STARTED = "run_started"
    RUN_RESUMED = "run_resumed"
    NODE_STARTED = "node_started"
    NODE_FINISHED = "node_finished"
    NODE_FAILED = "node_failed"
    ITEM_FINISHED = "item_finished"
    CALL_RECORDED = "call_recorded"
    EDGE_TAKEN = "edge_taken"
    INPUT_REQUESTED = "input_requested"
    RUN_PAUSED = "run_paused"
    RUN_ENDED = "run_ended"
    NOTE = "note"
    PROGRESS = "progress"


Draft = Mapping[str, Any]
"""An event before it has its run, number and time: the `type` of its class, and the fields that are its own."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """The base of all events.

    `seq` counts from 1 within a run, over its subgraphs too; it is None for what is shown and never stored. `path` is
    the node's path from the root graph, such as `gather[2]/search`, empty for the run itself; `visit` counts from 1.
    `step` is the checkpoint that the event stands at: with it the store has the state as it was then.
    """

    type: ClassVar[EventType]
    run_id: str
    seq: int | None
    at: datetime
    path: str = ""
    visit: int = 0
    step: int | None = None

    def to_json(self) -> dict[str, Any]:
        """`{type, run_id, seq, at, path, visit, …}`; `at` as ISO 8601."""
        return {"type": self.type, **vars(self), "at": self.at.isoformat()}


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event):
    type: ClassVar[EventType] = EventType.RUN_STARTED
    graph: str


@dataclass(frozen=True, kw_only=True)
class RunResumed(Event):
    """`possibly_paid_twice` counts the calls that were sent before the interruption and have no recorded answer."""

    type: ClassVar[EventType] = EventType.RUN_RESUMED
    status: str
    """The status the run was found in."""
    possibly_paid_twice: int = 0


@dataclass(frozen=True, kw_only=True)
class NodeStarted(Event):
    type: ClassVar[EventType] = EventType.NODE_STARTED
    node: str


@dataclass(frozen=True, kw_only=True)
class NodeFinished(Event):
    type: ClassVar[EventType] = EventType.NODE_FINISHED
    node: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class NodeFailed(Event):
    """An attempt of a node, or of one of its items, failed; `error` is `{type, message}`."""

    type: ClassVar[EventType] = EventType.NODE_FAILED
    node: str
    error: Mapping[str, Any]
    will_retry: bool
    attempt: int = 1
    item: int | None = None


@dataclass(frozen=True, kw_only=True)
class ItemFinished(Event):
    """One item of a fan-out ended: `finished` or `failed`."""

    type: ClassVar[EventType] = EventType.ITEM_FINISHED
    node: str
    item: int
    status: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class CallRecorded(Event):
    """An outside call was answered, or its recorded answer was used again (`reused`)."""

    type: ClassVar[EventType] = EventType.CALL_RECORDED
    kind: str
    seconds: float
    reused: bool


@dataclass(frozen=True, kw_only=True)
class EdgeTaken(Event):
    """`path` is the source's; `on` names the event of an event edge."""

    type: ClassVar[EventType] = EventType.EDGE_TAKEN
    source: str
    target: str
    loop: str | None = None
    on: str | None = None


@dataclass(frozen=True, kw_only=True)
class InputRequested(Event):
    type: ClassVar[EventType] = EventType.INPUT_REQUESTED
    question: Any


@dataclass(frozen=True, kw_only=True)
class RunPaused(Event):
    """`when` is `before` or `after` the node at `path`."""

    type: ClassVar[EventType] = EventType.RUN_PAUSED
    when: str


@dataclass(frozen=True, kw_only=True)
class RunEnded(Event):
    """`status` is `completed`, `aborted` or `failed`; `cause` is `cancelled`, `timeout`, `error` or None."""

    type: ClassVar[EventType] = EventType.RUN_ENDED
    status: str
    cause: str | None = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Note(Event):
    """An event that a handler emitted with `ctx.emit`."""

    type: ClassVar[EventType] = EventType.NOTE
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """An event that a handler sent with `ctx.progress`: for the current consumer, never stored."""

    type: ClassVar[EventType] = EventType.PROGRESS
    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


def drives_of(events: Sequence[Event]) -> list[list[Event]]:
    """The events of a run, apart for each process that drove it, whose clocks may differ; of a fork with those of its
    parent. What comes behind the creation of a run belongs to its first drive."""
    drives: list[list[Event]] = []
    for event in events:
        if not drives or isinstance(event, RunStarted | RunResumed):
            drives.append([])
        drives[-1].append(event)
    return drives


def driven_seconds(events: Sequence[Event]) -> float:
    """How long a run was driven, each drive by its own clock: without the time in which it waited or was paused."""
    return sum(max(0.0, (drive[-1].at - drive[0].at).total_seconds()) for drive in drives_of(events))


_SHARED = ("seq", "at", "step")
"""What an event of a batch has of the entry before it where it does not say so itself."""

_CLASSES: Mapping[str, type[Event]] = {kind.type: kind for kind in Event.__subclasses__()}


def event_from_json(data: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote."""
    return event_of(data, at=datetime.fromisoformat(data["at"]))


def event_of(draft: Draft, **rest: Any) -> Event:
    """The event that a draft becomes with the fields it lacks."""
    fields = {**draft, **rest}
    return _CLASSES[fields.pop("type")](**fields)


def packed_events(drafts: Sequence[Draft], *, seq: int, at: datetime, step: int) -> bytes:
    """The stored form of consecutive events from number `seq`: a JSON array, in which an event without `at`, `step` or
    `seq` has those of the entry before it, `seq` one higher. An entry without a type is not an event: it holds what the
    events after it share."""
    return orjson.dumps([{"seq": seq, "at": at, "step": step}, *drafts], default=str)


def unpacked_events(batch: bytes) -> Iterator[dict[str, Any]]:
    """The events of a batch, each with its number, time and step."""
    shared: dict[str, Any] = dict.fromkeys(_SHARED)
    for event in orjson.loads(batch):
        if "type" not in event:
            shared = {name: event.get(name, shared[name]) for name in _SHARED}
            continue
        whole = {"type": event["type"], **shared, **event}
        yield whole
        shared = {"seq": whole["seq"] + 1, "at": whole["at"], "step": whole["step"]}
