"""From what a user asks for to a job: only what the operator offers, and only the user's own documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from graph_research.app.job_runner import JobRequest
from graph_research.app.request import NO_LIMITS, RequestInvalid, RequestLimits, RunRequest, request_for
from graph_research.app.revisions.ask import create_follow_up
from graph_research.app.runs.run import new_run_id
from graph_research.app.runs.state_edits import edited
from graph_research.app.runs.status import delete_run
from graph_research.app.wiring.mcp_servers import mcp_names
from graph_research.app.wiring.search import lacking_of
from graph_research.app.wiring.services import source_rules
from graph_research.app.workspace import Workspace
from graph_research.jobs.job import Job, NewJob
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.providers.search.base import LOCAL
from graph_research.research.models.phase import PHASES
from graph_research.research.report.formats import REPORT_FORMATS
from graph_research.service.backend import Backend
from graph_research.service.errors import KeyReused, TooManyJobs
from graph_research.service.libraries import libraries, library_folders, naming_folders, nothing_to_search
from graph_research.service.models import JobSubmission
from graph_research.service.rate_limit import Quota, check_quota, quota_of, submit_within_limit
from graph_research.service.report_models import FollowUpQuestion, ForkSubmission, Options
from graph_research.service.untrusted.own_graphs import (
    check_definition,
    check_expressions,
    check_inputs,
    may_bring_graphs,
    of_one_kind,
)
from graph_research.settings.config import ROLES

_WEB = "web"
_SETTINGS = ("max_iterations", "max_sub_queries", "length", "report_type", "language", "audience")
MOST_ADDED = 8
"""Entries that a fork may add to a list of the state: as many as a plan may have."""
_ASKED = "asked"
"""The key of what the user asked for, beside the request that was made of it."""


def new_job(
    workspace: Workspace, submission: JobSubmission, *, user: str, job_id: str, idempotency_key: str | None
) -> NewJob:
    """The job of a submission. `RequestInvalid`, `LibraryEmpty` and others say what cannot be done."""
    request = JobRequest(run=run_request(workspace, submission, user=user), user=user).to_json()
    return NewJob(
        id=job_id,
        user=user,
        question=submission.question or "",
        request={**request, _ASKED: _asked(submission)},
        idempotency_key=idempotency_key,
    )


def check_same(job: Job, asked: Mapping[str, Any]) -> None:
    """`KeyReused` where the job that came with an idempotency key before asks for something else."""
    if job.request.get(_ASKED) != asked:
        raise KeyReused("this idempotency key came with another request", help="use another key for another job")


def run_request(workspace: Workspace, submission: JobSubmission, *, user: str) -> RunRequest:
    """What the run of a submission is asked for. It searches documents only in folders that it names."""
    folders = library_folders(workspace, user, submission.library)
    chosen: dict[str, Any] = {name: getattr(submission, name) for name in _SETTINGS}
    chosen |= {
        "default_provider": chosen_models(workspace, submission.model),
        "task_timeout": submission.timeout_seconds,
        "library": tuple(map(str, folders)),
        "search_providers": _searches(workspace, submission, folders),
    }
    if submission.source_rules is not None:
        rules = source_rules(workspace.settings).joined(submission.source_rules.model_dump())
        chosen |= asdict(rules)
    if submission.definition is None:
        require_offered(workspace, submission.graph)
    return request_for(
        with_settings(workspace, chosen),
        submission.question,
        graph=submission.graph,
        definition=submission.definition,
        inputs=submission.inputs,
        roles=chosen_roles(workspace, submission.roles),
        max_cost=submission.max_cost,
        max_tokens=submission.max_tokens,
        interactive=submission.interactive,
        plan_first=submission.plan_first,
        pause_before=submission.pause_before,
        now=submission.now,
    )


def require_offered(workspace: Workspace, graph: str) -> None:
    """`RequestInvalid` for a graph that the operator does not offer."""
    if graph not in workspace.settings.service_graphs:
        offered = ", ".join(workspace.settings.service_graphs)
        raise RequestInvalid(f"no graph {graph[:80]!r} is offered", help=f"use {offered}")


def options_of(backend: Backend, user: str) -> Options:
    """What a submission of the user may name."""
    workspace = backend.app.workspace
    return Options(
        graphs=list(workspace.settings.service_graphs),
        own_graphs=may_bring_graphs(backend),
        models=_offered_models(workspace),
        roles=[*ROLES, *PHASES],
        searches=[name for name in _offered_searches(workspace) if not lacking_of(workspace, name)],
        libraries=list(libraries(workspace, user)),
        report_formats=list(REPORT_FORMATS),
    )


def chosen_models(workspace: Workspace, names: str | None) -> tuple[str, ...] | None:
    """The models that `names` with commas between them say, in the order in which they are asked. `RequestInvalid` for
    one that the operator does not offer."""
    if names is None:
        return None
    chosen, offered = tuple(names.split(",")), _offered_models(workspace)
    for name in chosen:
        if name not in offered:
            raise RequestInvalid(f"no model {name[:80]!r} is offered", help=f"use {', '.join(offered)}")
    return chosen


def chosen_roles(workspace: Workspace, roles: Mapping[str, str]) -> list[str]:
    """The models of roles as `ROLE=SPEC` texts. `RequestInvalid` as for `chosen_models`."""
    for names in roles.values():
        chosen_models(workspace, names)
    return [f"{role}={names}" for role, names in roles.items()]


def _offered_models(workspace: Workspace) -> list[str]:
    specs = (*workspace.settings.service_models, EXTRACTIVE)  # each may be a fallback order
    return list(dict.fromkeys(",".join(specs).split(",")))


def _offered_searches(workspace: Workspace) -> Sequence[str]:
    return workspace.settings.search_providers or (LOCAL, _WEB, *workspace.searches.names, *mcp_names(workspace))


def _searches(workspace: Workspace, submission: JobSubmission, folders: Sequence[Path]) -> tuple[str, ...]:
    """The searches of a run; `local` only where there are folders: without any it would search those of others."""
    names: Sequence[str] | None = submission.search
    configured = workspace.settings.search_providers
    offered = _offered_searches(workspace)
    for name in names or ():
        if name not in offered:
            raise RequestInvalid(f"no search {name[:80]!r} is offered", help=f"use {', '.join(offered)}")
    if names is None:
        names = configured or ((LOCAL,) if folders else (_WEB,))
        names = [name for name in names if name != LOCAL or folders]
    if not names or (LOCAL in names and not folders):
        raise nothing_to_search()
    if submission.definition is not None:
        names = of_one_kind(names, chosen=submission.search is not None)
    return tuple(names)


def with_settings(workspace: Workspace, chosen: Mapping[str, Any]) -> Workspace:
    """The workspace with the settings that are chosen and not None."""
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
        check_same(before, _asked(submission))
        return before, await quota_of(backend.jobs, user)
    workspace = backend.app.workspace
    if submission.definition is not None:
        await check_quota(backend.jobs, user)
        await check_definition(backend, user, submission.definition)
    with naming_folders(workspace, user):
        new = new_job(workspace, submission, user=user, job_id=job_id, idempotency_key=idempotency_key)
        async with backend.app.prepared(JobRequest.from_json(new.request).run, run_id=job_id) as run:
            if submission.definition is not None:
                check_expressions(run.graph)
            check_inputs(run, submission.inputs)  # what is wrong is said now, and not when a worker begins it
    job, is_new = await submit_within_limit(backend.jobs, new)
    if not is_new:
        check_same(job, _asked(submission))
    backend.notify()
    return job, await quota_of(backend.jobs, user)


async def submit_follow_up(
    backend: Backend, job: Job, question: FollowUpQuestion, idempotency_key: str | None
) -> tuple[Job, Quota]:
    """Queue a job that answers a further question to the research of another, and say what is left of the quota.
    `NoReport` where there is none that the answer could join."""

    async def create(run_id: str, created_at: datetime) -> str:
        await backend.app.report(job.run_id)
        return await create_follow_up(
            backend.app,
            job.run_id,
            question.question,
            follow_up=run_id,
            limits=question.limits,
            created_at=created_at,
        )

    new = _Created(
        job=job,
        question=question.question,
        asked={"question": question.question, "limits": list(question.limits)},
        idempotency_key=idempotency_key,
    )
    return await _submit_created(backend, new, create)


async def submit_fork(
    backend: Backend, job: Job, wanted: ForkSubmission, idempotency_key: str | None
) -> tuple[Job, Quota]:
    """Queue a job that goes on from a step of another's run, and say what is left of the quota."""
    assignments = [f"{path}={json.dumps(value)}" for path, value in wanted.set.items()]
    roles = chosen_roles(backend.app.workspace, wanted.roles)
    await _check_graph(backend, job, wanted)
    _check_size(await backend.app.store.state(job.run_id, wanted.step), assignments)
    fork = partial(
        backend.app.fork,
        job.run_id,
        wanted.step,
        assignments=assignments,
        graph=wanted.graph,
        definition=wanted.definition,
        roles=roles,
    )
    asked: dict[str, Any] = {"step": wanted.step, "set": assignments, "roles": roles, "limits": list(wanted.limits)}
    if wanted.graph is not None:
        asked["graph"] = wanted.graph
    if wanted.definition is not None:
        asked["definition"] = _hash(wanted.definition)
    new = _Created(
        job=job,
        question=job.question,
        asked=asked,
        idempotency_key=idempotency_key,
        limits=wanted.limits,
    )
    return await _submit_created(backend, new, lambda run_id, created_at: fork(run_id=run_id, created_at=created_at))


async def _check_graph(backend: Backend, job: Job, wanted: ForkSubmission) -> None:
    """Raise what is wrong with another graph for a fork. One of the user's own takes the place of such a one only: its
    state is bounded by nothing but the limits of these."""
    parent = JobRequest.from_json(job.request).run
    if wanted.graph is not None:
        require_offered(backend.app.workspace, wanted.graph)
        if parent.has_own_graph:
            raise RequestInvalid("a graph of your own is forked as one of your own", help="give another `definition`")
    if wanted.definition is not None:
        if parent.definition is None:
            raise RequestInvalid("an offered graph is forked as one that is offered", help="name another `graph`")
        await check_definition(backend, job.user, wanted.definition)
        async with backend.app.prepared(replace(parent, definition=wanted.definition, pause_before=())) as run:
            check_expressions(run.graph)


def _check_size(state: Mapping[str, Any], assignments: Sequence[str]) -> None:
    """`RequestInvalid` for a list that is set to many more entries than it had: a graph makes calls for each of them,
    so that a fork would cost more than any submission."""
    for channel, value in edited(state, assignments).items():
        before = state.get(channel)
        most = (len(before) if isinstance(before, list) else 0) + MOST_ADDED
        if isinstance(value, list) and len(value) > most:
            raise RequestInvalid(
                f"{channel[:80]} is set to {len(value):,} entries", help=f"set at most {MOST_ADDED} more than it had"
            )


@dataclass(frozen=True, kw_only=True)
class _Created:
    """A job whose run is made of that of another `job`; `asked` is what tells it from others that are made of it."""

    job: Job
    question: str
    asked: Mapping[str, Any]
    idempotency_key: str | None
    limits: RequestLimits = NO_LIMITS


async def _submit_created(
    backend: Backend, new: _Created, create: Callable[[str, datetime], Awaitable[str]]
) -> tuple[Job, Quota]:
    """Create a run, by the clock of the queue like any other, and queue the job that drives it."""
    user, key, asked = new.job.user, new.idempotency_key, {"of": new.job.id, **new.asked}
    job = key and await backend.jobs.submitted_with(user, key)
    if not job:
        await check_quota(backend.jobs, user)
        run_id = await create(new_run_id(), await backend.jobs.now())
        request = JobRequest(run=await backend.app.request(run_id), limits=new.limits, user=user).to_json()
        queued = NewJob(
            id=run_id, user=user, question=new.question, request={**request, _ASKED: asked}, idempotency_key=key
        )
        try:
            job, is_new = await submit_within_limit(backend.jobs, queued)
        except TooManyJobs:  # other requests were faster
            await delete_run(backend.app.workspace, run_id)
            raise
        if not is_new:  # so was one with the same key
            await delete_run(backend.app.workspace, run_id)
    check_same(job, asked)
    backend.notify()
    return job, await quota_of(backend.jobs, user)


def _asked(submission: JobSubmission) -> dict[str, Any]:
    asked = submission.model_dump(mode="json", exclude_unset=True)
    if submission.definition is not None:  # which is kept once
        asked["definition"] = _hash(submission.definition)
    return asked


def _hash(definition: str) -> str:
    return hashlib.sha256(definition.encode("utf-8", "surrogatepass")).hexdigest()
