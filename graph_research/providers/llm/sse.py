"""Parses the JSON events of a server-sent event stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any

import orjson

from graph_research.providers.errors import ProviderUnavailable

_DONE = "[DONE]"
_END_SECONDS = 0.5


async def events_of(lines: AsyncIterator[str], provider: str) -> AsyncGenerator[Any, None]:
    """The JSON value of each `data:` line, and None for `[DONE]`, after which `lines` is closed.

    The JSON document of a server that does not stream is a single event. Raises `ProviderUnavailable` for invalid JSON.
    """
    whole: list[str] = []
    streamed = False
    try:
        async for line in lines:
            name, colon, value = line.partition(":")
            if name in ("data", "error") and colon:
                streamed = True
                if value.strip() == _DONE:
                    await _drain(lines)
                    yield None
                    return
                if value.strip():
                    yield _loaded(value, provider)
            elif not streamed and name:
                whole.append(line)
        if not streamed and whole:
            yield _loaded("\n".join(whole), provider)
    finally:
        if isinstance(lines, AsyncGenerator):
            await lines.aclose()


async def _drain(lines: AsyncIterator[str]) -> None:
    """Read the rest, so that the connection can be reused, for at most `_END_SECONDS`."""
    with suppress(TimeoutError, ProviderUnavailable):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in lines:
                pass


def _loaded(text: str, provider: str) -> Any:
    try:
        return orjson.loads(text.strip())
    except ValueError as error:
        raise ProviderUnavailable(f"{provider}: the streamed answer is not valid JSON", provider=provider) from error
