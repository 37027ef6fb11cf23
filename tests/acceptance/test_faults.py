"""Models and searches that fail: the run ends in a report that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import DEMO_QUESTION, Done, User
from tests.support.network.fake_services import Faults, World, open_world

AGENTS = frozenset(
    {
        *("clarifier", "planner", "reflector", "extractor"),
        *("supervisor", "analyzer", "comparer", "outliner", "section_writer", "editor", "refiner"),
    }
)
SHORT_PROMPTS = frozenset({"clarifier", "planner", "reflector", "outliner", "refiner", "supervisor"})
ALL = {"always_gaps": True, "long_pages": True}
"""A world in which every agent is asked, within two rounds."""
TWO_ROUNDS = ("--max-iterations", "2")


def research(shell: User, world: World, *options: str, expect: int = 0) -> Done:
    """The question, asked of the world's model and search."""
    return shell.run(
        *("run", DEMO_QUESTION, "--llm", world.model, "--search", "searxng", "--out", "out", "--run-id", "r", "--json"),
        *options,
        environ={**world.environ(), "GRAPH_RESEARCH_PROVIDER_COOLDOWN": "0.2"},
        expect=expect,
    )


def report_of(shell: User) -> dict[str, Any]:
    """The report, after every citation was checked against the archive."""
    counts = shell.run("verify", "r", "--json").json
    assert counts["invalid"] == 0
    assert counts["fabricated"] == 0
    report: dict[str, Any] = json.loads((shell.folder / "out" / "report.json").read_text())
    return report


def said(report: dict[str, Any]) -> str:
    return " ".join(report["limitations"])


def test_without_faults_the_report_is_complete_and_says_who_answered(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls") as world:
        done = research(shell, world)
    report = report_of(shell)

    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 5
    assert len({citation["source_id"] for citation in report["citations"]}) >= 3
    assert "openai:world" in json.dumps(report["statistics"])


@pytest.mark.parametrize(("window", "sources"), [(9_000, 1), (12_000, 2), (24_000, 2)])
def test_a_small_window_gives_a_shorter_report_that_says_what_was_cut(
    window: int, sources: int, shell: User, tmp_path: Path
) -> None:
    """The server does not say how long a prompt may be, so each prompt is shortened by a tenth, three times at most."""
    with open_world(tmp_path / "calls", faults=Faults(window_chars=window), long_pages=True) as world:
        done = research(shell, world, "--max-iterations", "1")
    report = report_of(shell)

    assert done.json["status"] == "completed"
    assert len({citation["source_id"] for citation in report["citations"]}) >= sources
    assert "shortened and sent again" in said(report) or "To fit the context window" in said(report)


@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_calls_that_fail_now_and_then_do_not_end_a_research(
    rate: float, status: int, shell: User, tmp_path: Path
) -> None:
    with open_world(tmp_path / "calls", faults=Faults(rate=rate, status=status)) as world:
        done = research(shell, world)
        failed = [call for call in world.calls() if call.status == status]
    report = report_of(shell)

    assert failed
    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 3


def test_one_broken_answer_of_each_agent_is_repaired(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls", faults=Faults(broken_json=AGENTS), **ALL) as world:
        done = research(shell, world, *TWO_ROUNDS)
        asked = {call.agent for call in world.calls("model")}
    report = report_of(shell)

    assert asked == AGENTS
    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 3


@pytest.mark.parametrize("agents", [AGENTS - SHORT_PROMPTS, SHORT_PROMPTS])
def test_one_context_error_in_each_kind_of_call_is_recovered_from(
    shell: User, tmp_path: Path, agents: frozenset[str]
) -> None:
    """Apart, since no later prompt is longer than one that was refused."""
    with open_world(tmp_path / "calls", faults=Faults(context_errors=agents), **ALL) as world:
        done = research(shell, world, *TWO_ROUNDS)
        refused = [call.agent for call in world.calls("model") if call.status == 400]
    report = report_of(shell)

    assert sorted(refused) == sorted(agents)
    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 3


def test_a_model_that_never_writes_json_still_gives_a_report_with_proved_citations(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls", faults=Faults(prose=True)) as world:
        done = research(shell, world)
    report = report_of(shell)

    assert done.json["status"] == "completed"
    assert report["citations"]
    assert "code did it instead" in said(report)


def test_one_topic_whose_searches_fail_leaves_the_others_alone_and_is_named(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls", faults=Faults(deaf_queries=frozenset({"birds"}))) as world:
        done = research(shell, world)
    report = report_of(shell)

    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 3
    assert "birds" in said(report)


def test_a_reflector_out_of_order_ends_no_research(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls", faults=Faults(deaf_agents=frozenset({"reflector"}))) as world:
        done = research(shell, world)
    report = report_of(shell)

    assert done.json["status"] == "completed"
    assert len(report["citations"]) >= 3
    assert "deciding whether to search on" in said(report)
