"""The events of jobs for those who follow them: each run is polled once, however many do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import orjson
from fastapi.sse import format_sse_event

from graph_research.app.application import Application
from graph_research.app.job_runner import with_progress
from graph_research.errors import GraphResearchError
from graph_research.graph.errors import StoreUnreachable, UnknownRun
from graph_research.graph.events import Event, Progress
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.jobs.job import Job, JobStatus
from graph_research.jobs.store import JobStore
from graph_research.service.models import JobResource

POLL_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0
_PATIENCE_SECONDS = 30.0
JOB_EVENT = "job"
HEARTBEAT = b": alive\n\n"
_log = logging.getLogger("graph_research.service")


@dataclass(frozen=True)
class _Frame:
    """A piece of the stream, encoded once for all. `seq` is that of the event it is, or of the last one before it."""

    seq: int
    data: bytes
    is_event: bool

    def is_new_after(self, seq: int) -> bool:
        return self.seq > seq or (self.seq == seq and not self.is_event)


@dataclass
class _Feed:
    """What a job's stream holds until now."""

    frames: list[_Frame] = field(default_factory=list)
    followers: int = 0
    has_ended: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    poller: asyncio.Task[None] | None = None

    @property
    def seq(self) -> int:
        return self.frames[-1].seq if self.frames else 0

    async def add(self, frame: _Frame) -> None:
        async with self.changed:
            self.frames.append(frame)
            self.changed.notify_all()

    async def end(self) -> None:
        async with self.changed:
            self.has_ended = True
            self.changed.notify_all()

    async def wait(self, position: int, seconds: float) -> bool:
        """Whether there is something behind `position`, or the end, before so many seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self.changed:
                await self.changed.wait_for(lambda: len(self.frames) > position or self.has_ended)
            return True
        return False


class Feeds:
    """The streams of jobs that somebody follows at the moment."""

    def __init__(
        self,
        app: Application,
        jobs: JobStore,
        *,
        poll_seconds: float = POLL_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._app = app
        self._jobs = jobs
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._feeds: dict[str, _Feed] = {}

    async def follow(self, job: Job, after: int = 0) -> AsyncGenerator[bytes]:
        """The server-sent events of a job's run behind number `after`, until it ends or waits: the stored ones with
        their number as id, `research:progress` between them, and at the end `job`, how the job stands then."""
        feed = self._feeds.get(job.id)
        if feed is None or feed.has_ended:  # for followers that have not read its end yet; the job may go on meanwhile
            feed = self._feeds[job.id] = _Feed()
            feed.poller = asyncio.create_task(self._poll(job, feed))
        feed.followers += 1
        position = 0
        try:
            while True:
                frames = feed.frames[position:]
                position += len(frames)
                if data := b"".join(frame.data for frame in frames if frame.is_new_after(after)):
                    yield data
                if feed.has_ended and position == len(feed.frames):
                    return
                if not await feed.wait(position, self._heartbeat_seconds):
                    yield HEARTBEAT
        finally:
            feed.followers -= 1
            if not feed.followers:
                self._drop(job.id, feed)

    @property
    def open_streams(self) -> int:
        """How many streams are followed."""
        return sum(feed.followers for feed in self._feeds.values())

    async def has_more(self, job: Job, after: int) -> bool:
        """Whether events behind number `after` are stored."""
        try:
            return bool(await self._app.store.events(job.run_id, after=after))
        except UnknownRun:
            return False

    async def close(self) -> None:
        """End every stream; who follows one can go on with it elsewhere."""
        for feed in list(self._feeds.values()):
            await feed.end()

    def _drop(self, job_id: str, feed: _Feed) -> None:
        if feed.poller is not None:
            feed.poller.cancel()
        if self._feeds.get(job_id) is feed:
            del self._feeds[job_id]

    async def _poll(self, job: Job, feed: _Feed) -> None:
        try:
            async for event in with_progress(self._events(job)):
                await feed.add(_frame_of(event, feed.seq))
            await feed.add(_job_frame(await self._jobs.get(job.user, job.id), feed.seq))
        except GraphResearchError as error:
            _log.warning("job %s: its events cannot be read: %s", job.id, error)
        except Exception:  # noqa: BLE001 -- whatever it is, nobody waits for an end that does not come
            _log.exception("job %s: its events cannot be read", job.id)
        await feed.end()

    async def _events(self, job: Job) -> AsyncIterator[Event]:
        """The stored events of a job's run, until the job ends or waits. A store that goes away is waited for."""
        after, read_at = 0, time.monotonic()
        while True:
            try:
                job, events = await self._read(job, after)
            except (JobStoreUnusable, StoreUnreachable):
                if time.monotonic() > read_at + _PATIENCE_SECONDS:
                    raise
            else:
                read_at = time.monotonic()
                for event in events:
                    after = event.seq or after
                    yield event
                if job.is_over or job.status is JobStatus.AWAITING_INPUT:
                    return
            await asyncio.sleep(self._poll_seconds)

    async def _read(self, job: Job, after: int) -> tuple[Job, Sequence[Event]]:
        """How the job stands, and then the events behind number `after`; none of a run that has not begun."""
        job = await self._jobs.get(job.user, job.id)
        try:
            return job, await self._app.store.events(job.run_id, after=after)
        except UnknownRun:
            return job, []


def _frame_of(event: Event, seq: int) -> _Frame:
    """The frame of an event, of which only a stored one has a number."""
    if isinstance(event, Progress):
        data = orjson.dumps(event.data).decode()
        return _Frame(seq, format_sse_event(data_str=data, event=event.name), is_event=False)
    data = orjson.dumps(event.to_json(), default=str).decode()
    number = event.seq or seq
    return _Frame(number, format_sse_event(data_str=data, event=event.type, id=str(number)), is_event=True)


def _job_frame(job: Job, seq: int) -> _Frame:
    data = JobResource.of(job).model_dump_json()
    return _Frame(seq, format_sse_event(data_str=data, event=JOB_EVENT), is_event=False)
