"""Errors as problem documents (RFC 9457); those of OpenAI's routes in the shape of that API."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPMethod, HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from graph_research.app.runs.report import NoReport
from graph_research.errors import Action, GraphResearchError, UserMistake
from graph_research.graph.errors import RunBusy, RunExists, StoreUnreachable, UnknownRun
from graph_research.jobs.errors import JobExists, JobNotEnded, JobNotWaiting, JobStoreUnusable, UnknownJob
from graph_research.service.errors import (
    BodyTooLarge,
    ForeignOrigin,
    NotAllowed,
    NothingYet,
    NotReady,
    RequestAmbiguous,
    RequestMalformed,
    TokenMissing,
    TokensUnusable,
    TooManyJobs,
    UnknownDocument,
)
from graph_research.service.openai.errors import NO_RETRY, PREFIX, error_body

MEDIA_TYPE = "application/problem+json"
_URN = "urn:graph-research:problem:"
_STATUS: Mapping[type[GraphResearchError], int] = {
    RequestMalformed: 400,
    RequestAmbiguous: 400,
    TokenMissing: 401,
    NotAllowed: 403,
    ForeignOrigin: 403,
    UnknownJob: 404,
    UnknownRun: 404,
    UnknownDocument: 404,
    JobExists: 409,
    RunExists: 409,
    RunBusy: 409,
    JobNotEnded: 409,
    JobNotWaiting: 409,
    NothingYet: 409,
    NoReport: 409,
    BodyTooLarge: 413,
    TooManyJobs: 429,
    TokensUnusable: 503,
    NotReady: 503,
    JobStoreUnusable: 503,
    StoreUnreachable: 503,
    UserMistake: 422,
}
"""By the nearest class of an error; any other is a failure of the service's."""
TITLES: Mapping[int, str] = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "Not allowed",
    404: "Not found",
    405: "The method is not allowed",
    409: "Not possible at the present status",
    413: "The body is too large",
    415: "The media type is not supported",
    422: "The request is not valid",
    429: "Too many requests",
    500: "The service failed",
    503: "The service is not available",
}
_RETRY_SECONDS = "10"
_INTERNAL = "the service could not do this; its log says why"
_REQUESTS: Mapping[Action, str] = {
    Action.RESUME_RUN: "POST /api/research/jobs/{}/forks",
    Action.CANCEL_RUN: "POST /api/research/jobs/{}/cancel",
    Action.SHOW_STATUS: "GET /api/research/jobs/{}",
    Action.SHOW_STEPS: "GET /api/research/jobs/{}/history",
    Action.SHOW_VERSIONS: "GET /api/research/jobs/{}/versions",
    Action.LIST_RUNS: "GET /api/research/jobs",
    Action.LIST_GRAPHS: "GET /api/research/options",
}
"""The requests that do what a hint says; what is not here is the operator's to do."""
_log = logging.getLogger("graph_research.service")


class InvalidField(BaseModel):
    """What is wrong with a part of a request."""

    pointer: str = Field(examples=["/body/question"])
    message: str


class Problem(BaseModel):
    """An error (RFC 9457). `type` and `code` name its kind and stay the same, the rest is for people."""

    model_config = ConfigDict(title="Problem")

    type: str = Field(examples=[f"{_URN}unknown-job"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no job 'x'"])
    code: str = Field(examples=["unknown-job"])
    help: str | None = Field(None, description="What to do about it")
    errors: list[InvalidField] | None = Field(None, description="The parts of the request that are not valid")


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI responses of a route that answers with problems of these statuses, beside those of every route."""
    reference = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": reference} for status in (*statuses, 500, 503)}


def answer_with_problems(api: FastAPI) -> None:
    """Answer every error of the application with a document; none shows a traceback or what it is made of."""
    api.add_exception_handler(GraphResearchError, _named)
    api.add_exception_handler(RequestValidationError, _not_valid)
    api.add_exception_handler(HTTPException, _of_framework)
    api.add_exception_handler(ClientDisconnect, _broken_off)
    api.add_exception_handler(Exception, _unexpected)


def problem_response(path: str, error: GraphResearchError) -> JSONResponse:
    """The answer to an error that has a name, of a request to this path."""
    status = next(_STATUS[kind] for kind in (*type(error).__mro__, UserMistake) if kind in _STATUS)
    if not isinstance(error, UserMistake):
        status = 503 if status == 503 else 500
    headers = error.headers if isinstance(error, TooManyJobs) else {}
    if isinstance(error, TokenMissing):
        headers = {"WWW-Authenticate": "Bearer"}
    if isinstance(error, RequestMalformed | RequestAmbiguous):
        headers = {"Connection": "close"}
    if status == 503:
        headers = {"Retry-After": _RETRY_SECONDS}
    if status >= 500:
        _log.error("%s: %s", error.code, error)
        detail = error.message if isinstance(error, NotReady) else _INTERNAL
        return _response(path, status, error.code, detail, headers=headers)
    return _response(path, status, error.code, error.message, help=_help_of(error) or None, headers=headers)


def _help_of(error: GraphResearchError) -> str:
    """What to do about an error: its help, and the fields or the request that do it."""
    if (hint := error.hint) is None:
        return error.help
    if hint.action is Action.SET_OPTION:
        values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in hint.options.items()}
        done_by = ", ".join(f"{name} {value}".strip() for name, value in values.items())
    elif "answer" in hint.options:
        done_by = f"POST /api/research/jobs/{hint.target}/answer"
    else:
        done_by = _REQUESTS.get(hint.action, "").format(hint.target)
    return ("; " if done_by.startswith("GET") else ": ").join(filter(None, (error.help, done_by)))


async def _named(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GraphResearchError)
    return problem_response(request.url.path, error)


async def _not_valid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    if any(part["loc"] == ("body",) and isinstance(part["input"], bytes) for part in error.errors()):
        help, accepted = "send JSON with the header `Content-Type: application/json`", {"Accept": "application/json"}
        return _response(
            request.url.path, 415, "unsupported-media-type", "the body is not JSON", help=help, headers=accepted
        )
    invalid = list(map(_invalid_field, error.errors()))
    detail = "; ".join(f"{part.pointer}: {part.message}" for part in invalid)
    return _response(request.url.path, 422, "invalid", detail, errors=invalid)


def _invalid_field(error: Mapping[str, Any]) -> InvalidField:
    place, message = error["loc"], error["msg"].removeprefix("Value error, ")
    if error["type"] == "json_invalid":
        place, message = place[:1], f"not JSON: {error['ctx']['error']} at character {place[1]}"
    return InvalidField(pointer="/" + "/".join(map(str, place)), message=message)


async def _of_framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # a body that is not UTF-8: as one that is not JSON
        return _response(request.url.path, 422, UserMistake.code, "the body cannot be read as JSON")
    phrase = BodyTooLarge.code if error.status_code == 413 else HTTPStatus(error.status_code).phrase
    code = phrase.lower().replace(" ", "-")
    headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
    return _response(request.url.path, error.status_code, code, str(error.detail), headers=headers)


def _allowed(request: Request) -> str:
    """The methods of all routes at the path of a request. The framework names those of the first one."""
    scope = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}
    return ", ".join(
        method
        for method in HTTPMethod
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    )


async def _broken_off(request: Request, _: Exception) -> JSONResponse:
    """What is logged of a request whose client has gone; nobody reads it."""
    return _response(request.url.path, 400, "broken-off", "the request broke off")


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    _log.error("unexpected: %s", type(error).__name__, exc_info=error)
    return _response(request.url.path, 500, "unexpected", _INTERNAL)


def _response(
    path: str,
    status: int,
    code: str,
    detail: str,
    *,
    help: str | None = None,
    errors: list[InvalidField] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    headers = dict(headers or {})
    if path.startswith(PREFIX):
        message = f"{detail}; {help}" if help else detail
        body = error_body(status, code, message, errors[0].pointer if errors else None)
        return JSONResponse(body, status_code=status, headers=headers | (NO_RETRY if status == 409 else {}))
    title = TITLES.get(status, "Error")
    problem = Problem(
        type=f"{_URN}{code}", title=title, status=status, detail=detail, code=code, help=help, errors=errors
    )
    return JSONResponse(
        problem.model_dump(exclude_none=True), status_code=status, media_type=MEDIA_TYPE, headers=headers
    )
