"""What a job has written: its result, sources, report in every format, and the picture of its graph."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from graph_research.app.graphs import GraphFormat
from graph_research.app.graphs.render import draw
from graph_research.app.job_runner import JobRequest, result_of
from graph_research.app.runs.revisions import stored_revisions
from graph_research.graph.errors import UnknownRun
from graph_research.research.report.formats import REPORT_FORMATS
from graph_research.service.backend import Backend, FromBackend, FromUser, begun
from graph_research.service.errors import NothingYet
from graph_research.service.http.problems import problems
from graph_research.service.models import OutputsResource, ResultResource, SourceList, SourceResource

router = APIRouter(prefix="/api/research", tags=["reports"])
ReportFormat = StrEnum("ReportFormat", {name: name for name in REPORT_FORMATS})  # type: ignore[misc]  # -- its members are known at run time
Version = Annotated[int | None, Query(ge=1, le=2**31, description="An earlier version; the latest without it")]
_SVG = "image/svg+xml"
_SANDBOX = {"Content-Security-Policy": "sandbox allow-scripts allow-popups"}
"""A report carries its own policy; the browser gives it no origin, so that it can ask nothing of the service."""


def _content(*media_types: str) -> dict[int | str, dict[str, Any]]:
    text: dict[str, Any] = {"schema": {"type": "string"}}
    content = {media_type: {"schema": {}} if "json" in media_type else text for media_type in media_types}
    return {200: {"description": "The file", "content": content}}


@router.get("/jobs/{job_id}/result", responses=problems(401, 404, 409, 422))
async def get_result(job_id: str, backend: FromBackend, user: FromUser) -> ResultResource:
    """The result of a job that has ended with a report, as its latest version has it."""
    result = await backend.jobs.result(user.name, job_id)
    if result is None:
        job = await backend.jobs.get(user.name, job_id)
        raise NothingYet(f"job {job_id} is {job.status} and has no result")
    if not await _is_revised(backend, job_id):
        return ResultResource(job_id=job_id, **asdict(result))
    built = await backend.app.report(job_id)
    return ResultResource(job_id=job_id, **await asyncio.to_thread(result_of, built, backend.app.workspace))


@router.get("/jobs/{job_id}/outputs", responses=problems(401, 404, 409, 422))
async def get_outputs(job_id: str, backend: FromBackend, user: FromUser) -> OutputsResource:
    """What the graph of a job puts out: its channels that are declared `output: true`, as they are now."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        run = await backend.app.result(job.run_id)
    outputs = {name: run.state[name] for name in run.outputs if name in run.state}
    return OutputsResource(job_id=job_id, status=job.status, outputs=outputs)


@router.get("/jobs/{job_id}/sources", responses=problems(401, 404, 422))
async def get_sources(job_id: str, backend: FromBackend, user: FromUser) -> SourceList:
    """The sources of a job, the best first; none before they are scored."""
    sources = await backend.jobs.sources(user.name, job_id)
    return SourceList(job_id=job_id, sources=[SourceResource(**asdict(source)) for source in sources])


@router.get(
    "/jobs/{job_id}/report.{format}",
    response_class=Response,
    responses=problems(401, 404, 409, 422) | _content(*{item.media_type for item in REPORT_FORMATS.values()}),
)
async def get_report(
    job_id: str, format: ReportFormat, backend: FromBackend, user: FromUser, version: Version = None
) -> Response:
    """The report of a job, as `md`, `html`, `json` or another format. `NoReport` before there is one."""
    job = await backend.jobs.get(user.name, job_id)
    async with begun(job):
        built = await backend.app.report(job.run_id, version=version)
    data = await asyncio.to_thread(built.render, backend.app.workspace, format)
    return Response(data, media_type=REPORT_FORMATS[format].media_type, headers=_SANDBOX)


@router.get(
    "/jobs/{job_id}/graph.svg", response_class=Response, responses=problems(401, 404, 409, 422) | _content(_SVG)
)
async def get_graph(job_id: str, backend: FromBackend, user: FromUser) -> Response:
    """The graph of a job with what it has done until now."""
    job = await backend.jobs.get(user.name, job_id)
    asked = JobRequest.from_json(job.request).run
    drawn = partial(draw, backend.app.workspace, asked.graph, format=GraphFormat.SVG, definition=asked.definition)
    try:
        picture, _ = await drawn(run_id=job.run_id)
    except UnknownRun:
        picture, _ = await drawn()
    return Response(picture, media_type=_SVG, headers=_SANDBOX)


async def _is_revised(backend: Backend, run_id: str) -> bool:
    try:
        return bool(await stored_revisions(backend.app.store, run_id))
    except UnknownRun:
        return False
