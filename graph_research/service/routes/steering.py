"""Steering a job: its plan before it goes on, and wishes for its next phase."""

from __future__ import annotations

import json

from fastapi import APIRouter

from graph_research.app.runs.plan import read_plan
from graph_research.app.runs.steering import PlannedRun
from graph_research.jobs.job import Job
from graph_research.service.backend import Backend, FromBackend, FromUser, begun
from graph_research.service.errors import NothingYet
from graph_research.service.http.problems import problems
from graph_research.service.models import PlanBody, PlanResource, Wish, WishList

router = APIRouter(prefix="/api/research", tags=["control"])
_PLACE = "body"


@router.get("/jobs/{job_id}/plan", responses=problems(401, 404, 409, 422))
async def get_plan(job_id: str, backend: FromBackend, user: FromUser) -> PlanResource:
    """The plan that a job waits with which was submitted with `plan_first`, and what the whole is likely to take."""
    planned = await _planned(backend, await backend.jobs.get(user.name, job_id))
    shown = planned.to_json()
    return PlanResource(job_id=job_id, **{name: shown[name] for name in PlanResource.model_fields if name in shown})


@router.put("/jobs/{job_id}/plan", responses=problems(401, 404, 409, 413, 422))
async def put_plan(job_id: str, plan: PlanBody, backend: FromBackend, user: FromUser) -> PlanResource:
    """Put a plan in the place of the one that a job waits with. It goes on with it when it is answered."""
    job = await backend.jobs.get(user.name, job_id)
    await _planned(backend, job)
    await backend.app.change_plan(job.run_id, read_plan(json.dumps(plan.model_dump(exclude_none=True)), _PLACE))
    return await get_plan(job_id, backend, user)


@router.post("/jobs/{job_id}/wishes", responses=problems(401, 404, 409, 413, 422))
async def add_wish(job_id: str, wish: Wish, backend: FromBackend, user: FromUser) -> WishList:
    """Add a wish for the next phase of a job that has begun; the answer has all of them."""
    job = await backend.jobs.get(user.name, job_id)
    if job.is_over:
        raise NothingYet(f"job {job_id} is {job.status}; no phase follows that could heed a wish")
    async with begun(job):
        return WishList(job_id=job_id, wishes=await backend.app.guide(job.run_id, wish.wish))


async def _planned(backend: Backend, job: Job) -> PlannedRun:
    async with begun(job):
        planned = await backend.app.planned(job.run_id)
    if planned is None:
        raise NothingYet(f"job {job.id} is {job.status} and does not wait with a plan")
    return planned
