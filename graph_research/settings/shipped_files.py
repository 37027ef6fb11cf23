"""Where the shipped graphs, prompts, schemas and starters are: in the wheel or in a checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

Kind = Literal["graphs", "prompts", "schemas"]

SUFFIXES: dict[Kind, str] = {"graphs": ".yaml", "prompts": ".j2", "schemas": ".json"}


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
