"""The reference pages name what there is, all of it and nothing else: commands, options, settings, report fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
import typer

from graph_research.cli import _application, errors
from graph_research.graph.checkpoint.ports import Maintenance, RunLog, TextStore
from graph_research.providers.keys import KEYS
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import StatementKind
from graph_research.research.report.labels.languages import labels_for
from graph_research.settings.config import Settings
from graph_research.settings.folder_policy import why_not
from graph_research.settings.sources import ENV_PREFIX

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
SYNOPSIS = re.compile(r"^```text\n(graph-research .*?)^```$", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
ROW = re.compile(r"^\| `(?P<name>[^`]+)` \|(?P<rest>.*)\|$", re.MULTILINE)


def every_command() -> Iterator[tuple[str, Any]]:
    """Every command with its words, such as `graph export`; those that only group others are left out."""
    waiting: list[tuple[str, Any]] = [("", typer.main.get_command(_application()))]
    while waiting:
        words, command = waiting.pop()
        below = getattr(command, "commands", None)
        if below is None:
            yield words, command
        else:
            waiting += [(f"{words} {name}".strip(), one) for name, one in below.items()]


COMMANDS = dict(every_command())


def synopses() -> dict[str, str]:
    """By command, the text between its name and the next one on the page of the command line."""
    page = (REFERENCE / "command-line.md").read_text()
    known = sorted(COMMANDS, key=len, reverse=True)
    found = {}
    for line in re.split(r"^graph-research ", "".join(SYNOPSIS.findall(page)), flags=re.MULTILINE)[1:]:
        words = next((one for one in known if re.match(rf"{one}\b", line)), None)
        assert words is not None, f"the page shows a command that does not exist: graph-research {line}"
        found[words] = line.removeprefix(words)
    return found


def fields_in(page: str, heading: str) -> list[str]:
    """The first cells of the table under a heading."""
    section = page.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [match["name"] for match in ROW.finditer(section)]


def test_the_page_of_the_command_line_has_every_command_and_no_other() -> None:
    assert set(synopses()) == set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_page_shows_every_option_of_a_command_and_no_other(words: str) -> None:
    parameters = COMMANDS[words].params
    known = {name for one in parameters for name in (*one.opts, *one.secondary_opts) if name.startswith("-")}
    assert set(OPTION.findall(synopses()[words])) == known - {"--help", "-h"}


@pytest.mark.parametrize("words", COMMANDS)
def test_the_page_shows_the_arguments_of_a_command(words: str) -> None:
    synopsis = synopses()[words]
    for parameter in COMMANDS[words].params:
        if not any(name.startswith("-") for name in parameter.opts):
            assert parameter.metavar in synopsis


def test_the_page_lists_every_exit_code() -> None:
    page = (REFERENCE / "command-line.md").read_text()
    codes = {errors.DONE, errors.FAILED, errors.INVALID, errors.ABORTED, errors.WAITING, errors.INTERRUPTED}
    assert set(fields_in(page, "Exit codes")) == {str(code) for code in codes}


def test_the_page_of_settings_agrees_with_the_settings() -> None:
    page = (REFERENCE / "settings.md").read_text()
    section = page.split("\n## All settings\n", 1)[1].split("\n## ", 1)[0]
    shown = {match["name"]: [cell.strip() for cell in match["rest"].split("|")] for match in ROW.finditer(section)}
    assert list(shown) == list(Settings.model_fields)
    defaults = Settings().model_dump(mode="json")
    for name, (default, variable, meaning) in shown.items():
        assert variable == f"`{ENV_PREFIX}{name.upper()}`"
        assert ("not in a folder's file" in meaning) == (why_not(name, "x") is not None), name
        expected = "–" if defaults[name] in (None, []) else f"`{json.dumps(defaults[name])}`"
        assert default == expected, name


def test_the_page_of_settings_lists_every_key() -> None:
    assert fields_in((REFERENCE / "settings.md").read_text(), "Keys") == list(KEYS)


def test_the_page_of_the_report_has_every_field_of_its_schema() -> None:
    page = (REFERENCE / "report.md").read_text()
    schema = json.loads((ROOT / "schemas" / "report.json").read_text())
    shapes = {
        "The whole": schema,
        "A block": schema["$defs"]["CitedBlock"],
        "A statement": schema["$defs"]["CitedStatement"],
        "A citation": schema["$defs"]["Citation"],
        "A source": schema["$defs"]["ReportSource"],
        "A claim": schema["$defs"]["ReportClaim"],
        "A contradiction": schema["$defs"]["CitedContradiction"],
        "A gap": schema["$defs"]["ReportGap"],
        "The confidence": schema["$defs"]["ReportConfidence"],
        "The statistics": schema["$defs"]["ReportStatistics"],
    }
    for heading, shape in shapes.items():
        assert set(fields_in(page, heading)) == set(shape["properties"]), heading


@pytest.mark.requirement("B45")
@pytest.mark.parametrize(("field", "words"), [("kind", StatementKind), ("status", Status)])
def test_the_page_of_the_report_and_the_report_call_sentences_what_the_json_calls_them(
    field: str, words: type[StrEnum]
) -> None:
    rows = [row["rest"] for row in ROW.finditer((REFERENCE / "report.md").read_text()) if row["name"] == field]
    assert any(set(re.findall(r"`(\w+)`", rest)) == {*words} for rest in rows)
    called = labels_for("en").statuses
    assert called.keys() == {*Status}
    assert {status for status in Status if called[status] != status} == {Status.USER}


@pytest.mark.parametrize("port", [RunLog, TextStore, Maintenance], ids=lambda port: port.__name__)
def test_the_page_of_python_lists_what_a_store_of_ones_own_has_to_implement(port: type) -> None:
    rows = {match["name"]: match["rest"] for match in ROW.finditer((REFERENCE / "python.md").read_text())}
    listed = set(re.findall(r"`(\w+)`", rows[port.__name__].split("|")[0]))
    assert listed == set(port.__abstractmethods__)
