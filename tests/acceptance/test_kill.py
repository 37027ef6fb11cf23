"""kill -9 at any moment of a run, then `resume`: the same report, and nothing finished is done again."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import DEMO_LIBRARY, DEMO_QUESTION, User

MOMENTS = range(10)


def kill_after(shell: User, run_id: str, events: int) -> bool:
    """Run the demo's research and kill it once its event log has so many lines; False if it ended before that."""
    process = shell.start(
        *("run", DEMO_QUESTION, "--library", str(DEMO_LIBRARY), "--run-id", run_id),
        *("--now", "2026-01-01T00:00:00Z", "--out", "out"),
    )
    log = shell.home / "audit" / f"{run_id}.jsonl"
    with process:
        while process.poll() is None:
            if log.exists() and len(log.read_bytes().splitlines()) >= events:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                return True
            time.sleep(0.002)
        process.communicate()
    return False


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


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_resumes_to_the_same_report(moment: int, shell: User, demo: tuple[User, Path]) -> None:
    whole = len(demo[0].audit("demo"))
    kill_after(shell, "demo", max(1, whole * moment // len(MOMENTS)))

    shell.run("resume", "demo", "--out", "out")

    for name in ("report.md", "report.html"):
        assert (shell.folder / "out" / name).read_bytes() == (demo[1] / name).read_bytes(), name
    assert finished(shell.audit("demo")) == finished(demo[0].audit("demo"))
    assert steps_of(shell, "demo") == steps_of(demo[0], "demo")
