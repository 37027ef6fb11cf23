"""What the routes work with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from graph_research.app.application import Application
from graph_research.app.runs.report import NoReport
from graph_research.graph.errors import UnknownRun
from graph_research.jobs.job import Job
from graph_research.jobs.store import JobStore
from graph_research.service.errors import NothingYet
from graph_research.service.feeds import Feeds
from graph_research.service.http.guard import PageAccess
from graph_research.service.metrics import ServiceMetrics
from graph_research.service.turns import Turns
from graph_research.service.users import User, Users


@dataclass(frozen=True, kw_only=True)
class Backend:
    """`app` reads the runs of which `jobs` has the queue; both stores are open. `page` says which browsers may use a
    service without tokens. `notify` tells the worker that a job was queued, `is_working` says whether there is one."""

    app: Application
    jobs: JobStore
    users: Users
    page: PageAccess | None
    feeds: Feeds
    metrics: ServiceMetrics
    notify: Callable[[], None]
    is_working: Callable[[], bool]
    ready_within_seconds: float = 3.0
    """After which a store that does not answer makes the service unready; a probe waits less than a request."""
    turns: Turns = field(default_factory=Turns)
    """Of requests that take seconds."""


_COOKIE = "graph-research-token"
_BEARER = HTTPBearer(
    auto_error=False, description="The token of a user. A service that only its own machine reaches may need none."
)


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    return backend


FromBackend = Annotated[Backend, Depends(_backend)]


async def _user(
    request: Request, backend: FromBackend, sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> User:
    if backend.page is not None:
        backend.page.check(request)
    return backend.users.authenticate(_token_in_cookie(request) if sent is None else sent.credentials)


def _token_in_cookie(request: Request) -> str | None:
    """The token of a link on the page, which can send no header. It only reads: what another site makes a browser send
    must change nothing, whatever the browser thinks of the cookie's `SameSite`."""
    return unquote(request.cookies.get(_COOKIE, "")) if request.method == "GET" else None


FromUser = Annotated[User, Depends(_user)]
"""Whose token came with the request."""


async def ended_job(backend: Backend, user: User, job_id: str) -> Job:
    """The user's job, whose report no run changes any more. `NothingYet` before it has ended."""
    job = await backend.jobs.get(user.name, job_id)
    if not job.is_over:
        raise NothingYet(f"job {job_id} is {job.status} and has not ended")
    return job


@asynccontextmanager
async def begun(job: Job) -> AsyncIterator[None]:
    """Raises `NothingYet` where the job's run does not exist yet, or has no report yet and the job is not over."""
    try:
        yield
    except NoReport as error:
        if job.is_over:
            raise
        raise NothingYet(f"job {job.id} is {job.status} and has no report yet") from error
    except UnknownRun as error:
        raise NothingYet(f"job {job.id} is {job.status} and has not begun") from error
