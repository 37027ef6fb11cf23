"""What a job's run did, step by step: its state at each, what differs from another, a replay, and a job that goes on
from any of its steps."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from graph_research.app.runs.bundles import replay_any
from graph_research.app.runs.history import diff_runs, show_step
from graph_research.app.runs.state_edits import at_path, keys_of
from graph_research.app.runs.status import run_history, run_status
from graph_research.service.backend import FromBackend, FromUser, begun, ended_job
from graph_research.service.http.problems import problems
from graph_research.service.models import JobResource
from graph_research.service.rate_limit import count_within_limit
from graph_research.service.report_models import (
    DifferenceResource,
    ForkSubmission,
    ReplayResource,
    StandingResource,
    StateResource,
    StepList,
    StepResource,
)
from graph_research.service.routes.jobs import IdempotencyKey, queued
from graph_research.service.submission import submit_fork

router = APIRouter(prefix="/api/research", tags=["history"])
_READING = problems(401, 404, 409, 422)
Step = Annotated[int, Path(ge=0, le=2**31, description="A step's number, as the history has it")]
ValuePath = Annotated[
    str | None, Query(max_length=500, description="Of one value, such as `sub_queries.0.query`: `state` has it alone")
]
At = Annotated[str, Query(pattern=r"^(v?\d{1,9})?$", description="A step, or `v` and a version of the report")]
Current = Annotated[bool, Query(description="With the prompts and schemas that the service has now")]


@router.get("/jobs/{job_id}/standing", responses=_READING)
async def get_standing(job_id: str, backend: FromBackend, user: FromUser) -> StandingResource:
    """Where a job's run stands, and what its models took until now."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        run = await run_status(backend.app.workspace, job.run_id)
    return StandingResource(
        job_id=job_id, **{name: getattr(run, name) for name in StandingResource.model_fields if name != "job_id"}
    )


@router.get("/jobs/{job_id}/history", responses=_READING)
async def get_history(job_id: str, backend: FromBackend, user: FromUser) -> StepList:
    """Every step of a job's run until now."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        steps = await run_history(backend.app.workspace, job.run_id)
    return StepList(job_id=job_id, steps=[StepResource(**step) for step in steps])


@router.get("/jobs/{job_id}/history/{step}", responses=_READING)
async def get_state(
    job_id: str, step: Step, backend: FromBackend, user: FromUser, path: ValuePath = None
) -> StateResource:
    """The state after a step, or one value of it."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        moment = await show_step(backend.app.workspace, job.run_id, step)
    facts = {name: value for name, value in vars(moment).items() if name != "run_id"}
    if path is not None:
        facts["state"] = {path: at_path(moment.state, keys_of(path))}
    return StateResource(job_id=job_id, **facts)


@router.get("/jobs/{job_id}/diff/{other_id}", responses=_READING)
async def get_difference(
    job_id: str, other_id: str, backend: FromBackend, user: FromUser, at: At = "", other_at: At = ""
) -> DifferenceResource:
    """What differs between two jobs, between steps of them or versions of their reports."""
    jobs = [await backend.jobs.get(user.name, name) for name in (job_id, other_id)]
    sides = [f"{job.run_id}@{place}" if place else job.run_id for job, place in zip(jobs, (at, other_at), strict=True)]
    async with begun(jobs[0]), begun(jobs[1]):
        found = await backend.turns.work(user.name, partial(diff_runs, backend.app.workspace, *sides))
    return DifferenceResource(**asdict(found))


@router.post("/jobs/{job_id}/replay", responses=problems(401, 404, 409, 422, 429))
async def replay(
    job_id: str, backend: FromBackend, user: FromUser, response: Response, current: Current = False
) -> ReplayResource:
    """Run a job that has ended again on its recorded answers, without a model and a network, and compare each step.
    Counts as a submission."""
    job = await ended_job(backend, user, job_id)
    response.headers.update((await count_within_limit(backend.jobs, user.name)).headers())
    async with begun(job):
        replayed = await backend.turns.work(
            user.name, partial(replay_any, backend.app.workspace, job.run_id, current=current)
        )
    return ReplayResource(job_id=job_id, **replayed.to_json())


@router.post("/jobs/{job_id}/forks", status_code=202, responses=problems(401, 404, 409, 413, 422, 429))
async def fork(
    job_id: str,
    wanted: ForkSubmission,
    backend: FromBackend,
    user: FromUser,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JobResource:
    """A new job that goes on from a step of this one, or where it was stopped. What this one's models and searches
    answered is used again where the request is the same."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        return queued(response, *await submit_fork(backend, job, wanted, idempotency_key))
