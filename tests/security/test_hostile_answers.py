"""Servers and robots.txt files made to hang, crash or cheat: each costs its own answer and no more."""

from __future__ import annotations

import gzip
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from graph_research.app.runs.limits.budget import Budget
from graph_research.providers.errors import ContextExceeded, FetchRefused, ProviderError
from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint, Response
from graph_research.providers.http.status_errors import retry_after
from graph_research.providers.llm.base import Usage
from graph_research.providers.llm.error_mapping import ErrorMapper
from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.mcp.search import McpSearch, McpServer
from graph_research.providers.web.robots import Robots
from tests.support.network.http_server import Answer, WireServer


class Nothing:
    """Pins of who never used a tool."""

    def pinned(self, name: str) -> str | None:
        return None

    def pin(self, name: str, digest: str) -> None:
        """Forgotten at once."""


SECONDS = 3.0
"""More than any of these takes on a busy machine, and far less than the attack asks for."""


def refused(body: bytes) -> ProviderError | None:
    return ErrorMapper(provider="evil", model="m")(Response(status=400, headers={}, body=body))


@pytest.mark.parametrize("depth", [300, 1_000])
def test_an_error_nested_without_end_is_an_error_like_any_other(depth: int) -> None:
    error = refused(b'{"error":' + b"[" * depth + b"]" * depth + b"}")
    assert isinstance(error, ProviderError)


@pytest.mark.parametrize("digits", [50, 5_000])
def test_a_window_of_more_digits_than_anyone_counts_is_of_unknown_size(digits: int) -> None:
    error = refused(b"prompt is too long: 1 tokens > " + b"9" * digits + b" maximum")
    assert isinstance(error, ContextExceeded)
    assert error.limit_tokens is None


def test_no_error_is_searched_for_its_meaning_for_seconds() -> None:
    began = time.process_time()
    refused(b"request too large " * 7_000)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("zone", ["GMT", "+99999999999999999999"])
def test_a_date_that_no_calendar_has_asks_for_no_wait(zone: str) -> None:
    day = "01" if zone != "GMT" else "99999999999999999999"
    text = f"Mon, {day} Jan 2020 00:00:00 {zone}"
    assert retry_after({"retry-after": text}, now=datetime(2026, 1, 1, tzinfo=UTC)) is None


async def test_an_answer_in_many_small_pieces_is_read_quickly(server: WireServer) -> None:
    server.on("/error", Answer(status=400, chunks=("x",) * 60_000))
    server.on("/line", Answer(chunks=("x" * 2_000_000, *("x",) * 20_000)))
    endpoint = Endpoint(name="evil", base_url=server.url, attempts=1)
    began = time.process_time()
    async with HttpClient() as http:
        with pytest.raises(ProviderError, match="400"):
            await http.ask(endpoint, "GET", "/error")
        lines = [len(line) async for line in http.stream(endpoint, "GET", "/line")]
    assert lines == [2_020_000]
    assert time.process_time() - began < 4 * SECONDS


async def test_rules_for_thousands_of_robots_are_read_in_no_time() -> None:
    agents = "".join(f"User-agent: {number}\nfoo: x\nUSER agent {number}*\n" for number in range(6_000))
    rules = agents + "user-agent: Graph-Research\n" + "Disallow: /a\n" * 10_000 + "User-agent: *\nDisallow: /\n"

    async def read(url: str) -> str:
        return rules

    robots = Robots(read)
    began = time.process_time()
    await robots.check("http://example.org", "http://example.org/b")
    with pytest.raises(FetchRefused):
        await robots.check("http://example.org", "http://example.org/a")
    assert time.process_time() - began < SECONDS


def test_a_server_that_counts_backwards_gives_nothing_back_to_the_budget() -> None:
    budget = Budget(run_id="r", max_tokens=100)
    budget.count("m", Usage(input_tokens=100))
    budget.count("m", Usage(input_tokens=-(10**9), output_tokens=-1))
    assert budget.spent()
    assert Usage(input_tokens=2**70).input_tokens < 2**53


@pytest.mark.parametrize("compressed", [True, False])
async def test_an_mcp_server_at_an_address_fills_no_memory(compressed: bool, server: WireServer) -> None:
    body, headers = b"[" * 21_000_000, {"content-type": "application/json"}
    if compressed:
        body, headers = gzip.compress(body), {**headers, "content-encoding": "gzip"}
    server.on("*", Answer(body=body, headers=headers))
    async with AsyncExitStack() as closing:
        mcp = McpSearch(McpServer(name="evil", url=server.url, timeout_seconds=20), Nothing(), closing)
        with pytest.raises(ProviderError, match="compressed, or longer than it may be"):
            await mcp.search(SearchRequest(query="lagoon"))
