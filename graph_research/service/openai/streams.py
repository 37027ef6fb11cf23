"""Finished jobs as streams of events, in OpenAI's shapes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import orjson
from fastapi.sse import format_sse_event
from starlette.requests import ClientDisconnect, Request

from graph_research.jobs.job import Job, ResultRow
from graph_research.service.backend import Backend
from graph_research.service.feeds import HEARTBEAT
from graph_research.service.openai.errors import error_body
from graph_research.service.openai.shapes import Response, message_of, usage_of

_DONE = b"data: [DONE]\n\n"


async def response_stream(backend: Backend, job: Job) -> AsyncIterator[bytes]:
    """The events of a response: created, in progress, the report line by line, and its end."""
    number = 0

    def event(kind: str, **fields: Any) -> bytes:
        nonlocal number
        number += 1
        data = {"type": kind, "sequence_number": number - 1, **fields}
        return format_sse_event(data_str=orjson.dumps(data).decode(), event=kind)

    begun = Response.of(job, None, background=False).model_dump()
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    async for heartbeat in _waiting(backend, job):
        yield heartbeat
    job, result = await ended(backend, job)
    if result is not None:
        for data in _message_events(job, result, event):
            yield data
    response = Response.of(job, result, background=False)
    status = response.status if response.status in ("completed", "failed") else "incomplete"
    yield event(f"response.{status}", response=response.model_dump())


def _message_events(job: Job, result: ResultRow, event: Callable[..., bytes]) -> Iterator[bytes]:
    message = message_of(job.id, result.markdown).model_dump()
    place = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    [part] = message["content"]
    yield event("response.output_item.added", output_index=0, item={**message, "status": "in_progress", "content": []})
    yield event("response.content_part.added", **place, part={**part, "text": ""})
    for line in result.markdown.splitlines(keepends=True):
        yield event("response.output_text.delta", **place, delta=line, logprobs=[])
    yield event("response.output_text.done", **place, text=result.markdown, logprobs=[])
    yield event("response.content_part.done", **place, part=part)
    yield event("response.output_item.done", output_index=0, item=message)


async def chat_stream(backend: Backend, job: Job) -> AsyncIterator[bytes]:
    """The pieces of a completion: the role, the report line by line, the end."""
    shared = {
        "id": job.id,
        "object": "chat.completion.chunk",
        "created": int(job.created_at.timestamp()),
        "model": job.request["run"]["graph"],
    }

    def chunk(delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return format_sse_event(data_str=orjson.dumps({**shared, "choices": [choice], **more}).decode())

    yield chunk({"role": "assistant", "content": ""})
    async for heartbeat in _waiting(backend, job):
        yield heartbeat
    job, result = await ended(backend, job)
    if result is None:
        error = error_body(409, job.error.code if job.error else job.status.lower(), why_none(job))
        yield format_sse_event(data_str=orjson.dumps(error).decode())
    else:
        for line in result.markdown.splitlines(keepends=True):
            yield chunk({"content": line})
        used = usage_of(result)
        usage = {
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "total_tokens": used.total_tokens,
        }
        yield chunk({}, "stop", usage=usage)
    yield _DONE


async def wait(backend: Backend, job: Job, request: Request) -> tuple[Job, ResultRow | None]:
    """The job when it has ended, and its result where it has one. `ClientDisconnect` where nobody waits for the answer
    any more, which is noticed with the next event or heartbeat; the job goes on."""
    async with aclosing(backend.feeds.follow(job)) as stream:
        async for _ in stream:
            if await request.is_disconnected():
                raise ClientDisconnect
    return await ended(backend, job)


async def ended(backend: Backend, job: Job) -> tuple[Job, ResultRow | None]:
    """The job as it stands, and its result where it has one."""
    return await backend.jobs.get(job.user, job.id), await backend.jobs.result(job.user, job.id)


def why_none(job: Job) -> str:
    """Why a job has no result."""
    return f"job {job.id} is {job.status} and has no result{f': {job.error.message}' if job.error else ''}"


async def _waiting(backend: Backend, job: Job) -> AsyncIterator[bytes]:
    """A heartbeat now and then until the job has ended."""
    async for data in backend.feeds.follow(job):
        if data == HEARTBEAT:
            yield data
