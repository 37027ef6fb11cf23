"""The service without a socket: its API over the stores of a user's data home, with a queue that the test works on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from fastapi import FastAPI

from graph_research.app.application import Application
from graph_research.app.job_runner import ResearchJobRunner
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.jobs.job import Claim, JobStatus, Outcome, ResultRow
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.worker import Worker
from graph_research.service.api import create_api
from graph_research.service.backend import Backend
from graph_research.service.feeds import Feeds
from graph_research.service.http.guard import PageAccess
from graph_research.service.libraries import without_places
from graph_research.service.metrics import ServiceMetrics
from graph_research.service.users import Users, add_token
from tests.support.cli.cli_process import User
from tests.support.jobs.hand_clock import HandClock

JOBS = "/api/research/jobs"
_URL = "http://127.0.0.1:8420"


@dataclass
class ServiceClient:
    """A client of the service, and what stands behind it. `notified` counts how often the worker was woken,
    `pages` are the addresses that open the page."""

    http: httpx.AsyncClient
    api: FastAPI
    jobs: SqliteJobStore
    app: Application
    clock: HandClock
    tokens: Mapping[str, str]
    feeds: Feeds
    notified: list[None]
    working: list[bool]
    pages: list[str]

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.http.get(path, **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return await self.http.post(path, json=json, **more)

    async def submitted(self, question: str = "How high are tides?", **more: Any) -> str:
        """The id of a job that was submitted for this."""
        answer = await self.post(JOBS, {"question": question}, **more)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def drive(self) -> None:
        """Drive every queued job to its end."""
        redact = partial(without_places, self.app.workspace)
        await Worker(self.jobs, ResearchJobRunner(self.app, redact=redact), name="w").run(until_idle=True)

    async def claimed(self) -> Claim:
        """The next job, as a worker holds it."""
        claim = await self.jobs.claim("w", lease_seconds=30, at_most=100)
        assert claim is not None
        return claim

    async def finish(self, status: JobStatus = JobStatus.COMPLETED, **more: Any) -> None:
        """End the next job; a completed one with a result."""
        result = ResultRow(markdown="# Tides") if status is JobStatus.COMPLETED else None
        await self.jobs.finish(await self.claimed(), Outcome(status=status, result=result, **more))

    def as_user(self, name: str) -> dict[str, str]:
        """The headers of a user's request."""
        return {"Authorization": f"Bearer {self.tokens[name]}"}


@asynccontextmanager
async def service_client(user: User, *users: str, **options: Any) -> AsyncIterator[ServiceClient]:
    """The service of a user's folder and data home, with the settings `options`; with `users` each has a token."""
    given = {"library": ["library"], **options}
    workspace: Workspace = open_workspace(user.environment(), user.folder, may_use=lambda _: None, options=given)
    tokens_file = user.folder / "tokens"
    tokens = {name: add_token(tokens_file, name) for name in users}
    clock, notified, working, pages = HandClock(), list[None](), [True], list[str]()
    page = None if users else PageAccess(_URL, pages.append)
    if page is not None:
        page.offer()
    jobs = SqliteJobStore(workspace.home.runs_db, clock=clock)
    async with Application(workspace) as app:
        await app.store.size()
        backend = Backend(
            app=app,
            jobs=jobs,
            users=Users(tokens_file if users else None),
            page=page,
            feeds=Feeds(app, jobs, poll_seconds=0.01, heartbeat_seconds=0.05),
            metrics=ServiceMetrics(),
            notify=lambda: notified.append(None),
            is_working=lambda: working[0],
            ready_within_seconds=1.0,
        )
        api = create_api(backend)
        transport = httpx.ASGITransport(api, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=_URL) as http:
            yield ServiceClient(http, api, jobs, app, clock, tokens, backend.feeds, notified, working, pages)
    await jobs.close()
