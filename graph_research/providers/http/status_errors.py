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
from graph_research.text.wording import shortened

_RETRYABLE = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""529 is what Anthropic answers when it is overloaded; other 5xx of proxies are taken for the same."""

_NOT_RETRYABLE = frozenset({501, 505})
_QUOTED_CHARS = 300
_WORDS = ("message", "error", "detail", "error_message", "title", "description")


def status_error(endpoint: Endpoint, reply: Response, *, now: datetime) -> ProviderError | None:
    """The error that `reply` is, None where it is taken. The peer's own `classify` is heard first."""
    if reply.status < 300:
        return _broken_json(endpoint, reply)
    error = endpoint.classify(reply) if endpoint.classify else None
    error = error or _by_status(endpoint, reply)
    if isinstance(error, ProviderUnavailable) and error.retry_after_seconds is None:
        error.retry_after_seconds = retry_after(reply.headers, now=now)
    return error


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds that `Retry-After` asks for, as a number or as a date (RFC 9110, 10.2.3); the server's own clock counts
    where it sent its time."""
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
    what = f"{endpoint.name} answered {_named(status)}"
    if words := _own_words(reply):
        what += f": {words}"
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


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return "529 (overloaded)" if status == 529 else str(status)


def _own_words(reply: Response) -> str:
    """What the server says of it in one line, without markup; empty where it says nothing to people."""
    try:
        text = _message(reply.json(), depth=4)
    except ValueError:
        text = "" if "html" in reply.media_type else reply.text()
    text = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return shortened(text, _QUOTED_CHARS)


def _message(value: Any, *, depth: int) -> str:
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list) and value:
        return _message(value[0], depth=depth - 1)
    if depth and isinstance(value, Mapping):
        found = (_message(value[word], depth=depth - 1) for word in _WORDS if word in value)
        return next((text for text in found if text), "")
    return ""


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
