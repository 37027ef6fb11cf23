"""What is checked of every request before it is routed: where it comes from, and how long it is; and which browser may
use a service without tokens."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_research.providers.http.host_names import is_loopback
from graph_research.service.errors import BodyTooLarge, ForeignOrigin, NotAllowed, RequestAmbiguous
from graph_research.service.http.problems import problem_response

_TOKEN_BYTES = 24
_OPEN_THE_PAGE = "open the last address that `graph-research serve` has printed"
_HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What every answer says that does not say otherwise."""


class RequestGuard:
    """ASGI middleware. Requests to a service without tokens (`is_open`) must be sent to this machine under one of its
    own names, and not by a page of another site. A body may have `most_bytes(path)`, and states its length once."""

    def __init__(self, app: ASGIApp, *, is_open: bool, most_bytes: Callable[[str], int]) -> None:
        self._app = app
        self._is_open = is_open
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            if self._is_open:
                _check_origin(Headers(scope=scope))
            limited = _limited(receive, Headers(scope=scope), self._most_bytes(scope["path"]))
        except (ForeignOrigin, RequestAmbiguous, BodyTooLarge) as error:
            await problem_response(scope["path"], error)(scope, receive, send)
            return
        await self._app(scope, limited, send)


class PageAccess:
    """Lets a browser use a service without tokens once it has opened an address with a one-time token, which `offer` is
    given: it then has a cookie that holds until the service ends. Other programs of this machine need none."""

    def __init__(self, url: str, offer: Callable[[str], None]) -> None:
        self._url = url
        self._offer = offer
        self._token = ""
        self._session = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie = f"graph-research-{urlsplit(url).port}"  # browsers send it to every port

    def offer(self) -> None:
        """Give out an address that opens the page in one browser."""
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._offer(f"{self._url}/?token={self._token}")

    def exchange(self, token: str) -> str:
        """The `Set-Cookie` for the browser that brings the token, which is used up; another address is offered.
        `NotAllowed`."""
        if not _are_equal(token, self._token):
            raise NotAllowed("this address has been used, or the service has been started again", help=_OPEN_THE_PAGE)
        self.offer()
        return f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def check(self, connection: HTTPConnection) -> None:
        """`NotAllowed` for a request of a browser in which the page was not opened."""
        is_browser = any(name in connection.headers for name in ("origin", "sec-fetch-site"))
        if is_browser and not self.is_open_in(connection):
            raise NotAllowed(f"this browser may not use the service yet: {_OPEN_THE_PAGE}")

    def is_open_in(self, connection: HTTPConnection) -> bool:
        """Whether the page was opened in the browser that asks."""
        return _are_equal(connection.cookies.get(self._cookie, ""), self._session)


def _are_equal(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


def _check_origin(headers: Headers) -> None:
    host, origin = headers.get("host", ""), headers.get("origin")
    if not is_loopback(_host_of(f"//{host}")):
        raise ForeignOrigin("without tokens the service answers requests to 127.0.0.1 or localhost only")
    if origin is not None and origin != f"http://{host}":
        raise ForeignOrigin("a page of another site sent this request")
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise ForeignOrigin("a page of another site sent this request")


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _limited(receive: Receive, headers: Headers, most_bytes: int) -> Receive:
    if "content-length" in headers and "transfer-encoding" in headers:
        raise RequestAmbiguous("the request states the length of its body in two ways")
    stated = headers.get("content-length", "0")
    if not stated.isdecimal() or int(stated) > most_bytes:
        raise _too_large(most_bytes)
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most_bytes:
            raise HTTPException(413, _too_large(most_bytes).message)  # any other error is taken for one of parsing
        return message

    return limited


def _too_large(most_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body may have {most_bytes:,} bytes here")


def _with_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers
