"""Retention at the command line: what is removed, what stays, and what is said about it."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.support.cli.cli_process import User

COUNTDOWN = """
graph: countdown
version: "1"
state:
  text: {type: string, input: true, default: ""}
  n: {type: integer, default: 1}
start: tick
nodes:
  tick: {set: {n: n - 1}}
  done: {end: completed}
edges: [{from: tick, to: done}]
"""
TEXT = "--set", 'text="' + "a long text that a fork shares " * 200 + '"'


@pytest.fixture
def pruner(user: User) -> User:
    """A user with three runs of a little graph, `a` the oldest, and a fork `f` of `a`."""
    user.write("countdown.yaml", COUNTDOWN)
    for run_id in ("a", "b", "c"):
        user.run("graph", "run", "countdown.yaml", *TEXT, "--run-id", run_id)
    user.run("fork", "a", "--step", "1", "--run-id", "f")
    return user


def runs(user: User) -> list[str]:
    return [run["run_id"] for run in user.run("list", "--json").json]


def test_without_options_no_run_is_removed(pruner: User) -> None:
    pruned = pruner.run("prune", "--json").json
    assert pruned.pop("store_bytes") > 0
    assert pruned == {"runs": [], "busy": [], "kept": 4, "files": 0, "texts": 0, "freed_bytes": 0}
    assert runs(pruner) == ["f", "c", "b", "a"]


def test_the_newest_are_kept_and_a_fork_keeps_what_it_shares_with_a_run_that_goes(pruner: User) -> None:
    text = pruner.run("show", "f", "--step", "0", "--path", "text").out
    assert len(text) > 5000
    pruned = pruner.run("prune", "--keep", "1", "--json").json
    assert (pruned["runs"], pruned["kept"]) == (["c", "b", "a"], 1)
    assert runs(pruner) == ["f"]
    assert pruner.run("show", "f", "--step", "0", "--path", "text").out == text
    assert pruner.run("replay", "f", "--json").json["identical"] is True


def test_only_what_is_old_and_not_among_the_newest_goes(pruner: User) -> None:
    assert pruner.run("prune", "--older-than", "1h", "--json").json["runs"] == []
    assert pruner.run("prune", "--older-than", "0m", "--keep", "3", "--json").json["runs"] == ["a"]
    said = pruner.run("prune", "--older-than", "0").out
    assert "removed b" in said
    assert "3 runs and 3 files removed, 0 runs kept" in said


def test_old_caches_and_logs_of_runs_that_are_gone_are_removed(pruner: User, user: User) -> None:
    old, new = user.home / "cache" / "old.bin", user.home / "cache" / "new.bin"
    orphan = user.home / "audit" / "gone.jsonl"
    for path in (old, new, orphan):
        path.write_bytes(b"x" * 1000)
    os.utime(old, (1_000_000_000, 1_000_000_000))
    outside = user.folder / "outside.txt"
    outside.write_text("mine")
    (user.home / "cache" / "link").symlink_to(outside)
    pruned = pruner.run("prune", "--json").json
    assert (pruned["files"], pruned["freed_bytes"]) == (2, 2000)
    assert [path.exists() for path in (old, new, orphan, outside)] == [False, True, False, True]


@pytest.mark.parametrize("age", ["soon", "-3d", "3y", ""])
def test_an_age_that_is_none_is_refused(user: User, age: str, tmp_path: Path) -> None:
    assert "is not a valid age" in user.run("prune", f"--older-than={age}", expect=2).err


def test_the_oldest_finished_runs_go_until_the_store_fits(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.write("waits.yaml", COUNTDOWN.replace("set: {n: n - 1}", "set: {n: n - 1}, pause: after"))
    random = Random(1)
    for run_id, graph, code in (("w", "waits", 4), ("a", "countdown", 0), ("b", "countdown", 0), ("c", "countdown", 0)):
        text = f'text="{random.randbytes(100_000).hex()}"'
        user.run("graph", "run", f"{graph}.yaml", "--set", text, "--run-id", run_id, expect=code)
    whole = user.run("prune", "--json").json["store_bytes"]
    pruned = user.run("prune", "--max-size", str(whole - 80_000), "--json").json
    assert (pruned["runs"], pruned["kept"]) == (["a"], 3)
    assert pruned["store_bytes"] <= whole - 80_000 and pruned["freed_bytes"] >= 80_000
    assert user.run("prune", "--max-size", "0.1MB", "--keep", "1", "--json").json["runs"] == ["b"]
    assert "the store still takes" in user.run("prune", "--max-size", "1kb").out
    assert runs(user) == ["w"]
    assert "is not a valid size" in user.run("prune", "--max-size", "much", expect=2).err


@pytest.mark.requirement("B33")
def test_texts_that_no_report_cites_are_removed_after_their_retention(user: User) -> None:
    user.write("library/cited.md", "# Tides\n\nThe Moon causes the tides of the sea. " + "The Moon is near. " * 150)
    user.write("library/other.md", "# Moon cheese\n\nPeople talk about tides of cheese. " + "Cheese is good. " * 200)
    user.run("run", "What causes the tides of the sea?", "--library", "library", "--run-id", "old")
    before = user.run("report", "old", "--format", "json").json
    assert user.run("prune", "--json").json["texts"] == 0
    keep_none = {"GRAPH_RESEARCH_DEEP_RESEARCH_ARCHIVE_RETENTION_DAYS": "0"}
    pruned = user.run("prune", "--json", environ=keep_none).json
    uncited = len(before["sources"]) - len({one["source_id"] for one in before["citations"]})
    assert pruned["texts"] >= uncited
    user.run("verify", "old")
    assert user.run("report", "old", "--format", "json").json["citations"] == before["citations"]
    assert user.run("prune", "--json", environ=keep_none).json["texts"] == 0
