"""Pictures and texts of a graph's definition, for people and for other tools. Pure: nothing is run or read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from graph_research.graph.export.dot import render_dot
from graph_research.graph.export.json import render_json
from graph_research.graph.export.mermaid import render_mermaid
from graph_research.graph.export.svg import Overlay, render_svg
from graph_research.graph.spec import GraphSpec

__all__ = ["FORMATS", "Overlay", "render_dot", "render_json", "render_mermaid", "render_svg"]

FORMATS: Mapping[str, Callable[[GraphSpec], str]] = MappingProxyType(
    {"mermaid": render_mermaid, "dot": render_dot, "svg": render_svg, "json": render_json}
)
"""The renderer of each format: the same definition gives the same text."""
