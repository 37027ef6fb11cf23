"""Names from outside: no path, no query and no module is ever made of one that is not a plain id."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.cli import execute
from graph_research.errors import NameInvalid, check_name
from graph_research.settings.home import Home

HOSTILE = [
    "..",
    "../x",
    "a/b",
    "a\\b",
    "/etc/passwd",
    "a.b",
    "a\n",
    "a\x00",
    "A",
    "-a",
    "_a",
    "ａ",
    "a" * 65,
    "",
    "x' OR '1'='1",
    "con:",
]
COMMANDS = [
    "status NAME",
    "cancel NAME",
    "delete NAME",
    "history NAME",
    "report NAME",
    "resume NAME",
    "run question --run-id NAME",
    "graph run countdown.yaml --run-id NAME",
]
GRAPH = """\
graph: countdown
version: "1"
state: {n: {type: integer, default: 3}}
start: done
nodes: {done: {end: completed}}
edges: []
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_id_is_refused_wherever_an_id_is_wanted(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    for use in (lambda: check_name(name, "run id"), lambda: home.audit_file(name), lambda: home.crash_file(name)):
        with pytest.raises(NameInvalid):
            use()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_makes_a_path_of_a_run_id(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPH_RESEARCH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "countdown.yaml").write_text(GRAPH)
    (tmp_path / "victim").write_text("keep me")
    for name in ("../victim", "../../victim", str(tmp_path / "victim")):
        arguments = [name if word == "NAME" else word for word in command.split()]
        assert execute(arguments) == 2
        assert "is not a valid name" in capsys.readouterr().err
    assert (tmp_path / "victim").read_text() == "keep me"
    assert {path.name for path in tmp_path.iterdir()} == {"home", "countdown.yaml", "victim"}
