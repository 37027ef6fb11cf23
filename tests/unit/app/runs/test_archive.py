"""Archived texts as files: what is written at the end of a run, restored, and removed in time."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graph_research.app.runs.archive import (
    ContentMissing,
    archive_ended,
    archive_error,
    archive_folder,
    archive_run,
    expire,
    restore,
)
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.graph.state.rows import Instruction
from graph_research.text.document import text_hash

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TEXTS = {name: f"The text of {name}. " * 40 for name in ("src-0000000001", "src-0000000002", "src-0000000003")}


class OneRun:
    """A store of one run, as far as the archive reads it."""

    def __init__(self, *, cites: str = "") -> None:
        self.told: list[Instruction] = []
        self.foreign: set[str] = set()
        self.texts = {text_hash(text): text for text in TEXTS.values()}
        rows = [
            {
                "id": name,
                "title": f"Title of {name}",
                "url": f"https://a.example/{name}",
                "archive_hash": text_hash(text),
                "characters": len(text),
                "content_type": "digest/v1" if name.endswith("1") else "text/plain",
                "content": "{}" if name.endswith("1") else text,
            }
            for name, text in TEXTS.items()
        ]
        hashes = {row["id"]: row["archive_hash"] for row in rows[:2]}
        evidence = [{"id": "ev-1", "archive_hash": text_hash(TEXTS[cites])}] if cites else []
        self.values: dict[str, Any] = {
            "sources": rows,
            "metadata": {"dropped_content_ids": ["src-0000000002"], "content_archive_hashes": hashes},
            "evidence": evidence,
            "draft": {"sections": ["ev-1"]},
        }

    async def state(self, run_id: str) -> dict[str, Any]:
        assert run_id == "r1"
        return self.values

    async def text(self, name: str) -> str:
        return self.texts[name]

    async def text_hashes(self, run_id: str) -> set[str]:
        assert run_id == "r1"
        return {name.removeprefix("sha256:") for name in self.texts} - self.foreign

    async def instruct(self, run_id: str, instruction: Instruction) -> None:
        self.told.append(instruction)

    async def instructions(self, run_id: str) -> list[Instruction]:
        return self.told

    async def run_rows(self, *_: object) -> list[Any]:
        return [type("Row", (), {"run_id": "r1"})]


def workspace(tmp_path: Path, **options: Any) -> Workspace:
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    return open_workspace(environ, tmp_path, may_use=lambda _: False, options=options)


@pytest.mark.requirement("11.18", "B37", "B7")
async def test_texts_of_digested_sources_are_files_whose_hash_is_their_name(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    [path] = await archive_run(space, OneRun(), "r1", NOW)
    assert path.relative_to(archive_folder(space)).parts[0] == "src-0000000001"
    assert text_hash(path.read_text(encoding="utf-8")) == f"sha256:{path.stem}"
    assert archive_folder(space) == tmp_path / "home" / "archive"
    assert await archive_run(space, OneRun(), "r1", NOW) == []


async def test_a_text_of_another_run_is_not_written_where_a_state_names_it(tmp_path: Path) -> None:
    run = OneRun()
    run.foreign = {text_hash(TEXTS["src-0000000001"]).removeprefix("sha256:")}
    assert await archive_run(workspace(tmp_path), run, "r1", NOW) == []


@pytest.mark.requirement("13.3")
async def test_a_folder_that_cannot_be_written_is_told_and_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    closed = workspace(tmp_path, research_archive_dir=str(tmp_path / "file" / "archive"))
    closed.home.cache.mkdir(parents=True, exist_ok=True)
    run = OneRun()
    await archive_ended(closed, run, "r1", NOW)
    await archive_ended(closed, run, "r1", NOW)
    assert await archive_error(run, "r1") == "Not a directory"
    assert len(run.told) == 1
    await archive_ended(workspace(tmp_path), run, "r1", NOW)
    assert await archive_error(run, "r1") == ""


@pytest.mark.requirement("11.18", "13.3", "B37")
async def test_without_the_export_no_file_is_written(tmp_path: Path) -> None:
    space = workspace(tmp_path, deep_research_archive_content=False)
    assert await archive_run(space, OneRun(), "r1", NOW) == []
    assert not archive_folder(space).exists()


@pytest.mark.requirement("13.10", "13.3")
async def test_what_was_hardly_shown_becomes_a_record_in_the_folder_that_is_set(tmp_path: Path) -> None:
    space = workspace(
        tmp_path,
        content_archive_enabled=True,
        deep_research_archive_content=False,
        research_archive_dir=str(tmp_path / "elsewhere"),
    )
    paths = await archive_run(space, OneRun(), "r1", NOW)
    assert {path.parent for path in paths} == {tmp_path / "elsewhere"}
    records = {record["item_id"]: record for record in (json.loads(path.read_text()) for path in paths)}
    assert records["src-0000000002"] == {
        "content_hash": text_hash(TEXTS["src-0000000002"]),
        "content": TEXTS["src-0000000002"],
        "item_id": "src-0000000002",
        "item_type": "source",
        "archived_at": NOW.isoformat(),
        "archive_reason": "dropped",
        "original_tokens": len(TEXTS["src-0000000002"]) // 4,
        "metadata": {"url": "https://a.example/src-0000000002", "title": "Title of src-0000000002"},
    }
    assert records["src-0000000001"]["archive_reason"] == "compressed"


@pytest.mark.requirement("13.10", "B7", "B37")
async def test_archived_content_is_restored_by_its_hash_and_a_changed_file_is_not(tmp_path: Path) -> None:
    space = workspace(tmp_path, content_archive_enabled=True, deep_research_archive_content=False)
    paths = await archive_run(space, OneRun(), "r1", NOW)
    name = text_hash(TEXTS["src-0000000002"])
    assert await restore(space, name) == await restore(space, name.removeprefix("sha256:")) == TEXTS["src-0000000002"]
    for path in paths:
        path.write_text(path.read_text().replace("The text", "A text"))
    with pytest.raises(ContentMissing, match="no archived text"):
        await restore(space, name)
    for path in paths:
        path.write_bytes(b"\xff{[")
    with pytest.raises(ContentMissing, match="no archived text"):
        await restore(space, name)
    with pytest.raises(ContentMissing, match="not a hash"):
        await restore(space, "../../etc/passwd")


@pytest.mark.requirement("13.3", "B33", "B37")
async def test_outdated_files_go_by_themselves_but_cited_ones_and_those_of_others_stay(tmp_path: Path) -> None:
    space = workspace(tmp_path, content_archive_enabled=True)
    run = OneRun(cites="src-0000000001")
    paths = await archive_run(space, run, "r1", NOW)
    foreign = archive_folder(space) / "notes.json"
    foreign.write_text("{}")
    old = (NOW - timedelta(days=60)).timestamp()
    for path in (*paths, foreign):
        os.utime(path, (old, old))
    assert len(paths) == 3
    assert await expire(space, run, NOW) == 1
    assert not any(text_hash(TEXTS["src-0000000002"]).endswith(path.stem) for path in paths if path.exists())
    assert foreign.exists()
    os.utime(space.home.cache / "archive-expired", (NOW.timestamp(), NOW.timestamp()))
    assert await expire(space, OneRun(), NOW + timedelta(hours=23)) == 0
    assert await expire(space, OneRun(), NOW + timedelta(hours=25)) == 2


@pytest.mark.requirement("13.3", "B7")
@pytest.mark.parametrize(("hours", "gone"), [(167, set()), (169, {".json"}), (24 * 30 + 1, {".json", ".txt"})])
async def test_records_go_after_168_hours_and_texts_after_30_days(tmp_path: Path, hours: int, gone: set[str]) -> None:
    space = workspace(tmp_path, content_archive_enabled=True)
    run = OneRun()
    paths = await archive_run(space, run, "r1", NOW)
    written = (NOW - timedelta(hours=hours)).timestamp()
    for path in paths:
        os.utime(path, (written, written))
    await expire(space, run, NOW)
    assert {path.suffix for path in paths if not path.exists()} == gone
