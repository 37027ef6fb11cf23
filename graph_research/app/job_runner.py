"""Runs as jobs: what a worker of a queue runs, and what the events of a run say of the job's stage and progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from graph_research.app.application import Application
from graph_research.app.request import NO_LIMITS, RequestLimits, RunRequest
from graph_research.app.revisions.ask import follows_up, join_follow_up
from graph_research.app.runs.report import Built, NoReport
from graph_research.app.runs.research_state import research_state
from graph_research.app.runs.run import RunResult
from graph_research.app.runs.status import delete_run, goes_on, is_driven, is_new_fork, pause_of
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.errors import GraphResearchError
from graph_research.graph.errors import RunBusy, RunExists, StoreUnreachable, UnknownRun
from graph_research.graph.events import Event, NodeStarted, Progress, RunEnded
from graph_research.graph.statuses import Cause, RunStatus
from graph_research.research.models.phase import phase_of_node
from graph_research.research.models.source import Source

OnProgress = Callable[[str, float], Awaitable[None]]
"""Takes the stage and the progress, 0 to 1."""
OnSources = Callable[[Sequence[Mapping[str, Any]]], Awaitable[None]]
"""Takes the rows of all scored sources."""

STEP = "/step"
"""The answer to a job whose run pauses that lets it go on to the next node; with any other it goes on to the next of
those that it was asked to pause before."""
PROGRESS_EVENT = "research:progress"
_BUSY_SECONDS = 0.5


class Stage(StrEnum):
    """The stage of a research, in the order in which they begin."""

    DECOMPOSITION = "decomposition"
    RETRIEVAL = "retrieval"
    SCORING = "scoring"
    SYNTHESIS = "synthesis"


_STAGES: Mapping[str, Stage] = {
    "clarification": Stage.DECOMPOSITION,
    "planning": Stage.DECOMPOSITION,
    "gathering": Stage.RETRIEVAL,
    "analysis": Stage.SCORING,
    "synthesis": Stage.SYNTHESIS,
    "refinement": Stage.SYNTHESIS,
}
"""By phase."""
_FRACTIONS = {stage: number / len(Stage) for number, stage in enumerate(Stage)}
"""The progress at the beginning of each stage."""


@dataclass(frozen=True, kw_only=True)
class JobProgress:
    """The stage of a run and its progress, 0 to 1, which never falls: a further round goes back to retrieval, and not
    to its progress."""

    stage: Stage = Stage.DECOMPOSITION
    progress: float = 0.0

    def after(self, event: Event) -> JobProgress:
        """The same after an event of the run."""
        if isinstance(event, RunEnded):
            return replace(self, progress=1.0) if event.status == RunStatus.COMPLETED else self
        if not isinstance(event, NodeStarted) or "/" in event.path:
            return self
        stage = _STAGES.get(phase_of_node(event.node) or "", self.stage)
        return JobProgress(stage=stage, progress=max(self.progress, _FRACTIONS[stage]))


async def with_progress(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """The events of a run from its first on, and behind each that changes the job's progress an event
    `research:progress` with `{jobId, stage, progress}`."""
    standing = None
    async for event in events:
        yield event
        reached = (standing or JobProgress()).after(event)
        if reached != standing:
            standing = reached
            data = {"jobId": event.run_id, "stage": reached.stage, "progress": reached.progress}
            yield Progress(run_id=event.run_id, seq=None, at=event.at, name=PROGRESS_EVENT, data=data)


@dataclass(frozen=True, kw_only=True)
class JobRequest:
    """What a job is asked for. `limits` replace those of a run that exists already; `folder` is the working directory
    whose settings and definitions hold, None: the worker's own, also where these have changed since the run began;
    `out` a folder for the report's files, None: they are not written; `user` whose digests of earlier runs it may use,
    None: nobody's."""

    run: RunRequest
    folder: str | None = None
    out: str | None = None
    limits: RequestLimits = NO_LIMITS
    user: str | None = None

    def to_json(self) -> dict[str, Any]:
        where = {"folder": self.folder, "out": self.out}
        return {"run": self.run.to_json(), **where, "limits": list(self.limits), "user": self.user}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JobRequest:
        cost, tokens, seconds = data.get("limits") or NO_LIMITS
        run = RunRequest.from_json(data["run"])
        more = {name: data.get(name) for name in ("folder", "out", "user")}
        return cls(run=run, limits=(cost, tokens, seconds), **more)


@dataclass(frozen=True, kw_only=True)
class JobEnd:
    """How a drive of a job's run ended: its status as a job's, the fields of its result, the question it waits for,
    and code and message of a failure."""

    status: str
    result: Mapping[str, Any] | None = None
    waiting_for: str | None = None
    error: tuple[str, str] | None = None


def for_jobs(workspace: Workspace) -> Workspace:
    """The workspace with the time limit that a model call of a job has, where the user has set none for all calls."""
    configuration = workspace.configuration
    if configuration.settings.model_timeout is not None:
        return workspace
    limited = configuration.settings.model_copy(update={"model_timeout": configuration.settings.job_model_timeout})
    return replace(workspace, configuration=replace(configuration, settings=limited))


class ResearchJobRunner:
    """Runs jobs whose requests are those of `JobRequest`, in an application with a workspace `for_jobs`."""

    def __init__(self, app: Application, *, redact: Callable[[str], str] = str) -> None:
        """`redact` makes an error fit to be shown to those who submitted jobs without a folder of their own."""
        self._app = app
        self._redact = redact

    async def run(
        self,
        job_id: str,
        request: Mapping[str, Any],
        *,
        submitted_at: datetime,
        answer: str | None,
        on_progress: OnProgress,
        on_sources: OnSources,
    ) -> JobEnd:
        """Create the run where it does not exist, drive it until it ends or waits, and say how it stands then.

        The run was created when its job was submitted, by the clock of the queue: that of a worker may be wrong. A run
        that another process still creates or drives is waited for: a worker that lost the job may not have
        noticed yet.
        """
        asked = JobRequest.from_json(request)
        try:
            end = await self._run(job_id, asked, submitted_at, answer, on_progress, on_sources)
        except StoreUnreachable as error:
            return JobEnd(status="PROCESSING", error=(error.code, str(error)))
        except GraphResearchError as error:
            if asked.folder is None:
                error.message, error.help = self._redact(error.message), self._redact(error.help)
            raise
        if asked.folder is None and end.error is not None:
            end = replace(end, error=(end.error[0], self._redact(end.error[1])))
        return end

    async def _run(
        self,
        job_id: str,
        asked: JobRequest,
        submitted_at: datetime,
        answer: str | None,
        on_progress: OnProgress,
        on_sources: OnSources,
    ) -> JobEnd:
        async with self._application_in(asked.folder) as app:
            while not await _exists(app, job_id):
                try:
                    await app.create(asked.run, run_id=job_id, created_at=submitted_at)
                except (RunBusy, RunExists):
                    await asyncio.sleep(_BUSY_SECONDS)
            options = _options(answer, asked)
            while not await _drive(app, job_id, options, on_progress, on_sources):  # noqa: ASYNC110 -- another process ends
                await asyncio.sleep(_BUSY_SECONDS)
            return await _end(app, job_id, asked.out, on_sources)

    async def cancel(self, job_id: str) -> None:
        """End the run over its `cancelled` edges, whoever drives it; nothing where there is none."""
        with suppress(UnknownRun):
            await self._app.cancel(job_id)

    async def remove(self, job_id: str) -> None:
        """Remove the run with its texts and logs; nothing where there is none."""
        with suppress(UnknownRun):
            await delete_run(self._app.workspace, job_id)

    @asynccontextmanager
    async def _application_in(self, folder: str | None) -> AsyncIterator[Application]:
        workspace = self._app.workspace
        if folder is None or Path(folder) == workspace.folder:
            yield self._app
            return
        opened = await asyncio.to_thread(
            open_workspace, workspace.environ, Path(folder), may_use=lambda _: None
        )  # its files are used as far as the user agreed to them before
        async with Application(for_jobs(opened)) as app:
            yield app


async def _exists(app: Application, run_id: str) -> bool:
    try:
        await app.store.run_row(run_id)
    except UnknownRun:
        return False
    return True


def _options(answer: str | None, asked: JobRequest) -> dict[str, Any]:
    """How a run is driven: a job without a folder goes on after its graph or prompts have changed."""
    limits = dict(zip(("max_cost", "max_tokens", "timeout_seconds"), asked.limits, strict=True))
    return {"answer": answer, "accept_changes": asked.folder is None, "retry": False, "user": asked.user, **limits}


async def _drive(
    app: Application,
    run_id: str,
    options: Mapping[str, Any],
    on_progress: OnProgress,
    on_sources: OnSources,
) -> bool:
    """Drive a run that goes on, with the answer where it asks; false where another process drives it. Its sources are
    complete when the synthesis begins."""
    if await is_driven(app.store, run_id):
        return False
    record = await app.store.run(run_id)
    if not goes_on(record):
        return True
    if record.status != RunStatus.RUNNING and options["answer"] is None and not await is_new_fork(app.store, run_id):
        return True
    standing, reported = JobProgress(), None
    for event in await app.store.events(run_id):
        standing = standing.after(event)
    if record.status == RunStatus.PAUSED and options["answer"] is not None:
        options = {**options, "steps": options["answer"] == STEP}
    if record.status != RunStatus.AWAITING_INPUT:
        options = {**options, "answer": None}
    try:
        async with aclosing(app.drive(run_id, **options)) as events:
            async for event in events:
                before, standing = standing, standing.after(event)
                if standing.stage is Stage.SYNTHESIS is not before.stage:
                    await on_sources(_source_rows(await app.store.state(run_id)))
                if standing != reported:
                    await on_progress(standing.stage, standing.progress)
                    reported = standing
    except RunBusy:
        return False
    return True


async def _end(app: Application, run_id: str, out: str | None, on_sources: OnSources) -> JobEnd:
    run = await app.status(run_id)
    if run.status == RunStatus.AWAITING_INPUT:
        return JobEnd(status="AWAITING_INPUT", waiting_for=run.waiting_for or "")
    if pause := pause_of(await app.store.run(run_id)):
        return JobEnd(status="AWAITING_INPUT", waiting_for=pause)
    await on_sources(_source_rows(run.state))
    if run.status == RunStatus.COMPLETED:
        with suppress(UnknownRun):  # the research was removed meanwhile: the answer stands by itself
            if await follows_up(app.store, run_id):
                await join_follow_up(app, run_id)
    result = None
    with suppress(NoReport):
        built = await app.report(run_id)
        result = result_of(built, app.workspace)
        if out is not None:
            await app.write_report(built, Path(out))
    if run.status == RunStatus.COMPLETED:
        return JobEnd(status="COMPLETED", result=result, error=_error_of(run) if run.error else None)
    if run.cause == Cause.CANCELLED and run.limit is None:
        return JobEnd(status="CANCELLED", result=result)
    return JobEnd(status="FAILED", result=result, error=_error_of(run))


def _error_of(run: RunResult) -> tuple[str, str]:
    code = "limit-reached" if run.limit is not None else run.cause or (Cause.ERROR if run.error else run.status)
    return code, run.error or f"the run ended {run.status}, as its graph decided"


def _source_rows(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sources in the state of a run with every dimension of their scores, each once: a graph of one's own may have
    found one twice."""
    sources = {row["id"]: Source.model_validate(row) for row in research_state(state).get("sources") or ()}
    return [
        {
            "source_id": source.id,
            "title": source.title,
            "url": source.url,
            "published_at": source.published_at,
            "provider": source.provider,
            "retrieval_method": source.retrieval_method,
            "tier": source.tier,
            **source.score.model_dump(),
        }
        for source in sources.values()
    ]


def result_of(built: Built, workspace: Workspace) -> Mapping[str, Any]:
    """What a job leaves of its report: the fields of a `ResultRow`."""
    report = built.report
    return {
        "markdown": built.render(workspace, "md").decode(),
        "citations": [citation.model_dump(mode="json") for citation in report.citations],
        "claims": [claim.model_dump(mode="json") for claim in report.claims],
        "tokens": report.statistics.totals.model_dump(mode="json"),
        "confidence": report.confidence.value,
        "claim_count": len(report.claims),
        "source_count": len(report.sources),
        "has_contradictions": any(claim.contradiction for claim in report.claims),
    }
