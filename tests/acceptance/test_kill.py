"""kill -9 at any moment of a run, then `resume`: the same report, and nothing finished is done again."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import DEMO_LIBRARY, DEMO_QUESTION, NOW, User, wait_until

KILLS = 5
"""Of one run, whose moments are spread over its events."""


def kill_after(shell: User, events: int, *arguments: str) -> None:
    """Run a command that drives the run `demo`, and kill it once the run's event log has so many lines."""
    log = shell.home / "audit" / "demo.jsonl"
    with shell.start(*arguments, "--out", "out") as process:
        wait_until(lambda: process.poll() is not None or (log.exists() and log.read_bytes().count(b"\n") >= events))
        process.send_signal(signal.SIGKILL)
        process.communicate()


def steps_of(shell: User, run_id: str) -> list[tuple[object, ...]]:
    """Every finished step with its hash. Their numbers are left out: parallel items end in any order."""
    rows = shell.run("history", run_id, "--json").json
    return sorted((row["node"], str(row["item"]), row["status"], row["hash"]) for row in rows)


def finished(events: Iterable[Mapping[str, Any]]) -> Counter[tuple[object, ...]]:
    """How often each node and item finished; inner nodes are visited for the first time again in each round."""
    return Counter(
        (event["type"], event["path"], event["visit"], event.get("item"))
        for event in events
        if event["type"] in ("node_finished", "item_finished")
    )


@pytest.mark.parametrize("first", [0.0, 0.1])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_report(
    first: float, shell: User, demo: tuple[User, Path]
) -> None:
    whole = len(demo[0].audit("demo"))
    command = ["run", DEMO_QUESTION, "--library", str(DEMO_LIBRARY), "--run-id", "demo", "--now", NOW]
    for kill in range(KILLS):
        kill_after(shell, max(1, int(whole * (first + kill / KILLS))), *command)
        command = ["resume", "demo"]

    shell.run("resume", "demo", "--out", "out")

    for name in ("report.md", "report.html"):
        assert (shell.folder / "out" / name).read_bytes() == (demo[1] / name).read_bytes(), name
    assert finished(shell.audit("demo")) == finished(demo[0].audit("demo"))
    assert steps_of(shell, "demo") == steps_of(demo[0], "demo")
