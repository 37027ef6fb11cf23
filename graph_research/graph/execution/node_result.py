"""What comes of running a node: its update, its failure, or a stop to wait for a human."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from graph_research.graph.errors import InputInvalid
from graph_research.graph.events import Draft
from graph_research.graph.messages import error_message
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.reducers import Delta
from graph_research.graph.state.rows import CallRow, StepRow
from graph_research.graph.statuses import Cause, RunStatus


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
    def summary(self) -> dict[str, Any]:
        """The error as events show it: `{type, message}`."""
        return {"type": self.error["type"], "message": self.error["message"]}


def failure_of(active: ActiveNode, event: Cause, problem: BaseException, attempts: int = 1) -> Failure:
    """The failure at `active` that `problem` is, with the fields that expressions and events see."""
    error = {
        "node": active.node,
        "visit": active.visit,
        "type": type(problem).__name__,
        "message": error_message(problem),
    }
    return Failure(event=event, error={**error, "attempts": attempts})


class Cancelled(Exception):
    """The run was cancelled on request."""


class Suspended(Exception):
    """The run stops here, to be resumed: it waits for an answer, or pauses. `draft` is the event that says so."""

    def __init__(self, status: RunStatus, key: str, draft: Draft, refused: InputInvalid | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.key = key
        self.draft = draft
        self.refused = refused


class Unrecorded(Exception):
    """In a replay: the recorded run went no further here before it was interrupted."""


class NodeResult(NamedTuple):
    """A node that has ended: its row of the update log, which holds the update or failure, and what is stored with the
    row, unless that is `written` already."""

    active: ActiveNode
    row: StepRow
    delta: Delta | None = None
    failure: Failure | None = None
    calls: Sequence[CallRow] = ()
    events: Sequence[Draft] = ()
    written: bool = False
