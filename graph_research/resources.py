"""Shipped graphs, prompts and schemas, and the order in which a name is looked up among them and a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Literal

from graph_research.graph.resources import FolderResolver, SchemaResolver

__all__ = [
    "Kind",
    "graph_resolver",
    "prompt_resolver",
    "schema_resolver",
    "shipped",
    "starters",
]

Kind = Literal["graphs", "prompts", "schemas"]


def shipped(kind: Kind) -> Path:
    """The folder of the shipped graphs, prompts or schemas: inside the package in a wheel, at the top of a checkout."""
    package = Path(str(files("graph_research")))
    inside = package / "data" / kind
    return inside if inside.is_dir() else package.parent / kind


def starters() -> Path:
    """The folder of the example graphs that a new graph can begin with, each in a folder of its own."""
    package = Path(str(files("graph_research")))
    inside = package / "data" / "starters"
    return inside if inside.is_dir() else package.parent / "examples" / "graphs"


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
