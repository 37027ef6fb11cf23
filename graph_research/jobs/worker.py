"""A worker: claims jobs, has them run, keeps their leases alive, and gives them back when it stops.

claim ──► runner.run ──► finish            every write of the worker names its claim; where the claim is lost,
  ▲           │ beside it: heartbeat       the run is no longer driven here, and nothing more is written
  │           ▼
  └──── release, when the worker stops
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.jobs.errors import ClaimLost, JobStoreUnusable
from graph_research.jobs.job import Claim, JobError, JobStatus, Outcome, ResultRow, SourceRow
from graph_research.jobs.runner import JobRunner, RunEnd
from graph_research.jobs.store import JobStore

_log = logging.getLogger(__name__)


class Worker:
    """Drives up to `concurrency` jobs of a store at once; `at_most` bounds those that all of its workers drive.

    A worker that gives no sign of life for `lease_seconds` loses its jobs; it gives one every `beat_seconds`. New jobs
    are looked for when `notify` is called, when a job ends, and every `poll_seconds`, half of which `jitter` (0 to 1)
    spreads; outdated jobs every `retention_seconds`.
    """

    lease_seconds: float = 30.0
    beat_seconds: float = 10.0
    poll_seconds: float = 1.0
    retention_seconds: float = 60.0

    def __init__(
        self,
        store: JobStore,
        runner: JobRunner,
        *,
        name: str,
        concurrency: int = 3,
        at_most: int | None = None,
        jitter: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._store = store
        self._runner = runner
        self._concurrency = concurrency
        self._at_most = concurrency if at_most is None else at_most
        self._jitter = jitter
        self._monotonic = monotonic
        self._driven: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stopping = False

    async def run(self, *, until_idle: bool = False) -> None:
        """Work until `stop` is called; with `until_idle` until no job is queued or in process. Cancelled, it stops in
        the same way: its jobs go back into the queue, their runs can go on."""
        async with asyncio.TaskGroup() as group:
            retention = group.create_task(self._retain())
            while not self._stopping:
                self._wake.clear()
                claim = await self._claim() if len(self._driven) < self._concurrency else None
                if claim is not None:
                    task = group.create_task(self._drive(claim))
                    self._driven.add(task)
                    task.add_done_callback(self._ended)
                    await asyncio.sleep(0)  # a task that is cancelled before it begins gives nothing back
                elif until_idle and not self._driven and await self._is_idle():
                    break
                else:
                    await self._pause()
            for each in (*self._driven, retention):
                each.cancel()

    def notify(self) -> None:
        """Look for jobs now."""
        self._wake.set()

    def stop(self) -> None:
        """Claim no more jobs, give those back that are driven, and end `run`."""
        self._stopping = True
        self._wake.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._driven.discard(task)
        self._wake.set()

    async def _claim(self) -> Claim | None:
        """The next job. Where this is cancelled meanwhile, it goes back into the queue."""
        claiming = asyncio.create_task(
            self._store.claim(self.name, lease_seconds=self.lease_seconds, at_most=self._at_most)
        )
        try:
            return await asyncio.shield(claiming)
        except JobStoreUnusable as error:
            _log.warning("worker %s: no job could be claimed: %s", self.name, error)
            return None
        except asyncio.CancelledError:
            with suppress(GraphResearchError):  # nothing claimed, or its lease will end
                if (claim := await claiming) is not None:
                    await self._store.release(claim)
            raise

    async def _is_idle(self) -> bool:
        try:
            counts = await self._store.counts()
        except JobStoreUnusable:
            return False
        return not counts[JobStatus.QUEUED] and not counts[JobStatus.PROCESSING]

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.poll_seconds * (0.5 + self._jitter() / 2)):
                await self._wake.wait()

    async def _drive(self, claim: Claim) -> None:
        """Drive a job until its run ends or waits, or the claim is lost; give it back when cancelled."""
        _log.info("worker %s: job %s, claim %d", self.name, claim.job.id, claim.token, extra=_ids(claim.job.id))
        try:
            await self._drive_with_heartbeat(claim)
        except asyncio.CancelledError:
            with suppress(GraphResearchError):  # lost, or its lease will end
                await self._store.release(claim)
                _log.info("worker %s: job %s is given back", self.name, claim.job.id, extra=_ids(claim.job.id))
            raise

    async def _drive_with_heartbeat(self, claim: Claim) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                heartbeat = group.create_task(self._keep_lease(claim, group))
                outcome = await self._outcome(claim, group)
                if outcome.status == JobStatus.PROCESSING:
                    raise ClaimLost(f"its run cannot go on here: {outcome.error and outcome.error.message}")
                await self._store.finish(claim, outcome)
                heartbeat.cancel()
        except* GraphResearchError as errors:
            for error in errors.exceptions:
                _log.warning("worker %s: job %s is left: %s", self.name, claim.job.id, error, extra=_ids(claim.job.id))
        else:
            _log.info("worker %s: job %s is %s", self.name, claim.job.id, outcome.status, extra=_ids(claim.job.id))

    async def _outcome(self, claim: Claim, group: asyncio.TaskGroup) -> Outcome:
        job = claim.job

        async def on_progress(stage: str, fraction: float) -> None:
            if await self._store.progress(claim, stage, fraction):
                group.create_task(self._cancel_run(job.id))

        async def on_sources(rows: Sequence[Mapping[str, Any]]) -> None:
            await self._store.put_sources(claim, [SourceRow(**row) for row in rows])

        try:
            return _outcome_of(
                await self._runner.run(
                    job.id,
                    job.request,
                    submitted_at=job.created_at,
                    answer=job.answer,
                    on_progress=on_progress,
                    on_sources=on_sources,
                )
            )
        except (ClaimLost, JobStoreUnusable):
            raise
        except GraphResearchError as error:
            return Outcome(status=JobStatus.FAILED, error=JobError(code=error.code, message=str(error)))
        except Exception as error:  # noqa: BLE001 -- whatever it is, it ends this job only
            _log.exception("worker %s: job %s failed", self.name, job.id, extra=_ids(job.id))
            unexpected = JobError(code="unexpected", message=f"unexpected error: {type(error).__name__}")
            return Outcome(status=JobStatus.FAILED, error=unexpected)

    async def _keep_lease(self, claim: Claim, group: asyncio.TaskGroup) -> None:
        """Renew the lease until it is lost, or could not be renewed while it lasted. A requested cancellation is passed
        on with every renewal, and whenever the run reports its progress, until it has ended: the run may not exist
        yet."""
        lasts_until = self._monotonic() + self.lease_seconds
        while True:
            asked_at = self._monotonic()
            try:
                if await self._store.heartbeat(claim, lease_seconds=self.lease_seconds):
                    group.create_task(self._cancel_run(claim.job.id))
                lasts_until = asked_at + self.lease_seconds
            except JobStoreUnusable as error:
                if self._monotonic() >= lasts_until:
                    raise ClaimLost(f"the lease of job {claim.job.id} could not be renewed: {error}") from error
            await asyncio.sleep(self.beat_seconds)

    async def _cancel_run(self, job_id: str) -> None:
        try:
            await self._runner.cancel(job_id)
        except GraphResearchError as error:
            _log.warning("worker %s: run %s is not cancelled yet: %s", self.name, job_id, error, extra=_ids(job_id))
        except Exception:  # noqa: BLE001 -- it is tried again with the next renewal
            _log.exception("worker %s: run %s could not be cancelled", self.name, job_id, extra=_ids(job_id))

    async def _retain(self) -> None:
        while True:
            try:
                await self._expire_and_remove()
            except GraphResearchError as error:
                _log.warning("worker %s: outdated jobs are not removed yet: %s", self.name, error)
            except Exception:  # noqa: BLE001 -- it is tried again later
                _log.exception("worker %s: outdated jobs could not be removed", self.name)
            await asyncio.sleep(self.retention_seconds)

    async def _expire_and_remove(self) -> None:
        for job in await self._store.expire():
            if job.attempt:
                await self._cancel_run(job.id)
        for job in await self._store.outdated():
            try:
                if not job.keeps_run:
                    await self._runner.remove(job.id)
                await self._store.delete(job.id)
            except JobStoreUnusable:
                raise
            except GraphResearchError as error:  # the others are removed all the same
                _log.warning("worker %s: job %s is not removed yet: %s", self.name, job.id, error, extra=_ids(job.id))


def _ids(job_id: str) -> Mapping[str, str]:
    """What a structured log shows beside a line: a job has the id of its run."""
    return {"job_id": job_id, "run_id": job_id}


def _outcome_of(end: RunEnd) -> Outcome:
    return Outcome(
        status=JobStatus(end.status),
        result=None if end.result is None else ResultRow(**end.result),
        waiting_for=end.waiting_for,
        error=None if end.error is None else JobError(code=end.error[0], message=end.error[1]),
    )
