"""`graph`: list, validate, export and run graph definitions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graph_research.app.graphs import GraphFormat, Template
from graph_research.cli.display.output import say, show, show_document, show_json, show_table
from graph_research.cli.errors import INVALID, CommandEnded
from graph_research.cli.hints import help_of, in_words
from graph_research.cli.options import (
    Json,
    Library,
    Llm,
    MaxCost,
    MaxTokens,
    NewRunId,
    Now,
    Role,
    Search,
    Timeout,
    chosen_format,
    examples,
)
from graph_research.cli.workspace import open_here, open_with, wait_for
from graph_research.errors import UserMistake
from graph_research.text.wording import counted

if TYPE_CHECKING:
    from graph_research.graph.errors import Finding

Name = Annotated[str, typer.Argument(metavar="FILE|NAME", help="A graph file, or the name of a known graph.")]


def register(app: typer.Typer) -> None:
    """Add `graph list`, `graph validate`, `graph export`, `graph run` and `graph new`."""
    group = typer.Typer(help="Graph definitions.", no_args_is_help=True, rich_markup_mode=None)
    group.command("list", epilog=examples("graph list", "graph list --json"))(_list)
    group.command("validate", epilog=examples("graph validate my_graph.yaml", "graph validate deep_research --json"))(
        _validate
    )
    group.command(
        "export",
        epilog=examples(
            "graph export deep_research --format mermaid",
            "graph export my.yaml --format svg -o my.svg",
            "graph export deep_research --format html --run demo -o demo.html",
        ),
    )(_export)
    group.command("run", epilog=examples("graph run countdown.yaml", "graph run countdown.yaml --set n=5 --json"))(_run)
    group.command("inspect", epilog=examples("graph inspect their_graph.yaml", "graph inspect their_research.grb"))(
        _inspect
    )
    group.command("new", epilog=examples("graph new my-graph", "graph new checker --template fact-checker"))(_new)
    app.add_typer(group, name="graph")


def _list(json: Json = False) -> None:
    """Graphs that have a name.

    The shipped ones and your own.
    """
    from graph_research.app.graphs.catalog import list_graphs

    graphs = list_graphs(open_here(reads_only=True))
    if json:
        show_json(graphs)
    else:
        show_table(("GRAPH", "FILE", "SUMMARY"), [(graph["name"], graph["file"], graph["summary"]) for graph in graphs])


def _validate(name: Name, json: Json = False) -> None:
    """Check a definition.

    Every finding is told at once with its place and a remedy. Exit code 2 on any error.
    """
    from graph_research.app.graphs.catalog import validate
    from graph_research.graph.errors import Severity

    workspace = open_here(reads_only=True)
    try:
        findings = validate(workspace, name)
    except UserMistake as unreadable:
        if not json:
            raise
        show_json([_as_finding(unreadable, name).to_json()])
        say(f"graph-research: {in_words(unreadable)}")
        raise CommandEnded(INVALID) from unreadable
    if json:
        show_json([finding.to_json() for finding in findings])
    else:
        for finding in findings:
            show(f"{finding.severity}: {finding}")
    errors = sum(finding.severity == Severity.ERROR for finding in findings)
    if errors:
        say(f"graph-research: {name}: {errors} error{'s' if errors > 1 else ''} in the definition")
        raise CommandEnded(INVALID)
    if not json:
        show(f"{name}: valid" + (f", {counted(len(findings), 'warning')}" if findings else ""))


def _as_finding(unreadable: UserMistake, name: str) -> Finding:
    """Why there is no definition to check, at the beginning of where it was looked for."""
    from graph_research.graph.errors import Finding
    from graph_research.graph.source import Place

    place = Place(unreadable.file or name, unreadable.line or 1, unreadable.column or 1)
    return Finding.at(place, unreadable.code, unreadable.message, help_of(unreadable))


def _export(
    name: Name,
    format: Annotated[
        GraphFormat | None, typer.Option("--format", help="What to write. [default: by the suffix of -o, else mermaid]")
    ] = None,
    run_id: Annotated[
        str | None, typer.Option("--run", metavar="RUN_ID", help="Show what a run did: visits, times, tokens, its way.")
    ] = None,
    flat: Annotated[bool, typer.Option("--flat", help="Leave out what is inside of subgraphs.")] = False,
    theme: Annotated[
        Literal["auto", "light", "dark"],
        typer.Option("--theme", help="Colours of svg, png and html. [auto: the reader's; png: light]"),
    ] = "auto",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file instead of standard output.")] = None,
) -> None:
    """A definition as a picture or as data.

    html is one interactive page; png needs the extra `viz`.
    """
    from graph_research.app.graphs.render import draw

    chosen = chosen_format(format, output, {f".{name}": name for name in GraphFormat}, GraphFormat.MERMAID)
    if chosen is GraphFormat.PNG and output is None and sys.stdout.isatty():
        raise UserMistake("refusing to write binary PNG to a terminal", help="name a file with -o")
    drawing = draw(open_here(reads_only=True), name, chosen, run_id=run_id, flat=flat, theme=theme)
    content, warning = wait_for(drawing)
    if warning:
        say(f"graph-research: {warning}")
    if output is not None:
        from graph_research.app.files import write_atomically

        write_atomically(output, content)
        say(f"written: {output}")
    elif isinstance(content, bytes):
        sys.stdout.buffer.write(content)
    else:
        show_document(content)


def _inspect(
    name: Annotated[str, typer.Argument(metavar="FILE|BUNDLE", help="A graph file or a bundle, wherever it is from.")],
    json: Json = False,
) -> None:
    """What a graph or bundle would touch.

    Handlers, models, hosts and folders, told before anything of it is used.
    """
    from graph_research.app.runs.inspection import inspect

    inspection = wait_for(inspect(open_here(reads_only=True), name))
    if json:
        show_json(inspection)
        return
    fields = dict(vars(inspection))
    run = fields.pop("run")
    for field, value in [*fields.items(), *((f"run {name}", value) for name, value in run.items())]:
        if text := _worded(value):
            show(f"{field}: {text}")


def _worded(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str("" if value is None else value)


def _run(
    name: Name,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=JSON", help="An input channel's value. May be repeated.")
    ] = None,
    llm: Llm = None,
    role: Role = None,
    search: Search = None,
    library: Library = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    interactive: Annotated[
        bool, typer.Option("--interactive/--no-interactive", help="Stop at `ask` nodes, or take their defaults.")
    ] = True,
    run_id: NewRunId = None,
    now: Now = None,
    json: Json = False,
) -> None:
    """Run any graph and print its final state.

    Its own graphs/, prompts/ and schemas/ are found beside the file. Without --json the output channels are shown.
    """
    from graph_research.app.request import request_for
    from graph_research.app.runs.state_edits import values_of
    from graph_research.cli.run_driver import start

    workspace = open_with(llm=llm, search=search, library=library, timeout=timeout)
    request = request_for(
        workspace,
        graph=name,
        inputs=values_of(assignments or []),
        roles=role or (),
        max_cost=max_cost,
        max_tokens=max_tokens,
        interactive=interactive,
        now=now,
    )
    wait_for(start(workspace, request, run_id=run_id, json=json))


def _new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new graph's name.", show_default=False)],
    template: Annotated[Template, typer.Option("--template", help="What to begin with.")] = Template.STARTER,
    json: Json = False,
) -> None:
    """Begin a graph of your own.

    Writes the folder NAME with a graph, its prompts and its schemas, which runs as it is. Nothing is overwritten.
    """
    from graph_research.app.graphs.scaffold import write_starter

    starter = write_starter(open_here(reads_only=True), name, template)
    if json:
        show_json(starter)
        return
    for file in starter.files:
        show(file)
    library = " --library DIR" if starter.searches else ""
    say(
        f"\nNext:\n  graph-research graph validate {starter.graph}\n  graph-research graph run {starter.graph}{library}"
    )
    say(f"  graph-research graph export {starter.graph} --format svg -o {name}.svg")
