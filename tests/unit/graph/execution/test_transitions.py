"""Properties of the pure transitions: from any position and any results to the next position."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_research.graph.definition.spec import EdgeSpec
from graph_research.graph.execution.node_result import Failure, NodeResult, failure_of
from graph_research.graph.execution.routing import ANY, Routes
from graph_research.graph.execution.transitions import (
    TakenEdge,
    event_edge,
    exit_edges,
    follow,
    reduced,
    single_exit,
    without_conflicts,
)
from graph_research.graph.state.position import ActiveNode, Interruption, Position
from graph_research.graph.state.rows import StepRow
from graph_research.graph.statuses import Cause, StepStatus
from tests.support.graph.harness import graph_of

GRAPH = graph_of("""
    graph: diamond
    version: "1"
    state: {n: {type: integer, default: 0}}
    start: spread
    loops: {outer: {most: 3}, inner: {most: 3, per: outer}}
    nodes:
      spread: {set: {}, fork: all}
      left: {set: {}}
      right: {set: {}}
      meet: {set: {}, join: [left, right]}
      mend: {set: {}}
      done: {end: completed}
      aborted: {end: aborted}
    edges:
      - {from: spread, to: left}
      - {from: spread, to: right}
      - {from: left, to: meet}
      - {from: left, to: mend, on: error}
      - {from: right, to: meet}
      - {from: meet, to: spread, when: n < 3, loop: outer}
      - {from: meet, to: meet, when: n < 3, loop: inner}
      - {from: meet, to: done}
      - {from: mend, to: spread, when: n < 3, loop: outer}
      - {from: mend, to: done}
      - {from: "*", to: aborted, on: [error, timeout, cancelled]}
""")
ROUTES = Routes.of(GRAPH)
NODES = list(GRAPH.spec.nodes)
EDGES = GRAPH.spec.edges
LOOPS = st.dictionaries(st.sampled_from(["outer", "inner"]), st.integers(0, 3))
HASHES = st.binary(min_size=32, max_size=32)
STEPS = st.integers(1, 99)

many = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def actives(draw: st.DrawFn) -> tuple[ActiveNode, ...]:
    names = draw(st.lists(st.sampled_from(["spread", "left", "right", "meet", "mend"]), min_size=1, unique=True))
    return tuple(ActiveNode(name, draw(st.integers(1, 5)), draw(STEPS), draw(st.booleans())) for name in names)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    arrived = draw(st.lists(st.sampled_from(["left", "right"]), max_size=1))
    return Position(draw(actives()), draw(HASHES), draw(LOOPS), {"meet": arrived} if arrived else {})


@st.composite
def results(draw: st.DrawFn, position: Position) -> list[NodeResult]:
    made = []
    for active in draw(st.permutations(position.active)):
        failed, written = draw(st.booleans()), len(position.active) > 1
        failure = failure_of(active, Cause.ERROR, ValueError("no")) if failed else None
        delta = None if failed else {"replace": dict.fromkeys(draw(st.sets(st.sampled_from("abc"))), 1)}
        made.append(NodeResult(active, _row(active, draw(STEPS), draw(HASHES)), delta, failure, written=written))
    return made


@st.composite
def taken_edges(draw: st.DrawFn, position: Position) -> list[TakenEdge]:
    taken = []
    for active in position.active:
        own = [edge for edge in EDGES if edge.source in (active.node, ANY)]
        edge: EdgeSpec = draw(st.sampled_from(own))
        cause = Cause(edge.on[0]) if edge.on else None
        taken.append(TakenEdge(active, edge, cause and failure_of(active, cause, ValueError("no"))))
    return taken


@many
@given(st.data())
def test_following_edges_enters_each_target_once_in_the_order_of_the_file(data: st.DataObject) -> None:
    position = data.draw(positions())
    taken, loops, step = data.draw(taken_edges(position)), data.draw(LOOPS), data.draw(STEPS)
    visits = data.draw(st.dictionaries(st.sampled_from(NODES), st.integers(1, 9)))
    before = deepcopy((position, taken, loops, visits))
    entered, counted, failed = follow(taken, position, ROUTES, loops, step, visits, (step, position))
    assert (position, taken, loops, visits) == before
    names = [active.node for active in entered.active]
    assert names == sorted(set(names), key=NODES.index)
    assert names, "a graph never stands nowhere"
    assert all(active.visit == visits.get(active.node, 0) + 1 and active.entered == step for active in entered.active)
    assert (entered.chain, entered.loops, entered.applied) == (position.chain, loops, position.applied)
    assert all(edge in taken for edge in counted)
    if "meet" in names and failed is None and len(names) > 1:
        arrived = [*position.join_arrivals.get("meet", ()), *(edge.source.node for edge in counted)]
        assert {"left", "right"} <= set(arrived)


@many
@given(st.data())
def test_a_failure_keeps_the_position_that_resume_returns_to_unless_the_graph_can_still_complete(
    data: st.DataObject,
) -> None:
    position = data.draw(positions())
    taken, step = data.draw(taken_edges(position)), data.draw(STEPS)
    entered, counted, failed = follow(taken, position, ROUTES, {}, step, {}, (step, position))
    wildcards = [edge for edge in taken if edge.edge.source == ANY]
    assert counted == (wildcards[:1] or taken)
    recovered = any(active.node in ROUTES.can_complete for active in entered.active)
    assert (entered.interruption is not None) == (failed is not None and not recovered)
    if entered.interruption is not None and failed is not None:
        kept = entered.interruption
        assert (kept.step, kept.active, kept.loops) == (step, position.active, position.loops)
        assert (bytes.fromhex(kept.chain), kept.error, kept.cause) == (position.chain, failed.error, failed.event)


@many
@given(st.data())
def test_conflicts_and_the_chain_do_not_depend_on_the_order_in_which_nodes_end(data: st.DataObject) -> None:
    position = data.draw(positions())
    ended = data.draw(results(position))
    checked = without_conflicts(ended, ROUTES)
    assert checked == without_conflicts(data.draw(st.permutations(ended)), ROUTES)
    writers = [channel for result in checked for channel in (result.delta or {}).get("replace", {})]
    assert len(writers) == len(set(writers))
    assert all((result.delta is None) == (result.failure is not None) for result in checked)
    after = reduced(position, checked, ROUTES)
    assert after == reduced(position._replace(active=tuple(reversed(position.active))), checked, ROUTES)
    assert set(after.active) == set(position.active)
    assert _updates(checked) or after.chain == position.chain
    if len(checked) > 1:
        assert after.applied == [result.row.step for result in _updates(checked)]


@many
@given(st.data())
def test_an_event_takes_the_nodes_own_edge_before_that_of_any_node_and_counts_its_loop_only(
    data: st.DataObject,
) -> None:
    active = data.draw(positions()).active[0]
    cause, loops = data.draw(st.sampled_from(Cause)), data.draw(LOOPS)
    failure: Failure = failure_of(active, cause, ValueError("no"))
    edge, after = event_edge(active, failure, ROUTES, {"n": 0}, loops)
    assert (edge.source, edge.failure, after) == (active, failure, loops)
    own = active.node == "left" and cause == Cause.ERROR
    assert (edge.edge.source, edge.edge.target) == (("left", "mend") if own else (ANY, "aborted"))


@many
@given(st.data())
def test_the_fast_path_for_one_node_and_one_edge_comes_to_the_same_position(data: st.DataObject) -> None:
    n, target = data.draw(st.sampled_from([(5, "done"), (0, "spread")]))
    assert "mend" in ROUTES.single_exit
    active = ActiveNode("mend", data.draw(st.integers(1, 5)), data.draw(STEPS))
    kept = Interruption(Cause.ERROR, 1, "00", (active,), {}, {}, {})
    position = data.draw(positions())._replace(active=(active,), loops={}, interruption=kept, applied=[3])
    result = NodeResult(active, _row(active, data.draw(STEPS), data.draw(HASHES)), {"replace": {}})
    visits = data.draw(st.dictionaries(st.sampled_from(NODES), st.integers(1, 9)))
    fast, edge = single_exit(result, position, ROUTES, {"n": n}, visits)
    after = reduced(position, [result], ROUTES)
    exits, loops = exit_edges(after.active, ROUTES, {"n": n}, after.loops)
    general, taken, failed = follow(exits, after, ROUTES, loops, result.row.step, visits, (0, position))
    assert (fast, [TakenEdge(active, edge)], None) == (general, taken, failed)
    assert [node.node for node in fast.active] == [target]


@many
@given(LOOPS)
def test_a_loop_counts_itself_and_starts_those_inside_it_anew(loops: dict[str, int]) -> None:
    by_loop = {edge.loop: edge for edge in EDGES if edge.loop}
    outer, inner = (ROUTES.counted(by_loop[name], loops) for name in ("outer", "inner"))
    assert outer == {**loops, "outer": loops.get("outer", 0) + 1, "inner": 0}
    assert inner == {**loops, "inner": loops.get("inner", 0) + 1}


def _row(active: ActiveNode, step: int, hashed: bytes) -> StepRow:
    return StepRow(step, "", active.node, active.visit, None, 1, StepStatus.FINISHED, 0.0, 0.0, hashed, b"{}", None)


def _updates(results: Sequence[NodeResult]) -> list[NodeResult]:
    return [result for result in results if result.delta is not None]
