"""A data home that may only be read: what reads works, what writes is refused before it begins."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.cli.cli_process import ROOT, Done, User
from tests.support.cli.cli_user import QUESTION

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" "$0" && exec "$@"'
PROGRAM = """
import dataclasses, json, os, sys
from pathlib import Path
from tests.support.cli.cli_process import execute_as
folder, environ = Path.cwd(), dict(os.environ)
print(json.dumps([dataclasses.asdict(execute_as(folder, environ, words)) for words in json.loads(sys.argv[1])]))
"""
READING = [
    "list",
    "status tides",
    "history tides",
    "show tides --step 3",
    "report tides",
    "verify tides",
    "replay tides",
]
CONFIGURED = ["config show", "doctor --offline", "library list", "library search pond", "graph list"]
WRITING = [f"run '{QUESTION}'", "resume tides", "delete tides", "library add ."]


def reading(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A process that finds its home read-only: by its modes, or for root, whom no mode stops, on a mount of its own."""
    if os.geteuid() == 0:
        command = ("unshare", "-m", "sh", "-c", MOUNTED, str(home), *command)
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": str(home.parent),
        "GRAPH_RESEARCH_HOME": str(home),
    }
    return subprocess.run(command, env=environ, cwd=home.parent, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def done(researcher: User, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Done]:
    """What came of every command, in a copy of the finished research that is not to be written."""
    home = tmp_path_factory.mktemp("read-only") / "home"
    shutil.copytree(researcher.home, home)
    if os.geteuid() == 0:
        if shutil.which("unshare") is None or reading(home, "true").returncode:
            pytest.skip("root may write everything, and no mount can be made")
    else:
        for folder, _, files in os.walk(home):
            for name in files:
                Path(folder, name).chmod(0o400)
            Path(folder).chmod(0o500)
    commands = [*READING, *CONFIGURED, *WRITING]
    process = reading(home, sys.executable, "-c", PROGRAM, json.dumps([shlex.split(words) for words in commands]))
    assert process.returncode == 0, process.stderr
    return {words: Done(**row) for words, row in zip(commands, json.loads(process.stdout), strict=True)}


@pytest.mark.parametrize("command", READING)
def test_stored_runs_are_read(command: str, done: Mapping[str, Done]) -> None:
    assert (done[command].code, done[command].err) == (0, "")
    assert done[command].out


@pytest.mark.parametrize("command", CONFIGURED)
def test_what_is_configured_and_indexed_is_read(command: str, done: Mapping[str, Done]) -> None:
    assert done[command].code == 0


def test_doctor_says_so(done: Mapping[str, Done]) -> None:
    assert "home, can only be read" in done["doctor --offline"].out


@pytest.mark.parametrize("command", WRITING)
def test_what_writes_is_refused_before_it_begins(command: str, done: Mapping[str, Done]) -> None:
    assert done[command].code == 2
    assert "cannot be used" in done[command].err
    assert "GRAPH_RESEARCH_HOME" in done[command].err
