"""`library add` reports every file that it does not index, and fails where a named file failed."""

import sqlite3
from contextlib import closing

import pytest

from tests.support.cli.cli_process import User


def test_every_file_that_is_not_indexed_is_listed_with_the_reason(user: User) -> None:
    user.write("library/table.xyz", "1, 2")
    user.write("library/empty.md", "")
    done = user.run("library", "add", "library", "--json")
    failed = {entry["path"].rpartition("/")[2]: entry["reason"] for entry in done.json["failed"]}
    assert failed.keys() == {"table.xyz", "empty.md"}
    assert failed["table.xyz"].startswith("unsupported file type")
    assert all(entry.keys() == {"path", "reason"} for entry in done.json["failed"])
    for name, reason in failed.items():
        assert f"not indexed: {user.folder / 'library' / name}: {reason}" in done.err


@pytest.mark.parametrize("name", ["table.xyz", "empty.md"])
def test_a_named_file_that_cannot_be_indexed_is_a_failure(name: str, user: User) -> None:
    user.write("table.xyz", "1, 2")
    user.write("empty.md", "")
    done = user.run("library", "add", "library", name, "--json", expect=1)
    assert (done.json["added"], len(done.json["failed"])) == (3, 1)
    assert f"graph-research: not indexed: {user.folder / name}" in done.err


@pytest.mark.parametrize("command", [["library", "search", "pond"], ["run", "What is a pond?", "--library", "library"]])
def test_an_embedding_model_that_is_not_there_is_named_before_anything_is_searched(
    command: list[str], user: User
) -> None:
    user.run("library", "add", "library")
    done = user.run(*command, environ={"GRAPH_RESEARCH_EMBEDDING_MODEL": "no/such/model"}, expect=2)
    assert "embedding_model 'no/such/model'" in done.err


def test_after_an_upgrade_that_needs_another_index_a_search_names_the_folders_to_add_again(user: User) -> None:
    user.run("library", "add", "library")
    with closing(sqlite3.connect(user.home / "index" / "library.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
    done = user.run("library", "search", "pond", expect=2)
    assert f"nothing is indexed of {user.folder / 'library'}" in done.err
    assert "library add" in done.err
    user.run("library", "add", "library")
    user.run("library", "search", "pond")


def test_files_of_a_type_that_is_not_read_are_counted_and_listed_one_by_one_on_demand(user: User) -> None:
    user.write("papers/notes.md", "The dam is five metres high.")
    for name in ("a.png", "b.png", "c.iso", "broken.docx"):
        user.write(f"papers/{name}", "PK\3\4")
    done = user.run("library", "add", "papers")
    assert "1 added, 0 updated, 0 unchanged, 0 removed, 1 failed, 3 of types that are not read" in done.out
    assert "broken.docx: it is damaged" in done.err
    told = [line.removeprefix("not indexed: ") for line in done.err.splitlines() if line.startswith("not indexed")]
    assert told[:2] == [
        f"{user.folder / 'papers' / 'c.iso'}: unsupported file type: its name does not tell what it is, and its "
        "content is no text in words",
        "2 files *.png: unsupported file type",
    ]
    named = user.run("library", "add", "papers", "papers/a.png", "papers/b.png", expect=1).err
    assert all(f"not indexed: {user.folder / 'papers' / name}: unsupported" in named for name in ("a.png", "b.png"))
    listed = user.run("library", "list", "--unread", "--json").json
    assert sorted(row["path"].rpartition("/")[2] for row in listed) == ["a.png", "b.png", "broken.docx", "c.iso"]
    folder = str(user.folder / "papers")
    assert user.run("library", "list", "--json").json == [{"folder": folder, "documents": 1, "unread": 4, "partly": 0}]
    user.run("library", "add", "papers/broken.docx", expect=1)


def test_a_named_file_that_gives_no_text_is_not_listed_as_a_folder(user: User) -> None:
    user.write("photo.jpg", "PK")
    user.write("broken.docx", "PK")
    user.run("library", "add", "photo.jpg", "broken.docx", "library", expect=1)
    assert [row["folder"] for row in user.run("library", "list", "--json").json] == [str(user.folder / "library")]


@pytest.mark.parametrize("text", ["", "  ", "?!"])
def test_a_search_without_a_word_is_refused(user: User, text: str) -> None:
    user.run("library", "add", "library")
    assert "has no word to look for" in user.run("library", "search", text, expect=2).err
