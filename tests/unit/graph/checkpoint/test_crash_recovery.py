"""Processes killed in the middle of a run: nothing is lost, nothing recorded is done again, the end is the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of the run killed at each third moment (before and after writes by turns), and of the whole one."""
    folder = tmp_path_factory.mktemp("crash")
    command = [sys.executable, "-m", "tests.support.graph.crash_process", str(folder), "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_run_was_killed_at_many_moments(moments: list[dict[str, Any]]) -> None:
    assert [moment["killed"] for moment in moments[:-1]] == [9] * (len(moments) - 1)
    assert len(moments) > 20


def test_every_resumed_run_ends_in_the_same_state_with_the_same_hashes(moments: list[dict[str, Any]]) -> None:
    whole = moments[-1]
    assert whole["status"] == "completed"
    for moment in moments:
        for part in ("status", "state", "finished", "answered"):
            assert moment[part] == whole[part], f"{part} after the kill at {moment['moment']}"


def test_no_recorded_call_is_made_again_and_lost_ones_are_reported(moments: list[dict[str, Any]]) -> None:
    for moment in moments:
        made = Counter(line for line in moment["log"] if line.startswith("call"))
        assert sum(made.values()) - 2 * len(made) <= 2, "at most the calls in flight, of two branches"
        assert moment["lost"] == moment["told"] <= 2


def test_what_was_shown_as_finished_is_not_done_again(moments: list[dict[str, Any]]) -> None:
    whole = shown_in(moments[-1])
    for moment in moments:
        assert shown_in(moment) <= whole
        assert moment["seqs"] == list(range(1, len(moment["seqs"]) + 1))


def shown_in(moment: dict[str, Any]) -> Counter[str]:
    return Counter(line for line in moment["log"] if line.startswith("shown"))
