"""What stands beside a graph file: its own subgraphs, prompts and schemas, which the user named along with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graph_research.app.workspace import Workspace
from graph_research.graph.resources import beside


def is_file_name(name: str) -> bool:
    """Whether a graph is named by its file, not by the name of a known graph."""
    return name.endswith((".yaml", ".yml")) or "/" in name


def with_neighbours(workspace: Workspace, name: str) -> Workspace:
    """The workspace in which names are also looked up beside the graph file that the user named, where nothing else has
    them: graphs that lie with it, and `graphs/`, `prompts/` and `schemas/`. Nobody agreed to these files, so that they
    replace no shipped or own one. As it was for a known graph, and where the user was asked about the files of this
    very folder and said no. Settings beside a graph are never read."""
    if not is_file_name(name):
        return workspace
    home, flat = beside(workspace.folder / Path(name).expanduser())
    if workspace.declined and home.resolve() == workspace.folder.resolve():
        return workspace
    return replace(workspace, beside=home, flat=flat)
