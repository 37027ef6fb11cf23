"""A finished report: verified again, changed, and its versions."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Response

from graph_research.app.revisions.changes import edit_claim, exclude_source, undo_last, versions_of
from graph_research.app.revisions.refresh import refresh_run
from graph_research.app.runs.bundles import verify_any
from graph_research.service.backend import FromBackend, FromUser, ended_job
from graph_research.service.http.problems import problems
from graph_research.service.libraries import library_folders
from graph_research.service.models import JobResource
from graph_research.service.rate_limit import count_within_limit
from graph_research.service.report_models import (
    ClaimEdit,
    FollowUpQuestion,
    FreshnessResource,
    RevisionResource,
    SourceExclusion,
    SourceRefresh,
    VerificationResource,
    VersionList,
    VersionResource,
)
from graph_research.service.routes.jobs import IdempotencyKey, queued
from graph_research.service.submission import chosen_models, submit_follow_up

router = APIRouter(prefix="/api/research", tags=["revisions"])
_READING, _CHANGING = problems(401, 404, 409, 422), problems(401, 404, 409, 413, 422)


@router.get("/jobs/{job_id}/verification", responses=_READING)
async def get_verification(job_id: str, backend: FromBackend, user: FromUser) -> VerificationResource:
    """Every citation of the report of a job against the archived texts, checked now."""
    job = await ended_job(backend, user, job_id)
    verification = await backend.turns.work(user.name, partial(verify_any, backend.app.workspace, job.run_id))
    return VerificationResource(job_id=job_id, **verification.to_json())


@router.get("/jobs/{job_id}/versions", responses=_READING)
async def list_versions(job_id: str, backend: FromBackend, user: FromUser) -> VersionList:
    """The versions of a report, each with the change that made it."""
    job = await ended_job(backend, user, job_id)
    versions = await versions_of(backend.app.workspace, job.run_id)
    return VersionList(job_id=job_id, versions=[VersionResource(**vars(row)) for row in versions])


@router.post("/jobs/{job_id}/edits", responses=_CHANGING)
async def edit(job_id: str, change: ClaimEdit, backend: FromBackend, user: FromUser) -> RevisionResource:
    """Make a version of the report in which a claim or sentence is changed or dropped. No model is asked."""
    job = await ended_job(backend, user, job_id)
    edited = partial(edit_claim, backend.app.workspace, job.run_id, **change.model_dump())
    revised = await backend.turns.work(user.name, edited)
    return RevisionResource.of(job_id, revised)


@router.post("/jobs/{job_id}/exclusions", responses=_CHANGING)
async def exclude(job_id: str, exclusion: SourceExclusion, backend: FromBackend, user: FromUser) -> RevisionResource:
    """Make a version of the report without a source and what rests only on it. No model is asked."""
    job = await ended_job(backend, user, job_id)
    excluded = partial(exclude_source, backend.app.workspace, job.run_id, exclusion.source)
    revised = await backend.turns.work(user.name, excluded)
    return RevisionResource.of(job_id, revised)


@router.post("/jobs/{job_id}/undo", responses=_READING)
async def undo(job_id: str, backend: FromBackend, user: FromUser) -> RevisionResource:
    """Make a version of the report without the latest change that holds."""
    job = await ended_job(backend, user, job_id)
    revised = await backend.turns.work(user.name, partial(undo_last, backend.app.workspace, job.run_id))
    return RevisionResource.of(job_id, revised)


@router.post("/jobs/{job_id}/refresh", responses=problems(401, 404, 409, 413, 422, 429))
async def refresh(
    job_id: str, wanted: SourceRefresh, backend: FromBackend, user: FromUser, response: Response
) -> FreshnessResource:
    """Read the cited sources again, and say what changed in them and which sentences that touches. Counts as a
    submission."""
    job = await ended_job(backend, user, job_id)
    chosen_models(backend.app.workspace, wanted.model)
    response.headers.update((await count_within_limit(backend.jobs, user.name)).headers())
    folders = library_folders(backend.app.workspace, user.name, None)
    refreshed = partial(
        refresh_run,
        backend.app.workspace,
        job.run_id,
        rewrite=wanted.rewrite,
        writer=wanted.model,
        may_read=folders,
    )
    done = await backend.turns.work(user.name, refreshed)
    return FreshnessResource(
        job_id=job_id,
        fetched=done.fetched,
        sources=done.freshness.sources,
        sentences=done.freshness.sentences,
        revision=None if done.revised is None else RevisionResource.of(job_id, done.revised),
    )


@router.post("/jobs/{job_id}/questions", status_code=202, responses=problems(401, 404, 409, 413, 422, 429))
async def ask(
    job_id: str,
    question: FollowUpQuestion,
    backend: FromBackend,
    user: FromUser,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> JobResource:
    """Ask a finished research on: a job of its own, whose answer joins the report as a section. It comes from the
    archived sources; only what none of them answers is searched for."""
    job = await ended_job(backend, user, job_id)
    return queued(response, *await submit_follow_up(backend, job, question, idempotency_key))
