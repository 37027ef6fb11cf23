"""What a host's robots.txt lets us fetch (RFC 9309), asked once for each host of a run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from protego import Protego

from graph_research.providers.errors import FetchRefused, ProviderError

ROBOTS_NAME = "graph-research"
"""The product token that a robots.txt may name us by."""

MOST_BYTES = 512_000
"""What of a robots.txt is read; RFC 9309 (2.5) asks for 500 KiB at least."""

_AGENT = re.compile(r"\s*user(?:-|\s*)agent(?:\s*:|\s)\s*(?P<name>[^#]*)", re.IGNORECASE)

ReadText = Callable[[str], Awaitable[str | None]]
"""The text at an address, None where the server has none (4xx); `ProviderError` where it cannot be read."""


@dataclass
class Robots:
    """Remembers each host's rules. No rules (4xx) allow everything; while rules cannot be read, because the server
    fails or is out of reach, everything is forbidden (RFC 9309, 2.3.1.4)."""

    read_text: ReadText
    _rules: dict[str, Protego] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def check(self, origin: str, url: str) -> None:
        """`FetchRefused` where the rules of `origin`, such as `https://example.org`, do not let us fetch `url`."""
        async with self._locks.setdefault(origin, asyncio.Lock()):
            if origin not in self._rules:
                self._rules[origin] = Protego.parse(_for_us(await self._text_for(origin, url) or ""))
        if not self._rules[origin].can_fetch(url, ROBOTS_NAME):
            raise FetchRefused(f"{url} is not fetched: {origin}/robots.txt forbids it", provider="fetch")

    async def _text_for(self, origin: str, url: str) -> str | None:
        try:
            return await self.read_text(f"{origin}/robots.txt")
        except ProviderError as error:
            error.message = f"{url} is not fetched: its robots.txt cannot be read ({error.message})"
            raise


def _for_us(text: str) -> str:
    """The rules with one name for all other robots: each rule is kept once for each of the names above it, and a file
    may hold ten thousands of both."""
    return "\n".join(map(_named_for_us, text.splitlines()))


def _named_for_us(line: str) -> str:
    found = _AGENT.match(line)
    if found is None:
        return line
    name = found["name"].strip().lower()
    is_ours = name == "*" or name.replace("*", "") == ROBOTS_NAME
    return line if is_ours else "User-agent: another"
