"""Why and where a run is held, in words, and which events hold any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.base import RunRecord
from graph_research.graph.debugger.breakpoints import Breakpoint
from graph_research.graph.events import Event, InputRequested, RunEnded, RunPaused

__all__ = ["NotPossible", "Reason", "Stop", "frame_of", "is_around", "standing", "stops_always", "watching"]

Reason = Literal["entry", "step", "breakpoint", "pause", "failure", "question", "paused", "end", "goto"]


class NotPossible(UserMistake):
    """A command that does not suit where the run stands."""

    code = "debugger"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Where the run is held, and why. `event` is the last that happened; `hit` are the breakpoints met, `note` what
    else there is to say. `live` is false while history is walked."""

    reason: Reason
    event: Event
    hit: Sequence[Breakpoint] = ()
    note: str = ""
    live: bool


def frame_of(path: str) -> str:
    """The path of the graph that a node's path stands in."""
    return path.rpartition("/")[0]


def is_around(outer: str, inner: str) -> bool:
    """Whether a graph is another, or holds it."""
    return inner == outer or not outer or inner.startswith(f"{outer}/")


def stops_always(event: Event) -> Reason | None:
    """The reason why nothing can go on after an event by itself; None for any other."""
    kinds: Mapping[type[Event], Reason] = {InputRequested: "question", RunPaused: "paused", RunEnded: "end"}
    return kinds.get(type(event))


def watching(text: str) -> Breakpoint:
    """What is hit where a watched expression has changed."""
    return Breakpoint(number=0, kind="condition", path=f"watch {text}")


def standing(record: RunRecord) -> str:
    """The status of a run in words, and how it can go on."""
    ways = {
        "awaiting_input": "; `answer` gives what it asks for",
        "failed": "; `resume` tries again",
        "aborted": "; `resume` tries again",
        "completed": "; `fork` goes on from any of its steps",
    }
    cause = f" ({record.cause})" if record.cause else ""
    message = f": {record.error.get('message')}" if record.error and record.cause == "error" else ""
    return f"run {record.run_id} is {record.status}{cause}{message}{ways.get(record.status, '')}"
