"""The service as a process on loopback."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.cli.cli_process import PATIENCE_SECONDS, CommandProcess, User, wait_until

_PROGRAM = "from graph_research.__main__ import main; main()"
_SHORT_LEASES = "from graph_research.jobs.worker import Worker; Worker.lease_seconds = 1.0; Worker.beat_seconds = 0.2\n"
"""Leases that end soon after a kill, and on a busy machine without one."""


@contextmanager
def serving(
    user: User,
    *options: str,
    environ: dict[str, str] | None = None,
    log: str = "serve.log",
    short_leases: bool = False,
) -> Iterator[tuple[CommandProcess, str]]:
    """The service as a process, killed at the end where it still runs, and its address."""
    written = user.folder / log
    with (
        written.open("w") as output,
        CommandProcess(
            [
                sys.executable,
                "-c",
                f"{_SHORT_LEASES if short_leases else ''}{_PROGRAM}",
                "serve",
                "--port",
                "0",
                *options,
            ],
            cwd=user.folder,
            env={**user.environment(), **(environ or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        try:
            yield process, said_in(written, r"serving at (\S+)\n")
        finally:
            process.kill()


def client_of(url: str, **options: Any) -> httpx.Client:
    """A client of the service at `url`, which waits for its answers as long as a busy machine may take."""
    return httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, **options)


def said_in(log: Path, pattern: str) -> str:
    """The group of `pattern` in what a service has written, as soon as it stands there."""
    wait_until(lambda: re.search(pattern, log.read_text()) is not None)
    return re.findall(pattern, log.read_text())[0]
