"""Static checks of what runs side by side, of subgraphs' ends and of loops, each with the path that shows it."""

from __future__ import annotations

import pytest

from graph_research.graph.loader import check_graph
from tests.support.graph.sample_registry import registry

STATE = "{n: {type: integer, input: true, output: true}}"


def checked(nodes: str, edges: str, state: str = STATE, more: str = "") -> list[str]:
    """The findings without their places, each with its code and severity in front."""
    text = f"graph: g\nstart: a\nstate: {state}\n{more}\nnodes: {nodes}\nedges: [{edges}]\n"
    found = check_graph("g.yaml", text=text, registry=registry(picky=PICKY, doomed=DOOMED))
    return [f"{finding.code} {finding.severity}: {finding.message}" for finding in found]


def graph(*arrows: str) -> str:
    """`a -> b` edges; `a -> b if GUARD` is guarded."""
    edges = []
    for arrow in arrows:
        source, _, rest = arrow.partition(" -> ")
        target, guarded, guard = rest.partition(" if ")
        edges.append(f"{{from: {source}, to: {target}{f', when: {guard}' if guarded else ''}}}")
    return ", ".join(edges)


PICKY = """\
graph: picky
start: look
state: {n: {type: integer, input: true}}
nodes: {look: {set: {}}, done: {end: completed}, refused: {end: aborted}}
edges: [{from: look, to: done, when: n > 0}, {from: look, to: refused}]
"""
DOOMED = """\
graph: doomed
start: look
state: {n: {type: integer, input: true, output: true}}
nodes: {look: {set: {n: n - 1}}, lost: {end: failed}}
edges: [{from: look, to: lost}]
"""


def test_a_counterexample_tells_the_way_to_the_node() -> None:
    found = checked(
        "{a: {set: {}}, b: {set: {}}, c: {set: {}}, done: {end: completed}}",
        graph("a -> b", "b -> c if n > 0", "b -> done", "c -> done if n < 5", "c -> done if n > 5"),
    )
    assert found == [
        'guards-all-false error: node "c": all its guards can be false, as with n = 5, on the way a -> b -> c'
    ]


def test_overlapping_guards_tell_the_way_as_well() -> None:
    found = checked(
        "{a: {set: {}}, b: {set: {}}, done: {end: completed}, lost: {end: failed}}",
        graph("a -> b", "b -> done if n > 0", "b -> lost if n > -1", "b -> done"),
    )
    assert found == [
        'overlapping-guards warning: edges "b -> done" and "-> lost" can both hold, as with n = 1, on the way a -> b'
    ]


BRANCHES = (
    "{{a: {{set: {{}}, fork: all}}, b: {{set: {b}}}, c: {{set: {c}}}, d: {{set: {d}}}, "
    "j: {{set: {{}}, join: [{join}]}}, done: {{end: completed}}}}"
)


def test_writers_in_branches_of_unequal_length_are_reported_with_both_ways() -> None:
    nodes = BRANCHES.format(b="{n: 1}", c="{}", d="{n: 2}", join="b, d")
    assert checked(nodes, graph("a -> b", "a -> c", "c -> d", "b -> j", "d -> j", "j -> done")) == [
        'parallel-writers warning: nodes "b" and "d" run side by side and both replace channel "n": '
        "the later step's value stays (a -> b, a -> c -> d)"
    ]


def test_writers_that_may_meet_in_one_step_are_doubted() -> None:
    nodes = BRANCHES.format(b="{n: 1}", c="{n: 2}", d="{}", join="b, c")
    found = checked(nodes, graph("a -> b", "a -> c if n > 0", "a -> d", "b -> j", "c -> j", "d -> j", "j -> done"))
    assert found == [
        'parallel-writers warning: nodes "b" and "c" run side by side and both replace channel "n": '
        "in one step that fails (a -> b, a -> c)"
    ]


def test_branches_may_write_one_channel_with_a_reducer() -> None:
    nodes = BRANCHES.format(b="{n: 1}", c="{n: 2}", d="{n: 3}", join="b, d")
    state = "{n: {type: integer, reduce: add, default: 0}}"
    assert checked(nodes, graph("a -> b", "a -> c", "c -> d", "b -> j", "d -> j", "j -> done"), state) == []


def test_what_is_written_before_the_fork_and_after_the_join_is_no_conflict() -> None:
    nodes = (
        "{a: {set: {n: 1}}, f: {set: {}, fork: all}, b: {set: {}}, c: {set: {}}, j: {set: {n: 2}, join: [b, c]}, "
        "done: {end: completed}}"
    )
    assert checked(nodes, graph("a -> f", "f -> b", "f -> c", "b -> j", "c -> j", "j -> done")) == []


def test_unequal_branches_that_meet_without_a_join_run_the_node_twice() -> None:
    nodes = "{a: {set: {}, fork: all}, b: {set: {}}, c: {set: {}}, d: {set: {}}, m: {set: {}}, done: {end: completed}}"
    found = checked(nodes, graph("a -> b", "a -> c", "c -> d", "b -> m", "d -> m", "m -> done"), "{}")
    assert found == [
        'unequal-branches warning: branches of the fork "a" reach node "m" after unequal steps '
        "(2 over b and 3 over c): it runs again for each that arrives later"
    ]


def test_unequal_branches_that_meet_in_an_end_lose_the_longer_one() -> None:
    nodes = "{a: {set: {}, fork: all}, b: {set: {}}, c: {set: {}}, d: {set: {}}, done: {end: completed}}"
    [found] = checked(nodes, graph("a -> b", "a -> c", "c -> d", "b -> done", "d -> done"), "{}")
    assert found.endswith("the first to arrive ends the run")


def test_a_join_that_no_fork_leads_to_is_doubted() -> None:
    nodes = "{a: {set: {}}, b: {set: {}}, c: {set: {}}, j: {set: {}, join: [b, c]}, done: {end: completed}}"
    found = checked(nodes, graph("a -> b if n > 0", "a -> c", "b -> j", "c -> j", "j -> done"))
    assert found == ['join-without-fork warning: node "j" joins b and c, but no fork leads to more than one of them']


def test_an_end_of_a_subgraph_that_nobody_takes_is_reported_with_its_way() -> None:
    nodes = "{a: {graph: picky, input: {with: {n: n}}}, done: {end: completed}, sorry: {end: failed}}"
    found = checked(nodes, graph("a -> done").rstrip() + ", {from: done, to: sorry, on: error}")
    assert (
        'subgraph-end warning: node "a": graph "picky" can end aborted (look -> refused), which is an error that no '
        "edge takes" in found
    )


@pytest.mark.parametrize("taken", ["a", '"*"'])
def test_an_error_edge_takes_the_ends_of_a_subgraph(taken: str) -> None:
    nodes = "{a: {graph: picky, input: {with: {n: n}}}, done: {end: completed}, sorry: {end: failed}}"
    assert checked(nodes, graph("a -> done") + f", {{from: {taken}, to: sorry, on: error}}") == []


def test_items_that_may_fail_take_them_too() -> None:
    nodes = (
        "{a: {graph: picky, each: '[n, 2]', on_item_error: keep_going, input: {with: {n: item}}}, "
        "done: {end: completed}}"
    )
    assert checked(nodes, graph("a -> done")) == []


def test_a_subgraph_that_never_completes_is_an_error() -> None:
    nodes = "{a: {graph: doomed, input: {with: {n: n}}}, done: {end: completed}}"
    assert checked(nodes, graph("a -> done")) == [
        'subgraph-end error: node "a": graph "doomed" never ends completed, so the node always fails (look -> lost)'
    ]


def test_a_loop_whose_guard_nothing_changes_is_doubted() -> None:
    found = checked(
        "{a: {set: {m: m + 1}}, done: {end: completed}}",
        "{from: a, to: a, when: n > 0, loop: again}, {from: a, to: done}",
        "{n: {type: integer, input: true}, m: {type: integer, default: 0, output: true}}",
        "loops: {again: {most: 3}}",
    )
    assert found == ['loop-never-changes warning: loop "again": nothing in it changes n']


def test_a_loop_that_only_counts_is_none_of_these() -> None:
    found = checked(
        "{a: {set: {n: n + 1}}, done: {end: completed}}",
        "{from: a, to: a, loop: again}, {from: a, to: done}",
        "{n: {type: integer, input: true, output: true}}",
        "loops: {again: {most: 3}}",
    )
    assert found == []


def test_a_channel_that_one_way_leaves_out_is_reported_with_that_way() -> None:
    state = "{n: {type: integer, input: true}, text: {type: string, output: true}}"
    nodes = (
        "{a: {set: {}}, write: {set: {text: '\"hi\"'}}, "
        "cry: {run: shout, input: {schema: shout.input, with: {text: text}}}, done: {end: completed}}"
    )
    edges = graph("a -> write if n > 0", "a -> cry", "write -> cry", "cry -> done")
    assert checked(nodes, edges, state) == [
        'never-written warning: node "cry": schema "shout.input" needs "text", taken from channel "text", '
        "which nothing writes, on the way a -> cry"
    ]
    always = graph("a -> write", "write -> cry", "cry -> done")
    assert checked(nodes, always, "{text: {type: string, output: true}}") == []
