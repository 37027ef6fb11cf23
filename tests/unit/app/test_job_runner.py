"""Runs as jobs: created, driven, resumed, answered and cancelled through what a worker asks of a runner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.app.application import Application
from graph_research.app.job_runner import (
    JobEnd,
    JobProgress,
    JobRequest,
    ResearchJobRunner,
    Stage,
    for_jobs,
    with_progress,
)
from graph_research.app.library import LibraryEmpty
from graph_research.app.request import RunRequest, request_for
from graph_research.app.wiring.search import Searches
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.errors import UserMistake
from graph_research.graph.errors import GraphChanged, StoreUnreachable, UnknownRun
from graph_research.graph.events import Event, NodeStarted, Note, Progress, RunEnded, RunResumed
from graph_research.graph.state.rows import Write
from graph_research.jobs.job import JobStatus, NewJob
from graph_research.jobs.sqlite import SqliteJobStore
from graph_research.jobs.worker import Worker
from tests.support.cli.cli_process import NOW, User
from tests.support.cli.cli_user import QUESTION
from tests.support.graph.countdown_graph import COUNTDOWN

PATIENCE_SECONDS = 60.0
AT = datetime(2026, 1, 1, tzinfo=UTC)
ASKING = """\
graph: asking
version: "1"
state: {name: {type: string, default: ""}, town: {type: string, default: "", output: true}}
start: who
nodes:
  who: {ask: '"Your name?"', into: name}
  where: {ask: '"Your town?"', into: town}
  done: {end: completed}
edges:
  - {from: who, to: where}
  - {from: where, to: done}
"""
FAILING = """\
graph: failing
version: "1"
state: {n: {type: integer, default: 0}}
start: divide
nodes:
  divide: {set: {n: 1 // n}}
  done: {end: completed}
edges:
  - {from: divide, to: done}
"""


@dataclass
class Reports:
    """What a run reported to its worker."""

    progress: list[tuple[str, float]] = field(default_factory=list)
    sources: list[Sequence[Mapping[str, Any]]] = field(default_factory=list)

    async def on_progress(self, stage: str, fraction: float) -> None:
        self.progress.append((stage, fraction))

    async def on_sources(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.sources.append(rows)


def workspace(user: User, **options: Any) -> Workspace:
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    return for_jobs(open_workspace(environ, user.folder, may_use=lambda _: False, options=options))


def graph_run(space: Workspace, user: User, text: str, **inputs: Any) -> RunRequest:
    user.write("graph.yaml", text)
    return request_for(space, graph="graph.yaml", inputs=inputs)


async def run(
    app: Application, job_id: str, request: RunRequest, *, answer: str | None = None, **order: Any
) -> tuple[JobEnd, Reports]:
    reports = Reports()
    end = await ResearchJobRunner(app).run(
        job_id,
        JobRequest(run=request, **order).to_json(),
        submitted_at=AT,
        answer=answer,
        on_progress=reports.on_progress,
        on_sources=reports.on_sources,
    )
    return end, reports


@pytest.mark.requirement("19.3", "20.1")
async def test_a_research_reports_its_stages_its_sources_and_its_result(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app:
        out = user.folder / "out"
        end, reports = await run(app, "job", request_for(space, QUESTION, now=NOW), out=str(out))
        built = await app.report("job")
    stages = [stage for stage, _ in reports.progress]
    fractions = [fraction for _, fraction in reports.progress]
    assert list(dict.fromkeys(stages)) == ["decomposition", "retrieval", "scoring", "synthesis"]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert end.status == "COMPLETED"
    assert end.result is not None
    assert end.result["markdown"].encode() == (out / "report.md").read_bytes()
    assert len(end.result["citations"]) == len(built.report.citations) > 0
    assert end.result["confidence"] == built.report.confidence.value
    row = reports.sources[0][0]
    assert reports.sources[-1] == reports.sources[0], "they are scored before the synthesis"
    assert {"authority", "recency", "relevance", "credibility", "composite", "tier"} <= row.keys()
    assert {each["source_id"] for each in reports.sources[-1]} == {source.id for source in built.report.sources}


async def test_a_job_that_is_driven_again_after_its_end_has_the_same_result(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app:
        request = request_for(space, QUESTION, now=NOW)
        first, _ = await run(app, "job", request)
        events = await app.store.events("job")
        second, reports = await run(app, "job", request)
        assert await app.store.events("job") == events
    assert second == first
    assert len(reports.sources) == 1


@pytest.mark.requirement("11.20", "22.2")
async def test_a_job_uses_the_digests_of_an_earlier_one_of_its_user(user: User) -> None:
    options = {"library": [str(user.folder / "library")], "deep_research_digest_policy": "always", "max_iterations": 1}
    space = workspace(user, **options)
    async with Application(space) as app:
        for job, asking in (("first", "ada"), ("again", "ada"), ("others", "bob")):
            await run(app, job, request_for(space, QUESTION, now=NOW), user=asking)
        notes = {job: await app.store.events(job) for job in ("first", "again", "others")}
    hits = {
        job: {event.data["cache_hit"] for event in events if isinstance(event, Note) and "cache_hit" in event.data}
        for job, events in notes.items()
    }
    assert hits == {"first": {False}, "again": {True}, "others": {False}}


async def test_a_run_that_asks_waits_and_goes_on_with_each_answer(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        request = graph_run(space, user, ASKING)
        assert (await run(app, "job", request))[0] == JobEnd(status="AWAITING_INPUT", waiting_for="Your name?")
        assert (await run(app, "job", request))[0] == JobEnd(status="AWAITING_INPUT", waiting_for="Your name?")
        second, reports = await run(app, "job", request, answer="Ada")
        assert second == JobEnd(status="AWAITING_INPUT", waiting_for="Your town?")
        assert reports.progress, "the answer has arrived"
        assert (await run(app, "job", request, answer="London"))[0] == JobEnd(status="COMPLETED")
        assert (await app.status("job")).state == {"name": "Ada", "town": "London"}


async def test_a_job_of_the_service_goes_on_with_the_definitions_of_a_newer_version(user: User) -> None:
    """Who upgrades the service decides for its users; one of a folder is asked whether its own changes count."""
    space = workspace(user)
    newer = ASKING.replace("Your town?", "The town you live in?")
    async with Application(space) as app:
        request = graph_run(space, user, ASKING)
        for job in ("served", "detached"):
            await run(app, job, request)
        graph_run(space, user, newer)
        second, _ = await run(app, "served", request, answer="Ada")
        assert second == JobEnd(status="AWAITING_INPUT", waiting_for="The town you live in?")
        with pytest.raises(GraphChanged):
            await run(app, "detached", request, answer="Ada", folder=str(user.folder))


async def test_a_run_that_waits_with_its_plan_goes_on_when_it_is_approved(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app:
        request = request_for(space, QUESTION, now=NOW, plan_first=True)
        end, _ = await run(app, "job", request)
        assert end.status == "AWAITING_INPUT"
        assert "plan" in (end.waiting_for or "")
        assert (await run(app, "job", request, answer="go"))[0].status == "COMPLETED"


async def test_a_run_that_fails_says_why(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        end, _ = await run(app, "job", graph_run(space, user, FAILING))
    assert end.status == "FAILED"
    assert end.error is not None
    code, message = end.error
    assert code == "error"
    assert "divi" in message


async def test_a_job_whose_report_could_not_be_written_has_what_was_collected_and_says_why(user: User) -> None:
    replies = {"outliner": [{"error": "refused", "message": "no quota"}], "*": [{}]}
    spec = user.script("no-quota.json", replies)
    space = workspace(user, library=[str(user.folder / "library")], default_provider=[spec])
    async with Application(space) as app:
        end, _ = await run(app, "job", request_for(space, QUESTION, graph="pipeline", now=NOW))
    assert end.status == "COMPLETED"
    assert end.result is not None
    assert end.result["source_count"] > 0
    assert end.error is not None
    assert end.error[0] == "error"
    assert "no quota" in end.error[1]


async def test_a_run_whose_database_does_not_answer_can_go_on(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    space = workspace(user)
    async with Application(space) as app:
        request = graph_run(space, user, COUNTDOWN, n=1)
        await app.create(request, run_id="job")

        async def unreachable(write: Write) -> None:
            raise StoreUnreachable("the database does not answer")

        with monkeypatch.context() as patch:
            patch.setattr(app.store, "write", unreachable)
            end, _ = await run(app, "job", request)
        assert end == JobEnd(status="PROCESSING", error=("store-unreachable", "the database does not answer"))
        assert (await run(app, "job", request))[0] == JobEnd(status="COMPLETED")


async def test_a_cancelled_run_is_a_cancelled_job(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        runner = ResearchJobRunner(app)
        request = graph_run(space, user, ASKING)
        await runner.cancel("job")
        await run(app, "job", request)
        await runner.cancel("job")
        assert (await run(app, "job", request, answer="Ada"))[0] == JobEnd(status="CANCELLED")


class EndlessIndex:
    """The first time that a run's library is indexed takes for ever."""

    def __init__(self) -> None:
        self.indexes, self.stopped = asyncio.Event(), asyncio.Event()
        self.indexed_times = 0

    async def prepare(self, *_: Any, index: bool, **__: Any) -> None:
        self.indexed_times += index
        if index and not self.indexes.is_set():
            self.indexes.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> EndlessIndex:
    endless = EndlessIndex()
    monkeypatch.setattr(Searches, "prepare", endless.prepare)
    return endless


async def test_a_job_that_is_cancelled_while_its_library_is_indexed_ends_at_once(
    user: User, index: EndlessIndex
) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app, asyncio.timeout(PATIENCE_SECONDS):
        running = asyncio.create_task(run(app, "job", request_for(space, QUESTION, now=NOW)))
        await index.indexes.wait()
        await ResearchJobRunner(app).cancel("job")
        end, _ = await running
        assert (end.status, end.error) == ("CANCELLED", None)
        assert (index.stopped.is_set(), index.indexed_times) == (True, 1)
        types = [event.type for event in await app.store.events("job")]
        assert (types.count(RunEnded.type), types.count(RunResumed.type)) == (1, 0)


async def test_a_run_that_is_cancelled_while_its_library_is_indexed_is_not_driven_on(
    user: User, index: EndlessIndex
) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app, asyncio.timeout(PATIENCE_SECONDS):
        run_id = await app.create(request_for(space, QUESTION, now=NOW))

        async def drive() -> None:
            async for _ in app.drive(run_id):
                pass

        driving = asyncio.create_task(drive())
        await index.indexes.wait()
        await app.cancel(run_id)
        await driving
        assert (await app.status(run_id)).cause == "cancelled"
        assert [event.type for event in await app.store.events(run_id)].count(RunEnded.type) == 1


async def test_a_removed_run_is_gone(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        runner = ResearchJobRunner(app)
        await run(app, "job", graph_run(space, user, COUNTDOWN, n=1))
        for _ in range(2):
            await runner.remove("job")
        with pytest.raises(UnknownRun):
            await app.status("job")


async def test_a_request_that_cannot_be_started_leaves_no_run(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "nowhere")])
    async with Application(space) as app:
        with pytest.raises(UserMistake):
            await run(app, "job", request_for(space, QUESTION))
        (user.folder / "nowhere").mkdir()
        with pytest.raises(LibraryEmpty):
            await run(app, "job", request_for(space, QUESTION))
        with pytest.raises(UnknownRun):
            await app.status("job")


async def test_a_job_of_another_folder_has_the_definitions_of_that_folder(user: User) -> None:
    """A graph that is named, not given as a file, is looked up in the folder where the job was submitted."""
    (user.folder / "elsewhere" / "graphs").mkdir(parents=True)
    (user.folder / "elsewhere" / "graphs" / "counting.yaml").write_text(COUNTDOWN.replace("countdown", "counting"))
    elsewhere = user.folder / "elsewhere"
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    there = open_workspace(environ, elsewhere, may_use=lambda _: True)
    request = request_for(there, graph="counting", inputs={"n": 1})
    async with Application(workspace(user)) as app:
        with pytest.raises(UserMistake):
            await run(app, "lost", request)
        end, _ = await run(app, "job", request, folder=str(elsewhere))
    assert end == JobEnd(status="COMPLETED")


async def test_a_run_that_another_process_drives_is_waited_for(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        request = graph_run(space, user, COUNTDOWN, n=1)
        await app.create(request, run_id="job")
        lease = await app.store.lease("job")
        running = asyncio.create_task(run(app, "job", request))
        await asyncio.sleep(0.05)
        assert not running.done()
        lease.release()
        assert (await asyncio.wait_for(running, PATIENCE_SECONDS))[0] == JobEnd(status="COMPLETED")


def test_a_model_call_of_a_job_has_a_limit_of_its_own(user: User) -> None:
    assert workspace(user).settings.model_timeout == 60.0
    assert workspace(user, job_model_timeout=5).settings.model_timeout == 5.0
    assert workspace(user, model_timeout=300).settings.model_timeout == 300.0


@pytest.mark.requirement("19.1", "20.1")
async def test_a_run_that_another_process_creates_is_waited_for(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        request = graph_run(space, user, COUNTDOWN, n=1)
        await app.store.run_rows(None, 1)
        lease = await app.store.lease("job")
        running = asyncio.create_task(run(app, "job", request))
        await asyncio.wait({running}, timeout=0.3)
        assert not running.done()
        lease.release()
        assert (await asyncio.wait_for(running, PATIENCE_SECONDS))[0] == JobEnd(status="COMPLETED")


async def test_a_run_is_as_old_as_its_job_whatever_the_clocks_of_queue_and_worker_say(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "library")], max_iterations=1)
    async with Application(space) as app:
        await run(app, "job", request_for(space, QUESTION))
        built = await app.report("job")
        assert (await app.store.run("job")).created_at == AT
    assert 0 < built.report.statistics.wall_seconds < PATIENCE_SECONDS, "its time in the queue does not count"


async def test_a_worker_leaves_result_and_sources_of_a_research_in_the_store(user: User) -> None:
    space = workspace(user, library=[str(user.folder / "library")])
    async with Application(space) as app:
        await app.store.size()
        jobs = SqliteJobStore(space.home.runs_db, clock=lambda: datetime.now(UTC))
        request = JobRequest(run=request_for(space, QUESTION, now=NOW))
        await jobs.submit(NewJob(id="job", user="ann", question=QUESTION, request=request.to_json()))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await Worker(jobs, ResearchJobRunner(app), name="w").run(until_idle=True)
        job = await jobs.get("ann", "job")
        assert (job.status, job.progress, job.stage) == (JobStatus.COMPLETED, 1.0, "synthesis")
        result, sources = await jobs.result("ann", "job"), await jobs.sources("ann", "job")
        await jobs.close()
    assert result is not None
    assert result.markdown.startswith("# ")
    assert result.source_count == len(sources) > 0
    assert all(0 < source.composite <= 1 for source in sources)


def started(node: str, path: str | None = None) -> NodeStarted:
    return NodeStarted(run_id="r", seq=1, at=AT, path=path or node, visit=1, node=node)


NODES = ("clarify", "plan", "review_plan", "gather", "digest", "analyze", "synthesize", "decide", "refine", "next")


@pytest.mark.requirement("19.3")
@given(nodes=st.lists(st.sampled_from(NODES)))
def test_progress_never_falls_and_is_whole_only_at_the_end(nodes: Sequence[str]) -> None:
    standing = JobProgress()
    for node in nodes:
        reached = standing.after(started(node))
        assert standing.progress <= reached.progress < 1
        standing = reached
    ended = RunEnded(run_id="r", seq=2, at=AT, status="completed")
    assert standing.after(ended).progress == 1.0
    assert standing.after(replace(ended, status="aborted")) == standing


def test_a_step_of_a_subgraph_is_no_stage() -> None:
    standing = JobProgress(stage=Stage.RETRIEVAL, progress=0.25)
    assert standing.after(started("plan", "gather[0]/plan")) == standing


@pytest.mark.requirement("19.3")
async def test_the_stream_of_a_run_tells_each_stage() -> None:
    async def stream() -> AsyncIterator[Event]:
        for node in ("clarify", "plan", "gather", "review_gather", "synthesize", "gather"):
            yield started(node)
        yield RunEnded(run_id="r", seq=9, at=AT, status="completed")

    told = [event async for event in with_progress(stream()) if isinstance(event, Progress)]
    assert {event.name for event in told} == {"research:progress"}
    assert [event.data for event in told] == [
        {"jobId": "r", "stage": stage, "progress": progress}
        for stage, progress in (
            ("decomposition", 0.0),
            ("retrieval", 0.25),
            ("synthesis", 0.75),
            ("retrieval", 0.75),
            ("retrieval", 1.0),
        )
    ]
