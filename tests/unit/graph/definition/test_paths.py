"""Search over the nodes of a graph, and the walk over its subgraphs."""

from __future__ import annotations

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import ShortestPaths, after_path, reachable
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Registry
from graph_research.graph.resources import TextResolver

TEXT = """graph: g
start: a
nodes:
  a: {set: {}}
  b: {set: {}}
  c: {set: {}}
  d: {set: {}}
  done: {end: completed}
edges:
  - {from: a, to: d, on: error}
  - {from: a, to: b}
  - {from: b, to: c}
  - {from: c, to: d}
  - {from: d, to: done}
  - {from: "*", to: done, on: cancelled}
"""


def graph_of(text: str = TEXT, **graphs: str) -> Graph:
    return load_graph("g.yaml", text=text, registry=Registry(graphs=TextResolver(graphs)))


def test_a_path_without_events_is_preferred_to_a_shorter_one() -> None:
    assert ShortestPaths(graph_of().spec).to("d") == ["a", "b", "c", "d"]


def test_a_path_over_events_is_found_where_there_is_no_other() -> None:
    paths = ShortestPaths(graph_of().spec, avoiding=["b"])
    assert (paths.to("d"), paths.to("b"), paths.to("c")) == (["a", "d"], ["a", "b"], [])


def test_the_starts_are_reachable_and_cycles_end() -> None:
    targets = {"x": ["y"], "y": ["x", "z"]}
    assert reachable(["x"], lambda name: targets.get(name, ())) == {"x", "y", "z"}
    assert reachable([], lambda name: targets.get(name, ())) == frozenset()


def test_a_path_of_one_node_is_not_worth_a_word() -> None:
    assert after_path(["a"]) == ""
    assert after_path(["a", "b"]) == ", on the way a -> b"


def test_a_walk_finds_each_subgraph_once() -> None:
    leaf = "graph: {}\nstart: done\nnodes:\n  done: {{end: completed}}\nedges: []\n"
    middle = "graph: middle\nstart: x\nnodes:\n  x: {graph: leaf, input: {with: {}}}\n  done: {end: completed}\n"
    middle += "edges: [{from: x, to: done}]\n"
    top = middle.replace("graph: middle", "graph: top").replace("graph: leaf", "graph: middle", 1)
    top = top.replace("  done:", "  y: {graph: leaf, input: {with: {}}}\n  done:").replace(
        "edges: [{from: x, to: done}]", "edges: [{from: x, to: y}, {from: y, to: done}]"
    )
    graph = graph_of(top, middle=middle, leaf=leaf.format("leaf"))
    assert [each.spec.name for each in graph.walk()] == ["top", "middle", "leaf"]
