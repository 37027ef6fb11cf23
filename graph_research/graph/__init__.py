"""The engine: state graphs as data, checked before they run, with a checkpoint after each node.

It knows nothing of research, language models, HTTP or settings. The modules and folders, in the order of a run:

    loader          load_graph, check_graph: YAML text → checked, compiled Graph
    definition/     the YAML tree with places → spec → compiled graph; identity of graphs; search over nodes
    expressions/    `when`, `while`, `each` …: allow-listed syntax, translated to bounded Python functions
    values/         values as stored JSON, JSON Schema, Python types of channels
    validation/     every finding about a compiled graph: names, data flow, structure, branches, guards
    graph_cache     graphs that were compiled before
    registry        what the names in a graph resolve to: handlers, functions, types, schemas, graphs, prompts
    resources       resolvers over folders and over texts in memory

    runtime         Runtime: run, stream, resume, fork; RunResult
    execution/      run loop, node runs, retries, fan-out, routing, the journal of outside calls, events on their way
    state/          rows of the log, position, reducers, chunked lists, the state at a step
    checkpoint/     the store: its interface, in memory, in SQLite, and the tests that every store passes
    context         Context: what a handler may ask for
    events          what a run tells, each event stored before it is shown

    history/        fork, replay, state diff, bundles: what can be done with a stored run
    export/         drawings: Mermaid, DOT, SVG, PNG, HTML, JSON
    debugger/       stepping, breakpoints, a dry run; dap/ serves it to editors
    errors          the errors, and Finding
    source          places in files, and expressions with their place
    statuses        the statuses of runs, steps and calls, and what interrupts a run
    messages        parts of messages: "did you mean", shortened values

The names below are the public API; the module of each is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_research.graph import errors, events
    from graph_research.graph.checkpoint.base import Checkpointer
    from graph_research.graph.checkpoint.memory import MemoryCheckpointer
    from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
    from graph_research.graph.context import Context
    from graph_research.graph.definition.compiler import Graph
    from graph_research.graph.errors import Finding, GraphInvalid
    from graph_research.graph.events import Event
    from graph_research.graph.export import (
        picture_of,
        render_dot,
        render_html,
        render_json,
        render_mermaid,
        render_png,
        render_svg,
    )
    from graph_research.graph.history.bundle import pack, unpack
    from graph_research.graph.history.fork import fork
    from graph_research.graph.history.replay import replay
    from graph_research.graph.history.state_diff import changes_between
    from graph_research.graph.loader import check_graph, load_graph
    from graph_research.graph.registry import Handler, Prompter, Registry, Resolver
    from graph_research.graph.resources import FolderResolver, SchemaResolver, TextResolver
    from graph_research.graph.runtime import RunResult, Runtime

__all__ = [
    "Checkpointer",
    "Context",
    "Event",
    "Finding",
    "FolderResolver",
    "Graph",
    "GraphInvalid",
    "Handler",
    "MemoryCheckpointer",
    "Prompter",
    "Registry",
    "Resolver",
    "RunResult",
    "Runtime",
    "SchemaResolver",
    "SqliteCheckpointer",
    "TextResolver",
    "changes_between",
    "check_graph",
    "errors",
    "events",
    "fork",
    "load_graph",
    "pack",
    "picture_of",
    "render_dot",
    "render_html",
    "render_json",
    "render_mermaid",
    "render_png",
    "render_svg",
    "replay",
    "unpack",
]

_NAMES = {
    "checkpoint.base": "Checkpointer",
    "checkpoint.memory": "MemoryCheckpointer",
    "checkpoint.sqlite": "SqliteCheckpointer",
    "context": "Context",
    "definition.compiler": "Graph",
    "errors": "Finding GraphInvalid",
    "events": "Event",
    "export": "picture_of render_dot render_html render_json render_mermaid render_png render_svg",
    "history.bundle": "pack unpack",
    "history.fork": "fork",
    "history.replay": "replay",
    "history.state_diff": "changes_between",
    "loader": "check_graph load_graph",
    "registry": "Handler Prompter Registry Resolver",
    "resources": "FolderResolver SchemaResolver TextResolver",
    "runtime": "RunResult Runtime",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in ("errors", "events"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
