"""The work of a worker process: the worker, its log, and the lock of the one that ends when nothing is left to do."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from graph_research.app.workspace import Workspace
from graph_research.cli.jobs.signals import end_loop_while_starting, stopped_by_signals
from graph_research.jobs.job import JobStatus
from graph_research.jobs.store import JobStore
from graph_research.jobs.worker import Worker
from graph_research.service.logs import logged_to
from graph_research.service.worker import open_worker

_LOCKED_SECONDS = 0.5
_log = logging.getLogger("graph_research.jobs")


async def work(workspace: Workspace, *, until_idle: bool) -> None:
    """Drive queued runs until SIGINT or SIGTERM; with `until_idle` until none is left. A worker that stays, and whose
    log is not read at a terminal, writes it as JSON."""
    end_loop_while_starting()
    async with open_worker(workspace) as (worker, jobs):

        def stop() -> None:
            _log.info("worker %s: stopping; its runs go back into the queue", worker.name)
            worker.stop()

        with (
            logged_to(sys.stderr, as_json=not (until_idle or sys.stderr.isatty())),
            stopped_by_signals(stop) as stopped,
        ):
            if until_idle:
                await _work_until_idle(worker, jobs, workspace.home.worker_lock, stopped)
            else:
                most = workspace.settings.research_max_concurrency
                _log.info("worker %s: waiting for runs, %d at once", worker.name, most)
                await worker.run()


async def _work_until_idle(worker: Worker, jobs: JobStore, lock: Path, stopped: list[int]) -> None:
    """Work until nothing is left; while another such worker does that, wait for its end. A run may have been queued by
    somebody who saw this worker alive after it had looked for the last time, so it looks again without the lock."""
    waits = False
    while not stopped:
        with locked(lock) as is_mine:
            if is_mine:
                await worker.run(until_idle=True)
        if is_mine and not (await jobs.counts())[JobStatus.QUEUED]:
            return
        if not is_mine:
            if not waits:
                _log.info("another worker drives the queued runs; waiting for its end")
            waits = True
            await asyncio.sleep(_LOCKED_SECONDS)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file; false where another process holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield _lock(file)
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
