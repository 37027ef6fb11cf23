"""The routes of OpenAI's API that jobs answer."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, BackgroundTasks, Request
from fastapi import Response as HttpResponse
from fastapi.sse import EventSourceResponse

from graph_research.app.request import QUESTION_CHARS, QuestionInvalid, valid_text
from graph_research.app.runs.run import new_run_id
from graph_research.jobs.job import Job
from graph_research.service.backend import Backend, FromBackend, FromUser
from graph_research.service.errors import NothingYet
from graph_research.service.models import JobSubmission
from graph_research.service.openai.errors import errors
from graph_research.service.openai.shapes import (
    ChatAnswer,
    ChatCompletion,
    ChatRequest,
    ChatUsage,
    Choice,
    Model,
    ModelList,
    Response,
    ResponseRequest,
    question_of,
    usage_of,
)
from graph_research.service.openai.streams import chat_stream, ended, response_stream, wait, why_none
from graph_research.service.routes.control import cancel_run
from graph_research.service.routes.jobs import IdempotencyKey
from graph_research.service.submission import submit
from graph_research.service.users import User

router = APIRouter(prefix="/v1", tags=["openai"])


def _answers(model: type[Any]) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI responses of a route that answers at once or, where asked, with a stream."""
    return {200: {"model": model, "content": {"text/event-stream": {}}}, **errors(401, 409, 413, 422, 429)}


@router.get("/models", responses=errors(401))
async def list_models(backend: FromBackend, user: FromUser) -> ModelList:  # noqa: ARG001 -- only a user may look
    """The graphs that a question can be given to."""
    return ModelList(data=[Model(id=name) for name in backend.app.workspace.settings.service_graphs])


@router.post("/responses", response_model=Response, responses=_answers(Response))
async def create_response(
    request: ResponseRequest,
    connection: Request,
    backend: FromBackend,
    user: FromUser,
    idempotency_key: IdempotencyKey = None,
) -> Response | HttpResponse:
    """Research a question: at once where `background` is set, else when the report is there, or with `stream` as
    events."""
    job = await _submitted(backend, user, request.model, question_of(request.input), idempotency_key)
    if request.stream:
        return EventSourceResponse(response_stream(backend, job))
    found = (job, None) if request.background else await wait(backend, job, connection)
    return Response.of(*found, background=request.background)


@router.get("/responses/{response_id}", responses=errors(401, 404, 422))
async def get_response(response_id: str, backend: FromBackend, user: FromUser) -> Response:
    """How a response stands; its report once it is completed."""
    return Response.of(*await ended(backend, await backend.jobs.get(user.name, response_id)))


@router.post("/responses/{response_id}/cancel", responses=errors(401, 404, 422))
async def cancel_response(response_id: str, backend: FromBackend, user: FromUser, after: BackgroundTasks) -> Response:
    """Cancel a response; one that has ended stays as it is."""
    job = await backend.jobs.cancel(user.name, response_id)
    after.add_task(cancel_run, backend.app, job.run_id)
    return Response.of(*await ended(backend, job))


@router.post("/chat/completions", response_model=ChatCompletion, responses=_answers(ChatCompletion))
async def create_chat_completion(
    request: ChatRequest,
    connection: Request,
    backend: FromBackend,
    user: FromUser,
    idempotency_key: IdempotencyKey = None,
) -> ChatCompletion | HttpResponse:
    """Research a question and answer with its report, or with `stream` as pieces of it once it is there."""
    job = await _submitted(backend, user, request.model, question_of(request.messages), idempotency_key)
    if request.stream:
        return EventSourceResponse(chat_stream(backend, job))
    job, result = await wait(backend, job, connection)
    if result is None:
        raise NothingYet(why_none(job))
    used = usage_of(result)
    return ChatCompletion(
        id=job.id,
        created=int(job.created_at.timestamp()),
        model=request.model,
        choices=[Choice(message=ChatAnswer(content=result.markdown))],
        usage=ChatUsage(
            prompt_tokens=used.input_tokens, completion_tokens=used.output_tokens, total_tokens=used.total_tokens
        ),
    )


async def _submitted(backend: Backend, user: User, graph: str, question: str, idempotency_key: str | None) -> Job:
    if not question or len(question) > QUESTION_CHARS or not valid_text(question):
        raise QuestionInvalid(
            "the last message of the user is no question", help=f"use 1 to {QUESTION_CHARS} characters"
        )
    submission = JobSubmission(question=question, graph=graph)
    job, _ = await submit(backend, submission, user=user.name, job_id=new_run_id(), idempotency_key=idempotency_key)
    return job
