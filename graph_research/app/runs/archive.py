"""Archived texts as files: those of digested sources, and records of what was dropped or heavily compressed."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from graph_research.app.runs.research_state import research_state
from graph_research.app.store import Store, open_store
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.state.rows import Instruction
from graph_research.research.instructions import InstructionKind
from graph_research.research.models.source import Source
from graph_research.text.document import text_hash
from graph_research.text.tokens import CHARS_PER_TOKEN

_HASH = re.compile(r"[0-9a-f]{64}")
_SOURCE_ID = re.compile(r"src-[0-9a-f]{10}")
_MODE = 0o700
_ONCE = timedelta(days=1)


class ContentMissing(UserMistake):
    """A text that neither the archive's files nor the store hold."""


def archive_folder(workspace: Workspace) -> Path:
    """The setting `research_archive_dir`, else `archive` in the data home."""
    named = workspace.settings.research_archive_dir
    return (workspace.folder / Path(named).expanduser()).absolute() if named else workspace.home.path / "archive"


async def archive_run(workspace: Workspace, store: Store, run_id: str, now: datetime) -> list[Path]:
    """Write the files of a run as the settings ask, and return those that are new.

    `SOURCE_ID/HASH.txt` for digested sources with `deep_research_archive_content`, `HASH.json` for texts of which less
    than 30 % was shown with `content_archive_enabled`. Raises `OSError` where the folder cannot be written.
    """
    settings, folder = workspace.settings, archive_folder(workspace)
    stored = await store.state(run_id)
    state = research_state({name: stored.get(name) for name in ("metadata", "sources")})
    compressed = (state.get("metadata") or {}).get("content_archive_hashes") or {}
    dropped = (state.get("metadata") or {}).get("dropped_content_ids") or []
    own = await store.text_hashes(run_id)
    written: list[Path] = []
    for source in [Source.model_validate(row) for row in state.get("sources") or []]:
        name = source.archive_hash.removeprefix("sha256:")
        if not (_SOURCE_ID.fullmatch(source.id) and name in own):
            continue  # nor is the text of another run written that this one names
        if settings.deep_research_archive_content and source.is_digest:
            written += _write(folder / source.id / f"{name}.txt", await store.text(source.archive_hash))
        if settings.content_archive_enabled and source.id in compressed:
            reason = "dropped" if source.id in dropped else "compressed"
            record = _record(source, await store.text(source.archive_hash), reason, now)
            written += _write(folder / f"{name}.json", orjson.dumps(record, option=orjson.OPT_INDENT_2).decode())
    return written


async def archive_ended(workspace: Workspace, store: Store, run_id: str, now: datetime) -> None:
    """Write the files of a run that has ended and remove outdated ones. Why they cannot be written is kept with the
    run, for its status and its report, and changes nothing else about it."""
    try:
        await archive_run(workspace, store, run_id, now)
        problem = ""
    except OSError as error:
        problem = error.strerror or type(error).__name__
    with contextlib.suppress(StoreDamaged):
        if problem != await archive_error(store, run_id):
            await store.instruct(run_id, Instruction(InstructionKind.ARCHIVE_ERROR, problem))
    with contextlib.suppress(OSError):
        await expire(workspace, store, now)


async def archive_error(store: Store, run_id: str) -> str:
    """Why files of the archive could not be written at the end of the run; empty where they were, or none were due."""
    told = [row.content for row in await store.instructions(run_id) if row.kind == InstructionKind.ARCHIVE_ERROR]
    return told[-1] if told else ""


async def restore(workspace: Workspace, content_hash: str) -> str:
    """The archived text with this hash, with or without `sha256:`: from a file of the archive whose content has the
    hash, else from the store. `ContentMissing` where there is none."""
    name = content_hash.removeprefix("sha256:")
    if not _HASH.fullmatch(name):
        raise ContentMissing(
            f"{content_hash[:80]!r} is not a hash", help="give 64 hex digits, as `archive_hash` has them"
        )
    for path in _files(archive_folder(workspace)):
        content = _content_of(path) if path.stem == name else None
        if content is not None and text_hash(content) == f"sha256:{name}":
            return content
    async with open_store(workspace.home) as store:
        try:
            return await store.text(name)
        except (KeyError, StoreDamaged) as error:
            raise ContentMissing(f"no archived text has the hash {name}", help="it may have expired") from error


def _content_of(path: Path) -> str | None:
    """The text in a file of the archive; None where the file is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
        return str(orjson.loads(text)["content"]) if path.suffix == ".json" else text
    except (OSError, ValueError, TypeError, KeyError):
        return None


async def expire(workspace: Workspace, store: Store, now: datetime) -> int:
    """Remove outdated files of the archive, texts that a stored report cites excepted; their number. Nothing is done
    where that was done less than a day before."""
    marker = workspace.home.cache / "archive-expired"
    if marker.exists() and now.timestamp() - marker.stat().st_mtime < _ONCE.total_seconds():
        return 0
    marker.touch()
    outdated = [path for path in _files(archive_folder(workspace)) if _is_outdated(path, workspace, now)]
    cited = await _cited(store) if outdated else set()
    gone = [path for path in outdated if f"sha256:{path.stem}" not in cited]
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def _record(source: Source, text: str, reason: str, now: datetime) -> dict[str, Any]:
    return {
        "content_hash": source.archive_hash,
        "content": text,
        "item_id": source.id,
        "item_type": "source",
        "archived_at": now.isoformat(),
        "archive_reason": reason,
        "original_tokens": source.characters // CHARS_PER_TOKEN,
        "metadata": {"url": source.url, "title": source.title},
    }


def _write(path: Path, text: str) -> list[Path]:
    if path.exists():
        return []
    path.parent.mkdir(mode=_MODE, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return [path]


def _files(folder: Path) -> Iterator[Path]:
    """The files that `archive_run` wrote; others are left alone."""
    for path in [*folder.glob("*.json"), *folder.glob("src-*/*.txt")]:
        if _HASH.fullmatch(path.stem) and path.is_file() and not path.is_symlink():
            yield path


def _is_outdated(path: Path, workspace: Workspace, now: datetime) -> bool:
    settings = workspace.settings
    days, hours = settings.deep_research_archive_retention_days, settings.content_archive_ttl_hours
    age = timedelta(hours=hours) if path.suffix == ".json" else timedelta(days=days)
    return path.stat().st_mtime < (now - age).timestamp()


async def _cited(store: Store) -> set[str]:
    from graph_research.research.report.build import cited_texts  # most of a report's code, which `status` does without

    states: list[Mapping[str, Any]] = [await store.state(row.run_id) for row in await store.run_rows(None, None)]
    return {name for state in states for name in cited_texts(state)}
