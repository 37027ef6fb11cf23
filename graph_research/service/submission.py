"""From what a user asks for to a job: only what the operator offers, and only the user's own documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_research.app.job_runner import JobRequest
from graph_research.app.library import LibraryEmpty
from graph_research.app.request import RequestInvalid, RunRequest, request_for
from graph_research.app.wiring.mcp_servers import mcp_names
from graph_research.app.workspace import Workspace
from graph_research.jobs.job import Job, NewJob
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.providers.search.base import LOCAL
from graph_research.service.backend import Backend
from graph_research.service.errors import KeyReused
from graph_research.service.models import JobSubmission
from graph_research.service.rate_limit import Quota, check_quota, quota_of

UPLOADS = "uploads"
"""What a user's own documents are called among the folders of a library."""
_WEB = "web"
_SETTINGS = ("max_iterations", "max_sub_queries", "length", "report_type", "language", "audience")
_ASKED = "asked"
"""The key of what the user asked for, beside the request that was made of it."""


def new_job(
    workspace: Workspace, submission: JobSubmission, *, user: str, job_id: str, idempotency_key: str | None
) -> NewJob:
    """The job of a submission. `RequestInvalid`, `LibraryEmpty` and others say what cannot be done."""
    request = JobRequest(run=run_request(workspace, submission, user=user)).to_json()
    return NewJob(
        id=job_id,
        user=user,
        question=submission.question,
        request={**request, _ASKED: _asked(submission)},
        idempotency_key=idempotency_key,
    )


def check_same(job: Job, submission: JobSubmission) -> None:
    """`KeyReused` where the job that came with an idempotency key before asks for something else."""
    if job.request.get(_ASKED) != _asked(submission):
        raise KeyReused("this idempotency key came with another request", help="use another key for another job")


def run_request(workspace: Workspace, submission: JobSubmission, *, user: str) -> RunRequest:
    """What the run of a submission is asked for. It searches documents only in folders that it names."""
    folders = library_folders(workspace, user, submission.library)
    chosen: dict[str, Any] = {name: getattr(submission, name) for name in _SETTINGS}
    chosen |= {
        "default_provider": _model(workspace, submission.model),
        "task_timeout": submission.timeout_seconds,
        "library": tuple(map(str, folders)),
        "search_providers": _searches(workspace, submission.search, folders),
    }
    if submission.graph not in workspace.settings.service_graphs:
        offered = ", ".join(workspace.settings.service_graphs)
        raise RequestInvalid(f"no graph {submission.graph[:80]!r} is offered", help=f"use {offered}")
    return request_for(
        _with_settings(workspace, chosen),
        submission.question,
        graph=submission.graph,
        max_cost=submission.max_cost,
        max_tokens=submission.max_tokens,
        interactive=submission.interactive,
        plan_first=submission.plan_first,
    )


def library_folders(workspace: Workspace, user: str, names: Sequence[str] | None) -> list[Path]:
    """The folders that `names` mean, all of them without names: the user's uploads, where there are any, and those that
    the operator shares."""
    uploads = workspace.home.user_library(user)
    shared = {Path(folder).name: (workspace.folder / folder).resolve() for folder in workspace.settings.library}
    known = {**shared, UPLOADS: uploads}
    for name in names or ():
        if name not in known:
            raise RequestInvalid(f"no library {name[:80]!r}", help=f"use {', '.join(known)}")
    chosen = [folder for name, folder in known.items() if names is None or name in names]
    return [folder for folder in chosen if folder != uploads or _has_documents(uploads)]


def _has_documents(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _model(workspace: Workspace, name: str | None) -> tuple[str, ...] | None:
    if name is None:
        return None
    offered = (*workspace.settings.service_models, EXTRACTIVE)
    if name not in offered:
        raise RequestInvalid(f"no model {name[:80]!r} is offered", help=f"use {', '.join(dict.fromkeys(offered))}")
    return (name,)


def _searches(workspace: Workspace, names: Sequence[str] | None, folders: Sequence[Path]) -> tuple[str, ...]:
    """The searches of a run; `local` only where there are folders: without any it would search those of others."""
    configured = workspace.settings.search_providers
    offered = configured or (LOCAL, _WEB, *workspace.searches.names, *mcp_names(workspace))
    for name in names or ():
        if name not in offered:
            raise RequestInvalid(f"no search {name[:80]!r} is offered", help=f"use {', '.join(offered)}")
    if names is None:
        names = configured or ((LOCAL,) if folders else (_WEB,))
        names = [name for name in names if name != LOCAL or folders]
    if not names or (LOCAL in names and not folders):
        raise LibraryEmpty(
            "there is no document to search", help="upload documents with PUT /api/library/documents/NAME"
        )
    return tuple(names)


def _with_settings(workspace: Workspace, chosen: Mapping[str, Any]) -> Workspace:
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = workspace.settings.model_copy(update=given)
    return replace(workspace, configuration=replace(workspace.configuration, settings=settings))


async def submit(
    backend: Backend, submission: JobSubmission, *, user: str, job_id: str, idempotency_key: str | None
) -> tuple[Job, Quota]:
    """Check a submission as if its run began, queue its job, and say what is left of the user's quota; one whose key
    came before is that job, whatever is left. `TooManyJobs`, `KeyReused`, and what `new_job` raises; then nothing is
    queued."""
    before = idempotency_key and await backend.jobs.submitted_with(user, idempotency_key)
    if before:
        check_same(before, submission)
        return before, await quota_of(backend.jobs, user)
    new = new_job(backend.app.workspace, submission, user=user, job_id=job_id, idempotency_key=idempotency_key)
    request = JobRequest.from_json(new.request).run
    async with backend.app.prepared(request, run_id=job_id):
        pass  # what is wrong with it is said now, and not when a worker begins it
    async with backend.submitting:
        check_quota(await quota_of(backend.jobs, user))
        job, is_new = await backend.jobs.submit(new)
    if not is_new:
        check_same(job, submission)
    backend.notify()
    return job, await quota_of(backend.jobs, user)


def _asked(submission: JobSubmission) -> dict[str, Any]:
    return submission.model_dump(mode="json", exclude_unset=True)
