"""Driving a run to its end: progress, signals, the question on the terminal, and what is printed when it is over."""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from graph_research.app.application import Application
from graph_research.app.request import RunRequest
from graph_research.app.research import ResearchResult, report_folder, reported
from graph_research.app.runs.plan import read_plan
from graph_research.app.runs.research_state import research_state
from graph_research.app.runs.run import RunResult, new_run_id
from graph_research.app.runs.status import check_answered
from graph_research.app.workspace import Workspace
from graph_research.cli.display.output import in_line, json_text, say, show, show_json, show_lines
from graph_research.cli.display.plan import Decision, EditorFailed, ask_about_plan, edited_in_editor, plan_lines
from graph_research.cli.display.progress import IndexingLines, Progress, open_view
from graph_research.cli.display.prompt import typed_line
from graph_research.cli.display.run_banner import say_providers
from graph_research.cli.errors import INTERRUPTED, CommandEnded
from graph_research.cli.exit_status import end_of
from graph_research.cli.hints import in_words, limit_json, resume_command
from graph_research.cli.signals import stopped_by_signals
from graph_research.errors import UserMistake, why_unreadable
from graph_research.graph.context import SystemClock
from graph_research.graph.errors import InputInvalid
from graph_research.graph.statuses import RunStatus
from graph_research.providers.errors import BudgetReached
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.report.statistics import FETCH
from graph_research.text.wording import counted

_MOST_REASONS = 3
_REASON_CHARS = 400


async def start(
    workspace: Workspace,
    request: RunRequest,
    *,
    run_id: str | None,
    json: bool,
    out: Path | None = None,
    plan_only: bool = False,
) -> None:
    """Create a run and drive it, with `plan_only` as far as its plan. `CommandEnded` has an exit code that is not 0,
    here as in `go_on` and `start_fork`."""
    async with Application(workspace) as app:
        chosen = new_run_id() if run_id is None else run_id
        folder = None if request.question is None else report_folder(workspace, chosen, out)
        await app.create(request, run_id=chosen)
        await _drive(app, chosen, folder, new=True, json=json, plan_only=plan_only)


def _say_what_failed(failures: Sequence[Mapping[str, Any]], result: ResearchResult) -> None:
    if result.status == RunStatus.COMPLETED and result.error:
        say(f"graph-research: {in_line(result.error)}")
    for words in result.saved:
        say(f"limits: {words}")
    _say_why_searches_failed([each for each in failures if each["error"] != BudgetReached.__name__])
    _say_why_pages_failed(failures)
    if result.report is not None and not result.sources and not result.statistics.get("searches"):
        say("no search answered, so that nothing could be found; the report's limitations name them")


def _say_why_searches_failed(failures: Sequence[Mapping[str, Any]]) -> None:
    """The first few different reasons, each with its remedy: the report tells who failed, not in whose words."""
    messages = [
        str(failure["message"]).removeprefix(f'no search provider answered "{failure["query"][:80]}": ')
        for failure in failures
        if failure["provider"] != FETCH
    ]
    reasons = list(dict.fromkeys(in_line(message)[:_REASON_CHARS] for message in messages))
    for reason in reasons[:_MOST_REASONS]:
        say(f"search failed: {reason}")
    if len(reasons) > _MOST_REASONS:
        say(f"{counted(len(reasons) - _MOST_REASONS, 'more search error')}; `graph-research show` has them all")
    for server in dict.fromkeys(re.findall(r"\bmcp:[a-z0-9_-]+", " ".join(reasons))):
        accept = f"graph-research doctor --accept {server} accepts its tools"
        say(f"graph-research doctor {server} tries {server}; {accept}")


def _say_why_pages_failed(failures: Sequence[Mapping[str, Any]]) -> None:
    """One page for each of the first few reasons, with its remedy, and how many others were left for the same."""
    by_reason: dict[str, dict[str, str]] = {}
    for failure in failures:
        if failure["provider"] == FETCH:
            url, message = failure["url"], failure["message"]
            by_reason.setdefault(message.replace(url, ""), {})[url] = message
    more = len(by_reason) - _MOST_REASONS
    for pages in list(by_reason.values())[:_MOST_REASONS]:
        first, *others = pages.values()
        say(f"page not read: {in_line(first)[:_REASON_CHARS]}" + (f" ({len(others)} more likewise)" if others else ""))
    if more > 0:
        say(f"pages not read for {counted(more, 'more reason')}; `graph-research show` has them all")


def _say_what_fitted_no_window(degraded: Sequence[Mapping[str, Any]]) -> None:
    """The first few steps that no model took since their prompts fitted no window, each with its remedy."""
    refused = {(row["node"], row["agent"]) for row in degraded if row.get("kind") == DegradationKind.WINDOW}
    said = dict.fromkeys(
        f"{row['agent']}: {in_line(row['reason'])[:_REASON_CHARS]}"
        for row in degraded
        if row.get("kind") == DegradationKind.FALLBACK and (row["node"], row["agent"]) in refused
    )
    for reason in list(said)[:_MOST_REASONS]:
        say(reason)


async def go_on(
    workspace: Workspace,
    run_id: str,
    *,
    answer: str | None,
    out: Path | None,
    json: bool,
    plan: Path | None = None,
    **options: Any,
) -> None:
    """Go on with a stored run, with the plan in a file where one is named; `options` are those of `Application.drive`.
    `InputInvalid` for an answer that it has not asked for, and for a plan that it does not wait for."""
    async with Application(workspace) as app:
        if plan is not None:
            await app.change_plan(run_id, read_plan(_text_of(plan), str(plan)))
        if answer is not None:
            await check_answered(app.store, run_id, answer)
        folder = await _folder(app, run_id, out)
        await _drive(app, run_id, folder, answer=answer, json=json, **options)


async def start_fork(
    workspace: Workspace,
    parent: str,
    step: int,
    *,
    new_id: str | None,
    out: Path | None,
    json: bool,
    accept_changes: bool,
    limits: Mapping[str, Any],
    **changes: Any,
) -> None:
    """Fork a stored run and drive the new one within `limits`, where they are given in place of the old run's;
    `changes` are those of `Application.fork`."""
    async with Application(workspace) as app:
        run_id = await app.fork(parent, step, run_id=new_id, accept_changes=accept_changes, **changes)
        say(f"run {run_id}, a fork of {parent} after step {step}")
        folder = await _folder(app, run_id, out)
        await _drive(app, run_id, folder, json=json, accept_changes=accept_changes, **limits)


async def _folder(app: Application, run_id: str, out: Path | None) -> Path | None:
    """Where a stored run writes its report, None for one without a question."""
    request = await app.request(run_id)
    return None if request.question is None else report_folder(app.workspace, run_id, out)


async def _drive(
    app: Application,
    run_id: str,
    folder: Path | None,
    *,
    json: bool,
    answer: str | None = None,
    new: bool = False,
    plan_only: bool = False,
    **options: Any,
) -> None:
    """Drive a run as far as it goes and print how it stands, of a research with its report in `folder`. Where it waits
    with its plan, that is printed, and without `plan_only` the user decides on it at the terminal."""
    interrupted = await _driven_until_interrupted(app, run_id, answer, new=new, plan_only=plan_only, **options)
    result: RunResult | ResearchResult
    result = await (app.result(run_id) if folder is None else reported(app, run_id, folder))
    planned = None if interrupted else await app.planned(run_id)
    if planned is None:
        _show_end(result, json=json, interrupted=interrupted)
    elif json:
        show_json(planned.to_json())
    elif plan_only or not _at_terminal():  # else it was shown with the question what to do
        show_lines(plan_lines(planned))
    if planned is not None and plan_only:
        say(f"graph-research: the run waits with its plan; go on with: {resume_command(run_id)}")
        return
    if interrupted:
        raise CommandEnded(INTERRUPTED)
    if isinstance(result, ResearchResult):
        state = research_state(await app.store.state(run_id))
        _say_what_failed(state.get("search_failures") or [], result)
        _say_what_fitted_no_window(state.get("degraded") or [])
    if code := end_of(result):
        raise CommandEnded(code)


async def _driven_until_interrupted(
    app: Application, run_id: str, answer: str | None, *, new: bool, plan_only: bool, **options: Any
) -> bool:
    """Whether the user interrupted the run, which is said with how to go on."""
    with stopped_by_signals() as stopped:
        try:
            if new:
                request = await app.request(run_id)
                if request.question is not None:
                    say(f"run {run_id}")
                say_providers(app.workspace, request)
            await _drive_and_answer(app, run_id, answer, new=new, **options)
            if not plan_only and _at_terminal():
                await _decide_on_plan(app, run_id, stopped.interrupts_ignored, **options)
        except asyncio.CancelledError:
            if not stopped.received:
                raise
            say(f"graph-research: interrupted; the state is kept, go on with: {resume_command(run_id)}")
            return True
    return False


def _show_end(result: RunResult | ResearchResult, *, json: bool, interrupted: bool) -> None:
    if json:
        show_json({**_as_json(result), "interrupted": interrupted})
    elif interrupted:
        pass  # it was said before how to go on
    elif isinstance(result, ResearchResult):
        _show_research(result)
    else:
        _show_graph(result)


async def _decide_on_plan(
    app: Application, run_id: str, while_edited: Callable[[], AbstractContextManager[None]], **options: Any
) -> None:
    """Show the plan that a run waits with until the user goes on with it or stops."""
    while (planned := await app.planned(run_id)) is not None:
        for line in plan_lines(planned):
            say(line)
        match await ask_about_plan():
            case Decision.STOP:
                return
            case Decision.GO:
                await _drive_and_answer(app, run_id, None, new=False, **options)
                return
            case Decision.EDIT:
                try:
                    plan = await edited_in_editor(planned.plan, while_edited)
                except EditorFailed as failed:  # the run goes on waiting
                    say(f"graph-research: {in_words(failed)}")
                    continue
                if plan is not None:
                    await app.change_plan(run_id, plan)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserMistake(
            f"the plan cannot be read: {why_unreadable(error)}", help="name a YAML or JSON file", file=str(file)
        ) from error


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _watch(app: Application, run_id: str, answer: str | None, *, new: bool, **options: Any) -> None:
    """Drive a run until it ends or asks, with its progress on standard error where it is a research."""
    question = (await app.request(run_id)).question
    stream = app.drive(run_id, answer=answer, on_index=IndexingLines(), **options)
    async with contextlib.aclosing(stream) as events:
        if question is None:
            async for _ in events:
                pass
            return
        with open_view(question, SystemClock()) as show_snapshot:
            progress = Progress(show_snapshot)
            standing = None if new else (await app.node(run_id), await app.store.state(run_id))
            async for event in events:
                if standing is not None:
                    progress.go_on(*standing)
                    standing = None
                if progress.saw(event):
                    progress.read(await app.store.state(run_id))


async def _drive_and_answer(app: Application, run_id: str, answer: str | None, *, new: bool, **options: Any) -> None:
    """Drive a run until it ends, or asks a question where no terminal can answer it; at one the user is asked again
    while the answer does not fit."""
    if new or answer is not None or await app.waiting_for(run_id) is None:
        await _watch(app, run_id, answer, new=new, **options)
    while (question := await app.waiting_for(run_id)) is not None:
        answer = await _answer_from_terminal(question)
        if answer is None:
            return
        try:
            await _watch(app, run_id, answer, new=new, **options)
        except InputInvalid as refused:  # the run goes on waiting
            say(f"graph-research: {in_words(refused)}")


async def _answer_from_terminal(question: str) -> str | None:
    """The user's answer, None where there is no terminal or no answer."""
    if not _at_terminal():
        return None
    say(f"\n{question}")
    return (await typed_line()).strip() or None


def _as_json(result: RunResult | ResearchResult) -> dict[str, Any]:
    if isinstance(result, ResearchResult):
        return {**result.to_json(), "limit": limit_json(result.limit)}
    shown = {name: getattr(result, name) for name in ("run_id", "status", "cause", "error", "waiting_for", "state")}
    parent = {"parent": result.parent} if result.parent else {}
    return {**shown, **parent, **({"limit": limit_json(result.limit)} if result.limit else {})}


def _show_research(result: ResearchResult) -> None:
    if result.report is None:
        return
    if result.summary:
        show(result.summary)
        show("")
    confidence = "not scored" if result.confidence is None else result.confidence_level
    show(f"{counted(result.sources, 'source')} found, {counted(result.citations, 'citation')}, confidence {confidence}")
    for path in result.report.values():
        show(path)


def _show_graph(result: RunResult) -> None:
    """The channels declared as output, or all where none is; texts as they are, everything else as JSON."""
    show(f"{result.run_id}: {result.status}" + (f" ({result.cause})" if result.cause else ""))
    for channel in result.outputs or result.state:
        value = result.state[channel]
        lines = value if isinstance(value, list) and all(isinstance(line, str) for line in value) else [value]
        if any(isinstance(line, str) and "\n" in line for line in lines):
            show(f"\n{channel}:\n\n" + "\n\n".join(lines))
        else:
            show(f"{channel}: {json_text(value)}")
