"""The events of a job: stored ones by number, progress between them, heartbeats, and the end."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from graph_research.jobs.job import JobStatus
from graph_research.service.feeds import Feeds
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient


@dataclass(frozen=True)
class Sent:
    """One event of a stream."""

    type: str
    data: Any
    id: int | None


def parsed(text: str) -> list[Sent]:
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            number = int(fields["id"]) if "id" in fields else None
            events.append(Sent(fields["event"], json.loads(fields["data"]), number))
    return events


async def followed(service: ServiceClient, job_id: str, after: int | None = None) -> list[Sent]:
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    answer = await service.get(f"{JOBS}/{job_id}/events", headers=headers)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    return parsed(answer.text)


@pytest.mark.requirement("19.3")
async def test_who_follows_from_the_start_gets_every_event_and_the_end(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    async with asyncio.TaskGroup() as group:
        early = group.create_task(followed(service, job_id))
        await asyncio.sleep(0)
        group.create_task(service.drive())
    sent = early.result()
    stored = [event.to_json() for event in await service.app.store.events(job_id)]
    assert [event.data for event in sent if event.id is not None] == stored
    assert [event.id for event in sent if event.id is not None] == [*range(1, len(stored) + 1)]
    progress = [event.data for event in sent if event.type == "research:progress"]
    assert [step["stage"] for step in progress] == ["decomposition", "retrieval", "scoring", "synthesis", "synthesis"]
    assert [step["progress"] for step in progress] == sorted(step["progress"] for step in progress)
    assert {step["jobId"] for step in progress} == {job_id}
    assert (sent[-1].type, sent[-1].data["status"]) == ("job", "COMPLETED")


async def test_who_comes_back_gets_what_was_missed(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    everything = await followed(service, job_id)
    for after in (1, 10, len([event for event in everything if event.id]) - 1):
        missed = await followed(service, job_id, after)
        assert [event.id for event in missed if event.id] == [e.id for e in everything if e.id and e.id > after]
        assert missed[-1].type == "job"


async def test_who_comes_back_after_the_last_event_is_told_to_stay_away(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    last = max(event.id or 0 for event in await followed(service, job_id))
    answer = await service.get(f"{JOBS}/{job_id}/events", headers={"Last-Event-ID": str(last)})
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_job_that_waits_ends_its_stream(service: ServiceClient) -> None:
    job_id = await service.submitted()
    await service.finish(JobStatus.AWAITING_INPUT, waiting_for="which?")
    [end] = await followed(service, job_id)
    assert (end.type, end.data["waiting_for"]) == ("job", "which?")


async def test_a_queued_job_has_heartbeats(service: ServiceClient) -> None:
    job = await service.jobs.get("local", await service.submitted())
    stream = service.feeds.follow(job)
    assert [await anext(stream) for _ in range(3)] == [b": alive\n\n"] * 3
    await stream.aclose()


async def test_five_hundred_who_follow_one_job_ask_the_store_once(service: ServiceClient) -> None:
    job_id = await service.submitted()
    asked = 0
    get = service.jobs.get

    async def counted(user: str, job: str) -> Any:
        nonlocal asked
        asked += 1
        return await get(user, job)

    job = await get("local", job_id)
    service.jobs.get = counted  # type: ignore[method-assign]

    async def drained() -> bytes:
        return b"".join([data async for data in service.feeds.follow(job) if not data.startswith(b":")])

    async with asyncio.TaskGroup() as group:
        followers = [group.create_task(drained()) for _ in range(500)]
        await asyncio.sleep(0.05)
        await service.jobs.cancel("local", job_id)
    assert len({follower.result() for follower in followers}) == 1
    assert asked < 100
    assert service.feeds.open_streams == 0


async def test_the_end_of_the_service_ends_every_stream(service: ServiceClient) -> None:
    job_id = await service.submitted()
    async with asyncio.TaskGroup() as group:
        stream = group.create_task(followed(service, job_id))
        while not service.feeds.open_streams:  # noqa: ASYNC110 -- the stream is begun somewhere inside
            await asyncio.sleep(0.01)
        await service.feeds.close()
    assert stream.result() == []


async def test_whoever_follows_a_job_that_went_on_gets_no_earlier_end(service: ServiceClient) -> None:
    """Another follower has not read the end yet that was there before the job was answered."""
    job_id = await service.submitted()
    await service.finish(JobStatus.AWAITING_INPUT, waiting_for="which?")
    slow = service.feeds.follow(await service.jobs.get("local", job_id))
    assert b"AWAITING_INPUT" in await anext(slow)
    await service.jobs.answer("local", job_id, "this one")
    await service.finish()
    [end] = await followed(service, job_id)
    assert end.data["status"] == "COMPLETED"
    await slow.aclose()
    assert service.feeds.open_streams == 0


async def test_a_stream_whose_events_can_not_be_read_ends(service: ServiceClient) -> None:
    job_id = await service.submitted()
    job = await service.jobs.get("local", job_id)
    feeds = Feeds(service.app, _BrokenJobs(), poll_seconds=0.01)  # type: ignore[arg-type]  # -- one method is asked
    async with asyncio.timeout(10):
        assert [data async for data in feeds.follow(job)] == []


class _BrokenJobs:
    async def get(self, user: str, job_id: str) -> None:
        raise RuntimeError("a row that nobody expects")
