"""The files of docs/deploy name commands, options, settings, ports and files that there are, and pinned packages."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from graph_research.cli import _application, errors
from graph_research.cli.jobs.signals import STOP_SECONDS
from graph_research.service.uploads import MOST_BYTES
from graph_research.settings.config import Settings
from graph_research.settings.sources import ENV_PREFIX

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "deploy"
UNITS = sorted(FOLDER.glob("*.service"))
TEXTS = {file.name: file.read_text() for file in sorted(FOLDER.iterdir())}
CONTAINERFILE = TEXTS["Containerfile"]
COMMANDS = typer.main.get_command(_application()).commands  # type: ignore[attr-defined]
OF_PROGRAM = re.compile(r"(?:bin/| )graph-research ((?:serve|worker|token)\b[^\n]*)")
PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def commands() -> list[str]:
    arrays = [json.loads(line) for line in re.findall(r"^(?:ENTRYPOINT|CMD) (\[.*\])$", CONTAINERFILE, re.MULTILINE)]
    of_image = shlex.join(word for array in arrays for word in array[array[0] == "graph-research" :])
    lines = [line for text in TEXTS.values() for line in OF_PROGRAM.findall(text.replace("\\\n", " "))]
    return [of_image, *(line.partition(">")[0] for line in lines)]


def value(unit: str, key: str) -> str:
    return re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE)[0]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements}


@pytest.mark.parametrize("line", commands())
def test_every_command_has_its_options(line: str) -> None:
    name, *words = shlex.split(line)
    COMMANDS[name].make_context(name, words)


def test_every_variable_is_read() -> None:
    sources = "".join(file.read_text() for file in (ROOT / "graph_research").rglob("*.py"))
    for name in set(re.findall(rf"\b{ENV_PREFIX}\w+", " ".join(TEXTS.values()))):
        assert name.removeprefix(ENV_PREFIX).lower() in Settings.model_fields or f'"{name}"' in sources, name


def test_every_port_is_that_of_the_service() -> None:
    port = next(option.default for option in COMMANDS["serve"].params if option.name == "port")
    ports = re.findall(r"127\.0\.0\.1:(\d+)|EXPOSE (\d+)", " ".join(TEXTS.values()))
    assert {int(number) for pair in ports for number in pair if number} == {port}


@pytest.mark.parametrize("unit", [file.name for file in UNITS])
def test_a_unit_names_paths_in_the_folder_it_may_write(unit: str) -> None:
    folder = f"/var/lib/{value(TEXTS[unit], 'StateDirectory')}"
    assert value(TEXTS[unit], "WorkingDirectory") == folder
    assert all(path.startswith(folder) for path in re.findall(r"/var/\S+", TEXTS[unit]))
    assert value(TEXTS[unit], "ProtectSystem") == "strict"


@pytest.mark.parametrize("unit", [file.name for file in UNITS])
def test_a_unit_with_a_wrong_setting_is_not_started_again_and_again(unit: str) -> None:
    assert int(value(TEXTS[unit], "RestartPreventExitStatus")) == errors.INVALID


@pytest.mark.parametrize("unit", [file.name for file in UNITS])
def test_a_unit_is_not_killed_before_its_process_has_stopped(unit: str) -> None:
    assert int(value(TEXTS[unit], "TimeoutStopSec")) > STOP_SECONDS


@pytest.mark.parametrize("unit", [file.name for file in UNITS])
def test_a_unit_that_is_stopped_before_its_command_begins_has_not_failed(unit: str) -> None:
    assert int(value(TEXTS[unit], "SuccessExitStatus")) == errors.INTERRUPTED


def test_the_proxy_lets_every_document_through() -> None:
    megabytes = re.findall(r"client_max_body_size (\d+)m;", TEXTS["nginx.conf"])
    assert [int(size) * 2**20 >= MOST_BYTES for size in megabytes] == [True]


def test_the_image_is_built_of_what_the_package_is_built_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    wanted = {*wheel["packages"], *wheel["force-include"], project["project"]["readme"]}
    copied = {
        source
        for sources in re.findall(r"^COPY (?!--)(.*) \S+$", CONTAINERFILE, re.MULTILINE)
        for source in sources.split()
    }
    assert wanted <= copied
    assert all((ROOT / source).exists() for source in copied)


def test_the_lock_pins_the_versions_of_the_tests_with_both_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    wanted = names(
        [
            *project["project"]["dependencies"],
            *extras["postgres"],
            *extras["otel"],
            *project["dependency-groups"]["build"],
        ]
    )
    pins = {kind: dict(PIN.findall((ROOT / "requirements" / f"{kind}.txt").read_text())) for kind in ("deploy", "dev")}
    assert wanted <= set(pins["deploy"])
    assert pins["deploy"].items() <= pins["dev"].items()
