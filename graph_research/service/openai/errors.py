"""Errors in OpenAI's shape, which the programs that speak its API understand."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel, Field

PREFIX = "/v1/"
"""The paths whose errors have this shape."""
NO_RETRY = {"x-should-retry": "false"}
"""The headers of an error that OpenAI's own clients would answer with the same request, which submits another job."""
ErrorType = Literal[
    "invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error"
]
_TYPES: Mapping[int, ErrorType] = {
    401: "authentication_error",
    403: "permission_error",
    409: "server_error",
    429: "rate_limit_error",
}
"""By status; the others of a request are `invalid_request_error`. A job without a report is 409."""


class ErrorDetail(BaseModel):
    """What went wrong. `code` names its kind and stays the same; `param` is the field that is not valid."""

    message: str = Field(examples=["there is no job 'x'"])
    type: ErrorType = Field(examples=["invalid_request_error"])
    param: str | None = Field(examples=[None])
    code: str = Field(examples=["unknown-job"])


class ErrorBody(BaseModel):
    """An error in OpenAI's shape."""

    error: ErrorDetail


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI responses of a route with errors of these statuses, beside those of every route."""
    return {status: {"model": ErrorBody, "description": HTTPStatus(status).phrase} for status in (*statuses, 500, 503)}


def error_body(status: int, code: str, message: str, pointer: str | None = None) -> dict[str, Any]:
    """The body of an error with this status; `pointer` such as `/body/input` to what is not valid."""
    kind: ErrorType = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    field = (pointer or "").split("/")[2:3]
    param = field[0] if field else None
    return ErrorBody(error=ErrorDetail(message=message, type=kind, param=param, code=code)).model_dump()
