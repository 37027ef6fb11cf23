"""The fixed vocabularies of a run: its statuses, those of its steps and calls, and what interrupts it."""

from __future__ import annotations

from enum import StrEnum


class RunStatus(StrEnum):
    """The status of a run."""

    RUNNING = "running"
    """A process drives it, or drove it and died."""
    AWAITING_INPUT = "awaiting_input"
    """It stopped at an `ask` node; `resume` needs an answer."""
    PAUSED = "paused"
    """It stopped at a `pause`, or is a fork that has not been resumed."""
    COMPLETED = "completed"
    """It reached an end with this status."""
    FAILED = "failed"
    """It reached an end with this status, or no edge took an error."""
    ABORTED = "aborted"
    """It reached an end with this status, or no edge took a timeout or a cancellation."""


END_STATUSES = (RunStatus.COMPLETED, RunStatus.ABORTED, RunStatus.FAILED)
"""What an end of a graph may name."""


class Cause(StrEnum):
    """What can go wrong at a node or end a graph early; event edges name it in `on`."""

    ERROR = "error"
    """A node failed, or the graph exceeded `limits.steps`."""
    TIMEOUT = "timeout"
    """A node exceeded `timeout_seconds`, or a graph exceeded `limits.seconds` or the runtime's limit."""
    CANCELLED = "cancelled"
    """Someone requested the cancellation of the run."""


class StepStatus(StrEnum):
    """The status of a row of the update log. Rows of nodes and items are `finished`, `failed` or `retried`; the rest
    belong to the graph as a whole."""

    FINISHED = "finished"
    """A node or an item ended; `delta` is the node's update or the item's output."""
    FAILED = "failed"
    """The last attempt of a node or an item failed; `delta` is the failure."""
    RETRIED = "retried"
    """An attempt failed and another follows; `delta` is the failure."""
    STARTED = "started"
    """The graph started; `delta` holds the first values of its channels."""
    MOVED = "moved"
    """Several nodes ended in one step, or an event edge was taken, and the graph moved on."""
    ERROR = "error"
    """The graph exceeded `limits.steps` and took an edge for `error`."""
    TIMEOUT = "timeout"
    """The graph ran out of time and took an edge for `timeout`."""
    CANCELLED = "cancelled"
    """The graph was cancelled and took an edge for `cancelled`."""
    TIMEOUT_UNHANDLED = "late"
    """The graph ran out of time and ended where it stood: no edge led on."""
    CANCELLED_UNHANDLED = "called off"
    """The graph was cancelled and ended where it stood: no edge led on."""
    ITEMS_KEPT = "kept"
    """What the finished items of an interrupted fan-out add to the state; the next row says what interrupted it."""
    PAUSED = "paused"
    """The graph stopped before a node with `pause: before`."""
    RESUMED = "resumed"
    """A run that ended in a failure goes on: nodes that failed before are tried again."""
    REWOUND = "rewound"
    """A run that ended over an event edge returned to where that edge was taken."""
    AMENDED = "amended"
    """Channels that the graph did not have when the run began got their defaults."""
    FORKED = "forked"
    """The rows before this one were taken over from the parent of a fork."""


CLEARS_FAILURES = frozenset({StepStatus.RESUMED, StepStatus.REWOUND})
"""Rows after which nodes that failed earlier are tried again."""


FAILURES = frozenset({StepStatus.FAILED, StepStatus.RETRIED})
"""Rows of failed attempts; their `delta` is the failure."""


class InnerCall(StrEnum):
    """Kinds of journal entries that the engine makes itself: they are not calls to the outside."""

    NOW = "now"
    """A time that was read."""
    NOTE = "note"
    """An event that a handler emitted."""


INNER_CALLS = frozenset(InnerCall)


class CallStatus(StrEnum):
    """The status of a journal entry."""

    SENT = "sent"
    """The call was made and has not returned."""
    ANSWERED = "answered"
    """The call returned; its answer is stored."""
    FAILED = "failed"
    """The call raised; `answer` is `{type, message}`."""
    LOST = "lost"
    """The call was sent before a crash and has no answer."""
