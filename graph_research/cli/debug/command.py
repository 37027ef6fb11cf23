"""`debug`: a run step by step, in the terminal or in an editor."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import say
from graph_research.cli.errors import INTERRUPTED, CommandEnded
from graph_research.cli.hints import resume_command
from graph_research.cli.options import (
    Audience,
    Language,
    Length,
    Library,
    Llm,
    MaxCost,
    MaxIterations,
    MaxSubQueries,
    MaxTokens,
    NewRunId,
    Now,
    ReportType,
    Role,
    Search,
    examples,
)
from graph_research.cli.workspace import open_with, wait_for
from graph_research.errors import UserMistake, why_unreadable

if TYPE_CHECKING:
    from graph_research.app.debug import DebugRequest
    from graph_research.app.workspace import Workspace

_EXAMPLES = (
    "debug 'How do tide mills store water?' --library papers/ --break analyze",
    "debug RUN_ID",
    "debug --graph countdown.yaml --set n=5 --break 'tick if n == 2'",
    "debug --dap",
    "debug --write-extension graph-research-debug.vsix",
)


class ScriptUnreadable(UserMistake):
    """The file of `--script` cannot be read."""


def register(app: typer.Typer) -> None:
    """Add `debug`."""
    app.command("debug", epilog=examples(*_EXAMPLES))(_debug)


What = Annotated[str | None, typer.Argument(metavar="[QUESTION|RUN_ID]", help="A question, or a stored run's id.")]
GraphName = Annotated[str | None, typer.Option("--graph", metavar="NAME|FILE", help="The graph to run.")]
Values = Annotated[
    list[str] | None, typer.Option("--set", metavar="PATH=JSON", help="An input channel of a run of --graph.")
]
Breaks = Annotated[
    list[str] | None, typer.Option("--break", metavar="NODE[:VISIT][ if EXPR]", help="Stop there. Repeatable.")
]
Script = Annotated[Path | None, typer.Option("--script", metavar="FILE", help="Commands, one a line.")]
GoingTime = Annotated[
    float | None,
    typer.Option(metavar="S", help="Stop after so many seconds of running; time spent paused does not count."),
]
Interactive = Annotated[
    bool | None,
    typer.Option("--interactive/--no-interactive", help="Stop at `ask` nodes; [graphs do, questions do not]"),
]
Dap = Annotated[bool, typer.Option("--dap", help="Serve an editor over the Debug Adapter Protocol.")]
Listen = Annotated[int | None, typer.Option(metavar="PORT", help="With --dap: a port of 127.0.0.1, not stdio.")]
Extension = Annotated[
    Path | None, typer.Option("--write-extension", metavar="FILE", help="Write the extension for VS Code, a VSIX.")
]


def _debug(
    what: What = None,
    graph: GraphName = None,
    assignments: Values = None,
    breaks: Breaks = None,
    script: Script = None,
    llm: Llm = None,
    role: Role = None,
    search: Search = None,
    library: Library = None,
    max_iterations: MaxIterations = None,
    max_sub_queries: MaxSubQueries = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    timeout: GoingTime = None,
    length: Length = None,
    report_type: ReportType = None,
    language: Language = None,
    audience: Audience = None,
    interactive: Interactive = None,
    run_id: NewRunId = None,
    now: Now = None,
    dap: Dap = False,
    listen: Listen = None,
    write_extension: Extension = None,
) -> None:
    """Run a graph step by step.

    Commands are read from the terminal (`help` lists them), from --script, or with --dap from an editor, whose launch
    configuration then says what to run. The run is kept, whatever you do.
    """
    if dap or write_extension is not None:
        _serve_editor(listen, write_extension)
        return
    from graph_research.app.debug import DebugRequest
    from graph_research.app.runs.state_edits import values_of

    workspace = open_with(
        llm=llm,
        search=search,
        library=library,
        timeout=timeout,
        max_iterations=max_iterations,
        max_sub_queries=max_sub_queries,
        length=length,
        report_type=report_type,
        language=language,
        audience=audience,
    )
    request = DebugRequest(
        what=what,
        graph=graph,
        values=values_of(assignments or []),
        roles=tuple(role or ()),
        interactive=interactive,
        max_cost=max_cost,
        max_tokens=max_tokens,
        run_id=run_id,
        now=now,
    )
    wait_for(_in_terminal(workspace, request, breaks or [], script))


def _serve_editor(port: int | None, extension: Path | None) -> None:
    """Write the extension for VS Code, or serve an editor."""
    if extension is not None:
        from graph_research.cli.debug import vscode_extension

        vscode_extension.write_extension(extension)
        return
    from graph_research.cli.debug.editor import serve

    wait_for(serve(port))


async def _in_terminal(workspace: Workspace, request: DebugRequest, breaks: list[str], script: Path | None) -> None:
    import asyncio

    from graph_research.app.debug import debug
    from graph_research.cli.debug.terminal import Terminal
    from graph_research.cli.display.run_banner import say_providers

    text = None if script is None else _read(script)
    async with debug(workspace, request, on_request=partial(say_providers, workspace)) as debugged:
        for where in breaks:
            debugged.debugger.triggers.add(where)
        terminal = Terminal(debugged.debugger, history=workspace.home.path / "debug_history")
        try:
            await terminal.show_stop(await debugged.start())
            code = await (terminal.interact() if script is None or text is None else terminal.run_script(script, text))
        except asyncio.CancelledError:  # by Ctrl-C, whatever was under way
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            say(f"graph-research: interrupted; go on with: {resume_command(debugged.debugger.run_id)}")
            raise CommandEnded(INTERRUPTED) from None
    if code:
        raise CommandEnded(code)


def _read(script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptUnreadable(
            f"--script {script} cannot be read: {why_unreadable(error)}",
            help="name a text file of the debugger's commands, one a line",
        ) from error
