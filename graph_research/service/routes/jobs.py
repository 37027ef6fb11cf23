"""Jobs: submitted, listed and looked at."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from graph_research.app.runs.run import new_run_id
from graph_research.jobs.job import Job
from graph_research.jobs.rows import cursor_of
from graph_research.service.backend import FromBackend, FromUser
from graph_research.service.http.problems import problems
from graph_research.service.models import JobPage, JobResource, JobSubmission
from graph_research.service.rate_limit import Quota
from graph_research.service.submission import submit

router = APIRouter(prefix="/api/research", tags=["jobs"])
Limit = Annotated[int, Query(ge=1, le=100, description="Jobs of a page at most")]
Before = Annotated[
    str | None,
    Query(pattern=r"^[0-9]{1,16}~[a-z0-9][a-z0-9_-]{0,63}$", description="`next` of the page that this one follows"),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A second request with the same key gives the first one's job",
    ),
]


@router.post("/jobs", status_code=202, responses=problems(401, 413, 422, 429))
async def submit_job(
    submission: JobSubmission,
    backend: FromBackend,
    user: FromUser,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JobResource:
    """Submit a question. The job is queued at once; its status, events and result are at its address."""
    return queued(
        response,
        *await submit(backend, submission, user=user.name, job_id=new_run_id(), idempotency_key=idempotency_key),
    )


@router.get("/jobs", responses=problems(401, 422))
async def list_jobs(backend: FromBackend, user: FromUser, before: Before = None, limit: Limit = 50) -> JobPage:
    """The user's jobs, the newest first."""
    jobs = await backend.jobs.jobs(user.name, before=before, limit=limit + 1)
    shown = jobs[:limit]
    return JobPage(jobs=[*map(JobResource.of, shown)], next=cursor_of(shown[-1]) if len(jobs) > limit else None)


@router.get("/jobs/{job_id}", responses=problems(401, 404, 422))
async def get_job(job_id: str, backend: FromBackend, user: FromUser) -> JobResource:
    """Where a job stands."""
    return JobResource.of(await backend.jobs.get(user.name, job_id))


def queued(response: Response, job: Job, quota: Quota) -> JobResource:
    """The answer to a request that has queued a job: with its address, and what is left of the user's quota."""
    response.headers["Location"] = f"/api/research/jobs/{job.id}"
    response.headers.update(quota.headers())
    return JobResource.of(job)
