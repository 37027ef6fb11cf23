"""The service as a process on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.cli.cli_process import CommandProcess, User, wait_until

SHORT_LEASE = (
    "from graph_research.jobs.worker import Worker; Worker.lease_seconds = 1.0; Worker.beat_seconds = 0.2\n"
    "from graph_research.__main__ import main; main()"
)
"""The command line with leases that end soon after a kill."""


@contextmanager
def serving(
    user: User, *options: str, environ: dict[str, str] | None = None, log: str = "serve.log"
) -> Iterator[tuple[CommandProcess, str]]:
    """The service as a process, killed at the end where it still runs, and its address."""
    written = user.folder / log
    with (
        written.open("w") as output,
        CommandProcess(
            [sys.executable, "-c", SHORT_LEASE, "serve", "--port", "0", *options],
            cwd=user.folder,
            env={**user.environment(), **(environ or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        try:
            wait_until(lambda: "serving at" in written.read_text())
            yield process, written.read_text().split("serving at ")[1].split()[0]
        finally:
            process.kill()
