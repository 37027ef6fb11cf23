"""Why and where a run is held, and which events hold any run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.debugger.breakpoints import Breakpoint
from graph_research.graph.events import Event, InputRequested, RunEnded, RunPaused
from graph_research.graph.statuses import Cause, RunStatus


class NotPossible(UserMistake):
    """A command that does not suit where the run stands."""

    code = "debugger"


class StopReason(StrEnum):
    """Why the debugger holds a run."""

    ENTRY = "entry"
    STEP = "step"
    BREAKPOINT = "breakpoint"
    PAUSE = "pause"
    FAILURE = "failure"
    QUESTION = "question"
    PAUSED = "paused"
    """The graph says `pause:` here."""
    END = "end"
    GOTO = "goto"


@dataclass(frozen=True, kw_only=True)
class Stop:
    """Where the run is held, and why. `event` is the last that happened; `hit` are the breakpoints met, `note` is
    shown beside them. `live` is false while the history is walked."""

    reason: StopReason
    event: Event
    hit: Sequence[Breakpoint] = ()
    note: str = ""
    live: bool


_ALWAYS: Mapping[type[Event], StopReason] = {
    InputRequested: StopReason.QUESTION,
    RunPaused: StopReason.PAUSED,
    RunEnded: StopReason.END,
}


def stops_always(event: Event) -> StopReason | None:
    """The reason why a run cannot go on after an event by itself; None if it can."""
    return _ALWAYS.get(type(event))


def status_note(record: RunRecord) -> str:
    """The status of a run, and the command with which it goes on."""
    ways: Mapping[str, str] = {
        RunStatus.AWAITING_INPUT: "; `answer` gives what it asks for",
        RunStatus.FAILED: "; `resume` tries again",
        RunStatus.ABORTED: "; `resume` tries again",
        RunStatus.COMPLETED: "; `fork` goes on from any of its steps",
    }
    cause = f" ({record.cause})" if record.cause else ""
    message = f": {record.error.get('message')}" if record.error and record.cause == Cause.ERROR else ""
    return f"run {record.run_id} is {record.status}{cause}{message}{ways.get(record.status, '')}"
