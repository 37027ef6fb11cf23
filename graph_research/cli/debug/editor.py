"""`debug --dap`: checks an editor's launch configuration and serves the session that it asks for."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graph_research.cli.debug.vscode_extension import ATTRIBUTES
from graph_research.cli.display.output import say
from graph_research.cli.workspace import open_with
from graph_research.errors import UserMistake
from graph_research.graph.dap.server import Server, serve_stdio

if TYPE_CHECKING:
    from graph_research.app.request import RunRequest
    from graph_research.graph.debugger.stepper import Debugged

_TYPES: Mapping[str, tuple[type | tuple[type, ...], str, str]] = {
    "string": (str, "a string", '"…"'),
    "array": (list, "an array of strings", '["…"]'),
    "object": (dict, "an object", '{"n": 5}'),
    "boolean": (bool, "a boolean", "true"),
    "integer": (int, "an integer", "10"),
    "number": ((int, float), "a number", "1000"),
}
"""By type of a launch attribute: the type of its value, and its name and an example in messages."""


class LaunchInvalid(UserMistake):
    """A value in the launch configuration does not fit."""


async def serve(port: int | None) -> None:
    """One session: on standard input and output, or on a port of this machine (0: any that is free)."""
    if port is None:
        with _ended_by_signals():
            await serve_stdio(_launched)
    else:
        await Server(_launched).serve(port, lambda port, token: say(f"listening on 127.0.0.1:{port}, token {token}"))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM end the session as the end of the input does: nvim-dap sends one right after the other."""
    loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), (signal.SIGINT, signal.SIGTERM)
    assert task is not None, "served inside a task"
    ended = asyncio.Event()

    def end() -> None:
        if not ended.is_set():
            ended.set()
            task.cancel()

    for number in signals:
        loop.add_signal_handler(number, end)
    try:
        yield
    except asyncio.CancelledError:
        if not ended.is_set():
            raise
        task.uncancel()
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)  # nothing is left to be interrupted but the end of the process


@asynccontextmanager
async def _launched(arguments: Mapping[str, Any]) -> AsyncIterator[Debugged]:
    """The run that a launch configuration asks for."""
    from graph_research.app.debug import DebugRequest, debug
    from graph_research.cli.display.run_banner import provider_lines

    _check(arguments)
    _enter(arguments.get("cwd") or ".")
    workspace = await asyncio.to_thread(
        open_with,
        llm=arguments.get("llm"),
        search=arguments.get("search"),
        library=arguments.get("library"),
        timeout=arguments.get("timeout"),
        max_iterations=arguments.get("maxIterations"),
        max_sub_queries=arguments.get("maxSubQueries"),
    )
    request = DebugRequest(
        what=arguments.get("runId") or arguments.get("question"),
        graph=arguments.get("graph"),
        values=arguments.get("input") or {},
        roles=tuple(arguments.get("role") or ()),
        interactive=arguments.get("interactive"),
        max_cost=arguments.get("maxCost"),
        max_tokens=arguments.get("maxTokens"),
        run_id=arguments.get("newRunId"),
        now=arguments.get("now"),
    )
    said: list[str] = []

    def keep_lines(request: RunRequest, *, new: bool) -> None:
        said.extend(provider_lines(workspace, request, new=new))

    async with debug(workspace, request, on_request=keep_lines) as debugged:
        yield replace(debugged, said=said)


def _enter(folder: str) -> None:
    """Work in the folder that the editor names; the process serves this one session."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise LaunchInvalid(
            f'"cwd" in the launch configuration, {folder[:200]}, cannot be entered: {error.strerror}',
            help='such as "cwd": "${workspaceFolder}"',
        ) from error


def _check(arguments: Mapping[str, Any]) -> None:
    for name, attribute in ATTRIBUTES.items():
        value = arguments.get(name)
        expected, words, example = _TYPES[attribute["type"]]
        fits = isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
        if isinstance(value, list):
            fits = fits and all(isinstance(item, str) for item in value)
        if value is not None and not fits:
            raise LaunchInvalid(
                f'"{name}" in the launch configuration is not {words}', help=f'such as "{name}": {example}'
            )
