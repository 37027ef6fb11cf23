"""The run's context as a handler sees it: the only way to the outside, to the clock, to ids and to stored texts."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol


class Clock(Protocol):
    """Time, injected. `now` is aware, in UTC; `monotonic` counts seconds from anywhere."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """The machine's clock."""

    now = staticmethod(partial(datetime.now, UTC))
    monotonic = staticmethod(time.monotonic)


class Context(Protocol):
    """What a handler gets beside its handoff.

    A handler that goes around it (reads a clock, calls a server) cannot be resumed or replayed faithfully.
    """

    run_id: str
    node: str
    """The node's name."""
    visit: int
    """How often the node was entered so far, from 1."""
    item: int | None
    """The item's index inside a fan-out, else None."""
    attempt: int
    """From 1; a retry has the next."""
    interactive: bool
    role: str | None
    """The model role that the graph gives the node, None where it names none."""

    @property
    def path(self) -> str:
        """Node path from the root graph, such as `gather[0]/search`."""
        ...

    @property
    def random(self) -> random.Random:
        """Seeded by run, node visit, item and attempt."""
        ...

    async def call(self, kind: str, request: Any, fn: Callable[[], Awaitable[Any]], *, at_hand: bool = False) -> Any:
        """Make one outside call, or return its recorded answer.

        `request` and the answer are JSON values (large strings are stored once, by hash). The answer is durable
        before it is returned. An error of `fn` is recorded for reading and raised.
        `at_hand` is for an answer that costs nothing to get again, as from a cache: it is durable with the node's next
        call that is not, or its commit.
        """
        ...

    def now(self) -> datetime:
        """The time, journalled; aware, UTC."""
        ...

    def new_id(self, kind: str) -> str:
        """`KIND-` and 10 hex digits derived from run, node visit, item and a counter."""
        ...

    def put_text(self, text: str) -> str:
        """Store a text by content and return `sha256:HEX`; durable with the node's next commit."""
        ...

    async def get_text(self, text_hash: str) -> str:
        """A text stored by `put_text` in this or an earlier node. `StoreDamaged` if its hash no longer fits."""
        ...

    def emit(self, name: str, **data: Any) -> None:
        """A durable event `Note`, stored with the node's next commit or `flush`."""
        ...

    async def flush(self) -> None:
        """Store now what was emitted, while the node still works or waits for an outside call."""
        ...

    def progress(self, name: str, **data: Any) -> None:
        """An event for the current consumer, never stored."""
        ...
