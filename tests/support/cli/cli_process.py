"""Runs the command line as a user would: a working folder, a data home, no input.

Their commands run inside this process, or as the installed console script in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from graph_research.cli import execute
from graph_research.cli.display.output import open_streams

ROOT = Path(__file__).parents[3]
SCRIPT = Path(sys.executable).with_name("graph-research")
NOW = "2026-01-01T00:00:00Z"
DEMO_LIBRARY = ROOT / "examples" / "library"
DEMO_QUESTION = (ROOT / "examples" / "question.txt").read_text().strip()


PATIENCE_SECONDS = 300.0
"""The longest wait for something that takes a second on a machine with nothing else to do."""

Expected = int | Sequence[int] | None
"""The exit code that a test expects, several that it accepts, or None for any."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """A finished command: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandProcess(subprocess.Popen[str]):
    """A command in a process of its own; a context manager that kills it where the test fails."""

    def finish(self) -> tuple[str, str]:
        """Wait for the end; standard output and standard error."""
        return self.communicate(timeout=PATIENCE_SECONDS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody with a folder and a data home; nothing of whoever runs the tests is in their environment."""

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

    def start(self, *arguments: str, environ: Mapping[str, str] | None = None, **more: Any) -> CommandProcess:
        """Start a command; `environ` is added to the environment."""
        return CommandProcess(
            [str(SCRIPT), *arguments],
            cwd=self.folder,
            env={**self.environment(), **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def run(self, *arguments: str, environ: Mapping[str, str] | None = None, expect: Expected = 0) -> Done:
        """Run a command inside this process, which saves the second that the program takes to start. An error that the
        program does not name is raised."""
        return self._checked(execute_as(self.folder, {**self.environment(), **(environ or {})}, arguments), expect)

    def run_process(self, *arguments: str, expect: Expected = 0, **more: Any) -> Done:
        """Run a command as a process: for what depends on one, such as its streams, or limits of the system."""
        with self.start(*arguments, **more) as process:
            out, err = process.finish()
        return self._checked(Done(code=process.returncode, out=out, err=err), expect)

    def _checked(self, done: Done, expect: Expected) -> Done:
        """Another exit code than expected (None: any) fails the test with what was printed. Whatever is expected, a
        command leaves no traceback and no warning, and says why it did not end with 0."""
        assert "Traceback" not in done.err, done.err
        assert "Warning" not in done.err, done.err
        if expect is not None:
            expected = (expect,) if isinstance(expect, int) else expect
            assert done.code in expected, f"exit {done.code}\n--- out\n{done.out}\n--- err\n{done.err}"
        if done.code > 0:
            assert "graph-research: " in done.err, "an exit code other than 0 is explained on standard error"
        return done

    def research(self, run_id: str = "demo", *options: str, **more: Any) -> Done:
        """The demo's research, with a fixed id and time."""
        asked = ("run", DEMO_QUESTION, "--library", str(DEMO_LIBRARY), "--run-id", run_id, "--now", NOW)
        return self.run(*asked, *options, **more)

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def script(self, name: str, replies: Mapping[str, Any]) -> str:
        """A scripted model's spec."""
        return f"scripted:{self.write(name, json.dumps(replies))}"

    def audit(self, run_id: str) -> list[dict[str, Any]]:
        """The event log of a run; a last line cut by a kill is left out."""
        lines = (self.home / "audit" / f"{run_id}.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]


def execute_as(folder: Path, environ: Mapping[str, str], arguments: Sequence[str]) -> Done:
    """Execute a command inside this process, in `folder`, with `environ` as its environment and nobody at the keys."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    handler = logging.StreamHandler(err)
    logging.getLogger().addHandler(handler)
    environ_before, keyboard = dict(os.environ), sys.stdin
    try:
        with contextlib.chdir(folder), redirect_stdout(out), redirect_stderr(err), open(os.devnull) as sys.stdin:
            _set_environment(environ)
            open_streams()
            code = execute([*arguments])
    finally:
        sys.stdin = keyboard
        _set_environment(environ_before)
        logging.getLogger().removeHandler(handler)
    return Done(code=code, out=_written(out), err=_written(err))


def _set_environment(environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def run_on_full_disk(user: User, *arguments: str, most_bytes: int, expect: Expected) -> Done:
    """Run a command as a process whose files cannot grow beyond `most_bytes`. It writes no bytecode, which would stay
    behind cut off, for every later process to fail over."""
    import resource  # not on Windows

    return user.run_process(
        *arguments,
        expect=expect,
        environ={"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes)),
    )


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until `holds()`; fail where that takes too long. It is asked for at most a quarter of the time, which leaves
    the processor to what is waited for."""
    end = time.monotonic() + PATIENCE_SECONDS
    asked = time.monotonic()
    while not holds():
        answered = time.monotonic()
        assert answered < end, "waited in vain"
        time.sleep(max(0.005, 3 * (answered - asked)))
        asked = time.monotonic()


def stop_between_writes(process: subprocess.Popen[Any], store: Path) -> None:
    """Stop a process at a moment when it does not hold the write lock of the file, which would stop all others, too."""

    def is_stopped() -> bool:
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        with contextlib.closing(sqlite3.connect(store, timeout=0.0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                process.send_signal(signal.SIGCONT)
                return False
        return True

    wait_until(is_stopped)


def new_user(folder: Path) -> User:
    """A user who stands in `folder`, which is made, and has never run anything."""
    folder.mkdir(parents=True, exist_ok=True)
    return User(folder=folder, home=folder / "home")
