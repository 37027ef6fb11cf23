"""One editor's session: its requests answered, its run moved, and events sent when the run is held or has ended."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Any

from graph_research.errors import GraphResearchError, UserMistake
from graph_research.graph.dap.presenter import QUESTION, Presenter, event_line, exit_code, source_of, stop_fields
from graph_research.graph.dap.variables import Variables
from graph_research.graph.dap.wire import encode_message, read_message
from graph_research.graph.debugger.breakpoints import Breakpoint, BreakpointInvalid
from graph_research.graph.debugger.stepper import Debugged, Debugger
from graph_research.graph.debugger.stop_locations import stop_lines
from graph_research.graph.debugger.stops import NotPossible, Stop, StopReason
from graph_research.graph.debugger.triggers import FailureStop
from graph_research.graph.events import EdgeTaken, Event, NodeFailed, NodeStarted, RunEnded

Launch = Callable[[Mapping[str, Any]], AbstractAsyncContextManager[Debugged]]
"""Opens the run that the arguments of a launch request describe."""

_THREAD = 1
_HITS = re.compile(r"(>=|>)?\s*(\d{1,6})$")
_CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsSetVariable": True,
    "supportsRestartRequest": True,
    "supportsTerminateRequest": True,
    "supportsLoadedSourcesRequest": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsDelayedStackTraceLoading": True,
    "exceptionBreakpointFilters": [
        {"filter": "final", "label": "Failures that are not tried again", "default": True},
        {"filter": "all", "label": "All failures of nodes", "default": False},
    ],
}


class Adapter:
    """Serves one client. With `token`, a launch request without it is refused."""

    def __init__(
        self, reader: asyncio.StreamReader, write: Callable[[bytes], Any], launch: Launch, *, token: str | None = None
    ) -> None:
        self.launched = False
        self._reader = reader
        self._write = write
        self._launch = launch
        self._token = token
        self._seq = 0
        self._over = False
        self._stack = AsyncExitStack()
        self._debugged: Debugged | None = None
        self._arguments: Mapping[str, Any] = {}
        self._moving: asyncio.Task[None] | None = None
        self._heard_last: Event | None = None
        self._variables = Variables()
        self._files: dict[str, list[int]] = {}
        self._functions: list[int] = []
        self._after: list[Callable[[], Any]] = []

    async def serve(self) -> None:
        """Answer requests until the client leaves; the run is let go then, and can be resumed. Raises `WireBroken`."""
        async with self._stack:
            self._stack.push_async_callback(self._settle)
            while not self._over and (message := await read_message(self._reader)) is not None:
                if message.get("type") == "request":
                    await self._answer(message)

    async def _answer(self, request: Mapping[str, Any]) -> None:
        command = str(request.get("command"))
        handler = getattr(self, f"_on_{_snake(command)}", None) if re.fullmatch(r"[a-zA-Z]+", command) else None
        reply = {"type": "response", "request_seq": request.get("seq", 0), "command": command}
        given = request.get("arguments")
        try:
            if handler is None:
                raise NotPossible(f"the request {command!r} is not supported")
            body = await handler(given if isinstance(given, dict) else {})
        except GraphResearchError as problem:
            fault = {"id": 1, "format": str(problem), "showUser": True}
            self._send({**reply, "success": False, "message": str(problem), "body": {"error": fault}})
        except (KeyError, TypeError, ValueError) as problem:
            text = f"the arguments of {command} do not fit: {type(problem).__name__}: {problem}"
            self._send({**reply, "success": False, "message": text})
        else:
            self._send({**reply, "success": True, **({} if body is None else {"body": body})})
        after, self._after = self._after, []
        for follow in after:
            follow()

    # Beginning and end

    async def _on_initialize(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return _CAPABILITIES

    async def _on_launch(self, arguments: Mapping[str, Any]) -> None:
        if self._token is not None and not hmac.compare_digest(str(arguments.get("token", "")), self._token):
            self._over = True
            raise UserMistake("the token is missing or wrong", help="it is printed where the debugger was started")
        if self._debugged is not None:
            raise NotPossible("a run is being debugged already", help="disconnect first")
        self._arguments = {name: value for name, value in arguments.items() if name != "token"}
        self._debugged = await self._stack.enter_async_context(self._launch(self._arguments))
        self.launched = True
        self._debugger.listeners.append(self._heard)
        for text in arguments.get("break") or ():
            self._debugger.triggers.add(str(text))
        self._after.append(lambda: self._event("initialized"))
        for line in self._debugged.said:
            self._after.append(partial(self._output, line, "console"))

    _on_attach = _on_launch

    async def _on_configuration_done(self, _: Mapping[str, Any]) -> None:
        debugged = self._debugged
        if debugged is None:
            raise NotPossible("nothing is launched")

        async def begin() -> Stop:
            stop = await debugged.start()
            passes = stop.reason == StopReason.ENTRY and _is_new(self._arguments)
            held = self._arguments.get("stopOnEntry") or not passes
            return stop if held else await debugged.debugger.proceed()

        self._move(begin)

    async def _on_restart(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.restart)

    async def _on_terminate(self, _: Mapping[str, Any]) -> None:
        await self._settle()
        self._after.append(lambda: self._event("terminated"))

    async def _on_disconnect(self, _: Mapping[str, Any]) -> None:
        await self._settle()
        self._over = True

    async def _settle(self) -> None:
        """End what moves, and let the run go."""
        moving, self._moving = self._moving, None
        if moving is not None:
            moving.cancel()
            await asyncio.wait([moving])
        if self._debugged is not None:
            await self._debugged.debugger.close()

    # Breakpoints

    async def _on_set_breakpoints(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        source = arguments["source"]
        file = self._file_of(source)
        wanted = arguments.get("breakpoints")
        if wanted is None:
            wanted = [{"line": line} for line in arguments.get("lines") or ()]
        self._forget(self._files.pop(file, []))
        numbers = self._files.setdefault(file, [])

        def add(entry: Mapping[str, Any]) -> Breakpoint:
            condition, hits = str(entry.get("condition") or ""), _hits(entry.get("hitCondition"))
            return self._debugger.triggers.add_line(file, int(entry["line"]), condition=condition, hits=hits)

        return {"breakpoints": [self._added(entry, add, numbers) for entry in wanted]}

    async def _on_set_function_breakpoints(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self._forget(self._functions)
        self._functions = []

        def add(entry: Mapping[str, Any]) -> Breakpoint:
            condition = f" if {entry['condition']}" if entry.get("condition") else ""
            return self._debugger.triggers.add(f"{entry['name']}{condition}", hits=_hits(entry.get("hitCondition")))

        return {"breakpoints": [self._added(entry, add, self._functions) for entry in arguments["breakpoints"]]}

    async def _on_set_exception_breakpoints(self, arguments: Mapping[str, Any]) -> None:
        filters = arguments.get("filters") or ()
        self._debugger.triggers.failures = next(
            (choice for choice in (FailureStop.ALL, FailureStop.FINAL) if choice in filters), FailureStop.NONE
        )

    async def _on_breakpoint_locations(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        first = int(arguments["line"])
        last = int(arguments.get("endLine") or first)
        lines = stop_lines(self._debugger.graph, self._file_of(arguments["source"]))
        return {"breakpoints": [{"line": line} for line in lines if first <= line <= last]}

    def _added(
        self, wanted: Mapping[str, Any], add: Callable[[Mapping[str, Any]], Breakpoint], numbers: list[int]
    ) -> dict[str, Any]:
        try:
            added = add(wanted)
        except BreakpointInvalid as problem:
            return {"verified": False, "message": str(problem)}
        numbers.append(added.number)
        return {"id": added.number, "verified": True, **({"line": added.line} if added.line else {})}

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            self._debugger.triggers.remove(number)

    # Moving

    async def _on_continue(self, _: Mapping[str, Any]) -> dict[str, Any]:
        self._move(self._debugger.proceed)
        return {"allThreadsContinued": True}

    async def _on_next(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.next)

    async def _on_step_in(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.into)

    async def _on_step_out(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.out)

    async def _on_step_back(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.back)

    async def _on_reverse_continue(self, _: Mapping[str, Any]) -> None:
        self._move(self._debugger.reverse)

    async def _on_pause(self, _: Mapping[str, Any]) -> None:
        if self._moving is not None and not self._moving.done():
            self._debugger.pause(at_once=True)

    def _move(self, move: Callable[[], Awaitable[Stop]]) -> None:
        """Start to move once the request is answered."""
        if self._moving is not None and not self._moving.done():
            raise NotPossible("the run is moving", help="pause it first")
        self._variables.forget()

        def start() -> None:
            self._moving = asyncio.create_task(self._moved(move))

        self._after.append(start)

    async def _moved(self, move: Callable[[], Awaitable[Stop]]) -> None:
        try:
            stop = await move()
        except GraphResearchError as problem:
            self._output(str(problem), "important")
            if self._debugger.stop is None:
                self._end(1)
                return
            stop = self._debugger.stop
        if stop.reason == StopReason.END and not self._arguments.get("stopOnEnd"):
            if stop.event != self._heard_last:
                self._output(event_line(stop.event), "console")
            self._end(exit_code(stop.event))
            return
        self._stopped(stop)

    def _stopped(self, stop: Stop) -> None:
        if stop.note:
            self._output(stop.note, "console")
        on_lines = {number for numbers in self._files.values() for number in numbers}
        self._event("stopped", {**stop_fields(stop, on_lines), "threadId": _THREAD, "allThreadsStopped": True})

    def _end(self, code: int) -> None:
        self._event("exited", {"exitCode": code})
        self._event("terminated")

    # Looking

    async def _on_threads(self, _: Mapping[str, Any]) -> dict[str, Any]:
        name = self._debugged.debugger.run_id if self._debugged else ""
        return {"threads": [{"id": _THREAD, "name": name or "run"}]}

    async def _on_stack_trace(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        frames = await self._presenter.frames()
        start, count = int(arguments.get("startFrame") or 0), int(arguments.get("levels") or 0)
        return {"stackFrames": frames[start : start + count if count else None], "totalFrames": len(frames)}

    async def _on_scopes(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"scopes": await self._presenter.scopes(int(arguments["frameId"]) - 1)}

    async def _on_variables(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        node = self._variables.node(int(arguments["variablesReference"]))
        if node is None:
            raise NotPossible("these variables are gone", help="the run has moved on since")
        node = await self._presenter.filled(node)
        start, count = int(arguments.get("start") or 0), int(arguments.get("count") or 0)
        return {"variables": self._variables.parts(node, start, count, arguments.get("filter"))}

    async def _on_evaluate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        level = int(arguments.get("frameId") or 1) - 1
        value = await self._idle.inspector.evaluate(str(arguments["expression"]), level)
        shown = self._variables.shown(value)
        return {"result": shown.pop("value"), **shown}

    async def _on_set_variable(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        node = self._variables.node(int(arguments["variablesReference"]))
        if node is None or node.level is None:
            raise NotPossible("only the state can be set", help="set a channel of the root graph")
        debugger = self._idle
        value = await debugger.inspector.value_of(str(arguments["value"]), node.level)
        if (stop := debugger.stop) is not None and stop.reason == StopReason.QUESTION and node.path == QUESTION:
            stop = await debugger.answer(value)
        else:
            stop = await self._presenter.assign(node, str(arguments["name"]), value)
        self._variables.forget()
        self._after.append(lambda: self._stopped(stop))
        return self._variables.shown(value)

    async def _on_exception_info(self, _: Mapping[str, Any]) -> dict[str, Any]:
        event = self._idle.stop.event if self._idle.stop else None
        if not isinstance(event, NodeFailed):
            raise NotPossible("nothing has failed here")
        mode = "always" if event.will_retry else "unhandled"
        message = str(event.error.get("message"))
        return {"exceptionId": str(event.error.get("type")), "description": message, "breakMode": mode}

    async def _on_loaded_sources(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return {"sources": [source_of(graph, number) for number, graph in self._graphs()]}

    async def _on_source(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        number = (arguments.get("source") or arguments).get("sourceReference") or arguments.get("sourceReference")
        graph = dict(self._graphs()).get(int(number or 0))
        if graph is None:
            raise NotPossible("there is no source with this number", help="`loadedSources` lists them")
        return {"content": graph.spec.text, "mimeType": "text/x-yaml"}

    # Inside

    @property
    def _debugger(self) -> Debugger:
        if self._debugged is None:
            raise NotPossible("nothing is launched", help="send `launch` first")
        return self._debugged.debugger

    @property
    def _idle(self) -> Debugger:
        """The debugger of a run that is held."""
        if self._moving is not None and not self._moving.done():
            raise NotPossible("the run is moving", help="pause it first")
        return self._debugger

    @property
    def _presenter(self) -> Presenter:
        return Presenter(self._idle, self._variables)

    def _graphs(self) -> list[tuple[int, Any]]:
        return list(enumerate(self._debugger.graph.walk(), start=1))

    def _file_of(self, source: Mapping[str, Any]) -> str:
        if number := source.get("sourceReference"):
            return str(dict(self._graphs())[int(number)].spec.file)
        return str(source["path"])

    def _heard(self, event: Event) -> None:
        if isinstance(event, NodeStarted | NodeFailed | EdgeTaken | RunEnded):
            self._heard_last = event
            self._output(event_line(event), "console")

    def _output(self, text: str, category: str) -> None:
        self._event("output", {"category": category, "output": f"{text}\n"})

    def _event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        self._send({"type": "event", "event": name, **({} if body is None else {"body": body})})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._seq += 1
        self._write(encode_message({"seq": self._seq, **message}))


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _is_new(arguments: Mapping[str, Any]) -> bool:
    """Whether a run is started; one that is stored is held where it stands."""
    return not arguments.get("runId")


def _hits(text: Any) -> int:
    """The first hit that counts, of `N`, `>= N` or `> N`."""
    if not text:
        return 1
    match = _HITS.match(str(text).strip())
    if match is None:
        raise BreakpointInvalid(f"no hit count {str(text)[:40]!r}", help="write N, >= N or > N")
    return int(match[2]) + (match[1] == ">")
