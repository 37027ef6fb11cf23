"""Graph definitions by name or file: listed, loaded and validated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graph_research.app.wiring.services import definition_registry
from graph_research.app.workspace import Workspace, is_file_name, with_neighbours
from graph_research.errors import Action, Hint, UserMistake, suggestion, why_unreachable
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import Finding, GraphInvalid
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.registry import Registry


class UnknownGraph(UserMistake):
    """No file and no known graph goes by this name."""


def load(workspace: Workspace, name: str, registry: Registry, definition: str | None = None) -> Graph:
    """The graph that `name` means: a file ending in `.yaml` or `.yml`, else a known graph; or the one of a
    `definition`, which stands in no file. `GraphInvalid` has every finding."""
    if definition is not None:
        return load_graph(f"{name}.yaml", registry=registry, text=definition)
    return load_graph(graph_file(workspace, name), registry=registry)


def validate(workspace: Workspace, name: str) -> list[Finding]:
    """Every finding about a definition, empty when it is clean."""
    return check_graph(graph_file(workspace, name), registry=definition_registry(with_neighbours(workspace, name)))


def list_graphs(workspace: Workspace) -> list[dict[str, Any]]:
    """`{name, file, version, summary}` of every graph that goes by a name; one with errors has the first as summary."""
    registry = definition_registry(workspace)
    return [_described(workspace, name, registry) for name in workspace.definitions.graphs.names()]


def graph_file(workspace: Workspace, name: str) -> Path:
    """The file behind a name or a path."""
    if is_file_name(name):
        path = workspace.folder / Path(name).expanduser()
        if reason := why_unreachable(path):
            raise UnknownGraph(f"{name[:200]!r} cannot be read: {reason}", help="name a file that you may read")
        if not path.is_file():
            is_folder = path.is_dir()
            raise UnknownGraph(
                f"{name[:200]!r} is a folder, not a graph file" if is_folder else f"there is no file {name[:200]!r}",
                help="name a .yaml file, or a known graph",
                hint=Hint(Action.LIST_GRAPHS),
            )
        return _relative(path)
    found = workspace.definitions.graphs.path(name)
    if found is None:
        raise UnknownGraph(
            f"no graph {name[:80]!r}",
            help=f"{suggestion(name, workspace.definitions.graphs.names())}a file ends in .yaml",
            hint=Hint(Action.LIST_GRAPHS),
        )
    return _relative(found)


def _relative(path: Path) -> Path:
    """As short as it can be shown from the working directory."""
    resolved, here = path.resolve(), Path.cwd()
    return resolved.relative_to(here) if resolved.is_relative_to(here) else path


def _described(workspace: Workspace, name: str, registry: Registry) -> dict[str, Any]:
    path = graph_file(workspace, name)
    try:
        spec = load_graph(path, registry=registry).spec
    except GraphInvalid as error:
        return {"name": name, "file": str(path), "version": None, "summary": f"invalid: {error.message}"}
    return {"name": name, "file": str(path), "version": spec.version, "summary": spec.summary}
