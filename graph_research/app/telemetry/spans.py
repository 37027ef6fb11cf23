"""The spans of a run, made of its stored events and its journal: run, nodes, items, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from graph_research.app.telemetry.calls import call_attributes, message_of
from graph_research.app.telemetry.conventions import Name, Operation
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import (
    Event,
    InputRequested,
    ItemFinished,
    NodeFailed,
    NodeFinished,
    NodeStarted,
    RunEnded,
    RunPaused,
    RunResumed,
    drives_of,
)
from graph_research.graph.statuses import CallStatus, RunStatus, StepStatus
from graph_research.research.llm.usage import Price

INTERRUPTED = "interrupted"
"""The `error.type` of what had not ended when the process stopped."""


@dataclass(kw_only=True, eq=False)
class Span:
    """A span before it has its ids. `leaves` is true for a call to another process, `errors` are failed attempts."""

    name: str
    start: datetime
    parent: Span | None = None
    end: datetime | None = None
    leaves: bool = False
    attributes: dict[Name, Any] = field(default_factory=dict)
    errors: list[tuple[datetime, Mapping[Name, Any]]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Drive:
    """The spans of a run from its start, or from where it was resumed, to where it ended, waited or was interrupted;
    the run's own is the first, and every other stands behind its parent. `key` is this drive's among all of all runs,
    `previous` that of the drive before."""

    key: str
    previous: str | None
    spans: Sequence[Span]


def unsent_drives(
    run_id: str, graph: str, question: str, events: Sequence[Event], calls: Sequence[CallRecord], price: Price
) -> list[Drive]:
    """The last drive of a run, and those before it that were interrupted, so that none of their spans were sent."""
    drives = drives_of(events)
    unsent: list[Drive] = []
    for index in range(len(drives) - 1, -1, -1):
        later = drives[index + 1][0] if index + 1 < len(drives) else None
        if later is not None and not (isinstance(later, RunResumed) and later.status == RunStatus.RUNNING):
            break
        builder = _Builder(run_id, graph, question, drives[index][0].at)
        for event in drives[index]:
            builder.add(event)
        builder.close(drives[index][-1].at)
        began = drives[index][0].at
        for call in calls:
            if began <= call.started_at and (later is None or call.started_at < later.at):
                builder.add_call(call, price)
        previous = _key(drives[index - 1][0]) if index else None
        unsent.insert(0, Drive(key=_key(drives[index][0]), previous=previous, spans=builder.spans))
    return unsent


def _key(first: Event) -> str:
    """The key of the drive that begins with an event; the time tells runs apart that were given the same id."""
    return f"{first.run_id}/{first.seq}/{first.at.isoformat()}"


class _Builder:
    """The spans of one drive, in the order in which they are found."""

    def __init__(self, run_id: str, graph: str, question: str, start: datetime) -> None:
        self._run_id = run_id
        self._open: dict[str, Span] = {}
        self._by_path: dict[str, list[Span]] = {}
        attributes = {Name.OPERATION: Operation.RUN, Name.RUN_ID: run_id, Name.AGENT: graph, Name.GRAPH: graph}
        self.run = Span(name=f"{Operation.RUN} {graph}", start=start, attributes=attributes)
        if question:
            self.run.attributes[Name.INPUT] = message_of("user", question)
        self.spans = [self.run]
        self._error: str | None = INTERRUPTED

    def add(self, event: Event) -> None:
        if isinstance(event, NodeStarted):
            self._open[event.path] = self._node(event.path, event.at, event.visit)
        elif isinstance(event, NodeFinished):
            self._at(event.path, event.at - timedelta(seconds=event.seconds), event.visit)
            self._end(event.path, event.at)
        elif isinstance(event, NodeFailed):
            self._fail(event)
        elif isinstance(event, ItemFinished):
            path = f"{event.path}[{event.item}]"
            self._at(path, event.at, event.visit).start = event.at - timedelta(seconds=event.seconds)
            self._end(path, event.at, None if event.status == StepStatus.FINISHED else StepStatus.FAILED)
        elif isinstance(event, InputRequested | RunPaused):
            waits = RunStatus.AWAITING_INPUT if isinstance(event, InputRequested) else RunStatus.PAUSED
            self.run.attributes[Name.STATUS], self._error = waits, None
        elif isinstance(event, RunEnded):
            self.run.attributes[Name.STATUS] = event.status
            self._error = None if event.status == RunStatus.COMPLETED else event.cause or event.status

    def close(self, at: datetime) -> None:
        """End what is open: with the run's error where it has one."""
        for path in list(self._open):
            self._end(path, at, self._error)
        self.run.end = at
        if self._error is not None:
            self.run.attributes[Name.ERROR] = self._error

    def add_call(self, call: CallRecord, price: Price) -> None:
        """A call under the node or item that made it. One without an answer ends with the run."""
        name, leaves, attributes = call_attributes(call, price)
        parent = self._caller(call)
        is_ended = call.status in (CallStatus.ANSWERED, CallStatus.FAILED)
        end = call.started_at + timedelta(seconds=call.seconds) if is_ended else self.run.end
        if not is_ended:
            attributes[Name.ERROR] = INTERRUPTED
        attributes |= {Name.RUN_ID: self._run_id, Name.ATTEMPT: call.attempt}
        span = Span(name=name, start=call.started_at, end=end, parent=parent, leaves=leaves, attributes=attributes)
        self.spans.append(span)

    def _node(self, path: str, at: datetime, visit: int) -> Span:
        outer = path[: path.rindex("[")] if path.endswith("]") else path.rpartition("/")[0]
        parent = self._at(outer, at, visit) if outer else self.run
        attributes = {Name.RUN_ID: self._run_id, Name.NODE: path, Name.VISIT: visit}
        span = Span(name=path.rpartition("/")[2], start=at, parent=parent, attributes=attributes)
        self._by_path.setdefault(path, []).append(span)
        self.spans.append(span)
        return span

    def _at(self, path: str, at: datetime, visit: int) -> Span:
        """The open span of a node or item; a new one for an item, and for a node that an earlier drive began."""
        if path not in self._open:
            self._open[path] = self._node(path, at, visit)
        return self._open[path]

    def _fail(self, event: NodeFailed) -> None:
        kind, message = event.error.get("type", "error"), event.error.get("message", "")
        span = self._at(event.path, event.at, event.visit)
        span.errors.append((event.at, {Name.EXCEPTION: kind, Name.ERROR_MESSAGE: message, Name.ATTEMPT: event.attempt}))
        if not event.will_retry:
            span.attributes[Name.ERROR] = kind
            if event.item is None:
                self._end(event.path, event.at)

    def _end(self, path: str, at: datetime, error: str | None = None) -> None:
        span = self._open.pop(path, None)
        if span is not None and span.end is None:
            span.end = at
            if error is not None:
                span.attributes.setdefault(Name.ERROR, error)

    def _caller(self, call: CallRecord) -> Span:
        path = call.path
        while path:
            begun = [span for span in self._by_path.get(path, ()) if span.start <= call.started_at]
            if begun:
                return begun[-1]
            path = path[: path.rindex("[")] if path.endswith("]") else path.rpartition("/")[0]
        return self.run
