"""What is done with submitted jobs: they are answered and cancelled; and the queue that they are in."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter, BackgroundTasks

from graph_research.app.application import Application
from graph_research.app.job_runner import STEP
from graph_research.graph.errors import UnknownRun
from graph_research.graph.statuses import RunStatus
from graph_research.service.backend import Backend, FromBackend, FromUser, begun
from graph_research.service.errors import NothingYet
from graph_research.service.http.problems import problems
from graph_research.service.models import Answer, JobResource, QueueSummary
from graph_research.service.users import User

router = APIRouter(prefix="/api/research", tags=["control"])
_CONTINUE = "/continue"


@router.post("/jobs/{job_id}/step", responses=problems(401, 404, 409, 422))
async def step(job_id: str, backend: FromBackend, user: FromUser) -> JobResource:
    """Let a job that pauses before a node go on to the next one; it is queued again."""
    return await _go_on(job_id, backend, user, STEP)


@router.post("/jobs/{job_id}/continue", responses=problems(401, 404, 409, 422))
async def go_on(job_id: str, backend: FromBackend, user: FromUser) -> JobResource:
    """Let a job that pauses before a node go on to the next of those that it was asked to pause before; it is queued
    again."""
    return await _go_on(job_id, backend, user, _CONTINUE)


@router.post("/jobs/{job_id}/answer", responses=problems(401, 404, 409, 413, 422))
async def answer_job(job_id: str, answer: Answer, backend: FromBackend, user: FromUser) -> JobResource:
    """Answer the question of a job that awaits input; it is queued again."""
    job = await backend.jobs.answer(user.name, job_id, answer.answer)
    backend.notify()
    return JobResource.of(job)


@router.post("/jobs/{job_id}/cancel", responses=problems(401, 404, 422))
async def cancel_job(job_id: str, backend: FromBackend, user: FromUser, after: BackgroundTasks) -> JobResource:
    """Cancel a job. One that is driven ends soon after; one that has ended stays as it is."""
    job = await backend.jobs.cancel(user.name, job_id)
    after.add_task(cancel_run, backend.app, job_id)
    return JobResource.of(job)


@router.get("/queue/summary", responses=problems(401))
async def get_queue_summary(backend: FromBackend, user: FromUser) -> QueueSummary:
    """How many jobs the user has, by status."""
    most = backend.app.workspace.settings.research_max_concurrency
    return QueueSummary(jobs=await backend.jobs.counts(user.name), max_concurrency=most)


async def _go_on(job_id: str, backend: Backend, user: User, how: str) -> JobResource:
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        status = (await backend.app.store.run_row(job.run_id)).status
    if status != RunStatus.PAUSED:
        raise NothingYet(f"job {job_id} is {job.status} and does not pause before a node")
    job = await backend.jobs.answer(user.name, job_id, how)
    backend.notify()
    return JobResource.of(job)


async def cancel_run(app: Application, run_id: str) -> None:
    """Let the run of a cancelled job end, where it has begun."""
    with suppress(UnknownRun):
        await app.cancel(run_id)
