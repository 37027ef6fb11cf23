"""The limit that ended a run, and the option of `resume` that gives it more."""

from __future__ import annotations

from dataclasses import dataclass

from graph_research.graph.checkpoint.base import Checkpointer, RunRecord
from graph_research.graph.definition.parser import read_spec
from graph_research.graph.history.stored_definition import definition_texts
from graph_research.graph.state.statuses import CLEARS_FAILURES, Cause, RunStatus, StepStatus

__all__ = ["Reached", "limit_reached"]


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A limit in words, and the option that raises it enough, such as `--max-tokens 2000`; empty where none does."""

    words: str
    option: str = ""


async def limit_reached(
    store: Checkpointer, record: RunRecord, *, timeout_seconds: float | None, spent: Reached | None
) -> Reached | None:
    """What ended an aborted run, None where it was no limit. `timeout_seconds` is the limit that it was asked for with,
    `spent` the budget that is used up. What the graph itself allows cannot be raised: it is given once more."""
    if record.status != RunStatus.ABORTED:
        return None
    if record.cause == Cause.CANCELLED:
        return spent
    if record.cause != Cause.TIMEOUT or not await _ran_out_of_time(store, record.run_id):
        return None
    allowed = await _graph_seconds(store, record)
    if timeout_seconds is None or (allowed is not None and allowed < timeout_seconds):
        return Reached(words=f"its graph allows {allowed:g} s" if allowed is not None else "its graph's time is over")
    return Reached(words="the time of --timeout is over", option=f"--timeout {2 * timeout_seconds:g}")


async def _ran_out_of_time(store: Checkpointer, run_id: str) -> bool:
    """Whether the run as a whole ran out of time since it was resumed last, rather than one of its nodes."""
    statuses = [row.status for row in await store.step_rows(run_id, None) if not row.scope and not row.node]
    resumed = max((place for place, status in enumerate(statuses) if status in CLEARS_FAILURES), default=0)
    return not {StepStatus.TIMEOUT, StepStatus.TIMEOUT_UNHANDLED}.isdisjoint(statuses[resumed:])


async def _graph_seconds(store: Checkpointer, record: RunRecord) -> float | None:
    graphs = await definition_texts(store, record.run_id, "graph")
    schemas = await definition_texts(store, record.run_id, "schema")
    spec, _ = read_spec(graphs.texts.get(record.graph, ""), record.graph, schemas, {})
    return None if spec is None else spec.limits.seconds
