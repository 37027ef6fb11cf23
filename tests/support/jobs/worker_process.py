"""A worker as a process of its own, which looks for jobs and gives signs of life more often than that of the command
line: `python worker_process.py NAME CONCURRENCY AHEAD LEASE` in a working folder, with the data home in the
environment. Its clock is ahead by so many seconds, and its leases last so many."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graph_research.app.application import Application
from graph_research.app.job_runner import ResearchJobRunner, for_jobs
from graph_research.app.workspace import open_workspace
from graph_research.cli.jobs.queue import open_jobs
from graph_research.graph.context import SystemClock
from graph_research.jobs.worker import Worker


class EagerWorker(Worker):
    beat_seconds = 0.5
    poll_seconds = 0.2


async def work(name: str, concurrency: int, lease_seconds: float) -> None:
    workspace = for_jobs(open_workspace(os.environ, Path.cwd(), may_use=lambda _: None))
    async with Application(workspace) as app, open_jobs(workspace.home) as jobs:
        await app.store.run_rows(None, 1)
        worker = EagerWorker(jobs, ResearchJobRunner(app), name=name, concurrency=concurrency, at_most=100)
        worker.lease_seconds = lease_seconds
        await worker.run(until_idle=True)


def set_clock_ahead(seconds: float) -> None:
    true_time = time.time
    time.time = lambda: true_time() + seconds
    SystemClock.now = staticmethod(lambda: datetime.now(UTC) + timedelta(seconds=seconds))  # type: ignore[assignment]


if __name__ == "__main__":
    set_clock_ahead(float(sys.argv[3]))
    asyncio.run(work(sys.argv[1], int(sys.argv[2]), float(sys.argv[4])))
