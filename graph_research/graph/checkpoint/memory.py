"""A store in memory: for tests, for graphs that need no durability, and as an example of a store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graph_research.errors import check_name
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.ports import Lease, missing_text
from graph_research.graph.errors import RunBusy, RunExists, UnknownRun
from graph_research.graph.state.rows import CallRow, Instruction, RunPatch, RunRow, Snapshot, StepRow, Write
from graph_research.graph.statuses import END_STATUSES


@dataclass(kw_only=True)
class _Run:
    row: RunRow
    steps: list[StepRow] = field(default_factory=list)
    scopes: dict[str, list[StepRow]] = field(default_factory=dict)
    calls: dict[int, CallRow] = field(default_factory=dict)
    events: list[tuple[int, bytes]] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    cancel: bool = False
    instructions: list[Instruction] = field(default_factory=list)


class _Lease:
    def __init__(self, driven: set[str], run_id: str) -> None:
        self._driven = driven
        self._run_id = run_id
        driven.add(run_id)

    def release(self) -> None:
        self._driven.discard(self._run_id)


class MemoryCheckpointer(Checkpointer):
    """A store that is lost with the process."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._driven: set[str] = set()

    async def create(self, run: RunRow, first: Write) -> None:
        check_name(run.run_id, "run")
        if run.run_id in self._runs:
            raise RunExists(f"run {run.run_id} exists already", help="choose another id")
        self._runs[run.run_id] = _Run(row=run)
        await self.write(first)

    async def write(self, write: Write) -> None:
        run_id, steps, calls, last_seq, events, texts, snapshot, patch, _, shares = write
        run = self._run(run_id)
        run.steps.extend(steps)
        for step in steps:
            run.scopes.setdefault(step.scope, []).append(step)
        if calls:
            run.calls.update((call.seq, call) for call in calls)
        if texts:
            run.texts.update(texts)
        if shares is not None and shares in self._runs:
            run.texts.update(self._runs[shares].texts)
        if events is not None:
            run.events.append((last_seq, events))
        if snapshot is not None:
            run.snapshots.append(snapshot)
        if patch is not None:
            run.row = _patched(run.row, patch)
            run.cancel = run.cancel and not patch.cancel_done

    async def lease(self, run_id: str) -> Lease:
        if check_name(run_id, "run") in self._driven:
            raise RunBusy.by(run_id, os.getpid())
        return _Lease(self._driven, run_id)

    async def run_rows(self, run_id: str | None, limit: int | None) -> list[RunRow]:
        if run_id is not None:
            return [self._run(run_id).row]
        rows = sorted((run.row for run in reversed(self._runs.values())), key=lambda row: -row.created_at)
        return rows[:limit]

    async def step_rows(
        self, run_id: str, scope: str | None, after: int = -1, upto: int | None = None
    ) -> list[StepRow]:
        run = self._run(run_id)
        rows = run.steps if scope is None else run.scopes.get(scope, [])
        return [row for row in rows if row.step > after and (upto is None or row.step <= upto)]

    async def snapshot(self, run_id: str, scope: str, upto: int | None = None) -> Snapshot | None:
        taken = (shot for shot in self._run(run_id).snapshots if shot.scope == scope)
        return max((shot for shot in taken if upto is None or shot.step <= upto), key=lambda s: s.step, default=None)

    async def call_rows(self, run_id: str, key: str | None) -> list[CallRow]:
        calls = self._run(run_id).calls
        return [calls[seq] for seq in sorted(calls) if key is None or calls[seq].key == key]

    async def event_batches(self, run_id: str, after: int) -> list[bytes]:
        return [batch for last, batch in self._run(run_id).events if last > after]

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        return {name: self._text(name) for name in hashes}

    async def text_hashes(self, run_id: str) -> set[str]:
        return set(self._run(run_id).texts)

    async def delete(self, run_id: str) -> None:
        self._run(run_id)
        (await self.lease(run_id)).release()
        del self._runs[run_id]

    async def forget_texts(self, run_id: str, hashes: Iterable[str]) -> int:
        texts = self._run(run_id).texts
        (await self.lease(run_id)).release()
        gone = [name for name in hashes if texts.pop(name, None) is not None]
        return sum(all(name not in run.texts for run in self._runs.values()) for name in gone)

    async def size(self) -> int:
        return sum(map(_bytes_of, self._runs.values()))

    async def request_cancel(self, run_id: str) -> None:
        run = self._run(run_id)
        run.cancel = run.row.status not in END_STATUSES

    async def cancel_requested(self, run_id: str) -> bool:
        return self._run(run_id).cancel

    async def instruct(self, run_id: str, instruction: Instruction) -> None:
        self._run(run_id).instructions.append(instruction)

    async def instructions(self, run_id: str) -> list[Instruction]:
        return list(self._run(run_id).instructions)

    async def close(self) -> None:
        """Nothing is held; the runs stay readable."""

    def _run(self, run_id: str) -> _Run:
        if run_id not in self._runs:
            raise UnknownRun.of(run_id)
        return self._runs[run_id]

    def _text(self, name: str) -> str:
        owners: Iterable[Mapping[str, str]] = (run.texts for run in self._runs.values())
        for texts in owners:
            if name in texts:
                return texts[name]
        raise missing_text(name)


def _bytes_of(run: _Run) -> int:
    parts = [part for step in run.steps for part in (step.delta, step.position)]
    parts += [part for call in run.calls.values() for part in (call.request, call.answer)]
    parts += [batch for _, batch in run.events]
    parts += [shot.values for shot in run.snapshots]
    return sum(len(part) for part in parts if part is not None) + sum(map(len, run.texts.values()))


def _patched(row: RunRow, patch: RunPatch) -> RunRow:
    return row._replace(
        status=patch.status,
        cause=patch.cause,
        error=patch.error,
        waiting=patch.waiting,
        updated_at=patch.updated_at,
        graph_hash=patch.graph_hash or row.graph_hash,
        definition=patch.definition or row.definition,
        metadata=patch.metadata or row.metadata,
    )
