"""A run's life after its start: `status`, `list`, `history`, `cancel`, `guide`, `delete`, `report` and `verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph_research.cli.display.output import (
    in_line,
    say,
    show,
    show_document,
    show_json,
    show_lines,
    show_table,
)
from graph_research.cli.errors import FAILED, CommandEnded
from graph_research.cli.hints import limit_json, resume_command
from graph_research.cli.options import Json, RunId, chosen_format, examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.graph.statuses import RunStatus
from graph_research.research.report.formats import REPORT_FORMATS
from graph_research.text.wording import counted, shortened

if TYPE_CHECKING:
    from graph_research.app.runs.status import RunSummary
    from graph_research.app.workspace import Workspace
    from graph_research.jobs.job import Job
    from graph_research.research.report.verification import Verification

_QUESTION_CHARS = 60
_PROBLEMS_SHOWN = 20


ReportFormat = StrEnum("ReportFormat", {name: name for name in REPORT_FORMATS})  # type: ignore[misc]  # -- its members are known at run time
_BY_SUFFIX = {format.suffix: ReportFormat(name) for name, format in reversed(list(REPORT_FORMATS.items()))}
"""Of formats with the same suffix the first."""


def register(app: typer.Typer) -> None:
    """Add the commands that look at stored runs or end them."""
    app.command("status", epilog=examples("status RUN_ID", "status RUN_ID --json"))(_status)
    app.command("list", epilog=examples("list", "list --json"))(_list)
    app.command("history", epilog=examples("history RUN_ID", "history RUN_ID --json"))(_history)
    app.command("cancel", epilog=examples("cancel RUN_ID"))(_cancel)
    app.command("guide", epilog=examples("guide RUN_ID 'Look at prices since 2020, too.'"))(_guide)
    app.command("delete", epilog=examples("delete RUN_ID"))(_delete)
    app.command(
        "report", epilog=examples("report RUN_ID", "report RUN_ID -o report.pdf", "report RUN_ID --format ris")
    )(_report)
    app.command("verify", epilog=examples("verify RUN_ID", "verify RUN_ID --json"))(_verify)


def _status(run_id: RunId, json: Json = False) -> None:
    """Where a run stands, and how to go on."""
    from graph_research.cli.jobs.queue import status_of_run

    status, job = wait_for(status_of_run(open_here(reads_only=True), run_id))
    _show_status(status, job, json=json)


def _show_status(status: RunSummary, job: Job | None = None, *, json: bool) -> None:
    if json:
        show_json({**vars(status), "limit": limit_json(status.limit)})
    else:
        show_lines([*_standing_lines(status), *_what_it_waits_for(status), *_how_to_go_on(status, job)])


def _standing_lines(status: RunSummary) -> Iterator[str]:
    yield f"{status.run_id}: {_standing(vars(status))}"
    if status.question:
        yield f"question:  {status.question}"
    yield f"phase:     {status.phase or '-'}, iteration {status.iteration}"
    yield f"found:     {counted(status.sources, 'source')}, {counted(status.findings, 'finding')}"
    if status.usage:
        yield f"used:      {_used(status.usage)}"
    if status.retries:
        retries = (
            f"{row['requests']} to {in_line(row['provider'])} ({row['role'] or row['kind']})" for row in status.retries
        )
        yield f"retries:   {', '.join(retries)}"
    yield f"updated:   {status.updated_at}"
    if status.archive_error:
        yield f"archive:   its files could not be written: {status.archive_error}"
    if status.error:
        yield f"{'ended by:  ' if status.limit else 'error:     '}{status.error}"


def _what_it_waits_for(status: RunSummary) -> Iterator[str]:
    from graph_research.cli.jobs.queue import QUEUED, START_WORKER

    if status.status == QUEUED:
        yield f"it begins when a worker is free, and {START_WORKER}"
    if status.pause:
        yield f"pauses:    {status.pause}"
    if status.waiting_for:
        yield f"it asks:   {status.waiting_for}"


def _how_to_go_on(status: RunSummary, job: Job | None) -> Iterator[str]:
    from graph_research.cli.jobs.queue import is_of_service

    if job is not None and is_of_service(job):
        yield f"a user of the service waits for it: {job.user}"
    elif status.waiting_for:
        yield f'answer it: graph-research resume {status.run_id} --answer "…"'
    elif status.interrupted or status.status == RunStatus.PAUSED or _has_ended_early(status):
        yield f"go on with: {resume_command(status.run_id, status.limit.options if status.limit else {})}"


def _has_ended_early(status: RunSummary) -> bool:
    return status.cause is not None and status.status != RunStatus.COMPLETED


def _used(usage: Sequence[Mapping[str, Any]]) -> str:
    """What models took in all, and in money where every price is known and they cost any."""
    from graph_research.research.llm.usage import Spending, total

    spent = total(map(Spending.of_row, usage))
    money = f", {spent.cost_usd:.4f} USD" if spent.cost_usd else ""
    read, written = spent.input_tokens, spent.output_tokens
    return f"{counted(spent.calls, 'model call')}, {read:,} tokens read, {written:,} written{money}"


def _list(json: Json = False) -> None:
    """All stored runs, the newest first."""
    from graph_research.cli.jobs.queue import list_with_queued

    runs = wait_for(list_with_queued(open_here(reads_only=True)))
    if json:
        show_json(runs)
    elif not runs:
        show("no runs yet; start one with: graph-research run 'your question'")
    else:
        rows = [
            (run["run_id"], _standing(run), run["created_at"], shortened(run["question"], _QUESTION_CHARS))
            for run in runs
        ]
        show_table(("RUN", "STATUS", "CREATED", "QUESTION"), rows)
    for run in runs:
        if "damaged" in run:
            say(run["damaged"])


def _standing(run: Mapping[str, Any]) -> str:
    """The status of a run, and in brackets why it stands there."""
    why = "interrupted" if run["interrupted"] else run["cause"]
    return f"{run['status']} ({why})" if why else str(run["status"])


def _history(run_id: RunId, json: Json = False) -> None:
    """Every step: node, status, time, hash."""
    from graph_research.app.runs.status import run_history

    workspace = open_here(reads_only=True)
    steps = wait_for(run_history(workspace, run_id))
    if json:
        show_json(steps)
        return
    headings = ("STEP", "NODE", "ITEM", "STATUS", "STARTED", "SECONDS", "HASH")
    show_table(headings, [_step_row(step) for step in steps])


def _step_row(step: dict[str, Any]) -> tuple[Any, ...]:
    seconds = "" if step["seconds"] is None else f"{step['seconds']:.2f}"
    return (
        step["step"],
        step["node"],
        step["item"],
        step["status"],
        step["started_at"],
        seconds,
        str(step["hash"])[:12],
    )


def _cancel(run_id: RunId, json: Json = False) -> None:
    """Stop a run, keep what it has.

    It may be driven by another process, or by none. `resume` goes on from there.
    """
    _show_status(wait_for(_cancelled(open_here(), run_id)), json=json)


async def _cancelled(workspace: Workspace, run_id: str) -> RunSummary:
    from graph_research.app.application import Application
    from graph_research.cli.jobs.queue import cancel_job, summary_of
    from graph_research.graph.errors import UnknownRun

    job = await cancel_job(workspace, run_id)
    async with Application(workspace) as app:
        try:
            return await app.cancel(run_id)
        except UnknownRun:
            if job is None:
                raise
            return summary_of(job)


def _guide(
    run_id: RunId,
    wish: Annotated[str, typer.Argument(metavar="TEXT", help="Your wish, in your words.", show_default=False)],
    json: Json = False,
) -> None:
    """Add a wish for the next phase of a run.

    Another process may drive the run meanwhile. The wish stays in force until the run ends.
    """
    workspace = open_here()
    wishes = wait_for(_guided(workspace, run_id, wish))
    if json:
        show_json({"run_id": run_id, "guidance": wishes})
    else:
        show(f"{run_id}: the next phase gets {counted(len(wishes), 'wish')}")


async def _guided(workspace: Workspace, run_id: str, wish: str) -> list[str]:
    from graph_research.app.application import Application

    async with Application(workspace) as app:
        return await app.guide(run_id, wish)


def _delete(run_id: RunId, json: Json = False) -> None:
    """Remove a run and its texts.

    Texts that another run refers to stay.
    """
    from graph_research.cli.jobs.queue import delete_with_job

    wait_for(delete_with_job(open_here(), run_id))
    if json:
        show_json({"run_id": run_id, "deleted": True})
    else:
        show(f"{run_id} deleted")


def _report(
    run_id: RunId,
    format: Annotated[
        ReportFormat | None, typer.Option("--format", help="What to write. [default: by the suffix of -o, else md]")
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="An earlier version, as `versions` lists them.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file instead of standard output.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """A run's report or sources again.

    From the store. docx and pdf are for reading, pandoc is Markdown with pandoc's citations, csv is the evidence, a row
    for every citation; bibtex, ris and csl-json hold the sources, for a reference manager.
    """
    from graph_research.app.runs.report import render_report

    name = "json" if json else chosen_format(format, output, _BY_SUFFIX, ReportFormat("md")).value
    workspace = open_here(reads_only=True)
    content = wait_for(render_report(workspace, run_id, name, version))
    if output is None:
        show_document(content.decode() if REPORT_FORMATS[name].is_text else content)
        return
    from graph_research.app.files import write_atomically

    write_atomically(output, content)
    say(f"written: {output}")


def _verify(
    run: Annotated[str, typer.Argument(metavar="RUN_ID|BUNDLE", help="A stored run, or a bundle file.")],
    json: Json = False,
) -> None:
    """Check every citation of a run.

    Each is compared with the archived text; exit code 1 if any is not exactly there. What a model made up and the
    report does not have is counted, and is no error.
    """
    from graph_research.app.runs.bundles import verify_any

    workspace = open_here(reads_only=True)
    verification = wait_for(verify_any(workspace, run))
    if json:
        show_json(verification.to_json())
    else:
        _show_verification(verification)
    if wrong := verification.wrong_citations:
        fabricated = wrong - verification.invalid
        say(f"graph-research: {verification.invalid} invalid and {fabricated} fabricated citations in {run}")
        raise CommandEnded(FAILED)


def _show_verification(verification: Verification) -> None:
    show(f"citations:  {verification.citations}, valid {verification.valid}, invalid {verification.invalid}")
    show(
        f"statements: {verification.statements}, supported {verification.supported}, "
        f"unsupported {verification.unsupported}, fabricated {verification.fabricated}"
        + (f" ({verification.fabricated_dropped} of them dropped)" if verification.fabricated_dropped else "")
    )
    show(f"kinds:      {', '.join(f'{name} {number}' for name, number in verification.kinds.items())}")
    show(f"coverage:   {verification.coverage:.0%}")
    diversity = verification.diversity
    show(
        f"diversity:  {counted(diversity.domains, 'domain')} of {counted(diversity.sources, 'cited source')}, "
        f"the most cited has {diversity.top_share:.0%} of the citations, near-copies {diversity.near_copies}"
    )
    for problem in list(verification.problems)[:_PROBLEMS_SHOWN]:
        show(f"  {problem.where}: {problem.what}")
