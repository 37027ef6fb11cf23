"""What stands beside a graph file: its own subgraphs, prompts and schemas, which the user named along with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graph_research.app.workspace import Workspace

__all__ = ["is_file_name", "with_neighbours"]


def is_file_name(name: str) -> bool:
    """Whether a graph is named by its file, not by the name of a known graph."""
    return name.endswith((".yaml", ".yml")) or "/" in name


def with_neighbours(workspace: Workspace, name: str) -> Workspace:
    """The workspace in which names are also looked up in `graphs/`, `prompts/` and `schemas/` beside the graph file,
    where nothing else has them: nobody agreed to these files, so that they replace no shipped or own one. As it was for
    a known graph, and for a file of the working directory, whose own files count once it is trusted. Settings beside a
    graph are never read."""
    folder = (workspace.folder / Path(name).expanduser()).parent
    if not is_file_name(name) or folder.resolve() == workspace.folder.resolve():
        return workspace
    return replace(workspace, beside=folder)
