"""What a user removes: documents and jobs."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter

from graph_research.app.runs.status import delete_run
from graph_research.graph.errors import UnknownRun
from graph_research.service.backend import FromBackend, FromUser, ended_job
from graph_research.service.http.problems import problems
from graph_research.service.uploads import Uploads

router = APIRouter(tags=["deletion"])


@router.delete("/api/library/documents/{name}", status_code=204, responses=problems(401, 404, 422))
async def delete_document(name: str, backend: FromBackend, user: FromUser) -> None:
    """Delete a document."""
    await Uploads(backend.app.workspace, user.name).delete(name)


@router.delete("/api/research/jobs/{job_id}", status_code=204, responses=problems(401, 404, 409, 422))
async def delete_job(job_id: str, backend: FromBackend, user: FromUser) -> None:
    """Remove a job that has ended, with its run, report and texts."""
    job = await ended_job(backend, user, job_id)
    with suppress(UnknownRun):
        await delete_run(backend.app.workspace, job.run_id)
    await backend.jobs.remove(user.name, job_id)
