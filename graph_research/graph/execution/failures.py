"""Why a node gave up, or the run stops: failures, what they tell, and when to try again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph_research.graph.definition.spec import RetrySpec
from graph_research.graph.errors import InputInvalid, StoreDamaged
from graph_research.graph.events import Draft
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.statuses import Cause, RunStatus

__all__ = [
    "Failure",
    "Suspended",
    "failure_of",
    "first_of",
    "is_retried",
    "seconds_until_next",
]

_LONGEST_TOLD_SECONDS = 300.0
"""How long an error can ask to be left alone before the next attempt."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a node gave up. `error` is `{node, visit, type, message, attempts}`."""

    event: Cause
    error: Mapping[str, Any]

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Failure:
        """The failure whose `stored` form this is; one that was stored without its event is an error."""
        error = dict(values)
        return cls(event=Cause(error.pop("event", Cause.ERROR)), error=error)

    @property
    def stored(self) -> dict[str, Any]:
        """The failure as the update log holds it: the error and its event."""
        return {**self.error, "event": self.event.value}

    @property
    def told(self) -> dict[str, Any]:
        """What events say of it: `{type, message}`."""
        return {"type": self.error["type"], "message": self.error["message"]}


class Suspended(Exception):
    """The run stops here, to be resumed: for an answer or for a pause. `draft` is the event that tells."""

    def __init__(self, status: RunStatus, key: str, draft: Draft, refused: InputInvalid | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.key = key
        self.draft = draft
        self.refused = refused


def failure_of(active: ActiveNode, event: Cause, kind: str, message: str, attempts: int = 1) -> Failure:
    """A failure at `active`, with the fields that expressions and events see."""
    error = {"node": active.node, "visit": active.visit, "type": kind, "message": message, "attempts": attempts}
    return Failure(event=event, error=error)


def is_retried(retry: RetrySpec, problem: Exception, event: Cause) -> bool:
    """Whether a node with this `retry` tries again."""
    names = {kind.__name__ for kind in type(problem).__mro__} | {event}
    return not retry.on or not names.isdisjoint(retry.on)


def seconds_until_next(retry: RetrySpec, used: int, problem: Exception) -> float:
    """Seconds until the next attempt: the backoff, or longer where the error itself says `retry_after_seconds`."""
    told = getattr(problem, "retry_after_seconds", None)
    asked = min(told, _LONGEST_TOLD_SECONDS) if isinstance(told, int | float) else 0.0
    return max(_backoff(retry, used), asked)


def _backoff(retry: RetrySpec, used: int) -> float:
    try:
        return min(retry.initial_seconds * retry.factor**used, retry.most_seconds)
    except OverflowError:
        return retry.most_seconds if retry.initial_seconds else 0.0


def first_of(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of what several items raised at once: a broken store first, then the failure of the first item."""
    flat = [part for part in several.exceptions if not isinstance(part, asyncio.CancelledError)]
    return next((part for part in flat if isinstance(part, StoreDamaged)), flat[0])
