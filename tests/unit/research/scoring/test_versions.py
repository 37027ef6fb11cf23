"""The newest version of what a question names: by name anywhere, by date and title in a document about it alone."""

from __future__ import annotations

import pytest

from graph_research.research.models.source import Source
from graph_research.research.scoring.versions import newest_versions, older_release, version_names, versions_in
from graph_research.text.readers.plain import plain_document

QUESTION = "How do SQLite and PostgreSQL lock?"
HISTORY = "2022-12-28 (3.40.1) Fix a loop that version 3.39.0 brought.\n\nSQLite version 3.38.0"


@pytest.mark.parametrize(
    ("title", "publisher", "versions"),
    [
        ("Release History", "sqlite3", {"SQLite": "3.40.1"}),
        ("Release History of SQLite", None, {"SQLite": "3.40.1"}),
        ("Release History", "Lock Company", {"SQLite": "3.38.0"}),
        ("Release 12 with SQLite and PostgreSQL", None, {"SQLite": "3.38.0"}),
    ],
)
def test_a_list_of_releases_counts_for_the_thing_that_the_document_is_about(
    title: str, publisher: str | None, versions: dict[str, str]
) -> None:
    assert versions_in(QUESTION, title, publisher, plain_document(HISTORY)) == versions


@pytest.mark.parametrize("said", ["Git versions 2.35.1 and prior wait.", "Git versions 2.26 thru 2.35.1 wait."])
def test_a_version_that_a_sentence_names_is_not_that_of_its_document(said: str) -> None:
    question = "How does Git guard work?"
    assert (
        versions_in(question, "git-config(1)", "git", plain_document(f"Since Git version 2.20 it waits.\n\n{said}"))
        == {}
    )
    assert versions_in(question, "git-config(1)", "git", plain_document(f"{said}\n\nGit 2.39.5 GIT-CONFIG(1)")) == {
        "Git": "2.39.5"
    }


@pytest.mark.parametrize(
    ("publisher", "folder", "version"),
    [
        ("kite3.11", "", "3.11.2"),
        (None, "kite-3.11", "3.11.2"),
        ("kite3", "", "3.12"),
        ("kite", "", "3.12"),
        (None, "", "3.12"),
    ],
)
def test_a_version_above_that_of_the_manual_is_a_plan(publisher: str | None, folder: str, version: str) -> None:
    text = plain_document("Kite version 3.11.2\n\nIt waits.\n\nTo be removed in Kite version 3.12")
    assert versions_in("How does Kite lock?", "Locks", publisher, text, folder=folder) == {"Kite": version}
    plan = versions_in("How does Kite lock?", "Removed in Kite version 3.12", publisher, folder=folder)
    assert plan == {"Kite": "3.11" if version == "3.11.2" else "3.12"}


@pytest.mark.parametrize(
    ("title", "publisher", "folder", "versions"),
    [
        ("E.1. Release 15.20", None, "postgresql-15", {"PostgreSQL": "15.20"}),
        ("E.1. Release 15.20", None, "manuals", {}),
        ("E.1. Release 15.20", "Lock Company", "postgresql-15", {}),
        ("Release History of SQLite", None, "postgresql-15", {"SQLite": "3.40.1"}),
    ],
)
def test_a_document_in_a_folder_that_is_called_like_a_thing_is_about_it_where_nothing_else_says_so(
    title: str, publisher: str | None, folder: str, versions: dict[str, str]
) -> None:
    text = plain_document(HISTORY if "SQLite" in title else "This release contains a variety of fixes.")
    assert versions_in(QUESTION, title, publisher, text, folder=folder) == versions
    row = {"id": "src-0000000000", "archive_hash": f"sha256:{0:064x}", "title": title, "publisher": publisher}
    source = Source(**row, metadata={"library": folder})  # type: ignore[arg-type]
    named = {} if "SQLite" in title else versions
    assert newest_versions(QUESTION, [source]) == named


def test_the_highest_version_of_all_sources_counts_with_those_that_were_found_in_their_texts() -> None:
    history = {"publisher": "sqlite3", "metadata": {"versions": {"SQLite": "3.40.1", "Kite": "9.1"}}}
    rows = [{"title": "E.21. Release 15", "publisher": "postgresql"}, history, {"title": "SQLite version 3.9.2"}]
    sources = [
        Source(id=f"src-000000000{n}", archive_hash=f"sha256:{n:064x}", **row)  # type: ignore[arg-type]
        for n, row in enumerate(rows)
    ]
    assert list(newest_versions(QUESTION, sources).items()) == [("SQLite", "3.40.1"), ("PostgreSQL", "15")]
    scouted = [{"title": "Release 15.2", "versions": {"PostgreSQL": "15.2"}}, {"title": "no version"}]
    assert newest_versions(QUESTION, sources, scouted)["PostgreSQL"] == "15.2"


@pytest.mark.parametrize(
    ("title", "publisher", "older"),
    [
        ("E.15. Release 15.4", "postgresql", "PostgreSQL 15.4"),
        ("E.5. Release 15.14", "postgresql", ""),
        ("SQLite Release 3.8.0", None, "SQLite 3.8.0"),
        ("Write-Ahead Logging", "sqlite3", ""),
        ("Kite Release 2.1", None, ""),
        ("PostgreSQL 15 Documentation", None, ""),
        ("PostgreSQL 14.2 Documentation", None, "PostgreSQL 14.2"),
    ],
)
def test_notes_on_an_older_release_than_the_newest_are_of_that_release(
    title: str, publisher: str | None, older: str
) -> None:
    notes = Source(id="src-0000000001", archive_hash=f"sha256:{1:064x}", title=title, publisher=publisher)
    assert older_release(QUESTION, notes, ["SQLite 3.40.1", "PostgreSQL 15.14"]) == older


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (QUESTION, ["SQLite", "PostgreSQL"]),
        ("Is rsync safer than restic for backups of a small site?", ["rsync", "restic"]),
        ("Comment nginx et PostgreSQL gèrent-ils les connexions ?", ["nginx", "PostgreSQL"]),
        ("How safe is a SQLite-backed site in Baden-Baden?", ["SQLite", "Baden-Baden"]),
        ("What does it cost to run a ferry by night?", []),
    ],
)
def test_things_are_named_in_small_letters_too(question: str, names: list[str]) -> None:
    assert list(version_names(question)) == names


def test_where_nouns_have_capitals_the_names_of_things_come_before_them() -> None:
    question = "Womit sollte ein Betrieb seine Sicherungen auf einen Speicher legen, mit BorgBackup oder mit restic?"
    assert list(version_names(question))[:2] == ["BorgBackup", "restic"]
    assert version_names("Wie sichert man eine SQLite-Datenbank im laufenden Betrieb?")[0] == "SQLite"
    assert versions_in(question, "Preparing for restic version 0.14", None) == {"restic": "0.14"}


def test_the_version_of_a_document_is_none_of_what_its_title_names() -> None:
    question, text = "How many cars does the Skarvik ferry carry?", plain_document("It carries 22 cars.")
    assert versions_in(question, "Rules of the Skarvik ferry, version 2", None, text) == {}
    assert versions_in(question, "Skarvik version 2", None, text) == {"Skarvik": "2"}
    assert versions_in(question, "Manual of the Skarvik, version 2.1", None, text) == {"Skarvik": "2.1"}
    assert versions_in(question, "Manual, version 2", "Skarvik", text) == {"Skarvik": "2"}


def test_the_sections_of_a_chapter_are_no_versions() -> None:
    text = plain_document("Kite Version 20.13.2\n\nKite version 3.12\n\nIt keeps both.")
    assert versions_in("How does Kite lock?", "20.13. Version and Platform", None, text) == {"Kite": "3.12"}
