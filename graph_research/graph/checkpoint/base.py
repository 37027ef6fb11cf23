"""A store of runs: what every store can read from its rows. `ports` says what a store must do."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from graph_research.graph.checkpoint.ports import Maintenance, RunLog, TextStore
from graph_research.graph.checkpoint.records import CallRecord, RunRecord, StepRecord
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.events import Event, event_from_json, unpacked_events
from graph_research.graph.state.address import path_of
from graph_research.graph.state.rows import RunRow
from graph_research.graph.state.state_at import fold
from graph_research.graph.statuses import INNER_CALLS, CallStatus
from graph_research.graph.values.codec import references


class Checkpointer(RunLog, TextStore, Maintenance):
    """A store of runs. A subclass implements the abstract methods of `RunLog`, `TextStore` and `Maintenance`."""

    async def runs(self, limit: int | None = None) -> list[RunRecord]:
        """The latest runs, newest first."""
        return [await self._record(row) for row in await self.run_rows(None, limit)]

    async def run(self, run_id: str) -> RunRecord:
        """One run."""
        return await self._record(await self.run_row(run_id))

    async def run_row(self, run_id: str) -> RunRow:
        """One run as stored."""
        return (await self.run_rows(run_id, 1))[0]

    async def state(self, run_id: str, step: int | None = None, scope: str = "") -> dict[str, Any]:
        """The committed channels after a step (the latest when None), of the root or of the subgraph run `scope`."""
        await self.run_row(run_id)
        folded = await fold(self, run_id, scope, step)
        return folded.state.values if folded else {}

    async def steps(self, run_id: str) -> list[StepRecord]:
        """What ran, in the order of its commits; no state is loaded."""
        await self.run_row(run_id)
        rows = [row for row in await self.step_rows(run_id, None) if row.node]
        folders = {scope: path_of(scope) for scope in {row.scope for row in rows}}
        return [StepRecord.of(row, folders[row.scope]) for row in rows]

    async def events(self, run_id: str, after: int = 0) -> list[Event]:
        """The stored events with a number above `after`."""
        await self.run_row(run_id)
        batches = await self.event_batches(run_id, after)
        stored = (event for batch in batches for event in unpacked_events(batch))
        return [event_from_json({**event, "run_id": run_id}) for event in stored if event["seq"] > after]

    async def calls(self, run_id: str, *, bare: Collection[str] = ()) -> list[CallRecord]:
        """The outside calls of a run, by number; a text that the run was made to forget is named in its place. Of
        answered calls of the kinds `bare` neither request nor answer is read: they are None."""
        await self.run_row(run_id)
        rows = [
            row._replace(request=None, answer=None) if row.kind in bare and row.status == CallStatus.ANSWERED else row
            for row in await self.call_rows(run_id, None)
            if row.kind not in INNER_CALLS
        ]
        parts = [data for row in rows for data in (row.request, row.answer) if data is not None]
        names = {name for data in parts for name in references(data)}
        try:
            texts = await self.texts(names)
        except StoreDamaged:
            kept = await self.text_hashes(run_id)
            texts = {name: f"(removed: sha256:{name})" for name in names - kept} | await self.texts(names & kept)
        return [CallRecord.of(row, texts) for row in rows]

    async def text(self, text_hash: str) -> str:
        """A text by its hash, with or without `sha256:` before it."""
        name = text_hash.removeprefix("sha256:")
        return (await self.texts([name]))[name]

    async def _record(self, row: RunRow) -> RunRecord:
        last, placed = await self.last_step(row.run_id), await self.last_position(row.run_id)
        texts = await self.texts(references(row.input) | references(row.metadata))
        return RunRecord.of(row, last, placed, texts)
