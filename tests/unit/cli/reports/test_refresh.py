"""`refresh`: the sources of a report fetched again, and the sentences that their changes touch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import DOCUMENTS, QUESTION
from tests.support.documents.foreign_files import packed
from tests.support.network.fake_services import open_world
from tests.support.network.http_server import Answer, Received, WireServer


@pytest.fixture
def analyst(user: User) -> User:
    """Somebody with a research over a library that they may change."""
    user.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    return user


def report(user: User) -> Any:
    return json.loads(user.run("report", "tides", "--json").out)


def test_sources_that_did_not_change_are_unchanged(analyst: User) -> None:
    done = analyst.run("refresh", "tides", "--json").json
    assert {row["status"] for row in done["sources"]} == {"unchanged"}
    assert (done["sentences"], done["fetched"], done["revised"]) == ([], 0, None)
    assert "stays as it is" in analyst.run("refresh", "tides", "--rewrite").out


def test_a_changed_file_is_named_with_its_new_wording_and_mended(analyst: User) -> None:
    assert any("40 kilowatts" in row["quote"] for row in report(analyst)["citations"])
    analyst.write("library/mills.md", DOCUMENTS["mills.md"].replace("power in 1850.", "power in 1850, indeed."))
    done = analyst.run("refresh", "tides", "--json").json
    (changed,) = [row for row in done["sources"] if row["status"] == "changed"]
    assert changed["url"] == "mills.md"
    assert any("indeed" in quote["nearest"] for quote in changed["quotes"] if not quote["stands"])
    assert done["sentences"]
    texts = {row["text"] for row in done["sentences"]}
    mended = analyst.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    assert (mended["version"], mended["calls"], set(mended["sentences_removed"])) == (2, 0, texts)
    assert any("indeed." in text for text in mended["sentences_added"])
    assert any("indeed." in row["quote"] for row in report(analyst)["citations"])
    assert any("indeed." in claim["text"] for claim in report(analyst)["claims"])
    analyst.run("prune", environ={"GRAPH_RESEARCH_DEEP_RESEARCH_ARCHIVE_RETENTION_DAYS": "1"})
    assert analyst.run("verify", "tides", "--json").json["invalid"] == 0
    again = analyst.run("refresh", "tides", "--json").json
    assert ({row["status"] for row in again["sources"]}, again["sentences"]) == ({"unchanged"}, [])
    analyst.write("library/mills.md", DOCUMENTS["mills.md"])
    back = analyst.run("refresh", "tides", "--json").json
    assert [row["url"] for row in back["sources"] if row["status"] == "changed"] == ["mills.md"]


@pytest.mark.parametrize(
    ("now", "quoted"),
    [
        ("An adult pays 165 crowns for a return ticket to Sandholm.", True),
        ("The price of a return trip to Sandholm is 165 crowns for each adult passenger.", True),
        ("Children under six need no ticket of their own to Sandholm.", False),
        ("", False),
    ],
)
def test_the_new_wording_that_is_shown_is_quoted_and_nothing_that_stood_there_before(
    user: User, now: str, quoted: bool
) -> None:
    page = "# Tariff\n\n{}\n\nThe ferry to Sandholm leaves every hour. An adult dog needs a ticket on the ferry.\n"
    before = "A return ticket for an adult costs 140 crowns on the ferry to Sandholm."
    user.write("tariff/tariff.md", page.format(before))
    user.run("run", "What does the ferry to Sandholm cost?", "--library", "tariff", "--run-id", "tides")
    user.write("tariff/tariff.md", page.format(now))
    done = user.run("refresh", "tides", "--rewrite", "--json").json
    shown = {quote["nearest"] for row in done["sources"] for quote in row["quotes"] if not quote["stands"]}
    assert shown == ({now} if quoted else {""})
    assert set(done["revised"]["sentences_removed"]) == {before}
    assert set(done["revised"]["sentences_added"]) == ({now} if quoted else set())
    notice = report(user)["notice"]
    said = "sentences whose source changed, rewritten or left out: Tariff"
    assert (said if quoted else "without the sentences whose source changed: Tariff") in notice


@pytest.mark.parametrize(("now", "said"), [("165 crowns", "165 crowns"), (None, "")])
def test_a_question_after_a_refresh_is_not_answered_from_what_was_archived_of_changed_sources(
    user: User, now: str | None, said: str
) -> None:
    page = "# Tariff\n\nA return ticket for an adult costs {} on the ferry to Sandholm.\n"
    user.write("tariff/tariff.md", page.format("140 crowns"))
    user.write("tariff/dogs.md", "# Dogs\n\nA dog on the ferry to Sandholm wears a muzzle.\n")
    user.run("run", "What does the ferry to Sandholm cost?", "--library", "tariff", "--run-id", "tides")
    if now:
        user.write("tariff/tariff.md", page.format(now))
    else:
        (user.folder / "tariff/tariff.md").unlink()
    user.run("refresh", "tides", "--rewrite")
    answered = user.run("ask", "tides", "What does an adult pay for a return ticket to Sandholm?", "--json").json
    added = " ".join(answered["sentences_added"])
    assert "140 crowns" not in added
    assert said in added


BOATS = "# Boats\n\n| Boat | Built | Inspected | Seats |\n|---|---|---|---|\n| Heron | 1998 | 12 May 2023 | 4 |\n"
TEAL = "| Teal | 2016 | 3 March 2024 | 4 |\n"


@pytest.mark.parametrize(
    ("now", "cells"),
    [
        (BOATS + "| Teal | 2019 | 9 April 2025 | 5 |\n", ["Teal", "2019", "9 April 2025", "5"]),
        (BOATS + "| Scoter | 2016 | 9 April 2025 | 5 |\n| Teal | 2016 | | 2 |\n", ["Teal", "2016", "–", "2"]),
        (BOATS + "| Scoter | 2016 | 3 March 2024 | 2 |\n", None),
        (BOATS.replace("Seats", "Oars") + TEAL.replace("2024", "2025"), None),
    ],
    ids=["changed", "emptied", "gone", "under another header"],
)
def test_a_changed_row_of_a_table_takes_the_place_of_the_old_one(user: User, now: str, cells: list[str] | None) -> None:
    user.write("boats/boats.md", BOATS + TEAL)
    user.run(
        "run", "How many seats has each boat and when was it inspected?", "--library", "boats", "--run-id", "tides"
    )
    user.write("boats/boats.md", now)
    revised = user.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    [table] = [block for block in report(user)["short_answer"] if block["rows"]]
    rows = [[cell["text"] for cell in row] for row in table["rows"]]
    assert rows == [["Heron", "1998", "12 May 2023", "4"], *([cells] if cells else [])]
    claims = [claim["text"] for claim in report(user)["claims"]]
    assert [text for text in claims if "Teal" in text] == ([" ".join(cells).replace(" –", "")] if cells else [])
    assert (revised["calls"], user.run("verify", "tides", "--json").json["invalid"]) == (0, 0)


MENDED = "In 1850 a large tide mill on the coast gave about 50 kilowatts of power."


@pytest.mark.parametrize(
    ("answer", "added"),
    [
        ({"n": 1, "action": "rewrite", "text": MENDED, "kind": "fact"}, MENDED),
        ({"n": 1, "action": "drop"}, None),
        ({"n": 7, "action": "drop"}, "A large tide mill on the coast gave about 50 kilowatts of power in 1850."),
    ],
)
def test_a_model_mends_each_touched_section_in_one_call(user: User, answer: Any, added: str | None) -> None:
    spec = user.script("mender.json", {"*": ["?"] * 80, "section_mender": [{"sentences": [answer]}] * 4})
    asked = ("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    user.run(*asked, "--role", f"report={spec}")
    user.write("library/mills.md", DOCUMENTS["mills.md"].replace("40 kilowatts", "50 kilowatts"))
    mended = user.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    assert any("40 kilowatts" in text for text in mended["sentences_removed"])
    assert set(mended["sentences_added"]) == ({added} if added else set())
    assert 1 <= mended["calls"] <= 3
    assert user.run("verify", "tides", "--json").json["invalid"] == 0


def test_a_model_mends_the_cell_whose_source_changed_and_not_the_one_that_reads_alike(user: User) -> None:
    dam = "# {0}\n\nThe gates of the {0} Dam weigh {1} tonnes.\n"
    for name in ("Alder", "Birch"):
        user.write(f"dams/{name}.md", dam.format(name, 40))
    asked = ("What do the gates of the Alder Dam and of the Birch Dam weigh?", "--library", "dams")
    user.run("run", *asked, "--run-id", "first")
    quoted = {
        row["quote"]: row["evidence_id"] for row in json.loads(user.run("report", "first", "--json").out)["citations"]
    }
    cells = {quote.split()[4]: {"text": "40 tonnes", "evidence_ids": [name]} for quote, name in quoted.items()}
    rows = [{"label": label, "cells": [cell]} for label, cell in sorted(cells.items())]
    section = {"heading": "Weights", "answers": "weights", "form": "table", "findings": [1, 2], "words": 50}
    spec = user.script(
        "writer.json",
        {
            "*": ["?"] * 80,
            "outliner": [{"sections": [section]}],
            "section_writer": [{"blocks": [{"type": "table", "header": ["Dam", "Weight"], "rows": rows}]}],
            "section_mender": [{"sentences": [{"n": n, "action": "rewrite", "text": "50 tonnes"} for n in (1, 2)]}],
        },
    )
    user.run("run", *asked, "--run-id", "tides", "--max-iterations", "1", "--role", f"report={spec}")
    user.write("dams/Alder.md", dam.format("Alder", 50))
    mended = user.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    assert mended["calls"] == 1
    [table] = [block for section in report(user)["sections"] for block in section["blocks"] if block["rows"]]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [["Alder", "50 tonnes"], ["Birch", "40 tonnes"]]
    assert user.run("verify", "tides", "--json").json["unsupported"] == 0


def test_a_model_that_cannot_be_asked_is_named_before_anything_is_read_and_another_may_write(user: User) -> None:
    spec = user.script("mender.json", {"*": ["?"] * 80})
    asked = ("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    user.run(*asked, "--role", f"report={spec}")
    user.write("library/mills.md", DOCUMENTS["mills.md"].replace("40 kilowatts", "50 kilowatts"))
    refused = user.run("refresh", "tides", "--rewrite", "--llm", "anthropic:claude-sonnet-5-5", expect=2)
    assert "ANTHROPIC_API_KEY is not set" in refused.err
    assert "name another model" in refused.err
    assert not refused.out
    (user.folder / "mender.json").unlink()
    assert user.run("refresh", "tides", "--rewrite", expect=2).out == ""
    assert user.run("versions", "tides", "--json").json[-1]["version"] == 1
    quoted = user.run("refresh", "tides", "--rewrite", "--llm", "extractive", "--json").json["revised"]
    assert (quoted["version"], quoted["calls"]) == (2, 0)
    assert any("50 kilowatts" in text for text in quoted["sentences_added"])


def test_a_conflict_with_a_changed_value_stays_a_conflict_with_the_new_one(user: User) -> None:
    said = "salmon smolt mortality at the Marrow Bay tidal lagoon was {}."
    study = f"The tagging study found that {said.format('4.2 percent')} It followed 400 fish with tags."
    user.write("papers/study.md", f"# Passage study\n\n{study}\n")
    forum = user.write("papers/forum.md", f"# Angling forum\n\nAccording to our nets, {said.format('11 percent')}\n")
    question = "What was salmon smolt mortality at the Marrow Bay tidal lagoon?"
    user.run("run", question, "--library", "papers", "--run-id", "tides", "--max-iterations", "1")
    assert values(user) == [{"4.2 percent", "11 percent"}]
    forum.write_text(forum.read_text().replace("11 percent", "13 percent"))
    changed = user.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    assert (values(user), changed["contradictions_removed"]) == ([{"4.2 percent", "13 percent"}], [])
    assert user.run("verify", "tides", "--json").json["invalid"] == 0
    forum.write_text(forum.read_text().replace("13 percent", "4.2 percent"))
    settled = user.run("refresh", "tides", "--rewrite", "--json").json["revised"]
    assert (values(user), len(settled["contradictions_removed"])) == ([], 1)


def values(user: User) -> list[set[str]]:
    """The values of the sides of each contradiction in the report."""
    return [{side["value"] for side in row["sides"]} for row in report(user)["contradictions"]]


def test_a_file_that_was_removed_is_gone_before_and_after_its_folder_is_indexed_again(analyst: User) -> None:
    url = report(analyst)["sources"][0]["url"]
    (analyst.folder / "library" / url).unlink()
    for _ in range(2):
        done = analyst.run("refresh", "tides", "--json").json
        assert [row["url"] for row in done["sources"] if row["status"] == "gone"] == [url]
        analyst.run("library", "add", "library")
    analyst.run("library", "remove", "library")
    assert {row["status"] for row in analyst.run("refresh", "tides", "--json").json["sources"]} == {"not_checked"}


def test_a_document_of_an_archive_is_compared_with_itself(user: User) -> None:
    archive = user.folder / "papers" / "old" / "a.zip"
    archive.parent.mkdir(parents=True)
    members = {"aaa.txt": "Salmon smolts swim.", "notes/mills.md": DOCUMENTS["mills.md"]}
    archive.write_bytes(packed(members))
    user.run("run", QUESTION, "--library", "papers", "--run-id", "tides", "--max-iterations", "1")
    (source,) = [row for row in report(user)["sources"] if row["n"]]
    assert source["url"] == "old/a.zip/notes/mills.md"
    archive.write_bytes(packed({**members, "aaa.txt": "Seals swim."}))
    assert refreshed_status(user) == ["unchanged"]
    archive.write_bytes(packed({**members, "notes/mills.md": DOCUMENTS["mills.md"].replace("40", "50")}))
    assert refreshed_status(user) == ["changed"]
    archive.write_bytes(packed({**members, "notes/mills.md": b""}))
    assert refreshed_status(user) == ["not_checked"]
    archive.write_bytes(packed({"aaa.txt": members["aaa.txt"]}))
    assert refreshed_status(user) == ["gone"]


def test_a_document_of_two_archives_of_one_name_is_compared_with_that_of_its_own_folder(user: User) -> None:
    own, other = user.folder / "mine" / "a.zip", user.folder / "alien" / "a.zip"
    own.parent.mkdir()
    other.parent.mkdir()
    own.write_bytes(packed({"mills.md": DOCUMENTS["mills.md"]}))
    other.write_bytes(packed({"mills.md": DOCUMENTS["mills.md"].replace("40", "70")}))
    user.run("library", "add", "alien")
    user.run("run", QUESTION, "--library", "mine", "--run-id", "tides", "--max-iterations", "1")
    assert refreshed_status(user) == ["unchanged"]
    own.write_bytes(packed({"mills.md": DOCUMENTS["mills.md"].replace("40", "50")}))
    (row,) = user.run("refresh", "tides", "--json").json["sources"]
    assert row["status"] == "changed"
    assert any("50 kilowatts" in quote["nearest"] for quote in row["quotes"])


def test_of_two_folders_of_one_name_that_of_the_run_is_read(user: User) -> None:
    for folder, value in (("old/papers", "40"), ("new/papers", "70")):
        user.write(f"{folder}/mills.md", DOCUMENTS["mills.md"].replace("40", value))
    user.run("library", "add", "new/papers")
    user.run("run", QUESTION, "--library", "old/papers", "--run-id", "tides", "--max-iterations", "1")
    assert refreshed_status(user) == ["unchanged"]
    user.write("old/papers/mills.md", DOCUMENTS["mills.md"].replace("40", "50"))
    assert refreshed_status(user) == ["changed"]
    user.run("library", "remove", "old/papers")
    assert refreshed_status(user) == ["not_checked"]


def test_pages_that_cannot_be_had_touch_nothing(user: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls") as world:
        asked = ("run", "How high are the tides?", "--llm", "extractive", "--search", "searxng", "--run-id", "tides")
        user.run(*asked, "--max-iterations", "1", environ=world.environ())
        environ = world.environ()
    done = user.run("refresh", "tides", "--json", environ=environ).json
    assert {row["status"] for row in done["sources"]} <= {"not_checked"}
    assert done["sentences"] == []


DATED = "Mon, 02 Jan 2023 10:00:00 GMT"


@pytest.fixture
def surfer(user: User) -> Iterator[tuple[User, WireServer, dict[str, str]]]:
    """Somebody with a research over five pages of a server, and the environment in which they may be read."""
    with WireServer() as server:
        names = ["kept", "moved", "gone", "retracted", "elsewhere"]
        for name in names:
            validators = {"kept": {"etag": '"v1"', "last-modified": DATED}}
            html = {"content-type": "text/html", **validators.get(name, {})}
            server.on(f"/{name}", Answer(body=server_text(name), headers=html))
        hits = [
            {"url": f"{server.url}/{name}", "text": f"Tides of {name} bay", "metadata": {"extent": "snippet"}}
            for name in names
        ]
        script = user.write("found.json", json.dumps([{"hits": hits}]))
        environ = {"GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": f"127.0.0.1:{server.port}"}
        asked = ("run", "How high are the tides?", "--llm", "extractive", "--search", f"scripted:{script}")
        user.run(*asked, "--max-iterations", "1", "--length", "long", "--run-id", "tides", environ=environ)
        server.received.clear()
        yield user, server, environ


def test_pages_are_asked_for_only_where_they_changed_and_each_fate_is_named(
    surfer: tuple[User, WireServer, dict[str, str]],
) -> None:
    user, server, environ = surfer
    cited = {row["url"].rsplit("/", 1)[1] for row in report(user)["sources"] if row["n"]}
    assert cited == {"kept", "moved", "gone", "retracted", "elsewhere"}

    def unless_known(request: Received) -> Answer:
        known = (request.headers.get("if-none-match"), request.headers.get("if-modified-since")) == ('"v1"', DATED)
        return Answer(status=304) if known else Answer(body="<p>Something else.", headers={"content-type": "text/html"})

    server.on("/kept", unless_known)
    server.on("/moved", Answer(status=301, headers={"location": "/new"}))
    server.on("/new", Answer(body=server_text("moved"), headers={"content-type": "text/html"}))
    server.on("/elsewhere", Answer(status=302, headers={"location": "/temporary"}))
    server.on("/temporary", Answer(body=server_text("elsewhere"), headers={"content-type": "text/html"}))
    server.on("/gone", Answer(status=410))
    notice = "<p>This report has been withdrawn by its publisher.</p>"
    server.on("/retracted", Answer(body=notice + server_text("retracted"), headers={"content-type": "text/html"}))

    done = user.run("refresh", "tides", "--json", environ=environ).json
    fate = {row["url"].rsplit("/", 1)[1]: row for row in done["sources"]}
    assert {name: row["status"] for name, row in fate.items()} == {
        "kept": "unchanged",
        "moved": "moved",
        "gone": "gone",
        "retracted": "retracted",
        "elsewhere": "unchanged",
    }
    assert fate["moved"]["address"] == f"{server.url}/new"
    vanished = {quote["citation"] for name in ("gone", "retracted") for quote in fate[name]["quotes"]}
    assert vanished == {name for row in done["sentences"] for name in row["citations"]}
    mended = user.run("refresh", "tides", "--rewrite", "--json", environ=environ).json["revised"]
    assert (mended["version"], mended["calls"]) == (2, 0)
    assert user.run("verify", "tides", "--json").json["invalid"] == 0


def server_text(name: str) -> str:
    text = f"The tides of {name} bay are {len(name)} metres high at the {name} pier, says the pilot."
    return f"<title>{name}</title><p>{text}</p>"


def refreshed_status(user: User) -> list[str]:
    return [row["status"] for row in user.run("refresh", "tides", "--json").json["sources"]]
