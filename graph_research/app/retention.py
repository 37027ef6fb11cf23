"""Retention: what is removed from the data home because nobody needs it any more, and what stays all the same."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from graph_research.app.store import open_store
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.base import RunRecord
from graph_research.graph.errors import RunBusy, StoreDamaged
from graph_research.home import Home

__all__ = ["AgeInvalid", "Pruned", "parse_age", "prune"]

CACHE_DAYS = 30
"""How long caches and crash markers are kept that nobody touches."""

_AGE = re.compile(r"(\d{1,6})([mhdw]?)")
_UNITS = {"m": "minutes", "h": "hours", "": "days", "d": "days", "w": "weeks"}


class AgeInvalid(UserMistake):
    """A text that is no age."""

    code = "age-invalid"


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What was removed: ids of runs, and the number of files of caches and of runs that are gone. `busy` are runs that
    a process drives right now and that stay; `kept` counts those that are still there."""

    runs: Sequence[str]
    busy: Sequence[str]
    kept: int
    files: int
    freed_bytes: int

    def to_json(self) -> dict[str, Any]:
        """As `prune --json` prints it."""
        return asdict(self)


def parse_age(text: str) -> timedelta:
    """An age such as `30d`, `12h`, `2w` or `90m`; a bare number counts days."""
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise AgeInvalid(f"{text[:40]!r} is no age", help="write it as 30d, 12h, 2w or 90m; a number alone means days")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


async def prune(workspace: Workspace, *, older_than: timedelta | None, keep: int | None, now: datetime) -> Pruned:
    """Remove runs that were not touched for `older_than` and are not among the newest `keep`, none where neither is
    given; with them go the archived texts that no other run refers to. A fork keeps what it shares with its parent,
    and a run that stays keeps all of its texts: its report shows them, and a replay needs them. Then audit logs of runs
    that are gone, and caches and crash markers after 30 days."""
    home = workspace.home
    before = _size(home)
    gone, busy = [], []
    async with open_store(home) as store:
        records = await store.runs()
        for record in _outdated(records, older_than, keep, now):
            try:
                await store.delete(record.run_id)
                gone.append(record.run_id)
            except RunBusy:
                busy.append(record.run_id)
        left = [record for record in records if record.run_id not in gone]
        if gone:
            with contextlib.suppress(StoreDamaged):  # another process works on the file; the next time gives it back
                await store.compact()
    files = _remove_files(home, {record.run_id for record in left}, now - timedelta(days=CACHE_DAYS))
    return Pruned(runs=gone, busy=busy, kept=len(left), files=files, freed_bytes=max(0, before - _size(home)))


def _outdated(
    records: Sequence[RunRecord], older_than: timedelta | None, keep: int | None, now: datetime
) -> Sequence[RunRecord]:
    if older_than is None and keep is None:
        return []
    candidates = records[keep or 0 :]
    return [record for record in candidates if older_than is None or record.updated_at < now - older_than]


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
