"""A client whose retries do not wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from graph_research.providers.http.client import HttpClient


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(sleep=lambda _: asyncio.sleep(0)) as transport:
        yield transport
