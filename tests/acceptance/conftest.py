"""The command line as a user has it: the installed console script, a data home of its own, real files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "examples" / "library"
QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()
SCRIPT = Path(sys.executable).with_name("graph-research")


@dataclass(frozen=True, kw_only=True)
class Done:
    """A finished command: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class Shell:
    """One user: a folder to stand in and a data home."""

    folder: Path
    home: Path

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "HOME": str(self.folder),
            "GRAPH_RESEARCH_HOME": str(self.home),
            "LANG": "C.UTF-8",
            "COLUMNS": "120",
        }

    def start(self, *arguments: str, environment: Mapping[str, str] = {}, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(SCRIPT), *arguments],
            cwd=self.folder,
            env={**self.environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(
        self, *arguments: str, expect: int | Sequence[int] | None = 0, timeout: float = 120, **options: Any
    ) -> Done:
        """Run a command to its end; anything but the expected exit code fails the test with what was printed."""
        with self.start(*arguments, **options) as process:
            out, err = process.communicate(timeout=timeout)
        done = Done(code=process.returncode, out=out, err=err)
        assert "Traceback" not in err, err
        if expect is not None:
            expected = (expect,) if isinstance(expect, int) else expect
            assert done.code in expected, f"exit {done.code}\n--- out\n{out}\n--- err\n{err}"
        return done

    def research(self, run_id: str = "demo", *options: str, **more: Any) -> Done:
        """The demo's research, with a fixed id and time."""
        return self.run(
            "run",
            QUESTION,
            "--library",
            str(LIBRARY),
            "--run-id",
            run_id,
            "--now",
            "2026-01-01T00:00:00Z",
            *options,
            **more,
        )

    def audit(self, run_id: str) -> list[dict[str, Any]]:
        """The event log of a run; a last line cut by a kill is left out."""
        lines = (self.home / "audit" / f"{run_id}.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]


def new_shell(folder: Path) -> Shell:
    folder.mkdir(parents=True, exist_ok=True)
    return Shell(folder=folder, home=folder / "home")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return new_shell(tmp_path / "user")


@pytest.fixture
def new_user(tmp_path: Path) -> Callable[[str], Shell]:
    return lambda name: new_shell(tmp_path / name)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, Path]:
    """A finished demo run, made once; the second value is the folder of its reports. Tests only read it."""
    shell = new_shell(tmp_path_factory.mktemp("demo"))
    shell.research("demo", "--out", "out")
    return shell, shell.folder / "out"
