"""The journal: outside calls are recorded before their answers are used, and not made again after an interruption."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from graph_research.graph.errors import ENDS_THE_DRIVE
from graph_research.graph.events import CallRecorded, Draft, Note, Progress
from graph_research.graph.execution.cancel_scope import cancel_requested
from graph_research.graph.execution.run_session import RunSession
from graph_research.graph.messages import error_message
from graph_research.graph.state.address import Address
from graph_research.graph.state.rows import CallRow
from graph_research.graph.statuses import CallStatus, InnerCall
from graph_research.graph.values.codec import canonical, decode, encode, encode_with_copy, text_hash

_ID_DIGITS = 10
_NOW, _NOTE = map(str, InnerCall)
"""As plain strings, which SQLite binds faster."""

_RequestKey = tuple[str, bytes, int]
"""Identifies a call: its kind, the hash of its request, and how many equal calls came before."""


class JournalContext:
    """The `Context` of one attempt. Its journal entries and events wait for the attempt's next write (`pending`)."""

    _recorded: Mapping[_RequestKey, CallRow] = {}
    _inherited: Mapping[_RequestKey, CallRow] = {}

    def __init__(self, session: RunSession, address: Address, role: str | None) -> None:
        self.run_id = session.run_id
        self.address = address
        _, self.node, self.visit, self.item, self.attempt = address
        self.interactive = session.interactive
        self.role = role
        self._session = session
        self._counted: dict[tuple[str, bytes], int] = {}
        self._calls: list[CallRow] = []
        self._events: list[Draft] = []

    async def recall(self) -> None:
        """Load what is recorded of the same attempt, in this run and in one whose answers it inherits."""
        session = self._session
        if self.address.key in session.earlier_call_keys:
            rows = await session.store.call_rows(session.run_id, self.address.key)
            self._recorded = _by_request(row for row in rows if row.status == CallStatus.ANSWERED)
        if session.inherited is not None:
            self._inherited = _by_request(await session.inherited(self.address.key))

    @cached_property
    def path(self) -> str:
        return self.address.path

    @cached_property
    def random(self) -> random.Random:
        return random.Random(f"{self._session.seed}/{self.address.key}")  # noqa: S311 -- repeatable, not secret

    async def call(self, kind: str, request: Any, fn: Callable[[], Awaitable[Any]], *, at_hand: bool = False) -> Any:
        key = self._next_key(kind, hashlib.sha256(canonical(request)).digest())
        recorded = self._answer_to(key)
        if recorded is None and self._session.refuse is not None:
            await self._session.refuse(self.address, kind, request, self._inherited.get(key))
        if recorded is not None and recorded.answer is not None:
            self._events.append(self._call_event(kind, recorded.seconds, reused=True))
            return await self._session.value(recorded.answer)
        sent = self._row(key, CallStatus.SENT, request=self._session.encode(request))
        if not at_hand:
            self._calls.append(sent)
            await self.flush()
        return await self._answered(sent, fn, at_hand=at_hand)

    def now(self) -> datetime:
        key = self._next_key(_NOW)
        recorded = self._answer_to(key)
        if recorded is not None and recorded.answer is not None:
            moment: datetime = decode(recorded.answer, {})
            return moment
        moment = self._session.clock.now()
        self._calls.append(self._row(key, CallStatus.ANSWERED, answer=encode(moment, {})))
        return moment

    def new_id(self, kind: str) -> str:
        _, _, before = self._next_key(f"id {kind}")
        seed = f"{self._session.seed}/{self.address._replace(attempt=1).key}/{kind}/{before + 1}"
        return f"{kind}-{hashlib.sha256(seed.encode()).hexdigest()[:_ID_DIGITS]}"

    def put_text(self, text: str) -> str:
        name = text_hash(text)
        self._session.put_text(name, text)
        return f"sha256:{name}"

    async def get_text(self, text_hash: str) -> str:
        return await self._session.text(text_hash.removeprefix("sha256:"))

    def emit(self, name: str, **data: Any) -> None:
        key = self._next_key(_NOTE, hashlib.sha256(canonical([name, data])).digest())
        if key not in self._recorded:
            self._calls.append(self._row(key, CallStatus.ANSWERED))
            self._events.append({"type": Note.type, "path": self.path, "visit": self.visit, "name": name, "data": data})

    async def flush(self) -> None:
        calls, events = self.pending()
        if calls or events:
            await self._session.write(calls=calls, events=events)

    def progress(self, name: str, **data: Any) -> None:
        session, path, visit = self._session, self.path, self.visit
        event = Progress(
            run_id=self.run_id, seq=None, at=session.clock.now(), path=path, visit=visit, name=name, data=data
        )
        session.event_channel.send_ephemeral(event)

    def pending(self) -> tuple[list[CallRow], list[Draft]]:
        """The journal entries and events that wait for the attempt's next write. The caller has to write them."""
        calls, events = self._calls, self._events
        self._calls, self._events = [], []
        return calls, events

    def _answer_to(self, key: _RequestKey) -> CallRow | None:
        """The recorded answer; one of another run is entered into this run's journal too. A fork inherits recorded
        times only until the first call that has to be made."""
        if (recorded := self._recorded.get(key)) is not None:
            return recorded
        recorded = self._inherited.get(key)
        if recorded is not None and recorded.status == CallStatus.ANSWERED:
            self._calls.append(recorded._replace(seq=self._session.next_call()))
            return recorded
        if self._session.replay is None:
            self._inherited = {other: row for other, row in self._inherited.items() if row.kind != _NOW}
        return None

    async def _answered(self, sent: CallRow, fn: Callable[[], Awaitable[Any]], *, at_hand: bool) -> Any:
        clock, texts = self._session.clock, dict[str, str]()
        began = clock.monotonic()
        try:
            answer, copy = encode_with_copy(await fn(), texts)
        except ENDS_THE_DRIVE:
            raise
        except (Exception, asyncio.CancelledError) as problem:  # whatever a call fails with is recorded
            if cancel_requested(problem):
                raise
            error = self._session.encode({"type": type(problem).__name__, "message": error_message(problem)})
            self._calls.append(sent._replace(status=CallStatus.FAILED, seconds=clock.monotonic() - began, answer=error))
            if not at_hand:
                await self.flush()
            raise
        seconds = clock.monotonic() - began
        self._session.keep_texts(texts)
        self._calls.append(sent._replace(status=CallStatus.ANSWERED, seconds=seconds, answer=answer))
        self._events.append(self._call_event(sent.kind, seconds, reused=False))
        if not at_hand:
            await self.flush()
        return copy

    def _next_key(self, kind: str, digest: bytes = b"") -> _RequestKey:
        """The key of a request that is made now."""
        ordinal = self._counted.get((kind, digest), 0)
        self._counted[kind, digest] = ordinal + 1
        return kind, digest, ordinal

    def _call_event(self, kind: str, seconds: float, *, reused: bool) -> Draft:
        call = {"kind": kind, "seconds": seconds, "reused": reused}
        return {"type": CallRecorded.type, "path": self.path, "visit": self.visit, **call}

    def _row(
        self, key: _RequestKey, status: CallStatus, *, request: bytes | None = None, answer: bytes | None = None
    ) -> CallRow:
        attempt = (self.address.key, self.path, self.visit, self.item, self.attempt)
        number, now = self._session.next_call(), self._session.clock.now().timestamp()
        return CallRow(number, *attempt, *key, status, now, 0.0, request, answer)


def _by_request(rows: Iterable[CallRow]) -> dict[_RequestKey, CallRow]:
    return {(row.kind, row.request_hash, row.ordinal): row for row in rows}
