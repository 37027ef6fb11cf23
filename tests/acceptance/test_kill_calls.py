"""kill -9 while models, searches and pages are being asked: an answered call is not made again."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.cli.cli_process import DEMO_QUESTION, User, wait_until
from tests.support.network.fake_services import World, open_world

PACE = {"model_seconds": 0.05, "search_seconds": 0.05, "page_seconds": 0.02}


def kill_after(
    shell: User,
    world: World,
    calls: int,
    *,
    agent: str = "",
    rounds: int = 1,
    length: str = "standard",
    environ: Mapping[str, str] | None = None,
) -> None:
    """Begin the research and kill it once the servers have answered so many calls, of one agent where it is named."""
    process = shell.start(
        *("run", DEMO_QUESTION, "--llm", world.model, "--search", "searxng", "--max-iterations", str(rounds)),
        *("--run-id", "r", "--now", "2026-01-01T00:00:00Z", "--out", "out", "--length", length),
        environ=world.environ() if environ is None else environ,
    )
    with process:
        wait_until(
            lambda: process.poll() is not None or sum(agent in ("", call.agent) for call in world.calls()) >= calls
        )
        process.send_signal(signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("calls", [2, 9, 20, 30])
def test_after_a_kill_only_calls_in_flight_are_made_again_and_the_run_says_how_many(
    calls: int, shell: User, tmp_path: Path
) -> None:
    with open_world(tmp_path / "calls", **PACE) as world:
        kill_after(shell, world, calls)
        shell.run("resume", "r", "--out", "out", environ=world.environ())
        asked = [call for call in world.calls() if call.kind != "robots"]
    report = json.loads((shell.folder / "out" / "report.json").read_text())

    assert len(asked) > calls
    again = sum(count - 1 for count in Counter(call.key for call in asked).values())
    assert again <= report["statistics"]["possibly_paid_twice"] <= 10
    assert shell.run("verify", "r", "--json").json["invalid"] == 0


@pytest.mark.parametrize(("agent", "calls"), [("verifier", 1), ("verifier", 2), ("section_mender", 1)])
def test_a_kill_while_sections_are_verified_or_mended_repeats_no_answered_call(
    agent: str, calls: int, shell: User, tmp_path: Path
) -> None:
    pace = {"model_seconds": 0.15, "search_seconds": 0.0, "page_seconds": 0.0}
    with open_world(tmp_path / "calls", long_sections=True, objects=True, **pace) as world:
        one_by_one = {**world.environ(), "GRAPH_RESEARCH_MAX_CONCURRENT": "1"}
        kill_after(shell, world, calls + 1, agent=agent, length="long", environ=one_by_one)
        asked = world.calls("model")
        place = [n for n, call in enumerate(asked) if call.agent == agent][calls - 1]
        answered = asked[: place + 1]
        if agent == "verifier":  # the editor is asked beside it: its answer may not have arrived at the kill
            answered = [call for call in answered if call.agent != "editor"]
        before = [call.key for call in answered]
        shell.run("resume", "r", "--out", "out", environ=world.environ())
        again = Counter(call.key for call in world.calls("model"))
    report = json.loads((shell.folder / "out" / "report.json").read_text())

    assert [again[key] for key in before] == [1] * len(before)
    headings = [section["heading"] for section in report["sections"] if section["level"] == 1]
    assert len(set(headings)) == len(headings) > 1
    assert shell.run("verify", "r", "--json").json["invalid"] == 0
    assert shell.run("replay", "r").code == 0


@pytest.mark.parametrize("calls", [1, 2])
def test_a_kill_while_sections_are_written_writes_no_section_twice(calls: int, shell: User, tmp_path: Path) -> None:
    pace = {"model_seconds": 0.2, "search_seconds": 0.0, "page_seconds": 0.0}
    with open_world(tmp_path / "calls", long_sections=True, **pace) as world:
        one_by_one = {**world.environ(), "GRAPH_RESEARCH_MAX_CONCURRENT": "1"}
        kill_after(shell, world, calls + 1, agent="section_writer", environ=one_by_one)
        before = [call.key for call in world.calls() if call.agent == "section_writer"][:calls]
        shell.run("resume", "r", "--out", "out", environ=world.environ())
        asked = Counter(call.key for call in world.calls() if call.agent == "section_writer")
    report = json.loads((shell.folder / "out" / "report.json").read_text())

    assert len(before) == calls
    assert [asked[key] for key in before] == [1] * len(before)
    by_model = [section["heading"] for section in report["sections"] if section["writer"] == "model"]
    assert len(set(by_model)) == len(by_model) == len(asked)


@pytest.mark.parametrize(("agent", "search_seconds"), [("clarifier", 0.6), ("supervisor", 0.6)])
def test_a_kill_while_a_model_and_a_search_are_asked_side_by_side_repeats_no_answered_call(
    agent: str, search_seconds: float, shell: User, tmp_path: Path
) -> None:
    pace = {"model_seconds": 0.2, "search_seconds": search_seconds, "page_seconds": 0.0}
    with open_world(tmp_path / "calls", always_gaps=True, **pace) as world:
        kill_after(shell, world, 1, agent=agent, rounds=2)
        before = [call.key for call in world.calls() if call.kind != "robots"]
        resumed = shell.run("resume", "r", "--json", "--out", "out", environ=world.environ()).json
        again = Counter(call.key for call in world.calls() if call.kind != "robots")
    repeated = [key for key in before if again[key] > 1]
    report = json.loads((shell.folder / "out" / "report.json").read_text())

    assert resumed["iterations"] == 2
    assert len(repeated) <= report["statistics"]["possibly_paid_twice"] <= 6
