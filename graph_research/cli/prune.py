"""`prune`: removes runs that are old or too many, and what nothing refers to any more."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import show, show_json
from graph_research.cli.options import Json, examples
from graph_research.cli.workspace import open_here, wait_for

if TYPE_CHECKING:
    from graph_research.app.runs.retention import Pruned
    from graph_research.app.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add `prune`."""
    app.command(
        "prune",
        epilog=examples(
            "prune --older-than 90d", "prune --keep 20", "prune --older-than 4w --keep 5", "prune --max-size 2GB"
        ),
    )(_prune)


def _prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="D", help="Runs not touched for 30d, 12h, 2w, …")
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=0, help="Never one of the newest N runs.")
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            "--max-size", metavar="SIZE", help="Finished runs, the oldest first, until the store fits: 2GB, …"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Remove old runs and unused files.

    Runs only with an option, also those that wait for an answer; --older-than with --keep means those that are old and
    not among the newest N. A fork keeps what it shares. Runs of jobs that have not ended, and of the service's jobs,
    stay. Always: texts that the report of an old run does not cite, logs of runs that are gone, and caches older than
    30 days.
    """
    from graph_research.app.runs.retention import parse_age, parse_size

    age = None if older_than is None else parse_age(older_than)
    size = None if max_size is None else parse_size(max_size)
    pruned = wait_for(_pruned(open_here(), older_than=age, keep=keep, max_bytes=size))
    if json:
        show_json(pruned)
        return
    for run_id in pruned.runs:
        show(f"removed {run_id}")
    for run_id in pruned.busy:
        show(f"kept {run_id}: a process drives it")
    show(f"{len(pruned.runs)} runs and {pruned.files} files removed, {pruned.kept} runs kept")
    if pruned.texts:
        show(f"{pruned.texts} archived texts removed that no report cites")
    if size is not None and pruned.store_bytes > size:
        show(f"the store still takes {pruned.store_bytes:,} bytes: what is left is not finished, or kept")
    show(f"{pruned.freed_bytes:,} bytes freed")


async def _pruned(
    workspace: Workspace, *, older_than: timedelta | None, keep: int | None, max_bytes: int | None
) -> Pruned:
    from graph_research.app.runs.retention import prune
    from graph_research.cli.jobs.queue import needed_runs
    from graph_research.graph.context import SystemClock

    needed = await needed_runs(workspace)
    return await prune(
        workspace, older_than=older_than, keep=keep, max_bytes=max_bytes, now=SystemClock().now(), needed=needed
    )
