"""Deep research whose citations are proved: a question becomes a cited report, driven by a graph that you can read.

The packages, each of which imports only what stands below it:

    cli/            the commands, one file a group, and their wording
    app/            the use cases: run and resume a research or another graph, list, fork, replay, diff, doctor
    research/       agents, gates, scoring, evidence, citations, report; its flow stands in graphs/*.yaml
    providers/      language models, searches, pages of the web, and the HTTP client that they share
    text/           documents: reading, sentences, chunks, passages, tokens, what depends on a language
    graph/          the engine that runs graphs; it knows nothing of research
    settings/       settings from files and the environment, the data home, the bundled graphs, prompts and schemas
    audit_log       what is logged of a run
    process_tree    ends a program with its children
    cycle_collection   how often Python looks for cycles
    errors          the root of all errors, and hints for front ends

One question, downwards: a command makes a request; `app` opens the store and puts models and searches together;
the engine runs the graph `deep_research`, node by node; a node calls an agent of `research`, which renders a prompt,
asks a model of `providers` and checks the answer; sources are searched, fetched and kept as evidence; the report is
built from what the evidence proves, and rendered.

The names below are the public API; `graph_research.graph` has more of the engine's.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_research.graph.checkpoint.memory import MemoryCheckpointer
    from graph_research.graph.checkpoint.postgres import PostgresCheckpointer
    from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
    from graph_research.graph.definition.compiler import Graph
    from graph_research.graph.errors import GraphInvalid
    from graph_research.graph.loader import load_graph
    from graph_research.graph.runtime import Runtime
    from graph_research.research.models.decision import HookDecision

__all__ = [
    "Graph",
    "GraphInvalid",
    "HookDecision",
    "MemoryCheckpointer",
    "PostgresCheckpointer",
    "Runtime",
    "SqliteCheckpointer",
    "deep_research",
    "load_graph",
]

_HOMES = {
    "Graph": "graph.definition.compiler",
    "GraphInvalid": "graph.errors",
    "HookDecision": "research.models.decision",
    "MemoryCheckpointer": "graph.checkpoint.memory",
    "PostgresCheckpointer": "graph.checkpoint.postgres",
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
