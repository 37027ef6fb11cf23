"""The command line. Each file holds one command group; nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import nullcontext
from functools import cache
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from graph_research.cli import bundle, config, doctor, graph, history, library, prune, run, runs
from graph_research.cli.agents import mcp_server
from graph_research.cli.debug import command as debug_command
from graph_research.cli.display.output import (
    ReaderGone,
    finish_output,
    open_streams,
    refusing_loudly,
    say,
    show,
    show_json,
)
from graph_research.cli.errors import (
    DONE,
    HELP_OPTIONS,
    INTERRUPTED,
    INVALID,
    CommandEnded,
    end_with,
    install_crash_hook,
    wants_help,
    wants_json,
)
from graph_research.cli.jobs import serve, worker
from graph_research.cli.reports import ask, check, refresh, revise
from graph_research.cli.workspace import wait_for
from graph_research.errors import GraphResearchError
from graph_research.graph.errors import UnknownRun
from graph_research.settings.home import find_home

__all__ = ["execute", "main"]


def main() -> None:
    """Run the command that the arguments name and exit with its code."""
    if not os.environ.get("PYTHONWARNINGS"):
        warnings.simplefilter("ignore")
    open_streams()
    arguments = sys.argv[1:]
    install_crash_hook(os.environ, json=wants_json(arguments))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(execute(arguments))


def execute(arguments: list[str]) -> int:
    """Run one command and return its exit code; an error that has a name is reported, any other is raised."""
    json = wants_json(arguments)
    try:
        command = _command()
        with refusing_loudly() if wants_help(arguments) else nullcontext():  # typer prints its help by itself
            code = command.main(args=arguments, prog_name="graph-research", standalone_mode=False)
        if code == INTERRUPTED:
            say("graph-research: interrupted; what is indexed or stored until now is kept, give the command again")
        finish_output()
    except CommandEnded as ended:
        return ended.exit_code
    except UnknownRun as error:
        return end_with(_explained(error), json=json)
    except GraphResearchError as error:
        return end_with(error, json=json)
    except BaseExceptionGroup as several:
        if (named := _named(several)) is None:
            raise
        return end_with(named, json=json)
    except TyperException as error:
        return _wrong_use(error, json=json)
    except (typer.Abort, KeyboardInterrupt):
        say("graph-research: interrupted")
        return INTERRUPTED
    except ReaderGone:
        return DONE
    return code if isinstance(code, int) else DONE


def _explained(error: UnknownRun) -> GraphResearchError:
    """The error of a command on an unknown run, which may wait in the queue."""
    from graph_research.cli.jobs.queue import explain_unknown

    try:
        return wait_for(explain_unknown(find_home(os.environ), error))
    except GraphResearchError:  # the queue cannot be read
        return error


def _named(several: BaseExceptionGroup[BaseException]) -> GraphResearchError | None:
    """The first error with a name of what failed side by side; None where anything else failed with it."""
    named, others = several.split(GraphResearchError)
    if named is None or others is not None:
        return None
    first: BaseException = named
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, GraphResearchError) else None


@cache
def _command() -> Any:
    """What typer makes of the application, once a process: that takes longer than many a command takes to run."""
    return typer.main.get_command(_application())


def _application() -> typer.Typer:
    app = typer.Typer(
        name="graph-research",
        help="Deep research whose citations are proved.",
        epilog="Start with: graph-research run 'How do heat pumps cope with cold winters?' --library papers/",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": HELP_OPTIONS, "max_content_width": 100},
    )
    app.callback()(_top)
    run.register(app)
    runs.register(app)
    worker.register(app)
    serve.register(app)
    revise.register(app)
    ask.register(app)
    refresh.register(app)
    check.register(app)
    history.register(app)
    bundle.register(app)
    prune.register(app)
    graph.register(app)
    debug_command.register(app)
    library.register(app)
    config.register(app)
    doctor.register(app)
    mcp_server.register(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show(f"graph-research {version('graph-research')}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Deep research whose citations are proved."""


def _wrong_use(error: TyperException, *, json: bool) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        show(error.format_message())
        say("graph-research: a command is missing; choose one of those above")
        return INVALID
    message = " ".join(error.format_message().split()).replace(": Value error, ", ": ").rstrip(".")
    help_text = "`graph-research COMMAND --help` shows the options and examples"
    say(f"graph-research: {message}; {help_text}")
    if json:
        show_json({"error": {"code": "usage", "message": message, "help": help_text}})
    return INVALID
