"""kill -9 of workers in the middle of their jobs: every job ends once, and no answered call is asked again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from graph_research.app.application import Application
from graph_research.app.job_runner import JobRequest, for_jobs
from graph_research.app.revisions.ask import create_follow_up
from graph_research.app.store import open_store
from graph_research.app.workspace import open_workspace
from graph_research.cli.jobs.queue import LOCAL_USER, open_jobs
from graph_research.cli.jobs.work import locked
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import Event, RunEnded
from graph_research.graph.statuses import CallStatus
from graph_research.jobs.job import Job, JobStatus, NewJob
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.worker import Worker
from graph_research.providers.call_kind import CallKind
from graph_research.settings.home import Home
from tests.support.cli.cli_process import PATIENCE_SECONDS, ROOT, User, stop_between_writes, wait_until
from tests.support.network.fake_services import World, open_world

WORKER = ROOT / "tests" / "support" / "jobs" / "worker_process.py"
QUESTIONS = {
    "lagoon": "What does the tidal lagoon do to birds, and what does its power cost?",
    "birds": "Birds and the lagoon: how many waders lose their feeding grounds?",
    "price": "Price of the lagoon's power: what does a megawatt hour cost?",
    "grid": "Grid and lagoon: how much power is fed in over a year?",
}
SHORT_LEASE = 5.0
PACE = {"model_seconds": 0.3, "search_seconds": 0.05, "page_seconds": 0.02}


@contextlib.contextmanager
def worker(
    shell: User,
    world: World,
    name: str,
    *,
    at_once: int,
    lease_seconds: float = Worker.lease_seconds,
    leases_ahead: int = 0,
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker by whose clock leases that others took so many leases ago are over."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), name, str(at_once), str(leases_ahead * lease_seconds), str(lease_seconds)],
        cwd=shell.folder,
        env={**shell.environment(), **world.environ()},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def submit(shell: User, world: World, *run_ids: str) -> None:
    """Queue jobs; none of them is begun."""
    shell.home.mkdir(mode=0o700)
    with locked(shell.home / "worker.lock"):
        for run_id in run_ids:
            question = QUESTIONS[run_id]
            asked = ("run", question, "--llm", world.model, "--search", "searxng", "--max-iterations", "1")
            shell.run(*asked, "--run-id", run_id, "--detach", environ=world.environ())


async def jobs_of(shell: User) -> dict[str, Job]:
    store = SqliteJobStore(shell.home / "runs.db", clock=lambda: datetime.now(UTC))
    jobs = {job.id: job for job in await store.jobs(LOCAL_USER)}
    results = [await store.result(LOCAL_USER, job_id) for job_id in jobs]
    await store.close()
    assert all(result is None or result.markdown.startswith("# ") for result in results)
    return jobs


async def journals_of(shell: User, run_ids: Iterable[str]) -> list[tuple[list[CallRecord], list[Event]]]:
    async with open_store(Home(shell.home)) as store:
        return [(await store.calls(run_id), await store.events(run_id)) for run_id in run_ids]


def is_at_work(shell: User, name: str) -> bool:
    return name in {job.worker for job in asyncio.run(jobs_of(shell)).values()}


def has_answered(world: World, calls: int) -> bool:
    return len(world.calls("model")) >= calls


@pytest.mark.requirement("19.1", "19.2")
def test_jobs_of_killed_workers_end_once_and_repeat_no_answered_call(shell: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls", **PACE) as world:
        submit(shell, world, *QUESTIONS)
        with (
            worker(shell, world, "steady", at_once=1) as steady,
            worker(shell, world, "first", at_once=2, lease_seconds=SHORT_LEASE) as first,
            worker(shell, world, "second", at_once=1, lease_seconds=SHORT_LEASE) as second,
        ):
            for name, victim, calls in (("first", first, 12), ("second", second, 25)):
                wait_until(partial(is_at_work, shell, name))
                wait_until(partial(has_answered, world, calls))
                victim.send_signal(signal.SIGKILL)
            steady.wait(PATIENCE_SECONDS)
            assert steady.returncode == 0
        asked = world.calls("model")
    jobs = asyncio.run(jobs_of(shell))
    assert sum(job.lost_claims for job in jobs.values()) >= 1
    check_ends(shell, jobs, asked=len(asked))


def test_a_job_of_a_worker_that_hangs_is_taken_over_when_that_goes_on_or_dies(shell: User, tmp_path: Path) -> None:
    """The run of a stopped process is locked by it: two workers never drive one run at once."""
    with open_world(tmp_path / "calls", **PACE) as world:
        submit(shell, world, "lagoon")
        with worker(shell, world, "hanging", at_once=1) as stopped:
            wait_until(partial(is_at_work, shell, "hanging"))
            wait_until(partial(has_answered, world, 3))
            stop_between_writes(stopped, shell.home / "runs.db")
            with worker(shell, world, "other", at_once=1, leases_ahead=1) as other:
                wait_until(partial(is_at_work, shell, "other"))
                stopped.send_signal(signal.SIGCONT)
                other.wait(PATIENCE_SECONDS)
                stopped.wait(PATIENCE_SECONDS)
            assert (stopped.returncode, other.returncode) == (0, 0)
        asked = world.calls("model")
    jobs = asyncio.run(jobs_of(shell))
    assert (jobs["lagoon"].attempt, jobs["lagoon"].lost_claims) == (2, 1)
    check_ends(shell, jobs, asked=len(asked))


def test_a_fork_and_a_further_question_of_a_killed_worker_end_once(shell: User, tmp_path: Path) -> None:
    """The answer joins the report once, and the fork asks only for what its parent was not answered."""
    with open_world(tmp_path / "calls", **PACE) as world:
        submit(shell, world, "lagoon")
        with worker(shell, world, "steady", at_once=1) as steady:
            assert steady.wait(PATIENCE_SECONDS) == 0
        before = len(world.calls("model"))
        asyncio.run(submit_made(shell, world))
        for kill in range(1, 4):
            with worker(shell, world, f"killed-{kill}", at_once=2, leases_ahead=kill) as victim:
                wait_until(partial(is_at_work, shell, f"killed-{kill}"))
                wait_until(partial(has_answered, world, before + 3 * kill))
                victim.send_signal(signal.SIGKILL)
        with worker(shell, world, "last", at_once=2, leases_ahead=4) as last:
            assert last.wait(PATIENCE_SECONDS) == 0
        asked = len(world.calls("model"))
    jobs = asyncio.run(jobs_of(shell))
    assert {job_id: job.status for job_id, job in jobs.items()} == dict.fromkeys(
        ("lagoon", "fork", "asked"), JobStatus.COMPLETED
    )
    assert jobs["fork"].lost_claims + jobs["asked"].lost_claims >= 3
    answered, lost = set[str](), 0
    for calls, events in asyncio.run(journals_of(shell, jobs)):
        assert sum(isinstance(event, RunEnded) for event in events) == 1
        of_models = [call for call in calls if call.kind == CallKind.MODEL]
        answered |= {call.request_hash for call in of_models if call.status == CallStatus.ANSWERED}
        lost += sum(call.status == CallStatus.LOST for call in of_models)
    assert len(answered) <= asked <= len(answered) + lost
    versions = shell.run("versions", "lagoon", "--json").json
    assert [row["kind"] for row in versions] == ["run", "follow_up"]
    for run_id in jobs:
        assert shell.run("verify", run_id, "--json").json["invalid"] == 0


async def submit_made(shell: User, world: World) -> None:
    """Queue a fork of the research with another sub-query, and a further question to it."""
    environ = {**shell.environment(), **world.environ()}
    workspace = for_jobs(open_workspace(environ, shell.folder, may_use=lambda _: None))
    async with Application(workspace) as app, open_jobs(workspace.home) as jobs:
        planned = next(step.step for step in await app.store.steps("lagoon") if step.path == "plan")
        query = f"sub_queries.0.query={json.dumps(QUESTIONS['grid'])}"
        await app.fork("lagoon", planned, assignments=[query], run_id="fork")
        await create_follow_up(app, "lagoon", QUESTIONS["price"], follow_up="asked")
        for run_id in ("fork", "asked"):
            request = JobRequest(run=await app.request(run_id)).to_json()
            await jobs.submit(NewJob(id=run_id, user=LOCAL_USER, question=run_id, request=request))


def check_ends(shell: User, jobs: Mapping[str, Job], *, asked: int) -> None:
    """Every job is completed and its run ended once; models were `asked` once for each answer, and once more at most
    for each question that was under way when a worker was lost."""
    assert {job_id: job.status for job_id, job in jobs.items()} == dict.fromkeys(jobs, JobStatus.COMPLETED)
    answered = lost = 0
    for calls, events in asyncio.run(journals_of(shell, jobs)):
        assert sum(isinstance(event, RunEnded) for event in events) == 1
        of_models = [call for call in calls if call.kind == CallKind.MODEL]
        keys = Counter(call.request_hash for call in of_models if call.status == CallStatus.ANSWERED)
        assert max(keys.values()) == 1
        answered += keys.total()
        lost += sum(call.status == CallStatus.LOST for call in of_models)
    assert answered <= asked <= answered + lost
    for run_id in jobs:
        assert shell.run("verify", run_id, "--json").json["invalid"] == 0
