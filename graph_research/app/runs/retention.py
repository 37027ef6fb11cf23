"""Retention: removes old runs, unused texts, caches and logs from the data home."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from graph_research.app.runs.revisions import all_sources
from graph_research.app.store import Store, open_store, question_of
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.errors import RunBusy, StoreDamaged
from graph_research.graph.statuses import RunStatus
from graph_research.graph.values.codec import references
from graph_research.research.report.build import archived, cited_texts
from graph_research.settings.home import Home

CACHE_DAYS = 30
"""How long untouched caches and crash markers are kept."""

_ENDED = frozenset({RunStatus.COMPLETED, RunStatus.ABORTED, RunStatus.FAILED})
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)(i?)b?")
_AGE = re.compile(r"(\d{1,6})([mhdw]?)")
_UNITS = {"m": "minutes", "h": "hours", "": "days", "d": "days", "w": "weeks"}


class SizeInvalid(UserMistake):
    """A text that is not a valid size."""


class AgeInvalid(UserMistake):
    """A text that is not a valid age."""


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What was removed: ids of runs, and the number of files of caches and of runs that are gone. `busy` are runs that
    a process drives right now and that stay; `kept` counts those that are still there. `texts` counts what was removed
    of the archive of runs that stay, `store_bytes` is what the store takes now."""

    runs: Sequence[str]
    busy: Sequence[str]
    kept: int
    files: int
    texts: int
    freed_bytes: int
    store_bytes: int


def parse_age(text: str) -> timedelta:
    """An age such as `30d`, `12h`, `2w` or `90m`; a bare number counts days."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise AgeInvalid(
            f"{text[:40]!r} is not a valid age", help="write it as 30d, 12h, 2w or 90m; a number alone means days"
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def parse_size(text: str) -> int:
    """Bytes of a size such as `2GB`, `500 MB` or `1.5GiB`; a bare number counts bytes."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise SizeInvalid(
            f"{text[:40]!r} is not a valid size", help="write it as 2GB, 500MB or 1.5GiB; a number alone means bytes"
        )
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " "))


async def prune(
    workspace: Workspace,
    *,
    older_than: timedelta | None,
    keep: int | None,
    max_bytes: int | None,
    now: datetime,
    needed: Container[str] = (),
) -> Pruned:
    """Remove runs beyond the bounds but those that are `needed`, and files that are no longer used.

    Runs that were not touched for `older_than` and are not among the newest `keep`, none where neither is given. With
    `max_bytes` finished runs, the oldest first, until the store takes no more, and `keep` only says which ones stay.
    With a run go the archived texts that no other run refers to; a fork keeps what it shares with its parent. Of
    finished runs that stay, the archived texts that their report does not cite, after
    `deep_research_archive_retention_days`. Then audit logs of runs that are gone, caches and crash markers after 30
    days."""
    home = workspace.home
    before = _size(home)
    gone: list[str] = []
    busy: list[str] = []
    async with open_store(home) as store:
        records = await store.runs()
        candidates = [record for record in records[keep or 0 :] if record.run_id not in needed]
        if older_than is not None or (keep is not None and max_bytes is None):
            for record in candidates:
                if older_than is None or record.updated_at < now - older_than:
                    await _delete(store, record, gone, busy)
        if max_bytes is not None:
            for record in _finished(candidates):
                if await store.size() <= max_bytes:
                    break
                if record.run_id not in gone:
                    await _delete(store, record, gone, busy)
        left = [record for record in records if record.run_id not in gone]
        uncited = now - timedelta(days=workspace.settings.deep_research_archive_retention_days)
        texts = sum([await _forget_uncited(store, record) for record in left if _is_over(record, uncited)])
        if gone or texts:
            with contextlib.suppress(StoreDamaged):  # another process works on the file; the next time gives it back
                await store.compact()
        store_bytes = await store.size()
    files = _remove_files(home, {record.run_id for record in left}, now - timedelta(days=CACHE_DAYS))
    return Pruned(
        runs=gone,
        busy=busy,
        kept=len(left),
        files=files,
        texts=texts,
        freed_bytes=max(0, before - _size(home)),
        store_bytes=store_bytes,
    )


async def _delete(store: Store, record: RunRecord, gone: list[str], busy: list[str]) -> None:
    try:
        await store.delete(record.run_id)
        gone.append(record.run_id)
    except RunBusy:
        if record.run_id not in busy:
            busy.append(record.run_id)


def _finished(records: Sequence[RunRecord]) -> Sequence[RunRecord]:
    """The runs that have ended; those untouched for longest first."""
    return sorted((record for record in records if record.status in _ENDED), key=lambda record: record.updated_at)


def _is_over(record: RunRecord, before: datetime) -> bool:
    return record.status in _ENDED and record.updated_at < before


async def _forget_uncited(store: Store, record: RunRecord) -> int:
    """Remove the archived texts of a research that its report does not cite."""
    if question_of(record) is None:
        return 0
    state = await all_sources(store, record.run_id, await store.state(record.run_id))
    everything = {name for pair in archived(state).items() for name in pair if name is not None}
    uncited = sorted(name.removeprefix("sha256:") for name in everything - cited_texts(state))
    if not uncited:
        return 0
    kept = await store.text_hashes(record.run_id) - await _of_the_state(store, record.run_id)
    try:
        return await store.forget_texts(record.run_id, [name for name in uncited if name in kept])
    except RunBusy:
        return 0


async def _of_the_state(store: Store, run_id: str) -> set[str]:
    """The texts that some state of the run holds as values."""
    names: set[str] = set()
    for scope in {row.scope for row in await store.step_rows(run_id, None)}:
        for row in await store.step_rows(run_id, scope):
            names |= references(row.delta or b"")
    return names


def _remove_files(home: Home, runs: set[str], before: datetime) -> int:
    outdated = [path for path in _files(home.cache) if path.stat().st_mtime < before.timestamp()]
    outdated += [path for path in _files(home.path / "crash") if path.stat().st_mtime < before.timestamp()]
    outdated += [path for path in _files(home.path / "audit") if path.stem not in runs]
    for path in outdated:
        path.unlink(missing_ok=True)
    return len(outdated)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _size(home: Home) -> int:
    return sum(path.stat().st_size for path in _files(home.path))
