"""The transport under an MCP server's standard input and output, where a server or its user does the unforeseen."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest

from graph_research.providers.search.mcp.stdio import over_stdio
from tests.unit.providers.llm.test_command_line_model import is_running

_HELLO = 'print(\'{"jsonrpc": "2.0", "method": "hello"}\', flush=True)\n'


def asking(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/list"))


async def test_who_asks_on_while_a_line_without_end_is_reported_breaks_nothing() -> None:
    code = "import sys\n[input() for _ in range(2)]\nwhile True: sys.stdout.write('x' * 1_000_000)\n"
    async with over_stdio((sys.executable, "-c", code), {}, bytearray()) as (heard, said):
        await said.send(asking(1))
        await said.send(asking(2))
        first = await heard.receive()
        await said.send(asking(3))
        second = await heard.receive()
    answered = [one.message for one in (first, second) if isinstance(one, SessionMessage)]
    assert {one.id for one in answered if isinstance(one, JSONRPCError)} == {1, 2}


async def test_a_server_that_does_not_end_is_killed_also_where_nobody_waits_for_its_end(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(told)!r}, 'w').write(str(os.getpid()))\n"
        f"{_HELLO}"
        "time.sleep(60)\n"
    )
    leaving = asyncio.Event()

    async def visit() -> None:
        async with over_stdio((sys.executable, "-c", code), {}, bytearray()) as (heard, _):
            await heard.receive()
            leaving.set()

    visiting = asyncio.create_task(visit())
    await leaving.wait()
    visiting.cancel()
    await asyncio.wait([visiting])
    pid = int(await asyncio.to_thread(told.read_text))
    async with asyncio.timeout(60):
        while is_running(pid):  # noqa: ASYNC110 -- nobody is left who waits for the end of the process
            await asyncio.sleep(0)
    assert visiting.cancelled()
