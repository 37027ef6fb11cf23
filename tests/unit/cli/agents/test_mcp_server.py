"""`mcp`: an agent searches the library, starts a research, reads its report and checks it, over both transports."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.cli.cli_process import DEMO_LIBRARY, DEMO_QUESTION, PATIENCE_SECONDS, SCRIPT, User, wait_until

TOOLS = {
    *("search", "fetch", "research_start", "research_status", "research_result", "verify_report", "library_add"),
}


def over_stdio(user: User) -> Client:
    command = StdioServerParameters(command=str(SCRIPT), args=["mcp"], env=user.environment(), cwd=user.folder)
    return Client(stdio_client(command))


def is_listened_at(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in answer.content if part.type == "text")
    assert not answer.is_error, text
    return json.loads(text)


async def test_an_agent_researches_from_the_first_document_to_the_checked_report(user: User) -> None:
    async with over_stdio(user) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        added = await call(client, "library_add", paths=[str(DEMO_LIBRARY)])
        assert added["added"] > 5
        [best, *_] = (await call(client, "search", query="capacity of the lagoon", limit=3))["results"]
        document = await call(client, "fetch", id=best["id"])
        assert best["text"] in document["text"] and document["url"] == best["url"] and document["next_offset"] is None
        rest = await call(client, "fetch", id=best["id"], offset=100)
        assert rest["text"] == document["text"][100:]

        run_id = (await call(client, "research_start", question=DEMO_QUESTION, length="brief"))["run_id"]
        while (status := await call(client, "research_status", run_id=run_id))["status"] != "completed":
            assert status["status"] in ("queued", "running"), status
            await asyncio.sleep(0.2)
        report = (await call(client, "research_result", run_id=run_id))["report"]
        assert report.startswith("# ") and "## Sources" in report
        whole = json.loads((await call(client, "research_result", run_id=run_id, format="json"))["report"])
        counts = await call(client, "verify_report", run_id=run_id)
        assert counts["citations"] == counts["valid"] == len(whole["citations"]) > 3


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("research_status", {"run_id": "nobody"}, "nobody"),
        ("research_result", {"run_id": "nobody"}, "nobody"),
        ("research_result", {"run_id": "nobody", "format": "pdf"}, "md or json"),
        ("research_start", {"question": " "}, "question"),
        ("research_start", {"question": "How high?", "length": "endless"}, "endless"),
        ("library_add", {"paths": ["nowhere"]}, "nowhere"),
        ("search", {"query": "?"}, "no word"),
        ("fetch", {"id": "src-0"}, "search gives ids"),
    ],
)
async def test_what_goes_wrong_is_told_to_the_agent(
    tool: str, arguments: dict[str, Any], words: str, user: User
) -> None:
    async with over_stdio(user) as client:
        answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    said = "".join(part.text for part in answer.content if part.type == "text")
    assert words in said and "Traceback" not in said


async def test_over_http_only_this_machine_is_served(user: User) -> None:
    below = range(20_000, 30_000)  # the ports that the system gives to other sockets meanwhile
    port = next(port for port in below if not is_listened_at(port))
    with user.start("mcp", "--http", str(port)) as server:
        await asyncio.to_thread(wait_until, lambda: is_listened_at(port))
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        head = f"POST /mcp HTTP/1.1\r\nHost: evil.example:{port}\r\nContent-Type: application/json\r\n"
        head += f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        assert (await reader.readline()).split()[1] == b"421"
        writer.close()
        assert "another one" in user.run("mcp", "--http", str(port), expect=2).err
        server.terminate()
        assert server.wait(PATIENCE_SECONDS) == 0


def test_the_skill_names_commands_that_there_are(user: User) -> None:
    skill = user.run("skill").out
    assert skill.startswith("---\nname: graph-research\n")
    commands = {line.split()[1] for line in skill.splitlines() if line.startswith("graph-research ")}
    assert commands >= {"run", "status", "report", "verify", "check"}
    for command in commands:
        user.run(command, "--help")
