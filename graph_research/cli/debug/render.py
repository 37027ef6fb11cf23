"""Output of the debugger's terminal: the place of a stop, the lines of the graph around it, values and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph_research.cli.display.output import json_text
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.debugger.call_stack import EdgeView, Level
from graph_research.graph.debugger.dry_run import DryRun
from graph_research.graph.debugger.stop_locations import edge_between
from graph_research.graph.debugger.stops import Stop, StopReason
from graph_research.graph.events import (
    EdgeTaken,
    Event,
    InputRequested,
    ItemFinished,
    NodeFailed,
    NodeFinished,
    NodeStarted,
    RunEnded,
    RunPaused,
)
from graph_research.graph.messages import show_value
from graph_research.research.llm.usage import spending_of

_AROUND = 2
_LINE_CHARS = 100
_MOST_SHOWN = 200
_MOST_CHARS = 20_000


def stopped(stop: Stop, levels: Sequence[Level], run_id: str) -> Iterator[str]:
    """One line for where and why, and the lines of the graph around it."""
    reasons = {StopReason.FAILURE: "stopped at a failure", StopReason.PAUSE: "held"}
    why = ", ".join(str(breakpoint) for breakpoint in stop.hit if breakpoint.number) or reasons.get(stop.reason, "")
    parts = [run_id, _moment(stop.event), f"step {stop.event.step}", why, "" if stop.live else "history"]
    yield " · ".join(part for part in parts if part)
    if stop.note:
        yield f"  {stop.note}"
    if levels:
        yield from source(levels[0], stop.event)


def source(level: Level, event: Event, around: int = _AROUND) -> Iterator[str]:
    """The lines of the graph around the node, or around the edge that was taken, with an arrow."""
    spec = level.graph.spec
    place = spec.nodes[level.node].place
    if isinstance(event, EdgeTaken) and (edge := edge_between(level.graph, event.source, event.target)):
        place = edge.place
    lines = spec.text.splitlines()
    yield f"  {place.file}:{place.line}"
    for number in range(max(1, place.line - around), min(len(lines), place.line + around) + 1):
        yield f"  {'->' if number == place.line else '  '} {number:4}  {lines[number - 1]}"


def edge_lines(views: Sequence[EdgeView], *, values: bool) -> Iterator[str]:
    """The edges of a node: which holds, which is taken, and why."""
    if not views:
        yield "no edge leaves this node"
    for view in views:
        mark = {True: "holds", False: "does not hold", None: "not tried"}[view.holds]
        loop = f" (loop {view.edge.loop})" if view.edge.loop else ""
        chosen = " <- taken" if view.taken else ""
        yield f"{view.edge.source} -> {view.edge.target}{loop}: {mark}, {view.why}{chosen}"
        if values:
            yield from (f"    {name} = {show_value(value)}" for name, value in view.values.items())


def changed(name: str, old: Any, new: Any) -> str:
    """A channel before and after; of a list that has grown only what is new."""
    if isinstance(old, list) and isinstance(new, list) and old and new[: len(old)] == old:
        return f"{name}: {len(old)} -> {len(new)} entries, new: {show_value(new[len(old) :], _MOST_SHOWN)}"
    return f"{name}: {show_value(old)} -> {show_value(new)}"


def history(events: Sequence[Event], present: Event) -> Iterator[str]:
    """The moments of a run with their steps, an arrow at the present one."""
    for event in events:
        seconds = f"  {event.seconds:.3f} s" if isinstance(event, NodeFinished) else ""
        yield f"{'->' if event is present else '  '} {event.step:5}  {_moment(event)}{seconds}"


def calls(records: Sequence[CallRecord], costs: Sequence[float | None]) -> Iterator[str]:
    """A line a call with tokens, cost and time, and their sums."""
    tokens, seconds, cost = 0, 0.0, 0.0
    for record, price in zip(records, costs, strict=True):
        used = spending_of(record.answer)
        tokens, seconds, cost = tokens + (used.tokens if used else 0), seconds + record.seconds, cost + (price or 0.0)
        parts = [
            f"{record.seq:4}  {record.path}:{record.visit}",
            record.kind,
            record.status,
            f"{record.seconds:.3f} s",
            f"{used.input_tokens} + {used.output_tokens} tokens" if used else "",
            "" if price is None else f"{price:.4f} USD",
        ]
        yield "  ".join(part for part in parts if part)
    yield f"{len(records)} calls, {seconds:.3f} s, {tokens:,} tokens, {cost:.4f} USD"


def dry_run_lines(dry_run: DryRun) -> Iterator[str]:
    """The first call of a node as it will be sent: a model's messages as text, anything else as JSON."""
    if dry_run.kind is None:
        yield dry_run.why
        if dry_run.handoff is not None:
            yield "handoff:"
            yield full(dry_run.handoff)
        return
    yield f"its first call: {dry_run.kind}"
    yield from request_lines(dry_run.request)


def request_lines(request: Any) -> Iterator[str]:
    """A request; the messages of a model's as text."""
    if not isinstance(request, Mapping):
        yield full(request)
        return
    messages = [name for name in ("system", "user") if isinstance(request.get(name), str)]
    for name in messages:
        yield f"--- {name}"
        yield str(request[name])[:_MOST_CHARS]
    rest = {name: value for name, value in request.items() if name not in messages}
    if rest:
        yield "--- with"
        yield full(rest)


def full(value: Any) -> str:
    """A value as JSON, indented unless it fits a line, cut where it is very long."""
    if len(line := show_value(value, _LINE_CHARS + 1)) <= _LINE_CHARS and "\\n" not in line:
        return line
    text = json_text(value, is_indented=True)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}… ({len(text):,} characters)"


def _moment(event: Event) -> str:
    place = f"{event.path}:{event.visit}" if event.path else ""
    if isinstance(event, NodeStarted):
        return f"before {place}"
    if isinstance(event, NodeFinished):
        return f"after {place}"
    if isinstance(event, NodeFailed):
        again = ", to be tried again" if event.will_retry else ""
        return f"failed {place} ({event.error['type']}: {event.error['message']}){again}"
    if isinstance(event, ItemFinished):
        return f"after {event.path}[{event.item}]:{event.visit}"
    if isinstance(event, EdgeTaken):
        return f"on the edge {event.source} -> {event.target}"
    if isinstance(event, InputRequested):
        return f"{place} asks: {event.question}"
    if isinstance(event, RunPaused):
        return f"paused {event.when} {place}"
    if isinstance(event, RunEnded):
        return f"the end: {event.status}" + (f" ({event.cause})" if event.cause else "")
    return f"at {place}" if place else event.type.replace("_", " ")
