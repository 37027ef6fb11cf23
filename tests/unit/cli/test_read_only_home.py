"""A data home that may only be read: what reads works, what writes is refused before it begins."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli.cli_process import SCRIPT, User
from tests.support.cli.cli_user import QUESTION

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" "$0" && exec "$@"'


def reading(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that finds its home read-only: by its modes, or for root, whom no mode stops, on a mount of its own."""
    command = [str(SCRIPT), *arguments]
    if os.geteuid() == 0:
        command = ["unshare", "-m", "sh", "-c", MOUNTED, str(home), *command]
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "GRAPH_RESEARCH_HOME": str(home)}
    return subprocess.run(command, env=environ, cwd=home.parent, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def home(researcher: User, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the finished research, not to be written."""
    home = tmp_path_factory.mktemp("read-only") / "home"
    shutil.copytree(researcher.home, home)
    if os.geteuid() == 0:
        if shutil.which("unshare") is None or reading(home, "--version").returncode:
            pytest.skip("root may write everything, and no mount can be made")
    else:
        for folder, _, files in os.walk(home):
            for name in files:
                Path(folder, name).chmod(0o400)
            Path(folder).chmod(0o500)
    return home


@pytest.mark.parametrize(
    "command",
    ["list", "status tides", "history tides", "show tides --step 3", "report tides", "verify tides", "replay tides"],
)
def test_stored_runs_are_read(command: str, home: Path) -> None:
    done = reading(home, *command.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    "command", ["config show", "doctor --offline", "library list", "library search pond", "graph list"]
)
def test_what_is_configured_and_indexed_is_read(command: str, home: Path) -> None:
    assert reading(home, *command.split()).returncode == 0


@pytest.mark.parametrize(
    "command", [["run", QUESTION], ["resume", "tides"], ["delete", "tides"], ["library", "add", "."]]
)
def test_what_writes_is_refused_before_it_begins(command: list[str], home: Path) -> None:
    done = reading(home, *command)
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
    assert "GRAPH_RESEARCH_HOME" in done.stderr
