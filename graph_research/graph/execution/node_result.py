"""What came of one visit of a node: its update or its failure, and the row of the update log that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graph_research.graph.checkpoint.base import CallRow, StepRow
from graph_research.graph.events import Draft
from graph_research.graph.execution.failures import Failure
from graph_research.graph.state.position import ActiveNode
from graph_research.graph.state.reducers import Delta
from graph_research.graph.state.statuses import StepStatus

__all__ = ["NodeResult"]


class NodeResult(NamedTuple):
    """A visit that has ended, and what is to be written with its row (`written` when that has happened). `data` is the
    update, or the error, as it is stored."""

    active: ActiveNode
    step: int
    attempt: int
    started_at: float
    seconds: float
    hash: bytes
    data: bytes | None
    delta: Delta | None = None
    failure: Failure | None = None
    calls: Sequence[CallRow] = ()
    events: Sequence[Draft] = ()
    texts: Mapping[str, str] = {}
    written: bool = False

    def row(self, namespace: str, position: bytes | None = None) -> StepRow:
        """The row of the update log that says so."""
        active, step, attempt, started_at, seconds, hashed, data, _, failure, _, _, _, _ = self
        (node, visit), status = active[:2], StepStatus.FINISHED if failure is None else StepStatus.FAILED
        return StepRow(step, namespace, node, visit, None, attempt, status, started_at, seconds, hashed, data, position)
