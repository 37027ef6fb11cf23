"""`worker`: drives the runs that wait in the queue."""

from __future__ import annotations

from typing import Annotated

import typer

from graph_research.cli.jobs.database import Database, with_database
from graph_research.cli.jobs.signals import ended_while_starting
from graph_research.cli.options import examples
from graph_research.cli.workspace import open_here, wait_for


def register(app: typer.Typer) -> None:
    """Add `worker`."""
    app.command(
        "worker",
        epilog=examples(
            "worker",
            "worker --concurrency 1",
            "worker --until-idle",
            "worker --db postgresql://jobs.example.org/research",
        ),
    )(_worker)


def _worker(
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="Runs at once. [default: the setting research_max_concurrency, 3]")
    ] = None,
    db: Database = None,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no run is queued or under way.")] = False,
) -> None:
    """Drive queued runs.

    They come from `run --detach` and from the service, with `--db` from all machines that use that database.
    Ctrl-C stops it: its runs go back into the queue, and the next worker goes on with them.
    """
    with ended_while_starting():
        from graph_research.cli.jobs.work import work

        workspace = with_database(open_here({"research_max_concurrency": concurrency}), db)
        wait_for(work(workspace, until_idle=until_idle))
