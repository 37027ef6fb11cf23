"""`serve`: the REST service; `token`: who may use it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import finish_output, show
from graph_research.cli.jobs.database import Database, with_database
from graph_research.cli.jobs.signals import end_loop_while_starting, ended_while_starting, stopped_by_signals
from graph_research.cli.options import examples
from graph_research.cli.workspace import open_here, wait_for

if TYPE_CHECKING:
    from graph_research.service.server import Service

_TOKENS_FILE = "GRAPH_RESEARCH_TOKENS_FILE"


def register(app: typer.Typer) -> None:
    """Add `serve` and `token`."""
    app.command("serve", epilog=examples("serve", "serve --port 9000 --library papers/"))(_serve)
    app.command("token", epilog=examples("token alice --file tokens", "token prometheus --metrics"))(_token)


def _serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="The port; 0: any free one.")] = 8420,
    db: Database = None,
    library: Annotated[
        list[str] | None,
        typer.Option("--library", metavar="FOLDER", help="A folder that all users may search; repeat."),
    ] = None,
) -> None:
    """Serve the REST API and a page, drive its jobs.

    Others than this machine reach it only with tokens, from the file that GRAPH_RESEARCH_TOKENS_FILE names. Ctrl-C
    stops it: its jobs go back into the queue, and the next start goes on with them.
    """
    with ended_while_starting():
        from graph_research.service.server import Service
        from graph_research.service.users import Users

        named = os.environ.get(_TOKENS_FILE)
        users = Users(Path(named) if named else None)
        workspace = with_database(open_here({"library": library}), db)
        wait_for(_run(Service(workspace, users, host=host, port=port)))


async def _run(service: Service) -> None:
    from graph_research.service.logs import logged_to

    end_loop_while_starting()
    with logged_to(sys.stderr), ExitStack() as ready:

        def on_ready() -> None:
            ready.enter_context(stopped_by_signals(service.stop))
            _show_at_once(f"serving at {service.url}")

        await service.run(on_ready, _show_page)


def _show_page(address: str) -> None:
    _show_at_once(f"a browser may use it after it has opened {address}")


def _show_at_once(line: str) -> None:
    show(line)
    finish_output()


def _token(
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose jobs and documents the token opens.")],
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help=f"The tokens file. [default: {_TOKENS_FILE}]")
    ] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="The token also opens /metrics.")] = False,
) -> None:
    """Make a token for a user of the service.

    Prints it; the file gets its hash only. A running service knows it at once. Who deletes the line takes it back.
    """
    from graph_research.service.errors import TokensUnusable
    from graph_research.service.users import add_token

    named = os.environ.get(_TOKENS_FILE)
    chosen = file or (Path(named) if named else None)
    if chosen is None:
        raise TokensUnusable("no tokens file is named", help=f"name one with --file or {_TOKENS_FILE}")
    show(add_token(chosen, user, reads_metrics=metrics))
