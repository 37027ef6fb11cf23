"""Pictures and texts of a graph's definition, for people and for other tools. Pure: nothing is run or read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from graph_research.graph.export.dot import render_dot
from graph_research.graph.export.html import render_html
from graph_research.graph.export.json import render_json
from graph_research.graph.export.mermaid import render_mermaid
from graph_research.graph.export.picture import NodeStats, NodeVisit, Overlay, Picture, picture_of
from graph_research.graph.export.png import CannotDraw, render_png
from graph_research.graph.export.svg import Theme, render_svg

__all__ = [
    "TEXT_RENDERERS",
    "CannotDraw",
    "NodeStats",
    "NodeVisit",
    "Overlay",
    "Picture",
    "Theme",
    "picture_of",
    "render_dot",
    "render_html",
    "render_json",
    "render_mermaid",
    "render_png",
    "render_svg",
]

TEXT_RENDERERS: Mapping[str, Callable[[Picture], str]] = MappingProxyType(
    {"mermaid": render_mermaid, "dot": render_dot, "svg": render_svg, "json": render_json}
)
"""The renderer of each text format: the same picture gives the same text."""
