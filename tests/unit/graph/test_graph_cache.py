"""A graph that was loaded before is used again only while everything it was made of is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graph_research.graph.errors import GraphInvalid
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Registry
from graph_research.graph.resources import FolderResolver

GRAPH = """
graph: outer
state:
  seen: {type: integer, default: 0, output: true}
start: work
nodes:
  work: {run: count, output: {into: {seen: output.seen}}}
  inner: {graph: inner, input: {with: {}}}
  done: {end: completed}
edges:
  - {from: work, to: inner}
  - {from: inner, to: done}
"""
INNER = "graph: inner\nstart: done\nnodes:\n  done: {end: completed}\nedges: []\n"


async def _one(handoff: Any, ctx: Any) -> Any:
    return {"seen": 1}


async def _two(handoff: Any, ctx: Any) -> Any:
    return {"seen": 2}


def _registry(folder: Path, **handlers: Any) -> Registry:
    return Registry(handlers=handlers or {"count": _one}, graphs=FolderResolver(folder, suffix=".yaml"))


def test_a_graph_that_has_not_changed_is_compiled_once_and_has_the_handlers_of_each_registry(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    first = load_graph("outer.yaml", registry=_registry(tmp_path, count=_one), text=GRAPH)
    second = load_graph("outer.yaml", registry=_registry(tmp_path, count=_two), text=GRAPH)
    assert second.programs is first.programs
    assert first.registry.handlers["count"] is _one
    assert second.registry.handlers["count"] is _two
    assert second.subgraphs["inner"].registry is second.registry


def test_a_changed_subgraph_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    first = load_graph("outer.yaml", registry=_registry(tmp_path), text=GRAPH)
    (tmp_path / "inner.yaml").write_text(INNER.replace("done", "over"))
    second = load_graph("outer.yaml", registry=_registry(tmp_path), text=GRAPH)
    assert list(second.subgraphs["inner"].spec.nodes) == ["over"]
    assert second.hash != first.hash


def test_what_was_missing_is_found_once_it_is_there(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(GraphInvalid, match='no graph "inner"'):
            load_graph("outer.yaml", registry=_registry(tmp_path), text=GRAPH)
    (tmp_path / "inner.yaml").write_text(INNER)
    assert load_graph("outer.yaml", registry=_registry(tmp_path), text=GRAPH)


def test_a_handler_that_is_no_longer_registered_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    load_graph("outer.yaml", registry=_registry(tmp_path), text=GRAPH)
    with pytest.raises(GraphInvalid, match='no handler "count"'):
        load_graph("outer.yaml", registry=_registry(tmp_path, other=_one), text=GRAPH)


def test_other_functions_under_the_same_name_are_other_functions(tmp_path: Path) -> None:
    text = GRAPH.replace("output.seen", "twice(output.seen)")
    (tmp_path / "inner.yaml").write_text(INNER)
    functions = [lambda number: number * 2, lambda number: number + number]
    graphs = [
        load_graph("outer.yaml", registry=_registry(tmp_path), functions={"twice": one}, text=text) for one in functions
    ]
    assert [graph.registry.functions["twice"] for graph in graphs] == functions
    assert graphs[0].programs is not graphs[1].programs
