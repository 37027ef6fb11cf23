"""Driving a run to its end: progress, signals, the question on the terminal, and what is printed when it is over."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

import orjson

from graph_research.app.request import GraphRequest, ResearchRequest
from graph_research.app.runs.graph_run import GraphRun, GraphRunResult, fork_graph_run, open_graph_run, reopen_graph_run
from graph_research.app.runs.research import Research, ResearchResult, fork_research, open_research, reopen_research
from graph_research.app.runs.status import check_answered, is_research
from graph_research.app.workspace import Workspace
from graph_research.cli.errors import INTERRUPTED
from graph_research.cli.exit_status import end_of, resume_command
from graph_research.cli.output import in_line, say, show, show_json
from graph_research.cli.progress import IndexingLines, Progress, make_view
from graph_research.cli.run_banner import say_providers
from graph_research.graph.context import SystemClock
from graph_research.graph.events import Event
from graph_research.research.report.statistics import FETCH
from graph_research.text.wording import counted

__all__ = ["go_on", "start", "start_fork", "start_graph"]

_MOST_REASONS = 3
_REASON_CHARS = 400


async def start(
    workspace: Workspace, request: ResearchRequest, *, run_id: str | None, out: Path | None, json: bool
) -> int:
    """Start a new research, drive it and return the exit code."""
    async with open_research(workspace, request, run_id=run_id, out=out, on_index=IndexingLines()) as research:
        say(f"run {research.run_id}")
        say_providers(workspace, research.request)
        return await _drive_research(research, answer=None, json=json, stored=False)


async def start_graph(
    workspace: Workspace, request: GraphRequest, values: Mapping[str, Any], *, run_id: str | None, json: bool
) -> int:
    """Start a new run of any graph, drive it and return the exit code."""
    async with open_graph_run(workspace, request, values, run_id=run_id, on_index=IndexingLines()) as run:
        say_providers(workspace, run.request)
        return await _drive_graph(run, answer=None, json=json, stored=False)


def _say_why_searches_failed(failures: Sequence[Mapping[str, Any]]) -> None:
    """The first few different reasons, each with its remedy: the report tells who failed, not in whose words."""
    told = [
        str(one["message"]).removeprefix(f'no search provider answered "{one["query"][:80]}": ')
        for one in failures
        if one["provider"] != FETCH
    ]
    reasons = list(dict.fromkeys(in_line(one)[:_REASON_CHARS] for one in told))
    for reason in reasons[:_MOST_REASONS]:
        say(f"search failed: {reason}")
    if len(reasons) > _MOST_REASONS:
        say(f"{counted(len(reasons) - _MOST_REASONS, 'more search error')}; `graph-research show` has them all")
    for server in dict.fromkeys(re.findall(r"\bmcp:[a-z0-9_-]+", " ".join(reasons))):
        accept = f"graph-research doctor --accept {server} accepts its tools"
        say(f"graph-research doctor {server} tries {server}; {accept}")


def _say_why_pages_failed(failures: Sequence[Mapping[str, Any]]) -> None:
    """One page for each of the first few reasons, with its remedy, and how many others were left for the same."""
    told: dict[str, dict[str, str]] = {}
    for one in failures:
        if one["provider"] == FETCH:
            told.setdefault(one["message"].replace(one["url"], ""), {})[one["url"]] = one["message"]
    more = len(told) - _MOST_REASONS
    for pages in list(told.values())[:_MOST_REASONS]:
        first, *others = pages.values()
        say(f"page not read: {in_line(first)[:_REASON_CHARS]}" + (f" ({len(others)} more likewise)" if others else ""))
    if more > 0:
        say(f"pages not read for {counted(more, 'more reason')}; `graph-research show` has them all")


async def go_on(
    workspace: Workspace,
    run_id: str,
    *,
    answer: str | None,
    out: Path | None,
    json: bool,
    accept_changes: bool = False,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout_seconds: float | None = None,
) -> int:
    """Go on with a stored run and return the exit code. `InputInvalid` for an answer that it has not asked for."""
    if answer is not None:
        await check_answered(workspace, run_id, answer)
    options: dict[str, Any] = {
        "accept_changes": accept_changes,
        "max_cost": max_cost,
        "max_tokens": max_tokens,
        "timeout_seconds": timeout_seconds,
    }
    if await is_research(workspace, run_id):
        async with reopen_research(workspace, run_id, out=out, **options) as research:
            return await _drive_research(research, answer=answer, json=json, stored=True)
    async with reopen_graph_run(workspace, run_id, **options) as run:
        return await _drive_graph(run, answer=answer, json=json, stored=True)


async def start_fork(
    workspace: Workspace,
    parent: str,
    step: int,
    *,
    assignments: Sequence[str],
    graph: str | None,
    roles: Sequence[str],
    new_id: str | None,
    out: Path | None,
    json: bool,
    accept_changes: bool = False,
) -> int:
    """Fork a stored run, drive the new one and return the exit code."""
    options: dict[str, Any] = {
        "assignments": assignments,
        "graph": graph,
        "roles": roles,
        "run_id": new_id,
        "accept_changes": accept_changes,
    }
    if await is_research(workspace, parent):
        async with fork_research(workspace, parent, step, out=out, **options) as research:
            say(f"run {research.run_id}, a fork of {parent} after step {step}")
            return await _drive_research(research, answer=None, json=json, stored=True)
    async with fork_graph_run(workspace, parent, step, **options) as run:
        say(f"run {run.run_id}, a fork of {parent} after step {step}")
        return await _drive_graph(run, answer=None, json=json, stored=True)


async def _drive_research(research: Research, *, answer: str | None, json: bool, stored: bool) -> int:
    async def watch(given: str | None) -> None:
        with make_view(research.request.question, SystemClock()) as view:
            progress = Progress(view)
            standing = (await research.node(), await research.state()) if stored else None
            async with contextlib.aclosing(research.events(given)) as events:
                async for event in events:
                    if standing is not None:
                        progress.go_on(*standing)
                        standing = None
                    if progress.saw(event):
                        progress.read(await research.state())

    result, interrupted = await _until_it_ends(research, watch, answer, stored=stored)
    if json:
        show_json({**result.to_json(), "interrupted": interrupted})
    elif not interrupted:
        _show_research(result)
    if interrupted:
        return INTERRUPTED
    failures = (await research.state()).get("search_failures") or []
    _say_why_searches_failed(failures)
    _say_why_pages_failed(failures)
    if result.report is not None and not result.sources and not result.statistics.get("searches"):
        say("no search answered, so that nothing could be found; the report's limitations name them")
    return end_of(result.run_id, result.status, result.cause, result.error, result.waiting_for, result.limit)


async def _drive_graph(run: GraphRun, *, answer: str | None, json: bool, stored: bool) -> int:
    async def watch(given: str | None) -> None:
        async with contextlib.aclosing(run.events(given)) as events:
            async for _ in events:
                pass

    result, interrupted = await _until_it_ends(run, watch, answer, stored=stored)
    if json:
        shown = {"run_id": result.run_id, "status": result.status, "cause": result.cause, "state": result.state}
        parent = {"parent": result.parent} if result.parent else {}
        limit = {"limit": asdict(result.limit)} if result.limit else {}
        show_json({**shown, **parent, **limit, "interrupted": interrupted})
    elif not interrupted:
        _show_graph(result)
    if interrupted:
        return INTERRUPTED
    return end_of(result.run_id, result.status, result.cause, result.error, result.waiting_for, result.limit)


_R = TypeVar("_R", covariant=True)
_Watch = Callable[[str | None], Awaitable[None]]


class _Run(Protocol[_R]):
    @property
    def run_id(self) -> str: ...
    def events(self, answer: str | None = None) -> AsyncGenerator[Event, None]: ...
    async def waiting_for(self) -> str | None: ...
    async def result(self) -> _R: ...


async def _until_it_ends(run: _Run[_R], watch: _Watch, answer: str | None, *, stored: bool) -> tuple[_R, bool]:
    """The result of a run that is driven as far as it goes, and whether a signal stopped it there."""
    with _stopped_by_signals() as stopped:
        try:
            await _answering(run, watch, answer, stored=stored)
            return await run.result(), False
        except asyncio.CancelledError:
            if not stopped:
                raise
    say(f"graph-research: interrupted; the state is kept, go on with: {resume_command(run.run_id)}")
    return await run.result(), True


async def _answering(run: _Run[_R], watch: _Watch, answer: str | None, *, stored: bool) -> None:
    """Drive a run until it ends, or asks something that nobody is here to answer."""
    if not stored or answer is not None or await run.waiting_for() is None:
        await watch(answer)
    while (question := await run.waiting_for()) is not None:
        given = await _asked(question)
        if given is None:
            return
        await watch(given)


async def _asked(question: str) -> str | None:
    """The user's answer, None where there is no terminal or no answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    say(f"\n{question}")
    return (await asyncio.to_thread(sys.stdin.readline)).strip() or None


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[list[signal.Signals]]:
    """The first SIGINT or SIGTERM cancels this task; a second one ends the process as usual."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "driven inside a task"
    seen: list[signal.Signals] = []

    def stop(received: signal.Signals) -> None:
        seen.append(received)
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
        task.cancel()

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop, one)
    try:
        yield seen
    finally:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(one)
        if seen:
            task.uncancel()


def _show_research(result: ResearchResult) -> None:
    if result.report is None:
        return
    if result.summary:
        show(result.summary)
        show("")
    confidence = "not scored" if result.confidence is None else f"{result.confidence:.0%}"
    show(f"{counted(result.sources, 'source')}, {counted(result.citations, 'citation')}, confidence {confidence}")
    for path in result.report.values():
        show(path)


def _show_graph(result: GraphRunResult) -> None:
    """The channels declared as output, or all where none is; texts as they are, everything else as JSON."""
    show(f"{result.run_id}: {result.status}" + (f" ({result.cause})" if result.cause else ""))
    for channel in result.outputs or result.state:
        value = result.state[channel]
        lines = value if isinstance(value, list) and all(isinstance(one, str) for one in value) else [value]
        if any(isinstance(line, str) and "\n" in line for line in lines):
            show(f"\n{channel}:\n\n" + "\n\n".join(lines))
        else:
            show(f"{channel}: {orjson.dumps(value).decode()}")
