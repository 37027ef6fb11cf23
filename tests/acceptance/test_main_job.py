"""The main job on the demo library: a cited and proved report, the same bytes each time, every disagreement in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import DEMO_LIBRARY, User

PLANTED = json.loads((Path(__file__).parent / "planted.json").read_text())
CITATION = re.compile(r"\[(\d+)\]")


@pytest.fixture(scope="module")
def report(demo: tuple[User, Path]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((demo[1] / "report.json").read_text())
    return loaded


def test_the_report_cites_at_least_six_sources(report: dict[str, Any]) -> None:
    cited = {citation["source_id"] for citation in report["citations"]}

    assert len(cited) >= 6


def test_every_citation_is_proved_and_no_statement_lacks_one(demo: tuple[User, Path]) -> None:
    counts = demo[0].run("verify", "demo", "--json").json

    assert counts["citations"] >= 12
    assert counts["valid"] == counts["citations"]
    assert counts["invalid"] == counts["unsupported"] == counts["fabricated"] == 0
    assert counts["coverage"] == 1.0


def test_every_number_in_brackets_leads_to_a_citation_and_every_citation_is_used(
    demo: tuple[User, Path], report: dict[str, Any]
) -> None:
    markdown = (demo[1] / "report.md").read_text()

    assert {int(n) for n in CITATION.findall(markdown)} == {citation["n"] for citation in report["citations"]}


@pytest.mark.parametrize("planted", PLANTED["disagreements"], ids=lambda planted: str(planted["topic"]))
def test_a_planted_disagreement_is_listed_with_both_sides(report: dict[str, Any], planted: dict[str, Any]) -> None:
    quotes = {citation["evidence_id"]: " ".join(citation["quote"].split()) for citation in report["citations"]}
    wanted = {}
    for side in planted["sides"]:
        wanted.setdefault(side["value"], set()).add(side["quote"])

    def holds(contradiction: dict[str, Any]) -> bool:
        sides = [{quotes[id] for id in side["evidence_ids"]} for side in contradiction["sides"]]
        return all(
            any(any(quote in found for found in side for quote in options) for side in sides)
            for options in wanted.values()
        )

    assert any(holds(contradiction) for contradiction in report["contradictions"])


def test_nothing_else_is_called_a_contradiction(report: dict[str, Any]) -> None:
    assert len(report["contradictions"]) == len(PLANTED["disagreements"])


def test_two_runs_give_the_same_bytes(demo: tuple[User, Path], new_user: Callable[[str], User]) -> None:
    other = new_user("another")
    other.research("demo", "--out", "out")

    for name in ("report.md", "report.html", "report.json"):
        assert (other.folder / "out" / name).read_bytes() == (demo[1] / name).read_bytes(), name


def test_the_markdown_holds_no_time_path_or_run_id(shell: User, demo: tuple[User, Path]) -> None:
    shell.run("run", PLANTED["question"], "--library", str(DEMO_LIBRARY), "--run-id", "another-id", "--out", "out")

    markdown = (shell.folder / "out" / "report.md").read_text()

    assert markdown == (demo[1] / "report.md").read_text()
    assert "another-id" not in markdown
    assert str(DEMO_LIBRARY) not in markdown


def test_the_pipeline_graph_answers_the_same_question(shell: User) -> None:
    done = shell.research("piped", "--graph", "pipeline", "--json").json

    assert done["status"] == "completed"
    assert shell.run("verify", "piped", "--json").json["invalid"] == 0


@pytest.mark.parametrize(
    ("question", "not_found"),
    [
        ("How did Roman aqueducts keep water clean?", "Not found"),
        ("Which opera did Rossini write in 1816?", "Not found"),
        ("Wo ist Bonn?", "Nicht gefunden"),
    ],
)
def test_a_question_that_no_document_answers_ends_with_not_found_and_the_nearest_passages(
    question: str, not_found: str, shell: User
) -> None:
    done = shell.run(
        "run", question, "--library", str(DEMO_LIBRARY), "--run-id", "off-topic", "--out", "out", "--json"
    ).json

    markdown = (shell.folder / "out" / "report.md").read_text()
    assert done["status"] == "completed"
    assert done["confidence"] == 0
    assert f"## {not_found}" in markdown
    assert shell.run("verify", "off-topic", "--json").json["invalid"] == 0
