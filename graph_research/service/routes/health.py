"""Whether the service lives and can take jobs, for whoever watches over it."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Response

from graph_research.service.backend import FromBackend, FromUser
from graph_research.service.errors import NotAllowed, NotReady
from graph_research.service.http.problems import problems
from graph_research.service.models import Health

router = APIRouter(tags=["health"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"description": "The metrics", "content": {"text/plain": {"schema": {"type": "string"}}}},
        **problems(401, 403),
    },
)
async def get_metrics(backend: FromBackend, user: FromUser) -> Response:
    """The metrics of the service in the text format of Prometheus, for a user who may read them."""
    if not user.reads_metrics:
        raise NotAllowed("this token does not open the metrics", help="`graph-research token USER --metrics` makes one")
    return Response(await backend.metrics.render(backend.jobs, backend.feeds), media_type="text/plain; version=0.0.4")


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", responses=problems())
async def healthz() -> Health:
    """Whether the process answers."""
    return Health(status="ok")


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses=problems())
async def readyz(backend: FromBackend) -> Health:
    """Whether the store can be read and jobs are driven."""
    counting = asyncio.create_task(backend.jobs.counts())
    if not (await asyncio.wait({counting}, timeout=backend.ready_within_seconds))[0]:
        counting.cancel()  # it is not waited for: psycopg takes ten seconds to give up a database that hangs
        raise NotReady("the store does not answer")
    counting.result()
    if not backend.is_working():
        raise NotReady("no worker drives jobs")
    return Health(status="ok")
