"""Deep research whose citations are proved: a question becomes a cited report, driven by a graph you can read."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_research.graph.checkpoint.memory import MemoryCheckpointer
    from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
    from graph_research.graph.definition.compiler import Graph
    from graph_research.graph.errors import GraphInvalid
    from graph_research.graph.loader import load_graph
    from graph_research.graph.runtime import Runtime

__all__ = [
    "Graph",
    "GraphInvalid",
    "MemoryCheckpointer",
    "Runtime",
    "SqliteCheckpointer",
    "deep_research",
    "load_graph",
]

_HOMES = {
    "Graph": "graph.definition.compiler",
    "GraphInvalid": "graph.errors",
    "MemoryCheckpointer": "graph.checkpoint.memory",
    "Runtime": "graph.runtime",
    "SqliteCheckpointer": "graph.checkpoint.sqlite",
    "deep_research": "app",
    "load_graph": "graph.loader",
}
"""Where each public name lives; a module is imported when one of its names is asked for."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
