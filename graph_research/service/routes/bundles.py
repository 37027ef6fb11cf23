"""Runs that travel: a job as one file, and what somebody's file holds."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

from graph_research.app.runs.shared_bundle import shared_bundle
from graph_research.service.backend import FromBackend, FromUser, begun, ended_job
from graph_research.service.http.problems import problems
from graph_research.service.rate_limit import count_within_limit
from graph_research.service.report_models import BundleCheck
from graph_research.service.untrusted.checking import check_bundle, receive_bundle

PATH = "/api/research/bundles"
router = APIRouter(tags=["bundles"])
_MEDIA_TYPE = "application/octet-stream"
_BYTES = {_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}
_FILE: dict[int | str, dict[str, Any]] = {200: {"description": "The file", "content": _BYTES}}
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": _BYTES}}


@router.get(
    "/api/research/jobs/{job_id}/bundle", response_class=Response, responses=problems(401, 404, 409, 422) | _FILE
)
async def get_bundle(job_id: str, backend: FromBackend, user: FromUser) -> Response:
    """A job that has ended as one file, with which anybody can replay it and verify its report: its graph, prompts,
    recorded answers and texts. Folders and addresses of the service are labels in it."""
    job = await ended_job(backend, user, job_id)
    async with begun(job):
        data = await backend.turns.work(user.name, partial(shared_bundle, backend.app.workspace, job.run_id))
    name = {"Content-Disposition": f'attachment; filename="{job.run_id}.grb"'}
    return Response(data, media_type=_MEDIA_TYPE, headers=name)


@router.post(PATH, openapi_extra=_BODY, responses=problems(401, 413, 422, 429))
async def check_brought_bundle(
    request: Request, backend: FromBackend, user: FromUser, response: Response
) -> BundleCheck:
    """Replay the run of a bundle, the body as it is, and verify its report. Nothing of it is kept, and no model, search
    or page is asked. Counts as a submission."""
    response.headers.update((await count_within_limit(backend.jobs, user.name)).headers())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await receive_bundle(folder, request.stream())
        return BundleCheck(**await backend.turns.work(user.name, partial(check_bundle, folder)))
