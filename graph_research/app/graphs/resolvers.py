"""The order in which names of graphs, prompts and schemas are looked up among shipped files and a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph_research.graph.resources import FolderResolver, SchemaResolver
from graph_research.settings.shipped_files import shipped


def graph_resolver(*own: Path, beside: Sequence[Path] = (), flat: Sequence[Path] = ()) -> FolderResolver:
    """Graphs by name, from the shipped folder and then a user's `own` folders, which win. Folders `beside` a graph, and
    `flat` ones of which only the files in them count, add names and never take one."""
    return FolderResolver(*beside, shipped("graphs"), *own, suffix=".yaml", flat=flat)


def schema_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Schemas by bare name, from `schemas/`, `schemas/handoffs/` and `schemas/tools/`, as `graph_resolver` has them."""
    return SchemaResolver(*beside, shipped("schemas"), *own)


def prompt_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Prompt templates such as `planner/system`, as `graph_resolver` has them."""
    return FolderResolver(*beside, shipped("prompts"), *own, suffix=".j2")
