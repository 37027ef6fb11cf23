"""A connection to the service, on which a request has to arrive in time."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graph_research.service.errors import RequestMalformed
from graph_research.service.http.problems import problem_response


class Connection(H11Protocol):
    """Ends where a request takes longer to arrive than `grace_seconds` and one second for each `least_bytes_a_second`
    that have come: whoever sends nothing, or a byte now and then, would else hold one of the files that the process may
    open. How long the answer takes does not count."""

    grace_seconds: float = 30.0
    least_bytes_a_second: int = 1_000

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._began_at: float | None = None
        self._bytes = 0
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # -- as uvicorn has it
        super().connection_made(transport)
        self._await_more(0)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._await_more(len(data))

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- a text of uvicorn's
        """Answer with a problem document, as the routes do for their errors, and close the connection. Where the
        request has a response already, only close it."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            answer = problem_response(
                "", RequestMalformed("this is not a valid HTTP request, or its headers are too long")
            )
            head = h11.Response(status_code=answer.status_code, headers=answer.raw_headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_limit()
        super().connection_lost(exc)

    def _await_more(self, size: int) -> None:
        self._drop_limit()
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # the request is complete
            self._began_at, self._bytes = None, 0
            return
        self._began_at = self.loop.time() if self._began_at is None else self._began_at
        self._bytes += size
        until = self._began_at + self.grace_seconds + self._bytes / self.least_bytes_a_second
        self._limit = self.loop.call_at(until, self._end_late)

    def _end_late(self) -> None:
        if self.flow.read_paused:  # the service itself has not taken yet what came
            self._limit = self.loop.call_later(self.grace_seconds, self._end_late)
        else:
            self.transport.abort()

    def _drop_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
