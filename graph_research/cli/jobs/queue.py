"""The queue of the data home, as commands see it: jobs that have no run yet, and jobs that a command takes over."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any

from graph_research.app.runs.status import RunSummary, delete_run, list_runs, run_status
from graph_research.app.store import connections_to, open_store
from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint, UserMistake, check_name
from graph_research.graph.errors import RunBusy, RunExists, UnknownRun
from graph_research.graph.statuses import Cause, RunStatus
from graph_research.jobs import backends
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.jobs.job import LOCAL_USER, Job, JobStatus
from graph_research.jobs.store import JobStore
from graph_research.research.retrieval.fidelity import content_fidelity_of
from graph_research.settings.home import Home

QUEUED = "queued"
"""How a run is shown that has not begun."""
START_WORKER = "`graph-research worker` starts another"
_LISTED = 1_000
_SHOWN: dict[JobStatus, tuple[str, str | None]] = {
    JobStatus.QUEUED: (QUEUED, None),
    JobStatus.PROCESSING: (RunStatus.RUNNING, None),
    JobStatus.AWAITING_INPUT: (RunStatus.AWAITING_INPUT, None),
    JobStatus.COMPLETED: (RunStatus.COMPLETED, None),
    JobStatus.FAILED: (RunStatus.FAILED, Cause.ERROR),
    JobStatus.CANCELLED: (RunStatus.ABORTED, Cause.CANCELLED),
    JobStatus.EXPIRED: (RunStatus.ABORTED, Cause.TIMEOUT),
}
"""Status and cause of a run by the status of its job, where nothing but the job is there."""


class RunNotBegun(UserMistake):
    """A run of which there is only the job."""


class RunOfService(UserMistake):
    """A run that a user of the service waits for."""


def open_jobs(home: Home) -> AbstractAsyncContextManager[JobStore]:
    """The jobs of the data home or its database, whose store of runs must be there."""
    return backends.open_jobs(home.runs_db, partial(connections_to, home))


async def job_of(home: Home, run_id: str) -> Job | None:
    """The job that a run belongs to; None where there is none, or no queue that could be read."""
    async with open_jobs(home) as jobs:
        try:
            return await jobs.find(run_id)
        except JobStoreUnusable:
            return None


async def status_of_run(workspace: Workspace, run_id: str) -> tuple[RunSummary, Job | None]:
    """Where a run stands, also before it has begun, and its job. `UnknownRun` where there is neither."""
    job = await job_of(workspace.home, check_name(run_id, "run id"))
    try:
        status = await run_status(workspace, run_id)
    except UnknownRun:
        if job is None:
            raise
        return summary_of(job), job
    waits = job is not None and job.status == JobStatus.QUEUED
    return replace(status, status=QUEUED, interrupted=False) if waits else status, job


def is_of_service(job: Job) -> bool:
    """Whether a user of the service waits for the run of a job: no command goes on with it."""
    return not job.keeps_run and not job.is_over


async def list_with_queued(workspace: Workspace) -> list[dict[str, Any]]:
    """Every run, as `list_runs` gives them, and the jobs of the command line that have none: since they wait for it, or
    failed before it. The newest first."""
    runs = await list_runs(workspace)
    async with open_jobs(workspace.home) as jobs:
        try:
            own = {job.id: job for job in await jobs.jobs(LOCAL_USER, limit=_LISTED)}
        except JobStoreUnusable:
            return runs
    queued = {job.id for job in own.values() if job.status == JobStatus.QUEUED}
    shown = [{**run, "status": QUEUED, "interrupted": False} if run["run_id"] in queued else run for run in runs]
    for run in runs:
        own.pop(run["run_id"], None)
    shown += [_listed(job) for job in own.values() if not job.is_over or job.status == JobStatus.FAILED]
    return sorted(shown, key=lambda run: str(run["created_at"]), reverse=True)


def _listed(job: Job) -> dict[str, Any]:
    status, cause = _SHOWN[job.status]
    return {
        "run_id": job.run_id,
        "question": job.question,
        "status": status,
        "cause": cause,
        "graph": job.request["run"]["graph"],
        "created_at": job.created_at.isoformat(),
        "interrupted": False,
    }


def summary_of(job: Job) -> RunSummary:
    """Where a run stands of which there is only the job."""
    status, cause = _SHOWN[job.status]
    return RunSummary(
        run_id=job.run_id,
        status=status,
        cause=cause,
        error=None if job.error is None else job.error.message,
        question=job.question,
        graph=job.request["run"]["graph"],
        phase=None,
        iteration=1,
        step=0,
        sources=0,
        findings=0,
        interrupted=False,
        waiting_for=None,
        pause=None,
        limit=None,
        retries=[],
        usage=[],
        content_fidelity=content_fidelity_of({}).to_json(),
        archive_error="",
        created_at=job.created_at.isoformat(),
        updated_at=job.updated_at.isoformat(),
    )


async def needed_runs(workspace: Workspace) -> set[str]:
    """The ids of runs that jobs of the queue or of the service need."""
    async with open_jobs(workspace.home) as jobs:
        try:
            return await jobs.needed_runs()
        except JobStoreUnusable:
            return set()


async def cancel_job(workspace: Workspace, run_id: str) -> Job | None:
    """Cancel the job of a run, and return it; None where there is none."""
    job = await job_of(workspace.home, run_id)
    if job is None or job.is_over:
        return job
    async with open_jobs(workspace.home) as jobs:
        return await jobs.cancel(job.user, run_id)


async def check_no_job(workspace: Workspace, run_id: str) -> None:
    """`RunExists` where the id is that of a queued run."""
    job = await job_of(workspace.home, check_name(run_id, "run id"))
    if job is not None and not job.is_over:
        raise RunExists(
            f"a queued run {run_id} exists", help="choose another id", hint=Hint(Action.SHOW_STATUS, run_id)
        )


async def explain_unknown(home: Home, error: UnknownRun) -> UserMistake:
    """`RunNotBegun` in the place of an unknown run of which there is a job, else the same error."""
    job = await job_of(home, error.run_id)
    if job is None:
        return error
    status, hint = _SHOWN[job.status][0], Hint(Action.SHOW_STATUS, job.run_id)
    if job.is_over:
        return RunNotBegun(f"run {job.run_id} is {status} and never began", hint=hint)
    return RunNotBegun(
        f"run {job.run_id} is {status} and has not begun",
        help=f"it begins when a worker is free, and {START_WORKER}",
        hint=hint,
    )


async def take_over(workspace: Workspace, run_id: str) -> None:
    """Take a run that no worker drives out of the queue, so that this command drives it. `UnknownRun` where there is
    only a job, `RunOfService` where a user of the service waits for the run."""
    job = await job_of(workspace.home, check_name(run_id, "run id"))
    if job is None or job.is_over:
        return
    async with open_store(workspace.home) as store:
        await store.run_row(run_id)
    await _withdraw(workspace, job)


async def delete_with_job(workspace: Workspace, run_id: str) -> None:
    """Remove a run and its job, of which one may be missing. `RunBusy` while somebody drives it."""
    job = await job_of(workspace.home, check_name(run_id, "run id"))
    if job is not None and not job.is_over and not await _withdraw(workspace, job):
        raise RunBusy(f"run {run_id} is driven by a worker", help="cancel it", hint=Hint(Action.CANCEL_RUN, run_id))
    try:
        await delete_run(workspace, run_id)
    except UnknownRun:
        if job is None:
            raise
    if job is not None:
        async with open_jobs(workspace.home) as jobs:
            await jobs.delete(run_id)


async def _withdraw(workspace: Workspace, job: Job) -> bool:
    if is_of_service(job):
        raise RunOfService(
            f"run {job.run_id} is a job of the service's user {job.user}", help="answer or cancel it there"
        )
    async with open_jobs(workspace.home) as jobs:
        return await jobs.withdraw(job.id)
