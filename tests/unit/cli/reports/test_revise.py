"""Changes of a finished report at the command line: `exclude`, `edit`, `versions`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import User


@pytest.fixture
def analyst(user: User, researcher: User, tmp_path: Path) -> User:
    """Somebody with the research `tides` and its report."""
    bundle = tmp_path / "tides.grb"
    researcher.run("export-run", "tides", "-o", str(bundle))
    user.run("import-run", str(bundle))
    return user


def report(user: User, *options: str) -> Any:
    return json.loads(user.run("report", "tides", "--json", *options).out)


def sentences(row: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = [*row["short_answer"], *(block for section in row["sections"] for block in section["blocks"])]
    groups = [group for block in blocks for group in [block["sentences"], *block["items"], *block["rows"]]]
    return [statement for group in groups for statement in group]


def test_a_source_is_left_out_by_number_path_or_id_without_a_call(analyst: User) -> None:
    before = report(analyst)
    source = before["sources"][0]
    calls = analyst.run("status", "tides", "--json").json["usage"]
    done = analyst.run("exclude", "tides", "1", "--json").json
    assert (done["version"], done["kind"], done["calls"]) == (2, "exclude", 0)
    assert done["sources_removed"] == [source["id"]]
    assert done["sentences_removed"]
    after = report(analyst)
    assert source["id"] not in {row["source_id"] for row in after["citations"]}
    assert after["version"] == 2
    assert source["title"] in after["notice"]
    assert analyst.run("verify", "tides", "--json").json["invalid"] == 0
    assert analyst.run("status", "tides", "--json").json["usage"] == calls
    analyst.run("versions", "tides", "--undo")
    for name in (source["id"], source["url"], source["url"].rsplit("/", 1)[-1]):
        assert analyst.run("exclude", "tides", name, "--json").json["sources_removed"] == [source["id"]]
        analyst.run("versions", "tides", "--undo")
    assert sentences(report(analyst)) == sentences(before)


def test_what_names_no_source_or_sentence_is_refused_with_those_there_are(analyst: User) -> None:
    done = analyst.run("exclude", "tides", "nowhere.pdf", "--json", expect=2)
    assert "its cited sources are [1]" in done.json["error"]["help"]
    assert "has no claim or sentence" in analyst.run("edit", "tides", "a purple cow", "--drop", expect=2).err
    assert "give more of the text" in analyst.run("edit", "tides", "tide mill", "--drop", expect=2).err
    assert "say what to change" in analyst.run("edit", "tides", "s1", expect=2).err
    assert "not between 0 and 1" in analyst.run("edit", "tides", "s1", "--confidence", "7", expect=2).err
    marked = analyst.run("edit", "tides", "s1", "--text", "As I read it, 40 kilowatts [1].", expect=2).err
    assert "the text holds a citation mark such as [1]" in marked
    assert "library cannot be written: it is a folder" in analyst.run("report", "tides", "-o", "library", expect=2).err
    assert ". cannot be written: it is a folder" in analyst.run("report", "tides", "-o", ".", expect=2).err
    assert "there is nothing to undo" in analyst.run("versions", "tides", "--undo", expect=2).err
    assert "has no version 9" in analyst.run("report", "tides", "--version", "9", expect=2).err
    refused = analyst.run("diff", "tides@v1", "tides@v99", expect=2).err
    assert "its latest is 1; `graph-research versions tides` shows its versions" in refused
    assert "no run" in analyst.run("exclude", "nobody", "1", expect=2).err


def test_an_edit_is_marked_as_the_users_in_every_format(analyst: User) -> None:
    first = sentences(report(analyst))[0]
    done = analyst.run("edit", "tides", first["id"], "--text", "My own view.", "--out", "mine", "--json").json
    assert done["sentences_added"].count("My own view.") >= 1
    assert "My own view. (user's words)" in (analyst.folder / "mine" / "report.md").read_text()
    assert "(user&#39;s words)" in (analyst.folder / "mine" / "report.html").read_text()
    assert analyst.run("verify", "tides", "--json").json["kinds"]["user"] >= 1


def test_the_notice_says_what_the_user_did_and_who_wrote_what_is_left(analyst: User) -> None:
    first, second, *_ = dict.fromkeys(row["text"] for row in sentences(report(analyst)))
    untouched = "nothing is paraphrased"
    assert untouched in report(analyst)["notice"]
    analyst.run("edit", "tides", first, "--drop")
    notice = report(analyst)["notice"]
    assert f"the user left out “{first}”" in notice and "changed" not in notice and untouched in notice
    analyst.run("edit", "tides", second, "--text", "My own view.")
    notice = report(analyst)["notice"]
    assert f"the user changed “{second}”" in notice and untouched not in notice
    assert "Sentences in quotation marks were selected by code" in notice


def test_versions_are_listed_shown_and_compared(analyst: User) -> None:
    gone = sentences(report(analyst))[0]["text"]
    analyst.run("edit", "tides", gone, "--drop")
    analyst.run("versions", "tides", "--undo")
    rows = analyst.run("versions", "tides", "--json").json
    assert [(row["version"], row["kind"], row["holds"]) for row in rows] == [
        (1, "run", True),
        (2, "edit", False),
        (3, "undo", True),
    ]
    assert f"- “{gone}" not in analyst.run("report", "tides", "--version", "2").out
    changed = analyst.run("diff", "tides@v1", "tides@v2", "--json").json["sentences"]
    assert [(row["change"], row["path"]) for row in changed] == [("removed", gone)]
    assert analyst.run("diff", "tides@v1", "tides@v3", "--json").json["sentences"] == []


def test_claims_are_compared_by_their_texts_and_confidence(analyst: User) -> None:
    gone, kept, *_ = report(analyst)["claims"]
    analyst.run("edit", "tides", gone["id"], "--drop")
    analyst.run("edit", "tides", kept["id"], "--confidence", "0.11")
    told = analyst.run("diff", "tides@v1", "tides@v3").out.partition("claims: ")[2].partition("state: ")[0]
    first, *lines = told.splitlines()
    assert first == "3 differences"
    assert lines == [
        f"  - {gone['text']}",
        f"  ~ {kept['text']}: {kept['confidence']:.2f} → 0.11",
        "  and 1 more; --json has all",
    ]


def test_a_bundle_has_every_version_and_a_replay_is_not_touched(analyst: User, researcher: User) -> None:
    analyst.run("exclude", "tides", "1")
    analyst.run("export-run", "tides", "-o", "changed.grb")
    assert analyst.run("replay", "changed.grb", "--json").json["identical"] is True
    assert (
        analyst.run("verify", "changed.grb", "--json").json["citations"]
        < researcher.run("verify", "tides", "--json").json["citations"]
    )
    analyst.run("delete", "tides")
    analyst.run("import-run", "changed.grb")
    assert report(analyst)["version"] == 2


def test_uncited_texts_of_a_version_that_may_come_back_are_kept(analyst: User) -> None:
    analyst.run("exclude", "tides", "1")
    settings = {"GRAPH_RESEARCH_DEEP_RESEARCH_ARCHIVE_RETENTION_DAYS": "1"}
    analyst.run("prune", environ=settings)
    analyst.run("versions", "tides", "--undo")
    assert analyst.run("verify", "tides", "--json").json["invalid"] == 0
