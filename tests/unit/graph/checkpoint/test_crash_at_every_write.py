"""A process killed before and after every write of a run: nothing is lost, no recorded call made again, one end.

And a store that may only be read, which is as final for whoever has to write.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[4]
READ_ONLY = """
import asyncio, os, sys
from graph_research import SqliteCheckpointer
from graph_research.graph.state.rows import Write
from graph_research.graph.checkpoint.conformance import first, row, run_row

async def main() -> None:
    store = SqliteCheckpointer(sys.argv[1])
    await store.create(run_row("a"), first("a", {"n": 1}))
    await store.close()
    os.chmod(sys.argv[1], 0o444)
    os.chmod(os.path.dirname(sys.argv[1]), 0o555)
    if os.getuid() == 0:
        os.setuid(65534)
    store = SqliteCheckpointer(sys.argv[1])
    await store.write(Write(run_id="a", steps=[row(1, {"replace": {"n": 2}})]))

asyncio.run(main())
"""


@pytest.fixture(scope="module", params=["turns", "led_away", "turns in PostgreSQL"])
def moments(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What came of the run killed at each moment. Of the last four, which ran at once, the last was not killed. In one
    of the graphs an event edge leads on from a node that never ends."""
    folder = tmp_path_factory.mktemp("writes")
    graph, _, database = request.param.partition(" in ")
    server = [request.getfixturevalue("postgres").url] if database else []
    program = [sys.executable, "-m", "tests.support.graph.crash_every_write_process"]
    command = [*program, str(folder), graph, *server]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_moment_of_the_run_killed_it(moments: list[dict[str, Any]]) -> None:
    killed = [moment["killed"] for moment in moments]
    assert set(killed[:-4]) == {9}
    assert killed[-1] == 0
    assert len(killed) > 40


def test_wherever_it_was_killed_it_ends_with_the_same_state_and_hashes(moments: list[dict[str, Any]]) -> None:
    for moment in moments:
        for part in ("status", "state", "hashes", "place"):
            assert moment[part] == moments[-1][part], f"{part} after the kill at {moment['moment']}"
        assert moment["status"] == "completed"
        assert moment["seqs"] == list(range(1, len(moment["seqs"]) + 1))


def test_only_calls_in_flight_are_made_again(moments: list[dict[str, Any]]) -> None:
    whole = _calls(moments[-1])
    assert set(whole.values()) == {1}
    for moment in moments:
        made = _calls(moment)
        assert whole <= made, "nothing is left out"
        assert (made - whole).total() <= moment["lost"] <= 2, f"after the kill at {moment['moment']}"


def _calls(moment: dict[str, Any]) -> Counter[str]:
    return Counter(line for line in moment["log"] if line.startswith("call"))


def test_a_store_that_may_not_be_written_is_named_with_the_remedy() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        command = [sys.executable, "-c", READ_ONLY, f"{folder}/runs.db"]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stderr
        Path(folder).chmod(0o755)
    assert "StoreDamaged" in told
    assert "runs.db cannot be used: attempt to write a readonly database; make the file and its folder" in told
