"""`ask`: a further question to a finished research."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import say, show, show_json
from graph_research.cli.errors import ABORTED, CommandEnded, end_with
from graph_research.cli.options import Json, MaxCost, MaxTokens, RunId, Timeout, examples
from graph_research.cli.reports.revise import ReportOut, show_revised, write_files
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import counted

if TYPE_CHECKING:
    from graph_research.app.request import RequestLimits
    from graph_research.app.revisions.ask import Answered
    from graph_research.app.workspace import Workspace


def register(app: typer.Typer) -> None:
    """Add `ask`."""
    app.command(
        "ask", epilog=examples("ask RUN_ID 'And how many smolts die at the other lagoon?'", "ask RUN_ID 'Why?' --json")
    )(_ask)


def _ask(
    run_id: RunId,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What else you want to know.", show_default=False)
    ],
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="Let a run that came in a bundle ask what it names.")
    ] = False,
    out: ReportOut = None,
    json: Json = False,
) -> None:
    """Ask a finished research on.

    The answer joins the report as a section. It comes from the archived sources; only the parts that none of them
    answers are searched for. Interrupted, the same command goes on. `versions RUN_ID --undo` takes it back.
    """
    from graph_research.app.revisions.ask import FollowUpAborted

    workspace = open_here()
    limits = (max_cost, max_tokens, timeout)
    try:
        answered = wait_for(_answered(workspace, run_id, question, accept_changes=accept_changes, limits=limits))
    except FollowUpAborted as error:
        end_with(error, json=json)
        raise CommandEnded(ABORTED) from error
    if json:
        files = write_files(workspace, answered.revised, out)
        show_json({**answered.to_json(), "files": files})
        return
    show_revised(workspace, answered.revised, out, json=False)
    show(f"answered by run {answered.run_id}, {counted(answered.searches, 'search')}")


async def _answered(
    workspace: Workspace,
    run_id: str,
    question: str,
    *,
    accept_changes: bool,
    limits: RequestLimits,
) -> Answered:
    from graph_research.app.application import Application
    from graph_research.app.revisions.ask import ask
    from graph_research.graph.events import Event, NodeStarted

    def tell(event: Event) -> None:
        if isinstance(event, NodeStarted) and "/" not in event.path:
            say(f"{event.path} …")

    async with Application(workspace) as app:
        return await ask(app, run_id, question, accept_changes=accept_changes, limits=limits, on_event=tell)
