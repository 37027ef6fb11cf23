"""`debug --dap`: what an editor's launch configuration may say, and the session that comes of it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graph_research.cli.output import say
from graph_research.cli.workspace import open_with
from graph_research.errors import UserMistake
from graph_research.graph.dap.server import serve_port, serve_stdio

if TYPE_CHECKING:
    from graph_research.app.request import GraphRequest, ResearchRequest
    from graph_research.graph.debugger.stepper import Debugged

__all__ = ["serve"]

_TEXTS = ("question", "runId", "graph", "newRunId", "now", "cwd")
_LISTS = ("library", "llm", "role", "search", "break")
_NUMBERS = ("maxCost", "maxTokens")


class LaunchInvalid(UserMistake):
    """A launch configuration with a value that it cannot have."""

    code = "launch-invalid"


async def serve(port: int | None) -> None:
    """One session: on standard input and output, or on a port of this machine (0: any that is free)."""
    if port is None:
        with _left_by_signals():
            await serve_stdio(_launched)
    else:
        await serve_port(_launched, port, lambda port, token: say(f"listening on 127.0.0.1:{port}, token {token}"))


@contextmanager
def _left_by_signals() -> Iterator[None]:
    """SIGINT and SIGTERM end the session as the end of the input does: nvim-dap sends one right after the other."""
    loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), (signal.SIGINT, signal.SIGTERM)
    assert task is not None, "served inside a task"
    left = asyncio.Event()

    def leave() -> None:
        if not left.is_set():
            left.set()
            task.cancel()

    for one in signals:
        loop.add_signal_handler(one, leave)
    try:
        yield
    except asyncio.CancelledError:
        if not left.is_set():
            raise
        task.uncancel()
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
            signal.signal(one, signal.SIG_IGN)  # nothing is left to be interrupted but the end of the process


@asynccontextmanager
async def _launched(arguments: Mapping[str, Any]) -> AsyncIterator[Debugged]:
    """The run that a launch configuration asks for."""
    from graph_research.app.runs.debug import DebugRequest, debug
    from graph_research.cli.run_banner import provider_lines

    _check(arguments)
    _enter(arguments.get("cwd") or ".")
    workspace = open_with(
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

    def told(request: ResearchRequest | GraphRequest, *, new: bool) -> None:
        said.extend(provider_lines(workspace, request, new=new))

    async with debug(workspace, request, told=told) as debugged:
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
    for name in _TEXTS:
        if not isinstance(arguments.get(name, ""), str):
            raise LaunchInvalid(f'"{name}" in the launch configuration is no text', help="put it in quotes")
    for name in _LISTS:
        value = arguments.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise LaunchInvalid(f'"{name}" in the launch configuration is no list of texts', help=f'"{name}": ["…"]')
    for name in _NUMBERS:
        if not isinstance(arguments.get(name, 0), (int, float)):
            raise LaunchInvalid(f'"{name}" in the launch configuration is no number', help=f'such as "{name}": 1000')
    if not isinstance(arguments.get("input", {}), dict):
        raise LaunchInvalid('"input" in the launch configuration is no object', help='such as "input": {"n": 5}')
