"""A report with every kind of sentence proves itself offline, and each damage done to it afterwards is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from graph_research.research.models.draft import Statement
from graph_research.research.report.model import Report
from graph_research.research.report.verification import Verification, verify
from tests.support.research import finished_research as study

COSTS = [study.COST_AUDIT["id"], study.COST_REPORT["id"]]
FACT = {"text": "In an average year the 16 turbines yield 412 GWh.", "evidence_ids": [study.TURBINES["id"]]}
VERIFIED = study.fact("Two turbines stood still for nine weeks in 2020 for maintenance.", study.MAINTENANCE)
ANALYSIS = {
    "text": "The two figures differ by 240 million euros, about 18 percent of the lower one.",
    "kind": "analysis",
    "evidence_ids": COSTS,
    "computed": ["1.61 - 1.37", "(1.61 - 1.37) / 1.37 * 100"],
}
TABLE = {
    "type": "table",
    "header": ["Source", "Cost (billion euros)"],
    "rows": [
        [{"text": "Audit", "kind": "transition"}, {"text": "1.61", "evidence_ids": [study.COST_AUDIT["id"]]}],
        [{"text": "Company", "kind": "transition"}, {"text": "1.37", "evidence_ids": [study.COST_REPORT["id"]]}],
        [{"text": "Forum", "kind": "transition"}, {"text": "–"}],
    ],
}
CODE = {
    "type": "code",
    "language": "ini",
    "sentences": [{"text": "YIELD = 412  # GWh", "kind": "analysis", "evidence_ids": [study.TURBINES["id"]]}],
}
DRAFT: dict[str, Any] = {
    "summary": [study.paragraph(study.quote(study.COST_AUDIT), FACT)],
    "sections": [
        {
            "heading": "Cost",
            "blocks": [study.paragraph({"text": "Two figures are told.", "kind": "transition"}, ANALYSIS), TABLE, CODE],
        },
        {
            "heading": "Yield",
            "blocks": [study.paragraph(VERIFIED, {"text": "No page gives the yield of a month.", "kind": "limit"})],
        },
    ],
}
VERDICT = {"id": Statement.model_validate(VERIFIED).id, "verdict": "supported", "model": "openai:strong"}


def report(**changes: Any) -> dict[str, Any]:
    state = study.state(draft=DRAFT, statement_verdicts=[VERDICT], **changes)
    return study.report_of(state).to_json()


def checked(row: dict[str, Any]) -> Verification:
    return verify(Report.model_validate_json(json.dumps(row)), study.texts(), study.layouts())


@pytest.mark.requirement("B45")
def test_every_kind_of_sentence_is_proved_again_from_the_report_and_the_archive() -> None:
    result = checked(report())
    assert result.problems == []
    assert result.kinds == {
        "quote": 1,
        "verified": 1,
        "cited": 3,
        "analysis": 2,
        "transition": 4,
        "limit": 1,
        "user": 0,
        "unsupported": 0,
    }
    assert (result.statements, result.supported, result.coverage) == (7, 7, 1.0)


def cell(row: dict[str, Any], line: int = 0, column: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = row["sections"][0]["blocks"][1]["rows"][line][column]
    return found


def sentence(row: dict[str, Any], section: int, number: int) -> dict[str, Any]:
    found: dict[str, Any] = row["sections"][section]["blocks"][0]["sentences"][number]
    return found


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a letter of a quote": (
        lambda row: row["short_answer"][0]["sentences"][0].update(text="The construction cost was 1.61 billion euros."),
        "not word for word what [1] quotes",
    ),
    "a number of a fact": (
        lambda row: row["short_answer"][0]["sentences"][1].update(text="In an average year they yield 421 GWh."),
        "not in the cited quotes: 421 GWh",
    ),
    "the unit of a fact": (
        lambda row: row["short_answer"][0]["sentences"][1].update(text="In an average year they yield 412 MWh."),
        "not in the cited quotes: 412 MWh",
    ),
    "a name of a fact": (
        lambda row: row["short_answer"][0]["sentences"][1].update(text="In an average year Zylkreon yields 412 GWh."),
        "not in the cited quotes: Zylkreon",
    ),
    "a number of an analysis": (
        lambda row: sentence(row, 0, 1).update(text="The two figures differ by 340 million euros."),
        "not in the cited quotes: 340 million euros",
    ),
    "a computation": (
        lambda row: sentence(row, 0, 1).update(computed=["1.61 - 1.27"]),
        "1.61 - 1.27: 1.27 is not in the cited quotes",
    ),
    "the computation of an analysis taken away": (
        lambda row: sentence(row, 0, 1).update(computed=[]),
        "not in the cited quotes: 240 million euros, 18 percent",
    ),
    "the kind of an analysis": (
        lambda row: sentence(row, 0, 1).update(kind="transition", status="transition"),
        "states what it may not: 240 million euros, 18 percent",
    ),
    "a number in a transition": (
        lambda row: sentence(row, 0, 0).update(text="17 figures are told."),
        "states what it may not: 17",
    ),
    "a number in a limit": (
        lambda row: sentence(row, 1, 1).update(text="It yields 35 GWh in a month."),
        "states what it may not: 35 GWh",
    ),
    "the number of a cell": (lambda row: cell(row).update(text="1.71"), "not in the cited quotes: 1.71"),
    "the header of a column": (
        lambda row: row["sections"][0]["blocks"][1].update(header=["Source", "Cost (million euros)"]),
        "not in the cited quotes: 1.61 million euros",
    ),
    "an invented cell": (
        lambda row: cell(row, 2).update(text="1.40", citations=[cell(row)["citations"][0]]),
        "not in the cited quotes: 1.40",
    ),
    "a number in code": (
        lambda row: row["sections"][0]["blocks"][2]["sentences"][0].update(text="YIELD = 512"),
        "not in the cited quotes: 512",
    ),
    "another source for a fact": (
        lambda row: row["short_answer"][0]["sentences"][1].update(citations=[cell(row)["citations"][0]]),
        "not in the cited quotes: 16",
    ),
    "no source for a fact": (
        lambda row: row["short_answer"][0]["sentences"][1].update(citations=[]),
        "no citation",
    ),
    "a quote in the list of citations": (
        lambda row: row["citations"][0].update(quote="Nobody wrote this."),
        "the archived text has there: 'The construction cost of the tidal lagoon reached 1.61 billion euros.'",
    ),
    "a locator": (lambda row: row["citations"][0].update(locator="char:0-5"), "the archived text has there: 'Revie'"),
    "an invented citation": (
        lambda row: row["short_answer"][0]["sentences"][1]["citations"].append("c99"),
        "c99 names no evidence",
    ),
}


@pytest.mark.requirement("B45")
@pytest.mark.parametrize("name", DAMAGES)
def test_each_damage_is_found_and_named(name: str) -> None:
    damage, problem = DAMAGES[name]
    row = report()
    damage(row)
    found = [one.what for one in checked(row).problems]
    assert any(problem in what for what in found), found


def test_a_verdict_counts_for_the_sentence_alone_that_the_model_read() -> None:
    row = report()
    assert checked(row).kinds["verified"] == 1
    sentence(row, 1, 0).update(text="For maintenance, two turbines stood still for nine weeks in 2020.")
    assert (checked(row).kinds["verified"], checked(row).kinds["cited"]) == (0, 4)
    row["short_answer"][0]["sentences"][1]["verdict"] = VERDICT
    assert checked(row).kinds["verified"] == 0


def test_a_changed_text_of_the_archive_invalidates_what_rests_on_it() -> None:
    texts = study.texts()
    texts[study.AUDIT.hash] = study.AUDIT.text.replace("1.61", "1.41")
    result = verify(Report.model_validate_json(json.dumps(report())), texts, study.layouts())
    assert result.invalid >= 1
    assert any("its hash differs" in problem.what for problem in result.problems)
