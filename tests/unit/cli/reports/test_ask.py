"""`ask`: a further question is answered from the archive, searched for where that lacks it, and joins the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import User, new_user
from tests.support.cli.cli_user import QUESTION

IN_ARCHIVE = "How much power did a large tide mill give in 1850?"
NOT_IN_ARCHIVE = "Who keeps bees on the northern lighthouse?"
BEES = (
    "# The lighthouse\n\nThe keeper Anna Thorne keeps bees on the northern lighthouse. The bees make heather honey.\n"
)


@pytest.fixture
def analyst(user: User) -> User:
    """Somebody with a research over a library that grew since."""
    user.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    user.write("library/lighthouse.md", BEES)
    return user


def report(user: User, *options: str) -> Any:
    return json.loads(user.run("report", "tides", "--json", *options).out)


def test_what_the_archive_answers_is_not_searched_and_joins_the_report(analyst: User) -> None:
    before = report(analyst)
    done = analyst.run("ask", "tides", IN_ARCHIVE, "--json").json
    assert (done["version"], done["kind"], done["searches"], done["calls"]) == (2, "follow_up", 0, 0)
    after = report(analyst)
    section = next(row for row in after["sections"] if row["heading"] == IN_ARCHIVE)
    said = " ".join(row["text"] for block in section["blocks"] for item in block["items"] for row in item)
    assert "40 kilowatts" in said
    assert len(after["sections"]) == len(before["sections"]) + 1
    assert IN_ARCHIVE in after["notice"]
    assert analyst.run("verify", "tides", "--json").json["invalid"] == 0
    assert analyst.run("replay", done["follow_up"], "--json").json["identical"] is True
    nodes = {row["node"] for row in analyst.run("history", done["follow_up"], "--json").json}
    assert any(node.endswith("compare") for node in nodes), "findings are compared as in the research"


def test_what_it_lacks_is_searched_for_and_its_source_is_archived_with_the_run(analyst: User) -> None:
    done = analyst.run("ask", "tides", NOT_IN_ARCHIVE, "--json").json
    assert done["searches"] >= 1
    assert len(done["sources_added"]) >= 1
    assert any("Anna Thorne" in text for text in done["sentences_added"])
    analyst.run("delete", done["follow_up"])
    assert analyst.run("verify", "tides", "--json").json["invalid"] == 0
    analyst.run("export-run", "tides", "-o", "tides.grb")
    assert analyst.run("verify", "tides.grb", "--json").json["invalid"] == 0
    changed = analyst.run("diff", "tides@v1", "tides@v2", "--json").json["sentences"]
    assert any("Anna Thorne" in row["path"] and row["change"] == "added" for row in changed)
    analyst.run("versions", "tides", "--undo")
    assert "Anna Thorne" not in analyst.run("report", "tides").out


def test_a_number_that_the_archive_lacks_is_searched_for_though_it_tells_of_the_things(analyst: User) -> None:
    analyst.write("library/lowmere.md", "# Tide mills of Lowmere\n\nBelow the harbour stand seventeen tide mills.\n")
    done = analyst.run("ask", "tides", "How many tide mills are there?", "--json").json
    assert done["searches"] >= 1
    assert any("seventeen tide mills" in text for text in done["sentences_added"])


@pytest.mark.parametrize(
    ("question", "is_searched"),
    [
        ("What is the capacity of the batteries?", False),
        ("How often is the wheel cleaned?", False),
        ("How many clear nights were there in 2022?", False),
        ("How many clear nights were there in 2019?", True),
        ("Who cleans the batteries?", True),
    ],
)
def test_what_one_sentence_or_row_of_the_archive_has_all_words_of_is_not_searched(
    user: User, question: str, is_searched: bool
) -> None:
    user.write(
        "library/mills.md",
        "# Tide mills\n\nTide mills store water in a pond. The wheel is cleaned every six months with a brush. The "
        "mill is closed in winter.\n\nBatteries with a capacity of 2.4 megawatt hours supply the night.\n\n"
        "| Year | Clear nights |\n|---|---|\n| 2021 | 212 |\n| 2022 | 231 |\n",
    )
    user.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    assert (user.run("ask", "tides", question, "--json").json["searches"] > 0) is is_searched


def test_sources_that_disagree_on_the_answer_join_the_contradictions_of_the_report(analyst: User) -> None:
    analyst.write(
        "library/harbour.md", "# Lowmere\n\nThe lighthouse of Lowmere was built in 1871 by the harbour board.\n"
    )
    analyst.write(
        "library/guide.md", "# Lowmere\n\nThe lighthouse of Lowmere was built in 1881 by the harbour board.\n"
    )
    before = report(analyst)["contradictions"]
    analyst.run("ask", "tides", "When was the lighthouse of Lowmere built?")
    added = [row for row in report(analyst)["contradictions"] if row not in before]
    assert [sorted(side["value"] for side in row["sides"]) for row in added] == [["1871", "1881"]]
    analyst.run("exclude", "tides", "guide.md")
    assert report(analyst)["contradictions"] == before


def test_a_source_that_was_left_out_stays_out(analyst: User) -> None:
    first = analyst.run("ask", "tides", IN_ARCHIVE, "--json").json
    cited = next(row for row in report(analyst)["sources"] if row["url"] == "mills.md")
    analyst.run("versions", "tides", "--undo")
    analyst.run("exclude", "tides", "mills.md")
    second = analyst.run("ask", "tides", IN_ARCHIVE, "--json").json
    assert second["follow_up"] != first["follow_up"]
    assert cited["id"] not in {row["id"] for row in report(analyst)["sources"]}
    assert "40 kilowatts" not in " ".join(second["sentences_added"])
    found = analyst.run("report", second["follow_up"], "--json").json["sources"]
    assert found
    assert cited["id"] not in {row["id"] for row in found}


def test_an_edited_version_can_be_asked_on_and_left_out_again_sentence_by_sentence(analyst: User) -> None:
    analyst.run("ask", "tides", IN_ARCHIVE)
    number = next(row["n"] for row in report(analyst)["sources"] if row["url"] == "mills.md")
    done = analyst.run("exclude", "tides", str(number), "--json").json
    assert any("40 kilowatts" in text for text in done["sentences_removed"])
    assert "40 kilowatts" not in json.dumps(report(analyst)["sections"])


def test_a_follow_up_that_did_not_end_goes_on_when_it_is_asked_again(analyst: User) -> None:
    failed = analyst.run("ask", "tides", IN_ARCHIVE, "--timeout", "0.000001", expect=3)
    assert "ended aborted (timeout); ask again" in failed.err
    assert len(analyst.run("versions", "tides", "--json").json) == 1
    done = analyst.run("ask", "tides", IN_ARCHIVE, "--timeout", "600", "--json").json
    assert (done["version"], done["follow_up"]) == (2, "tides-ask-2")


def test_what_cannot_be_asked_is_refused(analyst: User) -> None:
    assert "a question is a text" in analyst.run("ask", "tides", "  ", expect=2).err
    assert "no run" in analyst.run("ask", "nobody", IN_ARCHIVE, expect=2).err


def test_runs_whose_long_ids_begin_alike_share_no_follow_up(user: User) -> None:
    user.write("private/bees.md", BEES)
    first, second = (f"{'tides-' * 9}{end}" for end in ("first", "second"))
    user.run("run", QUESTION, "--library", "private", "--library", "library", "--run-id", first)
    user.run("run", QUESTION, "--library", "library", "--run-id", second)
    answered = [user.run("ask", run_id, NOT_IN_ARCHIVE, "--json").json for run_id in (first, second)]
    assert len({row["follow_up"] for row in answered}) == 2
    assert "Anna Thorne" in user.run("report", first).out
    assert "Anna Thorne" not in user.run("report", second).out


def test_a_run_of_the_same_question_without_this_research_as_its_parent_is_passed_over(analyst: User) -> None:
    analyst.run("run", IN_ARCHIVE, "--library", "library", "--run-id", "tides-ask-2")
    assert analyst.run("ask", "tides", IN_ARCHIVE, "--json").json["follow_up"] == "tides-ask-2-2"


def test_an_imported_run_that_names_this_research_as_its_parent_does_not_answer_for_it(
    analyst: User, tmp_path: Path
) -> None:
    forger = new_user(tmp_path / "forger")
    forger.write("library/bees.md", "# Bees\n\nThe keeper of the northern lighthouse keeps forged bees.\n")
    forger.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    forged = forger.run("ask", "tides", NOT_IN_ARCHIVE, "--json").json
    assert any("forged" in text for text in forged["sentences_added"])
    forger.run("export-run", forged["follow_up"], "-o", str(tmp_path / "forged.grb"))
    analyst.run("import-run", str(tmp_path / "forged.grb"))
    done = analyst.run("ask", "tides", NOT_IN_ARCHIVE, "--json").json
    assert done["follow_up"] != forged["follow_up"]
    assert not any("forged" in text for text in done["sentences_added"])
