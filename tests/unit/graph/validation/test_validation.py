"""Static checks: each broken graph is refused at the right line, with the right code, and nothing else is said."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.graph.expressions.compiled import compile_expression
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.source import Expression, Place
from graph_research.graph.validation.truth_table import truth_table
from graph_research.graph.validation.types import ANY
from tests.support.graph.sample_registry import registry

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.yaml"))


def test_there_are_many_broken_graphs() -> None:
    assert len(BROKEN) >= 50


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_graph_is_refused_at_the_right_line(path: Path) -> None:
    text = path.read_text()
    expected = [(int(line), code) for line, code in re.findall(r"# expect: (\d+) (\S+)", text)]
    findings = check_graph(path, registry=registry())
    assert sorted((finding.line, finding.code) for finding in findings) == sorted(expected)
    assert any(finding.severity == "error" for finding in findings)
    assert all(finding.file == str(path) and finding.message for finding in findings)
    assert [str(finding) for finding in findings if not finding.help] == []


def test_the_messages_of_all_broken_graphs_read_well(snapshot: Any) -> None:
    lines = [
        f"{finding} [{finding.code}{'' if finding.severity == 'error' else ', ' + finding.severity}]"
        for path in BROKEN
        for finding in check_graph(path.name, text=path.read_text(), registry=registry())
    ]
    assert "\n".join(lines) == snapshot


def checked(nodes: str, edges: str, state: str = "{n: {type: integer, input: true}}", more: str = "") -> list[str]:
    text = f"graph: g\nstart: a\nstate: {state}\n{more}\nnodes: {nodes}\nedges: {edges}\n"
    return [str(finding).partition(" ")[2] for finding in check_graph("g.yaml", text=text, registry=registry())]


ENDS = "{a: {set: {}}, b: {end: completed}, c: {end: failed}}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("n > 0", "n <= 0"),
        ("n > 0", "not n > 0"),
        ("n > 0", "0 >= n"),
        ("n == 1", "n != 1"),
        ("n in (1, 2)", "n not in (1, 2)"),
        ("n > 3", "n <= 5"),
        ("n > 0", "n < 1"),
        ("0 < n < 5", "n <= 0 or n >= 5"),
        ("n > m", "m >= n"),
        ("n is None", "n is not None"),
        ("n", "not n"),
        ("n > 0 and m", "n <= 0 or not m"),
        ("len(xs) > 0", "len(xs) == 0"),
        ("d.k == 1", "d['k'] != 1"),
        ("xs == []", "xs != []"),
        ("unaddressed(xs) > 0", "unaddressed(xs) <= 0"),
        ("s == 'x'", "s != 'x'"),
        ("1 in xs", "1 not in xs"),
    ],
)
def test_complementary_guards_need_no_last_edge(first: str, second: str) -> None:
    state = (
        "{n: {type: integer, input: true}, m: {type: integer, input: true}, xs: {type: array, input: true}, "
        "d: {type: object, input: true}, s: {type: string, input: true}}"
    )
    found = checked(ENDS, f'[{{from: a, to: b, when: "{first}"}}, {{from: a, to: c, when: "{second}"}}]', state)
    assert not [line for line in found if "can be false" in line or "never" in line], found


@pytest.mark.parametrize(
    ("first", "second", "case"),
    [
        ("n > 0", "n < 0", "n = 0"),
        ("n == 1", "n == 2", "n = 0"),
        ("n > m", "n < m", "m == n"),
        ("s == 'x'", "s == 'y'", 's not "x" or "y"'),
        ("s == 'x' and flag", "s == 'x'", 's not "x", flag = true'),
        ("n > 0 and flag", "n <= 0 and flag", "n = -1, flag = false"),
    ],
)
def test_a_counterexample_is_given(first: str, second: str, case: str) -> None:
    state = (
        "{n: {type: integer, input: true}, m: {type: integer, input: true}, s: {type: string, input: true}, "
        "flag: {type: boolean, input: true}}"
    )
    found = checked(ENDS, f'[{{from: a, to: b, when: "{first}"}}, {{from: a, to: c, when: "{second}"}}]', state)
    assert f'node "a": all its guards can be false, as with {case}; add a last edge without `when`' in "\n".join(found)


@pytest.mark.parametrize("atom", ["n.k{} > 0", "n.k{} == 'x'", "n.k{}", "n.k{} < m", "n.k{} in (1, 2)"])
def test_guards_of_twelve_comparisons_are_checked(atom: str) -> None:
    atoms = [atom.format(number) for number in range(12)]
    some, rest = " and ".join(atoms), " or ".join(f"not {text}" for text in atoms)
    state = "{n: {input: true}, m: {type: integer, input: true}}"
    nodes = ENDS.replace("set: {}", "set: {m: m}")
    edges = '[{{from: a, to: b, when: "{}"}}, {{from: a, to: c, when: "{}"}}]'
    assert checked(nodes, edges.format(some, rest), state) == []
    found = checked(nodes, edges.format(some, f"not {atoms[0]}"), state)
    assert len(found) == 1 and "all its guards can be false" in found[0], found


def test_more_than_twelve_comparisons_are_a_warning() -> None:
    guard = " or ".join(f"n.k{number}" for number in range(13))
    found = checked(ENDS, f"[{{from: a, to: b, when: {guard}}}, {{from: a, to: c, when: n.k1}}]", "{n: {input: true}}")
    assert found == [
        'node "a": its guards are not checked: more than 12 comparisons, or too many cases; '
        "split the choice over two nodes; an edge without `when` at the end is sure to apply"
    ]


@pytest.mark.parametrize("more", ["", ", on: error"])
def test_an_edge_that_is_never_taken_may_hide_behind_too_many_comparisons(more: str) -> None:
    guard = " and ".join(f"n.k{number}" for number in range(13))
    guarded = f"{{from: a, to: b, when: {guard} and not n.k1{more}}}"
    found = checked(ENDS, f"[{guarded}, {{from: a, to: c}}]", "{n: {input: true}}")
    assert len(found) == 1 and "are not checked: more than 12 comparisons" in found[0], found


def test_guards_that_would_keep_the_check_busy_are_not_checked() -> None:
    guard = " or ".join(f"n.k{number} > {number}" for number in range(12))
    nodes = ", ".join(f"n{number}: {{set: {{}}}}" for number in range(100))
    edges = ", ".join(
        f"{{from: n{number}, to: n{number + 1}, when: {guard}}}, {{from: n{number}, to: n{number + 1}}}"
        for number in range(99)
    )
    found = checked(f"{{a: {{set: {{}}}}, {nodes}, b: {{end: completed}}}}", f"[{edges}]", "{n: {input: true}}")
    assert any("too many cases" in line for line in found)


def test_a_loop_whose_condition_nothing_changes_is_doubted() -> None:
    found = checked(
        "{a: {set: {m: m + 1}}, b: {end: completed}}",
        "[{from: a, to: a, when: m < 5, loop: again}, {from: a, to: b}]",
        "{n: {type: integer, input: true}, m: {type: integer, default: 0}}",
        "loops: {again: {while: n > 0, most: 3}}",
    )
    assert found == ['loop "again": nothing in it changes n; its `while` stays as it is until `most` is reached']


def test_findings_of_a_subgraph_stand_in_its_own_file() -> None:
    child = "graph: inner\nstart: a\nnodes: {a: {set: {}}, b: {end: completed}}\nedges: [{from: a, to: bb}]\n"
    text = "graph: g\nstart: a\nnodes: {a: {graph: inner}, b: {end: completed}}\nedges: [{from: a, to: b}]\n"
    found = check_graph("g.yaml", text=text, registry=registry(inner=child))
    assert ("inner.yaml", 4, "unknown-node") in [(finding.file, finding.line, finding.code) for finding in found]


def test_graphs_that_contain_each_other_are_refused() -> None:
    rest = "nodes: {a: {graph: %s}, b: {end: completed}}\nedges: [{from: a, to: b}]\n"
    pairs = (("one", "two"), ("two", "one"))
    graphs = {name: f"graph: {name}\nstart: a\n" + rest % other for name, other in pairs}
    found = check_graph("one.yaml", text=graphs["one"], registry=registry(**graphs))
    assert [(finding.file, finding.code, finding.message) for finding in found] == [
        ("two.yaml", "recursive-graph", "a graph cannot contain itself: one -> two -> one")
    ]


def test_a_star_edge_counts_for_reaching_and_not_for_ending() -> None:
    nodes = "{a: {set: {}}, b: {end: completed}, rescue: {set: {}}, aborted: {end: aborted}}"
    edges = '[{from: a, to: b}, {from: "*", to: rescue, on: [error, timeout]}, {from: rescue, to: aborted}]'
    assert checked(nodes, edges, "{}") == []
    stuck = '[{from: "*", to: b, on: [error, timeout]}]'
    found = checked("{a: {set: {}}, b: {end: completed}}", stuck, "{}")
    assert found == ['node "a": no path leads from here to an end; lead an edge towards a node of kind `end`']


def test_the_error_is_known_only_where_every_edge_brings_one() -> None:
    nodes = "{a: {set: {}}, rescue: {set: {n: len(error.message)}}, b: {end: completed}}"
    edges = "{from: a, to: rescue, on: error}, {from: a, to: b}, {from: rescue, to: b}"
    assert checked(nodes, f"[{edges}]") == []
    found = checked(
        nodes,
        f"[{edges}, {{from: a, to: rescue, when: n > 3}}]".replace("{from: a, to: b}, ", "", 1).replace(
            "{from: rescue", "{from: a, to: b, when: n <= 3}, {from: rescue"
        ),
    )
    assert found == ['nothing is called "error" here; known: loops, n']


COMPARED = st.tuples(
    st.sampled_from(["a", "b"]), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.integers(-1, 2)
)
CONDITIONS = st.recursive(
    st.one_of(COMPARED.map(lambda parts: f"{parts[0]} {parts[1]} {parts[2]}"), st.just("a < b"), st.just("b == a")),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} and {pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} or {pair[1]})"),
        inner.map(lambda text: f"(not {text})"),
    ),
    max_leaves=4,
)


@given(st.lists(CONDITIONS, min_size=1, max_size=3))
def test_the_truth_table_has_every_combination_that_can_really_happen(texts: list[str]) -> None:
    conditions = [[ast.parse(text, mode="eval").body] for text in texts]
    rows = {row.holds for row in truth_table(conditions, lambda node: ANY, 1_000)}
    compiled = [compile_expression(Expression(text, Place("g.yaml", 1, 1))) for text in texts]
    for a, b in itertools.product([-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3], repeat=2):
        assert tuple(guard.evaluate({"a": a, "b": b}) for guard in compiled) in rows


def test_every_pair_of_parallel_writers_is_reported() -> None:
    nodes = "{a: {set: {}, fork: all}, b: {set: {n: '1'}}, c: {set: {n: '2'}}, d: {set: {n: '3'}}, z: {end: completed}}"
    edges = "[{from: a, to: b}, {from: a, to: c}, {from: a, to: d}, " + ", ".join(
        f"{{from: {name}, to: z}}]" if name == "d" else f"{{from: {name}, to: z}}" for name in "bcd"
    )
    told = [text for text in checked(nodes, edges) if "both replace" in text]
    pairs = {tuple(re.findall(r'nodes "(\w)" and "(\w)"', text)[0]) for text in told}
    assert pairs == {("b", "c"), ("b", "d"), ("c", "d")}


RETRYING = (
    "{{a: {{run: shout, input: {{with: {{text: '\"x\"'}}}}, retry: {{attempts: 2, on: [{}]}}}}, b: {{end: completed}}}}"
)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("TimeoutErorr", 'did you mean "TimeoutError"?'),
        ("HandofInvalid", 'did you mean "HandoffInvalid"?'),
        ("Flaky", "load_graph(…, errors=[…])"),
    ],
)
def test_an_error_that_nobody_declared_is_a_warning_with_the_nearest_name(name: str, told: str) -> None:
    (finding,) = checked(RETRYING.format(name), "[{from: a, to: b}]", state="{}")
    assert finding.startswith(f'node "a" tries again on "{name}": no such error is known; ')
    assert told in finding


@pytest.mark.parametrize("name", ["TimeoutError", "OSError", "Exception", "HandoffInvalid", "NodeFailed", "timeout"])
def test_errors_of_python_and_of_the_engine_are_known(name: str) -> None:
    assert checked(RETRYING.format(name), "[{from: a, to: b}]", state="{}") == []


def test_declared_errors_are_known_with_those_they_stand_under() -> None:
    class Weather(Exception):
        pass

    class Rain(Weather):
        pass

    text = f"graph: g\nstart: a\nnodes: {RETRYING.format('Weather, Rain')}\nedges: [{{from: a, to: b}}]\n"
    assert check_graph("g.yaml", text=text, registry=registry(), errors=[Rain]) == []


@pytest.mark.parametrize(
    ("nodes", "edges", "loops", "slip"),
    [
        (
            "{a: {set: {}}, b: {end: completed}}",
            "[{from: a, to: b, when: cuonter > 0}, {from: a, to: b}]",
            "",
            "cuonter",
        ),
        (
            "{a: {set: {countre: '1'}}, b: {end: completed}}",
            "[{from: a, to: b, when: counter > 0}, {from: a, to: b}]",
            "",
            "countre",
        ),
        (
            "{a: {set: {countre: counter + 1}}, b: {end: completed}}",
            "[{from: a, to: a, loop: l}, {from: a, to: b}]",
            "loops: {l: {while: counter < 3, most: 3}}",
            "countre",
        ),
    ],
)
def test_a_slip_in_a_channel_is_one_finding_and_none_about_the_channel_that_was_meant(
    nodes: str, edges: str, loops: str, slip: str
) -> None:
    state = "{counter: {type: integer, default: 0}}"
    (finding,) = checked(nodes, edges, state=state, more=loops)
    assert slip in finding
    assert 'did you mean "counter"?' in finding


@pytest.mark.parametrize("kind", ["[[[]]]", "[string, [array]]", "[{a: b}]", "7", "{a: b}", "[]"])
def test_a_type_that_is_none_is_a_finding_whatever_it_is(kind: str) -> None:
    text = f"""
graph: odd
version: "1"
state: {{rows: {{type: {kind}, reduce: upsert, default: [], output: true}}}}
start: write
nodes:
  write: {{set: {{rows: "[]"}}}}
  done: {{end: completed}}
edges:
  - {{from: write, to: done}}
"""
    findings = check_graph("odd.yaml", text=text)
    assert 4 in {finding.line for finding in findings if finding.severity == "error"}


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{type: boolean, default: no}", 'channel "x": the default does not fit: "no" is not of type boolean'),
        ("{type: number, default: 1_000}", 'channel "x": the default does not fit: "1_000" is not of type number'),
        ("{type: array, items: string, default: [a, 2]}", "the default does not fit: /1: 2 is not of type string"),
        ("{type: array, items: strng}", '"strng" is neither a JSON type nor a registered type; did you mean "string"?'),
        ("{input: yes}", "input must be true or false, not yes"),
    ],
)
def test_a_channel_that_is_written_wrongly_is_told_with_the_value_at_fault(written: str, problem: str) -> None:
    findings = checked("{a: {set: {x: null}}, b: {end: completed}}", "[{from: a, to: b}]", f"{{x: {written}}}")
    assert any(problem in finding for finding in findings), findings


def test_the_type_of_an_arrays_items_may_be_named() -> None:
    state = "{x: {type: array, items: string, default: [a], input: true}}"
    assert checked("{a: {set: {x: x}}, b: {end: completed}}", "[{from: a, to: b}]", state) == []


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ("[a, b]", "`nodes` must be an object, not an array"),
        ("{a: end, b: {end: completed}}", 'node "a" must be an object, not end'),
        ("{a: {set: {n: 'abs(n, digits=1)'}}, b: {end: completed}}", "it is abs(x, /)"),
        ("{a: {set: {n: '1' * n}}, b: {end: completed}}", "where it multiplies, quote the expression as a whole"),
    ],
)
def test_what_is_wrong_with_nodes_is_told_once(nodes: str, problem: str) -> None:
    findings = checked(nodes, "[{from: a, to: b}]", "{n: {type: number, input: true, output: true}}")
    assert len(findings) == 1 and problem in findings[0], findings


@pytest.mark.parametrize("number", ["1234567890123456789", "-9223372036854775808", "12345678901234567890123"])
def test_a_large_integer_is_read_exactly(number: str) -> None:
    text = f"graph: g\nstart: a\nstate: {{n: {{type: integer, default: {number}}}}}\nnodes: {{a: {{end: completed}}}}"
    assert load_graph("g.yaml", text=text).spec.channels["n"].default == int(number)
