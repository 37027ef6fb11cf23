"""Every graph that passes the checks ends, whatever its handlers return: random graphs, run to their end."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.registry import Handler, Registry
from graph_research.graph.resources import TextResolver
from graph_research.graph.runtime import RunResult
from tests.support.graph.harness import runtime

CHANNELS = {
    "n": {"type": "integer", "default": 0, "output": True},
    "flag": {"type": "boolean", "default": False, "input": True, "output": True},
    "any": {"default": None, "output": True},
    "seen": {"type": "array", "reduce": "append", "default": [], "output": True},
    "total": {"type": "number", "reduce": "add", "default": 0, "output": True},
    "notes": {"type": "object", "reduce": "merge", "default": {}, "output": True},
    "rows": {"type": "array", "reduce": "upsert", "default": [], "output": True},
}
ASSIGNMENTS = {
    "n": ["n + 1", "n - 1", "0", "len(seen)", "any"],
    "flag": ["not flag", "n > 1", "len(seen) > 2"],
    "any": ["n", "seen", "any.key", "seen[-1]", "1 / n", '"text"'],
    "seen": ["[n]", "[]", "any", "seen"],
    "total": ["1", "n", "any"],
    "notes": ['{"last": n}', "any"],
    "rows": ['[{"id": n}]', "any", "rows"],
}
GUARDS = ["n > 1", "n < 2", "flag", "any == 1", "len(seen) > 1", "any.key > 2", "n == any"]
VALUES: Sequence[Any] = [
    {},
    {"value": 1},
    {"value": "text"},
    {"value": [1, {"id": 2}]},
    {"value": {"key": 3}},
    {"value": None},
    {"value": [{"id": "a"}]},
    {"value": float("nan")},
    {"value": 2**70},
    {"value": "\ud800"},
    {"value": object()},
    {1: 2},
    None,
    [],
    7,
    ValueError("no"),
    RuntimeError(),
]
DOCUMENTED = {
    "DeltaRefused",
    "ExpressionFailed",
    "HandoffInvalid",
    "NodeFailed",
    "NotStorable",
    "RuntimeError",
    "TypeError",
    "ValueError",
}
"""What an error may be called here: the engine's names, `TypeError` for what is no JSON, what the handler raises."""

CHILD = json.dumps(
    {
        "graph": "child",
        "start": "a",
        "state": {"item": {"input": True, "default": None}, "out": {"default": None, "output": True}},
        "loops": {"again": {"most": 2}},
        "nodes": {
            "a": {"run": "odd", "output": {"into": {"out": "output.value"}}},
            "b": {"set": {"out": "item"}},
            "done": {"end": "completed"},
            "lost": {"end": "failed"},
        },
        "edges": [
            {"from": "a", "to": "b", "when": "out == None", "loop": "again"},
            {"from": "a", "to": "lost", "when": "out == 1"},
            {"from": "a", "to": "done"},
            {"from": "b", "to": "a"},
        ],
    }
)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """A graph whose edges lead forwards, but for those of its loops; most of these pass the checks."""
    names = [f"n{number}" for number in range(draw(st.integers(2, 6)))]
    loops = draw(declared_loops())
    nodes: dict[str, Any] = {name: draw(node()) for name in names}
    edges: list[dict[str, Any]] = []
    fork = draw(st.sampled_from([None, *names[:-1]]))
    for position, name in enumerate(names):
        ahead = [*names[position + 1 :], "done", "lost"]
        if loops and draw(st.booleans()):
            back = draw(st.sampled_from(names[: position + 1]))
            edges.append({"from": name, "to": back, "loop": draw(st.sampled_from(sorted(loops)))})
        if name == fork:
            edges.append({"from": name, "to": "fork"})
            edges += branches(draw, nodes, ahead[0])
            continue
        for guard in draw(st.lists(st.sampled_from(GUARDS), max_size=2, unique=True)):
            edges.append({"from": name, "to": draw(st.sampled_from(ahead[:3])), "when": guard})
        edges.append({"from": name, "to": ahead[0]})
        if draw(st.integers(0, 3)) == 0:
            edges.append({"from": name, "to": draw(st.sampled_from(ahead)), "on": "error"})
    if draw(st.booleans()):
        edges.append({"from": "*", "to": "lost", "on": ["error", "cancelled"]})
    nodes |= {"done": {"end": "completed"}, "lost": {"end": draw(st.sampled_from(["failed", "aborted"]))}}
    kept = reached(edges, "n0")
    return {
        "graph": "g",
        "start": "n0",
        "state": CHANNELS,
        "loops": loops,
        "nodes": {name: node for name, node in nodes.items() if name in kept},
        "edges": [edge for edge in edges if edge["from"] in {*kept, "*"}],
    }


@st.composite
def declared_loops(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    loops: dict[str, dict[str, Any]] = {f"l{number}": {"most": draw(st.integers(0, 3))} for number in range(3)}
    for inner, outer in (("l1", "l0"), ("l2", "l1")):
        if draw(st.booleans()):
            loops[inner]["per"] = outer
        if draw(st.booleans()):
            loops[inner]["while"] = draw(st.sampled_from(GUARDS))
    return loops


def branches(draw: st.DrawFn, nodes: dict[str, Any], after: str) -> list[dict[str, Any]]:
    """A fork into branches of any length that a join brings together, or now and then a node without `join`."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    ways = [[f"b{branch}{place}" for place in range(length)] for branch, length in enumerate(lengths)]
    nodes["fork"] = {"set": {"n": "n + 1"}, "fork": "all"}
    nodes.update({name: draw(branch_node()) for way in ways for name in way})
    nodes["meet"] = {"set": {"any": "total"}, "join": [way[-1] for way in ways]}
    if draw(st.integers(0, 3)) == 0:
        del nodes["meet"]["join"]
    found = [{"from": one, "to": two} for way in ways for one, two in itertools.pairwise(["fork", *way, "meet"])]
    if draw(st.booleans()):
        found[0]["when"] = draw(st.sampled_from(GUARDS))
    return [*found, {"from": "meet", "to": after}]


def reached(edges: Sequence[Mapping[str, Any]], start: str) -> set[str]:
    seen = [start]
    for name in seen:
        seen += {edge["to"] for edge in edges if edge["from"] in (name, "*")} - set(seen)
    return set(seen)


def node() -> st.SearchStrategy[dict[str, Any]]:
    into = st.sampled_from([{"any": "output.value"}, {"seen": "output.value"}, {"n": "output.value"}, {}])
    outputs = st.sampled_from(
        [{"seen": "outputs"}, {"seen": "errors"}, {"any": "outputs", "notes": '{"e": errors}'}, {}]
    )
    each = {"each": st.sampled_from(["seen", "[n, any]", "[1, 2, 3]", "[]", "rows"]), "at_once": st.integers(1, 2)}
    keep = {"on_item_error": st.sampled_from(["fail", "keep_going"])}
    retry = st.just({"attempts": 2, "backoff": {"initial_seconds": 0.0001, "most_seconds": 0.0001}})
    sets = st.fixed_dictionaries({"set": assignments(list(ASSIGNMENTS))})
    return st.one_of(
        sets,
        st.fixed_dictionaries({"run": st.just("odd"), "output": into.map(written)}, optional={"retry": retry}),
        st.fixed_dictionaries({"run": st.just("odd"), **each, **keep, "output": outputs.map(written)}),
        st.fixed_dictionaries(
            {
                "graph": st.just("child"),
                "input": st.just({"with": {"item": "any"}}),
                "output": st.just({"into": {"any": "output.out"}}),
            }
        ),
        st.fixed_dictionaries(
            {
                "graph": st.just("child"),
                **each,
                **keep,
                "input": st.just({"with": {"item": "item"}}),
                "output": outputs.map(written),
            }
        ),
        st.just({"ask": '"go on?"', "into": "flag", "default": "n > 0"}),
    )


def branch_node() -> st.SearchStrategy[dict[str, Any]]:
    """What writes only by reducers, so that it may run beside others; now and then it does not."""
    sets = st.fixed_dictionaries({"set": assignments(["seen", "total", "notes", "rows"])})
    into = st.sampled_from([{"seen": "output.value"}, {"rows": "output.value"}, {"any": "output.value"}])
    return st.one_of(sets, st.fixed_dictionaries({"run": st.just("odd"), "output": into.map(written)}))


def written(into: Mapping[str, str]) -> dict[str, Any]:
    return {"into": dict(into)}


def assignments(channels: Sequence[str]) -> st.SearchStrategy[dict[str, str]]:
    one = st.sampled_from(channels).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(ASSIGNMENTS[name])))
    return st.lists(one, max_size=2).map(dict)


def odd(values: Sequence[Any]) -> Handler:
    """Gives the values in turn, for ever; raises those that are errors."""
    waiting = list(values)

    async def give(handoff: Mapping[str, Any], ctx: Context) -> Any:
        value = waiting.pop(0)
        waiting.append(value)
        if isinstance(value, Exception):
            raise value
        return value

    return give


async def ended(text: str, registry: Registry) -> RunResult:
    async with asyncio.timeout(30):
        return await runtime(load_graph("g.yaml", text=text, registry=registry), MemoryCheckpointer()).run({})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.lists(st.sampled_from(VALUES), min_size=1, max_size=6))
def test_a_graph_without_errors_ends_as_the_checks_say_whatever_its_handlers_return(
    graph: dict[str, Any], values: list[Any]
) -> None:
    text = json.dumps(graph)
    registry = Registry(handlers={"odd": odd(values)}, graphs=TextResolver({"child": CHILD}, suffix=".yaml"))
    findings = check_graph("g.yaml", text=text, registry=registry)
    assume(not any(finding.severity == "error" for finding in findings))
    result = asyncio.run(ended(text, registry))
    event(result.status)
    assert result.status in {"completed", "failed", "aborted"}
    if result.error is not None:
        event(result.error["type"])
        assert result.error["type"] in DOCUMENTED, result.error
        assert "no edge applies" not in result.error["message"]
        if "in the same step" in result.error["message"]:
            event("two nodes replaced one channel")
            assert {"parallel-writers", "unequal-branches"} & {finding.code for finding in findings}
