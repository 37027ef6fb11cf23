"""`mcp`: the MCP server for coding agents and chats; `skill`: how an agent drives the command line."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated

import typer

from graph_research.cli.display.output import say, show_document
from graph_research.cli.jobs.signals import ended_while_starting
from graph_research.cli.options import examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.errors import UserMistake

_HOST = "127.0.0.1"


class McpMissing(UserMistake):
    """The extra with the MCP library is not installed."""


def register(app: typer.Typer) -> None:
    """Add `mcp` and `skill`."""
    app.command("mcp", epilog=examples("mcp", "mcp --http 8765"))(_mcp)
    app.command("skill", epilog=examples("skill > SKILL.md"))(_skill)


def _mcp(
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=1, max=65_535, help="Listen on this machine in place of stdio."),
    ] = None,
) -> None:
    """Serve the Model Context Protocol.

    An agent searches and reads your library, starts researches, reads their reports and checks their citations. It
    speaks over standard input and output, with --http at /mcp on this machine only. Needs the extra `mcp`.
    """
    try:
        from graph_research.cli.agents.mcp_tools import create_server
    except ModuleNotFoundError as error:
        if error.name not in ("mcp", "anyio"):
            raise
        help = "pip install 'graph-research[mcp]'"
        raise McpMissing("the MCP server needs the package mcp, which is not installed", help=help) from error

    server = create_server(open_here())
    with ended_while_starting():  # a signal ends it: what it has started goes on by itself
        if http is None:
            wait_for(server.run_stdio_async())
        else:
            from graph_research.service.server import listen

            listen(_HOST, http).close()  # a port in use is told as `serve` tells it
            say(f"MCP server at http://{_HOST}:{http}/mcp")
            wait_for(server.run_streamable_http_async(host=_HOST, port=http))


def _skill() -> None:
    """Print a SKILL.md for coding agents.

    It tells an agent which commands do what, what they print and what their exit codes mean.
    """
    show_document(files("graph_research.cli.agents").joinpath("SKILL.md").read_text())
