"""What follows a node and what stands before it, compared with networkx on random graphs."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from graph_research.graph.definition.paths import Links

NODES = "abcdefg"
node = st.sampled_from(NODES)


@given(edges=st.lists(st.tuples(node, node), max_size=20))
def test_links_agree_with_networkx(edges: list[tuple[str, str]]) -> None:
    links = Links(NODES, edges)
    expected: nx.DiGraph[str] = nx.DiGraph()
    expected.add_nodes_from(NODES)
    expected.add_edges_from(edges)
    for name in NODES:
        assert links.after([name]) == {name} | nx.descendants(expected, name)
        assert links.up_to([name]) == {name} | nx.ancestors(expected, name)
        in_cycle = any(name in {after, *nx.descendants(expected, after)} for after in expected.successors(name))
        assert links.before(name) == nx.ancestors(expected, name) | ({name} if in_cycle else set())


@given(edges=st.lists(st.tuples(node, node), max_size=20))
def test_the_cycle_is_one_of_those_that_networkx_finds(edges: list[tuple[str, str]]) -> None:
    cycle = Links(NODES, edges).cycle()
    expected: nx.DiGraph[str] = nx.DiGraph(edges)
    if not cycle:
        assert nx.is_directed_acyclic_graph(expected)
    for source, target in zip(cycle, [*cycle[1:], *cycle[:1]], strict=True):
        assert expected.has_edge(source, target)
    assert len(set(cycle)) == len(cycle)
