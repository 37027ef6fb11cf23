"""Maps HTTP status codes to errors: retryable (`ProviderUnavailable`) or not (`ProviderRefused`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.text.wording import one_line, shortened

_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""529 is Anthropic's status for overload. Other 5xx statuses are retryable too, except `_NOT_RETRYABLE`."""

_NOT_RETRYABLE = frozenset({501, 505})
_QUOTED_CHARS = 300
_MESSAGE_KEYS = ("message", "error", "detail", "msg", "error_message", "title", "description")
"""Where servers put the message of an error, in the order in which they are looked at."""

_MESSAGE_DEPTH = 40


def status_error(endpoint: Endpoint, reply: Response, *, now: datetime) -> ProviderError | None:
    """The error that the response stands for, None for success. `endpoint.classify` has precedence over the status."""
    if reply.status < 300:
        return _broken_json(endpoint, reply)
    error = endpoint.classify(reply) if endpoint.classify else None
    error = error or _by_status(endpoint, reply)
    if isinstance(error, ProviderUnavailable) and error.retry_after_seconds is None:
        error.retry_after_seconds = retry_after(reply.headers, now=now)
    return error


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """The seconds in `Retry-After`, a number or a date (RFC 9110, 10.2.3); a date is relative to the server's `Date`
    header if there is one."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text):
        return float(text)
    due = _date(text)
    if due is None:
        return None
    return max(0.0, (due - (_date(headers.get("date", "")) or now)).total_seconds())


def _broken_json(endpoint: Endpoint, reply: Response) -> ProviderUnavailable | None:
    if reply.status == 204 or not re.fullmatch(r"application/([\w.-]+\+)?json", reply.media_type):
        return None
    try:
        reply.json()
    except ValueError:
        return ProviderUnavailable(
            f"{endpoint.name} answered with JSON that is broken or cut short ({len(reply.body):,} bytes)",
            provider=endpoint.name,
        )
    return None


def _by_status(endpoint: Endpoint, reply: Response) -> ProviderError:
    status = reply.status
    what = f"{endpoint.name} answered {_status_text(status)}"
    if message := _server_message(reply):
        what += f": {message}"
    if status in _RETRYABLE or (status >= 500 and status not in _NOT_RETRYABLE):
        return ProviderUnavailable(what, provider=endpoint.name)
    return ProviderRefused(what, provider=endpoint.name, help=_remedy(endpoint, status))


def _remedy(endpoint: Endpoint, status: int) -> str:
    if status in (401, 403):
        return endpoint.remedy or "check the key and what it allows"
    if status == 402:
        return "the account needs credit"
    if status == 404:
        return "check the address and the name that was asked for"
    if status == 413:
        return "the request is too long for this server; ask for less at a time"
    return endpoint.remedy


def _status_text(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return "529 (overloaded)" if status == 529 else str(status)


def _server_message(reply: Response) -> str:
    """The message in the response, on one line and without markup; empty if there is none."""
    try:
        text = find_message(reply.json())
    except ValueError:
        text = "" if "html" in reply.media_type else reply.text()
    return shortened(one_line(text), _QUOTED_CHARS)


def find_message(value: Any, depth: int = _MESSAGE_DEPTH) -> str:
    """The message in the JSON value of an error, empty if there is none."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list) and value:
        return find_message(value[0], depth - 1)
    if depth and isinstance(value, Mapping):
        texts = (find_message(value[key], depth - 1) for key in _MESSAGE_KEYS if key in value)
        return next(filter(None, texts), "")
    return ""


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
