"""The worker of a data home: made of its settings, for a process of its own, or beside the service in a thread with an
event loop of its own, so that requests are answered while documents are read and ranked."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from graph_research.app.application import Application
from graph_research.app.job_runner import ResearchJobRunner, for_jobs
from graph_research.app.store import connections_to
from graph_research.app.workspace import Workspace
from graph_research.jobs.backends import open_jobs
from graph_research.jobs.store import JobStore
from graph_research.jobs.worker import Worker
from graph_research.service.libraries import without_places

if TYPE_CHECKING:
    from graph_research.app.metrics import RunMetrics

_log = logging.getLogger("graph_research.service")


@asynccontextmanager
async def open_worker(
    workspace: Workspace, *, metrics: RunMetrics | None = None
) -> AsyncIterator[tuple[Worker, JobStore]]:
    """A worker of the jobs in a data home or its database, and their store. It drives as many at once as the settings
    say: in a data home all workers together, where several machines share a database each of them."""
    home, concurrency = workspace.home, workspace.settings.research_max_concurrency
    async with (
        open_jobs(home.runs_db, partial(connections_to, home)) as jobs,
        Application(for_jobs(workspace), metrics=metrics) as app,
    ):
        await app.store.run_rows(None, 1)  # makes the file or the tables that both stores are in
        await jobs.counts()  # refuses what a newer version has made
        yield (
            Worker(
                jobs,
                ResearchJobRunner(app, redact=partial(without_places, workspace)),
                name=f"{socket.gethostname()}-{os.getpid()}",
                concurrency=concurrency,
                at_most=concurrency if home.database is None else sys.maxsize,
            ),
            jobs,
        )


class WorkerThread:
    """Drives the jobs of a data home while the context is entered; at its end they go back into the queue."""

    def __init__(self, workspace: Workspace, *, metrics: RunMetrics) -> None:
        self._workspace = workspace
        self._metrics = metrics
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._stopping = False

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self._begun.wait()
        except BaseException:  # Ctrl-C while it waits: the thread is not left behind
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def is_working(self) -> bool:
        return self._thread.is_alive() and self._worker is not None

    def notify(self) -> None:
        """Look for jobs now."""
        self._call("notify")

    def _stop(self) -> None:
        self._stopping = True
        self._call("stop")
        self._thread.join()

    def _call(self, method: str) -> None:
        if self._loop is not None and self._worker is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(getattr(self._worker, method))

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except Exception:  # noqa: BLE001 -- `readyz` says that no worker is there
            _log.exception("the worker has ended")
        finally:
            self._begun.set()

    async def _work(self) -> None:
        async with open_worker(self._workspace, metrics=self._metrics) as (self._worker, _):
            self._loop = asyncio.get_running_loop()
            self._begun.set()
            if not self._stopping:
                await self._worker.run()
