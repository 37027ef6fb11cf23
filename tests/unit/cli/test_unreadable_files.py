"""Files that a user names: where one cannot be read, the message says which, of which option, why, and what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graph_research.errors import why_unreadable
from tests.support.cli.cli_process import User

RUN = ("run", "How do tide mills work?", "--library", "library")
DEBUG = ("debug", "--graph", "x.yaml", "--script")
LONG = "x" * 300
MODEL = "scripted:FILE names a JSON object of lists of answers"
SAYING = """
graph: mine
version: "1"
state: {n: {type: integer, default: 1}, said: {type: string, default: "", output: true}}
start: say
nodes:
  say: {prompt: say, input: {with: {n: n}}, into: said, schema: {type: string}}
  done: {end: completed}
edges:
  - {from: say, to: done}
"""
SEARCH = "scripted:FILE names a YAML or JSON list of answers"


@pytest.fixture
def files(user: User) -> User:
    """A user with files and folders that are not what they are named as."""
    (user.folder / "folder").mkdir()
    (user.folder / "folder.yaml").mkdir()
    (user.folder / "bytes").write_bytes(b"ab\xff")
    user.write("half.json", '{"planner": [')
    user.write("shape.json", '{"planner": 3}')
    return user


@pytest.mark.parametrize(
    ("arguments", "told", "remedy"),
    [
        (
            (*RUN, "--llm", "scripted:none"),
            "/none: the model's script cannot be read: there is no such file",
            MODEL,
        ),
        (
            (*RUN, "--llm", "scripted:folder"),
            "/folder: the model's script cannot be read: it is a folder",
            MODEL,
        ),
        (
            (*RUN, "--llm", "scripted:bytes"),
            "/bytes: the model's script cannot be read: byte 3 is no UTF-8",
            MODEL,
        ),
        (
            (*RUN, "--llm", "scripted:half.json"),
            "/half.json:1:14: the model's script is not valid JSON",
            MODEL,
        ),
        (
            (*RUN, "--llm", "scripted:shape.json"),
            "/shape.json: the model's script is not a JSON object",
            MODEL,
        ),
        (
            (*RUN, "--role", "report=scripted:none"),
            "/none: the model's script cannot be read",
            MODEL,
        ),
        (
            (*RUN, "--search", "scripted:none"),
            "/none: the search's script cannot be read: there is",
            SEARCH,
        ),
        (
            (*RUN, "--search", "scripted:half.json"),
            "/half.json:1:14: the search's script is not valid YAML",
            SEARCH,
        ),
        (
            (*RUN, "--search", "scripted:shape.json"),
            "/shape.json: the search's script is not a list",
            SEARCH,
        ),
        ((*RUN, "--graph", "none.yaml"), "there is no file '", "name a .yaml file"),
        (("graph", "validate", f"{LONG}.yaml"), "cannot be read: File name too long", "name a file"),
        (("library", "add", LONG), "cannot be read: File name too long", "name a folder"),
        (("library", "search", "mill", "--library", LONG), "cannot be read: File name too long", "name a folder"),
        (("check", LONG, "--library", "library"), "cannot be read: File name too long", "name a file"),
        (("graph", "export", "pipeline", "-o", LONG), "cannot be written: File name too long", "name another"),
        ((*RUN, "--out", LONG), "cannot be written: File name too long", "name another place"),
        (("graph", "run", "folder.yaml"), "folder.yaml' is a folder, not a graph file", "name a .yaml file"),
        (
            ("debug", "--graph", "x.yaml", "--script", "none"),
            "--script none cannot be read: there is no such file",
            "one a",
        ),
        (
            ("debug", "--graph", "x.yaml", "--script", "bytes"),
            "--script bytes cannot be read: byte 3 is no UTF-8",
            "one a",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_what_it_is_for(
    files: User, arguments: tuple[str, ...], told: str, remedy: str
) -> None:
    said = files.run(*arguments, expect=2).err
    assert told in said
    assert remedy in said
    assert "Errno" not in said
    assert "codec" not in said


def close(folder: Path) -> None:
    """Take all permissions of a folder; the test is skipped where that does not stop its process, as root."""
    folder.chmod(0)
    if os.access(folder, os.X_OK):
        pytest.skip("this process may enter every folder")


def test_a_folder_that_may_not_be_entered_is_named(files: User) -> None:
    close(files.folder / "folder")
    assert "you have no permission" in files.run("library", "add", "folder/below", expect=2).err
    assert "permission denied" in files.run("library", "add", "folder", expect=1).err
    assert "you have no permission" in files.run("graph", "validate", "folder/x.yaml", expect=2).err
    assert "you have no permission" in files.run(*RUN, "--out", "folder/below", expect=2).err


@pytest.mark.parametrize("closed", ["prompts", "prompts/say"])
def test_a_closed_folder_of_prompts_beside_a_graph_is_named(user: User, closed: str) -> None:
    user.write("own/mine.yaml", SAYING)
    user.write("own/prompts/say/user.j2", "Say {{ n }}.")
    close(user.folder / "own" / closed)
    for command in ("validate", "run"):
        said = user.run("graph", command, "own/mine.yaml", expect=2).err
        assert "/own/prompts/say" in said
        assert "cannot be read: you have no permission" in said


@pytest.mark.parametrize("kind", ["graphs", "prompts", "schemas"])
def test_a_closed_folder_that_could_override_what_is_shipped_is_named(user: User, kind: str) -> None:
    (user.folder / kind / "below").mkdir(parents=True)
    close(user.folder / kind / "below")
    for command in (("graph", "list"), RUN):
        assert f"/{kind}/below: cannot be read: you have no permission" in user.run(*command, expect=2).err


def test_settings_that_cannot_be_read_are_named_in_words(user: User) -> None:
    (user.home / "config.toml").mkdir(parents=True)
    said = user.run("list", expect=2).err
    assert "config.toml: the settings file cannot be read: it is a folder; correct or remove it" in said


def test_an_error_of_the_system_without_a_word_of_ours_keeps_the_systems() -> None:
    assert why_unreadable(OSError(40, "Too many levels of symbolic links")) == "Too many levels of symbolic links"
    assert why_unreadable(PermissionError(13, "Permission denied")) == "you have no permission to read it"
    assert why_unreadable(OSError()) == "OSError"
