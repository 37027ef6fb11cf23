"""Graphs as pictures: a definition in any format, with what a run did in it."""

from __future__ import annotations

from typing import Any

from graph_research.app.graphs import GraphFormat
from graph_research.app.graphs.catalog import load, validate
from graph_research.app.graphs.run_trace import overlay_of
from graph_research.app.store import open_store
from graph_research.app.wiring.services import definition_registry
from graph_research.app.workspace import Workspace, with_neighbours
from graph_research.errors import Action, Hint, UserMistake, check_name
from graph_research.graph.errors import Severity
from graph_research.graph.export import TEXT_RENDERERS, Overlay, Theme, picture_of, render_html, render_png, render_svg


class OtherGraph(UserMistake):
    """The run is one of another graph."""


async def draw(
    workspace: Workspace,
    name: str,
    format: GraphFormat,
    *,
    definition: str | None = None,
    run_id: str | None = None,
    flat: bool = False,
    theme: Theme = "auto",
) -> tuple[str | bytes, str | None]:
    """The graph of that name, or of a `definition`, as `mermaid`, `dot`, `svg`, `html`, `json` (texts) or `png`
    (bytes), and a warning if the run was one of another version. `UnknownRun`, `OtherGraph`, `CannotDraw`."""
    graph = load(workspace, name, definition_registry(with_neighbours(workspace, name)), definition)
    overlay: Overlay | None = None
    warning = None
    if run_id is not None:
        check_name(run_id, "run id")
        async with open_store(workspace.home) as store:
            record = await store.run(run_id)
            if record.graph != graph.spec.name:
                raise OtherGraph(
                    f"run {run_id} is one of the graph {record.graph!r}, not of {graph.spec.name!r}",
                    help=f"draw the graph {record.graph}",
                    hint=Hint(Action.DRAW_GRAPH, record.graph, {"run": run_id}),
                )
            overlay = await overlay_of(store, run_id, graph, in_full=format is GraphFormat.HTML)
        if record.graph_hash != graph.hash:
            warning = f"{name} has changed since run {run_id}; what the run did elsewhere is not shown"
    picture = picture_of(graph, flat=flat, overlay=overlay)
    if format is GraphFormat.PNG:
        return render_png(picture, theme), warning
    if format is GraphFormat.SVG:
        return render_svg(picture, theme), warning
    return (render_html(picture, theme) if format is GraphFormat.HTML else TEXT_RENDERERS[format](picture)), warning


async def check_definition(workspace: Workspace, name: str, format: GraphFormat | None) -> dict[str, Any]:
    """`{findings, picture}` of a graph: the picture is a text, None where there is an error or no `format`."""
    findings = validate(workspace, name)
    has_errors = any(finding.severity == Severity.ERROR for finding in findings)
    drawn = None if has_errors or format is None else (await draw(workspace, name, format))[0]
    return {"findings": [finding.to_json() for finding in findings], "picture": drawn}
