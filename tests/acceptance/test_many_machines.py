"""Workers of two machines on one PostgreSQL: a worker is killed, the database is killed, a clock is wrong, a wire is
slow, half closed and cut, and every job ends once; no answered call is asked again."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from graph_research.app.job_runner import JobRequest
from graph_research.app.request import RunRequest
from graph_research.app.store import open_store
from graph_research.cli.jobs.queue import LOCAL_USER, open_jobs
from graph_research.graph.events import RunEnded
from graph_research.graph.statuses import CallStatus
from graph_research.jobs.job import Job, JobStatus, NewJob
from graph_research.providers.call_kind import CallKind
from graph_research.settings.home import Home
from tests.acceptance.test_kill_worker import SHORT_LEASE, WORKER, has_answered
from tests.support.cli.cli_process import PATIENCE_SECONDS, User, wait_until
from tests.support.network.fake_services import World, open_world
from tests.support.postgres import PostgresServer, Wire, postgres_server

JOBS = 30
FILES = {
    "graphs/thrice.yaml": """
graph: thrice
version: "1"
state:
  subject: {type: string, input: true}
  said: {type: integer, reduce: add, default: 0}
start: say
loops: {again: {most: 3}}
nodes:
  say:
    prompt: say
    input: {with: {subject: subject, said: said}}
    output: {schema: word, into: {said: "1"}}
  done: {end: completed}
edges:
  - {from: say, to: say, when: said < 3, loop: again}
  - {from: say, to: done}
""",
    "prompts/say.j2": "Say a word on {{ quoted(subject, 'subject') }} after {{ said }} others.",
    "schemas/word.json": '{"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}',
}
"""A graph of three model calls, one after the other."""
AN_HOUR = 3600.0


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


@contextlib.contextmanager
def machine(
    shell: User, world: World, url: str, name: str, *, ahead_seconds: float = 0.0
) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of three jobs at once, with a data home of its own and a clock of its own."""
    for path, content in FILES.items():
        file = shell.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    shell.home.chmod(0o700)
    environ = {**shell.environment(), **world.environ(), "GRAPH_RESEARCH_DATABASE": url}
    command = [sys.executable, str(WORKER), name, "3", str(ahead_seconds), str(SHORT_LEASE)]
    process = subprocess.Popen(command, cwd=shell.folder, env=environ)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def submit(home: Home, requests: Mapping[str, RunRequest]) -> None:
    async with open_jobs(home) as jobs:
        for job_id, request in requests.items():
            job = JobRequest(run=request).to_json()
            await jobs.submit(NewJob(id=job_id, user=LOCAL_USER, question=request.question or "", request=job))


def submit_jobs(home: Home, world: World) -> None:
    """A research and graphs of three calls."""
    question, limits = "What does a tidal lagoon cost?", {"max_iterations": 1, "max_sub_queries": 2}
    models = (world.model,)
    requests = {"lagoon": RunRequest(question=question, inputs=limits, models=models, search=("searxng",))}
    for number in range(1, JOBS):
        inputs = {"subject": f"tide {number}"}
        requests[f"job-{number}"] = RunRequest(graph="thrice", inputs=inputs, models=models)
    asyncio.run(submit(home, requests))


async def jobs_in(home: Home) -> list[Job]:
    async with open_jobs(home) as jobs:
        return await jobs.jobs(LOCAL_USER)


async def check_ends(home: Home, asked: int) -> None:
    """Every job is completed and its run ended once; models were `asked` once for each answer, and once more at most
    for each call that was under way when a worker was lost."""
    jobs = await jobs_in(home)
    assert len(jobs) == JOBS
    assert {(job.status, job.error) for job in jobs} == {(JobStatus.COMPLETED, None)}
    answered = lost = 0
    async with open_store(home) as store:
        for job in jobs:
            assert (await store.run(job.run_id)).created_at == job.created_at, "whatever the worker's clock says"
            assert sum(isinstance(event, RunEnded) for event in await store.events(job.run_id)) == 1
            calls = [call for call in await store.calls(job.run_id) if call.kind == CallKind.MODEL]
            hashes = Counter(call.request_hash for call in calls if call.status == CallStatus.ANSWERED)
            assert max(hashes.values()) == 1
            answered += hashes.total()
            lost += sum(call.status == CallStatus.LOST for call in calls)
    assert answered <= asked <= answered + lost


@pytest.mark.requirement("19.1", "20.1")
def test_a_killed_worker_and_a_killed_database_lose_and_repeat_nothing(
    new_user: Callable[[str], User], server: PostgresServer, tmp_path: Path
) -> None:
    one, other = new_user("one"), new_user("other")
    home = Home(one.home, server.url)
    with open_world(tmp_path / "calls", model_seconds=0.2, search_seconds=0.05) as world:
        submit_jobs(home, world)
        with (
            machine(one, world, server.url, "killed") as killed,
            machine(other, world, server.url, "steady", ahead_seconds=AN_HOUR) as steady,
        ):
            wait_until(partial(has_answered, world, 15))
            killed.kill()
            wait_until(partial(has_answered, world, 40))
            server.kill()
            server.start()
            assert steady.wait(PATIENCE_SECONDS) == 0
        asked = len(world.calls("model"))
    asyncio.run(check_ends(home, asked))


def test_a_worker_whose_wire_is_cut_is_replaced_and_writes_nothing_afterwards(
    new_user: Callable[[str], User], server: PostgresServer, tmp_path: Path
) -> None:
    """Before that its wire is slow, and is closed once in the direction to the worker."""
    one, other = new_user("one"), new_user("other")
    sockets = tmp_path / "wire"
    sockets.mkdir()
    wire = Wire(server, sockets, delay_seconds=0.002)
    home = Home(one.home, server.url)
    with open_world(tmp_path / "calls", model_seconds=0.2, search_seconds=0.05) as world:
        submit_jobs(home, world)
        with machine(one, world, wire.url, "cut") as cut:
            wait_until(partial(has_answered, world, 10))
            wire.half_close()
            wait_until(partial(has_answered, world, 30))
            wire.cut()
            with machine(other, world, server.url, "steady", ahead_seconds=-AN_HOUR) as steady:
                wait_until(lambda: any(job.lost_claims for job in asyncio.run(jobs_in(home))))
                wire.mend()
                assert steady.wait(PATIENCE_SECONDS) == 0
            assert cut.wait(PATIENCE_SECONDS) == 0
        asked = len(world.calls("model"))
    wire.close()
    asyncio.run(check_ends(home, asked))
