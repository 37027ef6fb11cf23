"""A worker as a process of its own, whose leases are shorter than those of `graph-research worker`:
`python worker_process.py NAME CONCURRENCY [SECONDS]` in a working folder, with the data home in the environment. Its
clock is ahead by so many seconds."""

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


class ShortLeases(Worker):
    lease_seconds = 5.0
    beat_seconds = 0.5
    poll_seconds = 0.2


async def work(name: str, concurrency: int) -> None:
    workspace = for_jobs(open_workspace(os.environ, Path.cwd(), may_use=lambda _: None))
    async with Application(workspace) as app, open_jobs(workspace.home) as jobs:
        await app.store.run_rows(None, 1)
        worker = ShortLeases(jobs, ResearchJobRunner(app), name=name, concurrency=concurrency, at_most=100)
        await worker.run(until_idle=True)


def set_clock_ahead(seconds: float) -> None:
    true_time = time.time
    time.time = lambda: true_time() + seconds
    SystemClock.now = staticmethod(lambda: datetime.now(UTC) + timedelta(seconds=seconds))  # type: ignore[assignment]


if __name__ == "__main__":
    set_clock_ahead(float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
    asyncio.run(work(sys.argv[1], int(sys.argv[2])))
