"""The events of a job as they happen (server-sent events)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response
from fastapi.sse import EventSourceResponse

from graph_research.service.backend import FromBackend, FromUser
from graph_research.service.http.problems import problems

router = APIRouter(prefix="/api/research", tags=["jobs"])
LastEventId = Annotated[
    int, Header(alias="Last-Event-ID", ge=0, le=2**53, description="Events behind the one with this id")
]
_TEXT = {"type": "string"}
_EVENT = {"type": "object", "properties": {"event": _TEXT, "data": _TEXT, "id": _TEXT}, "required": ["event", "data"]}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "The events", "content": {"text/event-stream": {"schema": _EVENT}}},
    204: {"description": "The job has ended and there are no further events"},
}


@router.get("/jobs/{job_id}/events", response_class=Response, responses=problems(401, 404, 422) | _STREAM)
async def follow_job(job_id: str, backend: FromBackend, user: FromUser, last_event_id: LastEventId = 0) -> Response:
    """The events of a job's run until it ends or waits. Each stored one has its number as `id`; between them stands
    `research:progress` with `{jobId, stage, progress}`, and at the end `job` with the job as it is then."""
    job = await backend.jobs.get(user.name, job_id)
    if job.is_over and last_event_id and not await backend.feeds.has_more(job, last_event_id):
        return Response(status_code=204)
    return EventSourceResponse(backend.feeds.follow(job, last_event_id), headers={"X-Accel-Buffering": "no"})
