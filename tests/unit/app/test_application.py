"""The application: runs are created before they are driven, watched from elsewhere, and share clients and limits."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import aclosing
from typing import Any

import pytest

from graph_research.app.application import Application
from graph_research.app.library import LibraryEmpty
from graph_research.app.request import RunRequest, request_for
from graph_research.app.research import reported
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.graph.errors import RunExists, UnknownRun
from graph_research.graph.events import Note, RunEnded
from tests.support.cli.cli_process import NOW, User, wait_until
from tests.support.cli.cli_user import QUESTION
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.network.http_server import Answer, WireServer

ASKING = """
graph: asking
version: "1"
state: {answer: {type: object, default: {}, output: true}}
start: ask
nodes:
  ask: {prompt: ask, output: {schema: answer, into: {answer: output}}}
  done: {end: completed}
edges:
  - {from: ask, to: done}
"""


def workspace(user: User, **options: Any) -> Workspace:
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    return open_workspace(environ, user.folder, may_use=lambda _: False, options=options)


def counting(space: Workspace, user: User) -> RunRequest:
    user.write("countdown.yaml", COUNTDOWN)
    return request_for(space, graph="countdown.yaml", inputs={"n": 2})


async def driven(app: Application, run_id: str) -> list[str]:
    async with aclosing(app.drive(run_id)) as events:
        return [event.type async for event in events]


@pytest.mark.requirement("1.15")
async def test_a_created_run_is_stored_and_driven_later_by_another_application(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        assert await app.create(counting(space, user), run_id="later") == "later"
        assert (await app.result("later")).status == "running"
        with pytest.raises(RunExists):
            await app.create(counting(space, user), run_id="later")
    async with Application(space) as app:
        told = await driven(app, "later")
        result = await app.result("later")
    assert told[:2] == ["run_started", "node_started"]
    assert "run_resumed" not in told
    assert (result.status, result.state["seen"], result.outputs) == ("completed", [2, 1], ())


async def test_nothing_is_indexed_and_no_report_is_written_before_it_is_asked_for(user: User) -> None:
    space = workspace(user, library=["library"])
    async with Application(space) as app:
        run_id = await app.create(request_for(space, QUESTION, now=NOW))
        assert not (user.home / "index").exists() or not list((user.home / "index").iterdir())
        await driven(app, run_id)
        result = await app.result(run_id)
        assert (result.status, result.error) == ("completed", None)
        assert not (user.folder / "research").exists()
        files = await app.write_report(await app.report(run_id), user.folder / "out")
    assert sorted(path.name for path in (user.folder / "out").iterdir()) == ["report.html", "report.json", "report.md"]
    assert files.keys() == {"md", "html", "json"}


@pytest.mark.requirement("11.20")
@pytest.mark.parametrize(
    ("users", "hits"),
    [
        (["", ""], [False, True]),
        (["ada", "ada"], [False, True]),
        (["ada", "bob"], [False, False]),
        ([None] * 2, [False] * 2),
    ],
)
async def test_a_later_run_about_the_same_question_uses_the_digests_of_an_earlier_one_but_not_another_users(
    user: User, users: list[str | None], hits: list[bool]
) -> None:
    space = workspace(user, library=["library"], deep_research_digest_policy="always", max_iterations=1)
    seen: list[set[bool]] = []
    async with Application(space) as app:
        for asking in users:
            run_id = await app.create(request_for(space, QUESTION, now=NOW))
            async with aclosing(app.drive(run_id, user=asking)) as events:
                notes = [event.data async for event in events if isinstance(event, Note)]
            seen.append({note["cache_hit"] for note in notes if "cache_hit" in note})
    assert seen == [{hit} for hit in hits]


async def test_a_new_run_that_finds_nothing_to_search_is_removed(user: User) -> None:
    (user.folder / "empty").mkdir()
    space = workspace(user, library=["empty"])
    async with Application(space) as app:
        run_id = await app.create(request_for(space, QUESTION))
        with pytest.raises(LibraryEmpty):
            await driven(app, run_id)
        with pytest.raises(UnknownRun):
            await app.request(run_id)


@pytest.mark.requirement("1.15")
async def test_any_reader_follows_the_events_of_a_run_that_another_application_drives(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app, Application(space) as reader:
        run_id = await app.create(counting(space, user))

        async def follow() -> list[Any]:
            return [event async for event in reader.events(run_id, after=1)]

        following = asyncio.create_task(follow())
        await driven(app, run_id)
        events = await following
        assert events == await app.store.events(run_id, after=1)
        assert isinstance(events[-1], RunEnded)


async def test_a_cancelled_run_that_nobody_drives_is_led_to_its_end(user: User) -> None:
    space = workspace(user)
    async with Application(space) as app:
        run_id = await app.create(counting(space, user))
        status = await app.cancel(run_id)
        assert (status.status, status.cause) == ("aborted", "cancelled")
        assert (await app.cancel(run_id)).status == "aborted"


@pytest.mark.requirement("6.1", "6.3")
async def test_the_result_of_a_research_that_was_cancelled_says_so_and_where(user: User) -> None:
    space = workspace(user, default_provider=["extractive"], library=[str(user.folder / "library")])
    async with Application(space) as app:
        run_id = await app.create(request_for(space, QUESTION))
        await app.cancel(run_id)
        result = await reported(app, run_id, user.folder / "out")
    assert (result.success, result.status, result.cause, result.error) == (False, "aborted", "cancelled", "cancelled")
    assert result.metadata == {
        "cancelled": True,
        "abort_phase": "clarification",
        "abort_iteration": 1,
        "token_limit_retries": 0,
    }


@pytest.mark.parametrize(("applications", "asked"), [(1, {15, 18}), (2, {24})])
async def test_runs_of_one_application_share_the_circuit_breaker(
    applications: int, asked: set[int], server: WireServer, user: User
) -> None:
    """The breaker opens after 5 requests, each of which is tried 3 times."""
    server.on("/chat/completions", Answer(status=500))
    user.write("asking/asking.yaml", ASKING)
    user.write("asking/prompts/ask.j2", "Say something.")
    user.write("asking/schemas/answer.json", json.dumps({"type": "object"}))
    space = workspace(user, default_provider=[f"openai:m@{server.url}"])
    request = request_for(space, graph="asking/asking.yaml")
    opened = [Application(space) for _ in range(applications)]
    for app in opened:
        await app.__aenter__()
    runs = [(opened[number % applications], await opened[0].create(request)) for number in range(8)]
    for first in range(0, 8, 2):
        await asyncio.gather(*(driven(app, run_id) for app, run_id in runs[first : first + 2]))
    for app in opened:
        await app.__aexit__(None, None, None)
    assert len(server.received) in asked


def test_a_run_that_is_killed_while_its_library_is_indexed_is_known_and_resumed(user: User) -> None:
    for number in range(300):
        text = f"# Mill {number}\n\nTide mill number {number} stored water in its pond.\n"
        user.write(f"many/mill-{number}.md", text * 20)
    with user.start("run", QUESTION, "--library", "many", "--run-id", "killed") as process:
        wait_until((user.home / "index" / "library.db").exists)
        process.kill()
        process.finish()
    assert process.returncode == -signal.SIGKILL
    [run] = user.run("list", "--json").json
    assert (run["run_id"], run["interrupted"], run["question"]) == ("killed", True, QUESTION)
    assert user.run("resume", "killed", "--json").json["status"] == "completed"
