"""The parents of a fork: their rows, and the answers that their journals hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.errors import UnknownRun
from graph_research.graph.state.rows import CallRow, RunRow
from graph_research.graph.statuses import CallStatus, InnerCall


async def parent_rows(store: Checkpointer, row: RunRow) -> Mapping[str, RunRow]:
    """The stored parents of a fork, the nearest first; empty for a run that is not a fork."""
    parents: dict[str, RunRow] = {}
    while row.seed != row.run_id and row.parent is not None and row.parent not in parents:
        try:
            row = await store.run_row(row.parent)
        except UnknownRun:
            break
        parents[row.run_id] = row
    return parents


async def recorded_answers(store: Checkpointer, run_ids: Sequence[str], attempt: str) -> list[CallRow]:
    """What the journals of runs hold for an attempt (`Address.key`); of equal calls the first run's."""
    entries: dict[tuple[str, bytes, int], CallRow] = {}
    for run_id in run_ids:
        for row in await store.call_rows(run_id, attempt):
            if row.status == CallStatus.ANSWERED and row.kind != InnerCall.NOTE:
                entries.setdefault((row.kind, row.request_hash, row.ordinal), row)
    return list(entries.values())
