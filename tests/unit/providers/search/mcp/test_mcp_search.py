"""An MCP server's tools as a search, against a real server on standard input and output."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from graph_research.providers.errors import ProviderRefused, ProviderUnavailable
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.providers.search.mcp.search import McpSearch, McpServer
from tests.support.network.http_server import Answer, Received, WireServer
from tests.support.providers.mcp_raw_server import reply
from tests.unit.providers.llm.test_command_line_model import is_running

SUPPORT = Path(__file__).parents[5] / "tests" / "support" / "providers"

SERVER = McpServer(
    name="library",
    command=(sys.executable, str(SUPPORT / "mcp_server.py")),
    fetch_tool="fetch",
    timeout_seconds=30,
)


class Notebook:
    """Pins in memory."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def pinned(self, name: str) -> str | None:
        return self.notes.get(name)

    def pin(self, name: str, digest: str) -> None:
        self.notes[name] = digest


@pytest.fixture
async def closing() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def test_results_carry_the_texts_that_the_fetch_tool_gives(closing: AsyncExitStack) -> None:
    search = McpSearch(SERVER, Notebook(), closing)

    hits = await search.search(SearchRequest(query="how many turbines", max_results=2))

    assert [(hit.title, hit.url) for hit in hits] == [("Turbines", "https://example.org/turbines"), ("Mudflats", None)]
    assert hits[0].document.text == "The lagoon has 16 bulb turbines of 20 megawatts each."
    assert hits[0].provider == "mcp:library"


async def test_the_number_of_results_goes_under_the_name_that_the_tool_has_for_it(closing: AsyncExitStack) -> None:
    search = McpSearch(SERVER, Notebook(), closing)

    assert len(await search.search(SearchRequest(query="turbines", max_results=1))) == 1


async def test_without_a_fetch_tool_a_result_is_what_the_search_said(closing: AsyncExitStack) -> None:
    search = McpSearch(replace(SERVER, fetch_tool=None), Notebook(), closing)

    assert [hit.document.text for hit in await search.search(SearchRequest(query="x"))] == ["Turbines", "Mudflats"]


async def test_a_tool_whose_definition_changed_is_not_used(closing: AsyncExitStack) -> None:
    pins = Notebook()
    await McpSearch(SERVER, pins, closing).search(SearchRequest(query="turbines"))
    changed = McpSearch(replace(SERVER, command=(*SERVER.command, "--changed")), pins, closing)

    with pytest.raises(ProviderRefused, match=r"has changed since .*accept the new definition"):
        await changed.search(SearchRequest(query="turbines"))


async def test_a_tool_that_is_not_there_is_named_with_those_that_are(closing: AsyncExitStack) -> None:
    search = McpSearch(replace(SERVER, search_tool="find"), Notebook(), closing)

    with pytest.raises(ProviderRefused, match=r"no tool 'find'; it has environment, fetch, search, strange"):
        await search.search(SearchRequest(query="turbines"))


async def test_a_tool_that_fails_says_why(closing: AsyncExitStack) -> None:
    search = McpSearch(SERVER, Notebook(), closing)

    with pytest.raises(ProviderUnavailable, match="the index is closed"):
        await search.search(SearchRequest(query="fail"))


async def test_a_server_that_cannot_be_started_is_reported_with_its_setting(closing: AsyncExitStack) -> None:
    search = McpSearch(replace(SERVER, command=("no-such-program",)), Notebook(), closing)

    with pytest.raises(ProviderUnavailable, match=r"research\.mcp_servers\.library"):
        await search.search(SearchRequest(query="turbines"))


async def test_a_server_that_ends_at_once_is_reported_with_its_last_output(closing: AsyncExitStack) -> None:
    code = "import sys; sys.stderr.write('x' * 1_000_000); sys.exit('\\nno licence was found')"
    search = McpSearch(replace(SERVER, command=(sys.executable, "-c", code)), Notebook(), closing)

    with pytest.raises(ProviderUnavailable, match="cannot be started: no licence was found"):
        await search.search(SearchRequest(query="turbines"))


async def test_a_server_sees_only_the_variables_that_were_named(
    closing: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server = replace(SERVER, search_tool="environment", fetch_tool=None, environ={"LIBRARY_TOKEN": "t"})

    hits = await McpSearch(server, Notebook(), closing).search(SearchRequest(query="x", max_results=99))

    names = {hit.title for hit in hits}
    assert "LIBRARY_TOKEN" in names
    assert "OPENAI_API_KEY" not in names


async def answered_with(text: str, closing: AsyncExitStack) -> list[SearchHit]:
    strange = McpSearch(replace(SERVER, search_tool="strange", fetch_tool=None), Notebook(), closing)
    return list(await strange.search(SearchRequest(query=text)))


@pytest.mark.parametrize("depth", [900, 100_000])
async def test_what_is_nested_without_end_is_no_more_than_a_text(depth: int, closing: AsyncExitStack) -> None:
    deep = "[" * depth + "]" * depth
    hits = await answered_with(f'[{{"text": "A lagoon.", "authors": [{deep}]}}]', closing)
    assert [list(hit.authors) for hit in hits] == [[]]


async def test_what_a_tool_tells_of_a_result_is_read_like_that_of_any_search(closing: AsyncExitStack) -> None:
    row = '{"text": "A lagoon.", "title": "A\\nB\\u0007", "url": "https://a@b.example/", "published": "<b>now</b>"}'
    (hit,) = await answered_with(f'{{"results": [{row}]}}', closing)
    assert (hit.title, hit.url, hit.published_at) == ("A B", None, None)


def speaking(*how: str) -> McpServer:
    """A server that does what no package allows."""
    program = str(SUPPORT / "mcp_raw_server.py")
    return McpServer(name="speech", command=(sys.executable, program, *how), timeout_seconds=20)


async def test_a_line_without_end_is_broken_off_and_told(closing: AsyncExitStack) -> None:
    search = McpSearch(speaking("endless"), Notebook(), closing)

    with pytest.raises(ProviderUnavailable, match="wrote a line of more than 20,000,000 bytes"):
        await search.search(SearchRequest(query="lagoon"))


@pytest.mark.parametrize("page", ["0", "1", "7"])
async def test_a_tool_is_found_on_whichever_page_of_the_list_it_stands(page: str, closing: AsyncExitStack) -> None:
    search = McpSearch(speaking("paged", page), Notebook(), closing)

    assert [hit.document.text for hit in await search.search(SearchRequest(query="lagoon"))] == ["A lagoon."]


async def test_a_list_of_tools_without_end_is_read_so_far_and_no_further(closing: AsyncExitStack) -> None:
    search = McpSearch(speaking("paged", "-1"), Notebook(), closing)

    with pytest.raises(ProviderRefused, match=r"no tool 'search'; it has tool-0, tool-1, "):
        await search.search(SearchRequest(query="lagoon"))


async def test_a_server_is_left_with_everything_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = (
        "import os, runpy, subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"sys.argv = ['mcp_raw_server.py', 'paged', '0']\n"
        f"runpy.run_path({str(SUPPORT / 'mcp_raw_server.py')!r}, run_name='__main__')\n"
    )
    async with AsyncExitStack() as closing:
        server = replace(speaking(), command=(sys.executable, "-c", code))
        await McpSearch(server, Notebook(), closing).search(SearchRequest(query="lagoon"))
    for pid in (await asyncio.to_thread(pids.read_text)).split():
        assert not is_running(int(pid))


def test_pipes_that_an_escaped_process_holds_open_are_closed() -> None:
    """Nothing ends the process: it has left its parent and has no environment. An open pipe is a `ResourceWarning`."""
    code = (
        "import runpy, subprocess, sys\n"
        "null = subprocess.DEVNULL\n"
        "subprocess.Popen(['sleep', '3'], stdin=null, stderr=null, env={}, start_new_session=True)\n"
        "sys.argv = ['mcp_raw_server.py', 'paged', '0']\n"
        f"runpy.run_path({str(SUPPORT / 'mcp_raw_server.py')!r}, run_name='__main__')\n"
    )

    async def search() -> None:
        async with AsyncExitStack() as closing:
            server = replace(speaking(), command=(sys.executable, "-c", code))
            await McpSearch(server, Notebook(), closing).search(SearchRequest(query="lagoon"))

    asyncio.run(search())
    gc.collect()


async def test_a_server_that_ended_is_started_again_by_the_next_search(closing: AsyncExitStack, tmp_path: Path) -> None:
    search = McpSearch(speaking("once", str(tmp_path / "ended")), Notebook(), closing)

    with pytest.raises(ProviderUnavailable, match="did not answer: Connection closed"):
        await search.search(SearchRequest(query="lagoon"))

    assert len(await search.search(SearchRequest(query="lagoon"))) == 1


async def test_a_server_that_ended_between_two_calls_costs_the_second_call(closing: AsyncExitStack) -> None:
    search = McpSearch(replace(SERVER, fetch_tool=None), Notebook(), closing)
    ready = await search._open()
    ready.leave.set()  # as another search does that finds the server gone
    assert search._session is not None
    await asyncio.wait([search._session])

    with pytest.raises(ProviderUnavailable, match="its server ended before 'search' was called"):
        await search._call(ready, "search", {"query": "turbines"})
    assert len(await search.search(SearchRequest(query="turbines"))) == 2


KEY = "hush-7c31ab90e4d2"


async def test_a_server_at_an_address_is_let_in_by_its_key_and_never_quoted_with_it(
    closing: AsyncExitStack, server: WireServer
) -> None:
    def answer(request: Received) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Answer(status=401)
        said = reply(request.json(), found=f"You came in with {KEY}.") if request.body else None
        return Answer(status=202) if said is None else Answer(body=said)

    server.on("*", answer)
    given = McpServer(name="speech", url=server.url, key=KEY, timeout_seconds=20)
    hits = await McpSearch(given, Notebook(), closing).search(SearchRequest(query="lagoon"))

    assert [hit.document.text for hit in hits] == ["You came in with [key]."]
    assert KEY not in repr(given)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_refuses_access_is_reported_with_the_setting_of_its_key(
    status: int, closing: AsyncExitStack, server: WireServer
) -> None:
    server.on("*", Answer(status=status, body=f"not with {KEY}"))
    given = McpServer(name="speech", url=server.url, key=KEY, timeout_seconds=20)

    with pytest.raises(
        ProviderRefused, match=rf"mcp:speech: .* \(HTTP {status}\); name the variable .* `key_name`"
    ) as caught:
        await McpSearch(given, Notebook(), closing).search(SearchRequest(query="lagoon"))
    assert KEY not in str(caught.value)


async def test_a_key_does_not_follow_a_redirect(closing: AsyncExitStack, server: WireServer) -> None:
    with WireServer() as thief:
        server.on("*", Answer(status=307, headers={"location": thief.url}))
        given = McpServer(name="speech", url=server.url, key=KEY, timeout_seconds=20)
        with pytest.raises(ProviderUnavailable) as caught:
            await McpSearch(given, Notebook(), closing).search(SearchRequest(query="lagoon"))
        assert not thief.received
    assert KEY not in str(caught.value)
