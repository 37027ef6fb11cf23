"""The Debug Adapter Protocol with a client that speaks it byte by byte: over TCP, and pipes to the command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from graph_research import MemoryCheckpointer
from graph_research.graph.dap.server import Server
from graph_research.graph.debugger.stepper import Debugged
from graph_research.graph.definition.compiler import Graph
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.harness import graph_of
from tests.unit.graph.debugger.test_stepper import FAILING, NESTED, SLOW, Slow, debugger_of, fail
from tests.unit.graph.execution.test_resume import ASK

SCRIPT = Path(sys.executable).with_name("graph-research")
TICK, LOOP, DONE = 7, 10, 11
"""Lines of COUNTDOWN: the node, the edge back, the edge to the end."""


class Client:
    """An editor: sends requests, keeps events, and fails the test where an answer does."""

    port = 0
    token = ""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.events: list[dict[str, Any]] = []
        self.seq = 0

    async def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.try_(command, **arguments)
        assert answer["success"], answer
        return answer.get("body", {})

    async def try_(self, command: str, **arguments: Any) -> dict[str, Any]:
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": "request", "command": command, "arguments": arguments}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        while (message := await self.read())["type"] == "event":
            self.events.append(message)
        assert (message["request_seq"], message["command"]) == (self.seq, command)
        return message

    async def event(self, name: str) -> dict[str, Any]:
        """The next event of this name; those before it are passed over."""
        while True:
            event = self.events.pop(0) if self.events else await self.read()
            if event.get("event") == name:
                return event.get("body", {})

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            header = await self.reader.readuntil(b"\r\n\r\n")
            return json.loads(await self.reader.readexactly(int(header.split(b":")[1])))

    async def stopped(self, reason: str) -> dict[str, Any]:
        """The innermost frame where the run is held."""
        event = await self.event("stopped")
        assert event["reason"] == reason, event
        return (await self.ask("stackTrace", threadId=1))["stackFrames"][0]

    async def begin(self, *, lines: Sequence[Any] = (), **launch: Any) -> None:
        await self.ask("initialize", adapterID="test")
        await self.ask("launch", **launch)
        await self.event("initialized")
        if lines:
            await self.ask("setBreakpoints", source={"path": "test.yaml"}, breakpoints=lines)
        await self.ask("configurationDone")

    async def scopes(self, frame: int = 1) -> dict[str, int]:
        scopes = (await self.ask("scopes", frameId=frame))["scopes"]
        return {one["name"]: one["variablesReference"] for one in scopes}

    async def scope(self, name: str, frame: int = 1) -> dict[str, str]:
        return await self.parts((await self.scopes(frame))[name])

    async def parts(self, reference: int, **more: Any) -> dict[str, str]:
        variables = (await self.ask("variables", variablesReference=reference, **more))["variables"]
        return {one["name"]: one["value"] for one in variables}


@asynccontextmanager
async def connected(graph: Graph, *, token: str | None = None, **given: Any) -> AsyncIterator[Client]:
    """A client of a server for one graph; its launches carry the right token unless another is given."""
    ready: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def launch(arguments: Any) -> AsyncIterator[Debugged]:
        debugger = debugger_of(graph, MemoryCheckpointer())
        yield Debugged(debugger=debugger, start=lambda: debugger.begin(arguments.get("input", {}), run_id="r"))

    server = asyncio.create_task(Server(launch).serve(0, lambda *announced: ready.set_result(announced)))
    port, right = await ready
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    client = Client(reader, writer)
    client.port = port
    client.token = right if token is None else token
    try:
        yield client
    finally:
        writer.close()
        server.cancel()
        await asyncio.wait([server])


async def state_after_a_step(client: Client) -> int:
    """What asks for the variables of the state, behind the first step of the run."""
    await client.begin(token=client.token, stopOnEntry=True)
    await client.stopped("entry")
    await client.ask("next", threadId=1)
    await client.stopped("step")
    return int((await client.ask("scopes", frameId=1))["scopes"][0]["variablesReference"])


async def test_a_run_is_stopped_stepped_and_ended(tmp_path: Path) -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token, stopOnEntry=True)
        frame = await client.stopped("entry")
        assert (frame["name"], frame["line"]) == ("tick:1", TICK)
        assert await client.scope("State") == {"n": "3", "seen": "[]"}
        shown = (await client.scopes())["State"]
        await client.ask("next", threadId=1)
        assert (await client.stopped("step"))["name"] == "tick:2"
        assert not (await client.try_("variables", variablesReference=shown))["success"], "of the stop before"
        assert await client.scope("State") == {"n": "2", "seen": "[3]"}
        await client.ask("stepBack", threadId=1)
        assert (await client.stopped("step"))["name"] == "tick:1"
        await client.ask("continue", threadId=1)
        assert (await client.event("exited"))["exitCode"] == 0
        await client.event("terminated")
        await client.ask("disconnect")


async def test_the_end_of_a_run_is_reported_once() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token)
        told = []
        while (message := await client.read())["event"] != "terminated":
            told.append(message["body"].get("output"))
        assert told.count("the run ended completed\n") == 1


async def test_breakpoints_on_lines_snap_to_the_next_and_know_conditions_and_hits() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.ask("initialize")
        await client.ask("launch", token=client.token)
        answer = await client.ask(
            "setBreakpoints",
            source={"path": "test.yaml"},
            breakpoints=[
                {"line": TICK - 1, "condition": "n == 2"},
                {"line": DONE},
                {"line": TICK, "hitCondition": "> 2"},
                {"line": TICK, "condition": "m > 1"},
                {"line": 99},
            ],
        )
        assert [(one["verified"], one.get("line")) for one in answer["breakpoints"]] == [
            (True, TICK),
            (True, DONE),
            (True, TICK),
            (False, None),
            (False, None),
        ]
        assert 'no name "m"' in answer["breakpoints"][3]["message"]
        locations = await client.ask("breakpointLocations", source={"path": "test.yaml"}, line=1, endLine=99)
        assert [one["line"] for one in locations["breakpoints"]] == [TICK, TICK + 1, LOOP, DONE]
        await client.ask("configurationDone")
        assert (await client.stopped("breakpoint"))["name"] == "tick:2"
        await client.ask("continue", threadId=1)
        assert (await client.stopped("breakpoint"))["name"] == "tick:3"
        await client.ask("continue", threadId=1)
        assert (await client.stopped("breakpoint"))["line"] == DONE
        await client.ask("reverseContinue", threadId=1)
        assert (await client.stopped("breakpoint"))["name"] == "tick:3"
        await client.ask("reverseContinue", threadId=1)
        assert (await client.stopped("breakpoint"))["name"] == "tick:2"
        await client.ask("reverseContinue", threadId=1)
        assert (await client.stopped("step"))["name"] == "tick:1"


async def test_breakpoints_that_are_set_anew_take_the_place_of_those_of_their_file() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token, lines=[{"line": TICK}, {"line": DONE}])
        assert (await client.stopped("breakpoint"))["line"] == TICK
        await client.ask("setBreakpoints", source={"path": "test.yaml"}, breakpoints=[{"line": DONE}])
        await client.ask("continue", threadId=1)
        assert (await client.stopped("breakpoint"))["line"] == DONE


async def test_what_a_stop_is_worth_telling_is_told_once_and_nothing_where_it_is_not() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        state = await state_after_a_step(client)
        await client.ask("setVariable", variablesReference=state, name="n", value="1")
        told = []
        while (event := client.events.pop(0) if client.events else await client.read())["event"] != "stopped":
            told.append(event["body"].get("output", "something"))
        assert told.count("forked from r at step 1\n") == 1
        assert all(map(str.strip, told))


async def test_a_move_that_is_not_possible_is_told_and_leaves_the_run_where_it_stands() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token, stopOnEntry=True)
        await client.stopped("entry")
        await client.ask("stepBack", threadId=1)
        told = await client.event("output")
        assert told["category"] == "important"
        assert (await client.stopped("entry"))["name"] == "tick:1"


async def test_the_calls_of_a_node_are_shown_with_their_answers() -> None:
    slow = Slow()
    slow.answered.set()
    async with connected(graph_of(SLOW, ask=slow)) as client:
        await client.begin(token=client.token, stopOnEnd=True)
        assert (await client.event("stopped"))["reason"]
        [call] = (await client.scope("Calls")).items()
        assert call[0].endswith("ask:1")
        reference = next(
            one["variablesReference"]
            for one in (await client.ask("variables", variablesReference=(await client.scopes())["Calls"]))["variables"]
        )
        parts = await client.parts(reference)
        assert (parts["kind"], parts["answer"]) == ('"model"', '"here"')


async def test_function_breakpoints_stop_in_subgraphs_with_their_stack() -> None:
    async with connected(NESTED) as client:
        await client.ask("initialize")
        await client.ask("launch", token=client.token)
        answer = await client.ask("setFunctionBreakpoints", breakpoints=[{"name": "child_say"}, {"name": "say"}])
        assert [one["verified"] for one in answer["breakpoints"]] == [False, True]
        await client.ask("configurationDone")
        await client.event("stopped")
        frames = (await client.ask("stackTrace", threadId=1))["stackFrames"]
        assert [frame["name"] for frame in frames] == ["ask_all[0]/say:1", "ask_all[0]:1"]
        reference = frames[0]["source"]["sourceReference"]
        assert "graph: child" in (await client.ask("source", sourceReference=reference))["content"]
        assert {one["name"] for one in (await client.ask("loadedSources"))["sources"]} == {"test.yaml", "child.yaml"}
        assert (await client.scope("State"))["word"] == '"a"'
        assert await client.scope("Node handoff") == {"word": '"a0"'}
        assert list(await client.scope("Edges")) == ["say -> done"]
        assert (await client.ask("evaluate", expression="word + str(rounds)", frameId=1))["result"] == '"a0"'
        assert (await client.ask("evaluate", expression="rounds", frameId=2))["result"] == "0"
        refused = await client.try_("setVariable", variablesReference=1, name="word", value='"b"')
        assert not refused["success"]
        await client.ask("stepOut", threadId=1)
        await client.event("stopped")


async def test_evaluate_accepts_the_expression_language_and_nothing_else() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token, stopOnEntry=True)
        await client.stopped("entry")
        for text in (
            "__import__('os').system('true')",
            "open('/etc/passwd')",
            "n := 1",
            "m",
            "seen.append(1)",
            "n.real",
        ):
            answer = await client.try_("evaluate", expression=text, frameId=1)
            if text != "n.real":
                assert not answer["success"], text
        assert (await client.ask("evaluate", expression="[n, n + 1]"))["result"] == "[3, 4]"


async def test_a_variable_is_set_in_a_fork_whole_or_in_part() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        state = await state_after_a_step(client)
        assert (await client.ask("setVariable", variablesReference=state, name="n", value="n + 7"))["value"] == "9"
        assert (await client.stopped("step"))["name"] == "tick:2"
        assert (await client.ask("threads"))["threads"][0]["name"] == "new-1"
        state = (await client.ask("scopes", frameId=1))["scopes"][0]["variablesReference"]
        variables = (await client.ask("variables", variablesReference=state))["variables"]
        seen = next(one["variablesReference"] for one in variables if one["name"] == "seen")
        refused = await client.try_("setVariable", variablesReference=seen, name="[0]", value="true + 1")
        assert "write True" in refused["message"]
        await client.ask("setVariable", variablesReference=seen, name="[0]", value='{"odd": true}')
        await client.stopped("step")
        assert await client.scope("State") == {"n": "9", "seen": '[{"odd": true}]'}


async def test_a_pause_is_answered_at_once_while_a_node_waits_for_its_call() -> None:
    slow = Slow()
    async with connected(graph_of(SLOW, ask=slow)) as client:
        await client.begin(token=client.token)
        await slow.asked.wait()
        await client.ask("pause", threadId=1)
        assert (await client.stopped("pause"))["name"] == "ask:1"
        assert await client.scope("State") == {"told": '""'}
        await client.ask("pause", threadId=1)
        slow.answered.set()
        await client.ask("continue", threadId=1)
        assert (await client.event("exited"))["exitCode"] == 0


async def test_a_long_list_is_paged() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        await client.begin(token=client.token, stopOnEntry=True)
        await client.stopped("entry")
        answer = await client.ask("evaluate", expression="[i for i in [1, 2, 3, 4, 5, 6, 7]]")
        assert answer["indexedVariables"] == 7
        page = await client.parts(answer["variablesReference"], filter="indexed", start=2, count=3)
        assert page == {"[2]": "3", "[3]": "4", "[4]": "5"}
        assert await client.parts(answer["variablesReference"], filter="named") == {}


@pytest.mark.parametrize(("filters", "stops"), [(["final"], True), ([], False)])
async def test_failures_stop_a_run_where_they_are_asked_for(filters: list[str], stops: bool) -> None:
    async with connected(graph_of(FAILING, fail=fail)) as client:
        await client.ask("initialize")
        await client.ask("launch", token=client.token)
        await client.ask("setExceptionBreakpoints", filters=filters)
        await client.ask("configurationDone")
        if stops:
            assert (await client.stopped("exception"))["name"] == "broken:1"
            info = await client.ask("exceptionInfo", threadId=1)
            assert (info["exceptionId"], info["description"]) == ("LookupError", "nothing there")
            await client.ask("continue", threadId=1)
        assert (await client.event("exited"))["exitCode"] == 1


async def test_a_question_is_answered_as_a_variable() -> None:
    async with connected(graph_of(ASK)) as client:
        await client.begin(token=client.token)
        await client.stopped("pause")
        scopes = {one["name"]: one["variablesReference"] for one in (await client.ask("scopes", frameId=1))["scopes"]}
        await client.ask("setVariable", variablesReference=scopes["Question"], name="answer", value='"you"')
        assert (await client.stopped("step"))["name"] == "greet:1"
        assert (await client.scope("State"))["name"] == '"you"'


async def test_who_does_not_know_the_token_launches_nothing_and_others_still_may() -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        stranger = Client(reader, writer)
        await stranger.ask("initialize")
        for command in ("evaluate", "stackTrace", "loadedSources", "next", "configurationDone"):
            assert not (await stranger.try_(command, expression="1"))["success"], command
        refused = await stranger.try_("launch", token="guess")
        assert "token" in refused["message"]
        assert await reader.read() == b""
        writer.close()
        await client.begin(token=client.token, stopOnEntry=True)
        await client.stopped("entry")


@pytest.mark.parametrize(
    "rubbish",
    [
        b'POST / HTTP/1.1\r\nContent-Length: 29\r\n\r\n{"command":"initialize"     }',
        b"Content-Length: 999999999\r\n\r\n",
        b"Content-Length: 3\r\n\r\nxyz",
    ],
)
async def test_what_is_no_message_ends_the_connection_and_nothing_else(rubbish: bytes) -> None:
    async with connected(graph_of(COUNTDOWN)) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(rubbish)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await client.begin(token=client.token, stopOnEntry=True)
        await client.stopped("entry")


async def installed(folder: Path) -> tuple[asyncio.subprocess.Process, Client]:
    """The command as an editor starts it."""
    process = await asyncio.create_subprocess_exec(
        str(SCRIPT),
        "debug",
        "--dap",
        cwd=folder,
        env={
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH")},
            "HOME": str(folder),
            "GRAPH_RESEARCH_HOME": str(folder / "home"),
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    return process, Client(process.stdout, process.stdin)


async def test_the_installed_command_serves_an_editor_over_pipes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "test.yaml").write_text(graph_of(COUNTDOWN).spec.text)
    process, client = await installed(tmp_path)
    file = str(project / "test.yaml")
    await client.ask("initialize", adapterID="graph-research")
    assert "cannot be entered" in (await client.try_("launch", graph="test.yaml", cwd="nowhere"))["message"]
    for wrong, words in [({"maxIterations": "2"}, "an integer"), ({"llm": [1]}, "an array of strings")]:
        refused = await client.try_("launch", graph="test.yaml", **wrong)
        assert f"in the launch configuration is not {words}" in refused["message"]
    refused = await client.try_("launch", graph="nowhere.yaml")
    assert "there is no file" in refused["message"]
    (project / "answers.json").write_text("{}")
    launch = {"graph": file, "cwd": str(project), "input": {"n": 2}, "llm": ["scripted:answers.json"]}
    await client.ask("launch", **launch, newRunId="mine")
    await client.event("initialized")
    told = await client.event("output")
    assert told == {"category": "console", "output": f"models: scripted:{project / 'answers.json'}\n"}
    await client.ask("setBreakpoints", source={"path": file}, breakpoints=[{"line": TICK, "condition": "n == 1"}])
    await client.ask("configurationDone")
    frame = await client.stopped("breakpoint")
    assert (frame["name"], frame["source"]["path"]) == ("tick:2", file)
    await client.ask("continue", threadId=1)
    assert (await client.event("exited"))["exitCode"] == 0
    await client.ask("disconnect")
    assert await process.wait() == 0


@pytest.mark.parametrize("closes", [True, False], ids=["after closing the input", "alone"])
@pytest.mark.parametrize("held", [True, False], ids=["held", "ended"])
async def test_an_editor_that_ends_its_session_with_a_signal_sees_no_error(
    tmp_path: Path, closes: bool, held: bool
) -> None:
    (tmp_path / "test.yaml").write_text(graph_of(COUNTDOWN).spec.text)
    process, client = await installed(tmp_path)
    await client.ask("initialize", adapterID="nvim-dap")
    await client.ask("launch", graph="test.yaml", cwd=str(tmp_path), stopOnEntry=held)
    await client.event("initialized")
    await client.ask("configurationDone")
    await client.event("stopped" if held else "terminated")
    if closes:
        assert process.stdin is not None
        process.stdin.close()
    process.send_signal(signal.SIGINT)
    assert (await process.communicate(None if closes else b""))[1] == b""
    assert process.returncode == 0
