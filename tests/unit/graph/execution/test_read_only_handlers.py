"""Handlers that only read get values of the state itself; all others get copies, and so does who reads from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Registry
from tests.support.graph.harness import runtime

GRAPH = """
graph: twice
version: "1"
state:
  rows: {type: array, default: [{n: 1}]}
start: one
nodes:
  one: {run: look, input: {with: {rows: rows}}, output: {into: {rows: output.rows}}}
  two: {run: look, input: {with: {rows: rows}}, output: {into: {rows: output.rows}}}
  done: {end: completed}
edges:
  - {from: one, to: two}
  - {from: two, to: done}
"""

ITEMS = """
graph: items
version: "1"
state:
  rows: {type: array, default: [{n: 1}]}
  seen: {type: array, default: []}
start: each
nodes:
  each: {run: look, each: "[1, 2]", as: item, input: {with: {rows: rows}}, output: {into: {seen: outputs}}}
  done: {end: completed}
edges: [{from: each, to: done}]
"""


class Look:
    """Gives back what it is given, and keeps it."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    async def __call__(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.given.append(handoff["rows"])
        return {"rows": handoff["rows"]}


async def given_to(look: Look, registry: Registry, **added: Any) -> tuple[Any, Any]:
    graph = load_graph("twice.yaml", text=GRAPH, registry=registry, **added)
    assert (await runtime(graph, MemoryCheckpointer()).run({}, run_id="r")).state["rows"] == [{"n": 1}]
    one, two = look.given
    return one, two


async def test_a_handler_gets_a_copy_of_what_another_one_gets_unless_it_only_reads() -> None:
    look = Look()
    registry = Registry(handlers={"look": look})
    one, two = await given_to(look, registry)
    one[0]["n"] = 2
    assert two == [{"n": 1}]


async def test_the_output_of_a_handler_that_only_reads_shares_nothing_with_its_handoff() -> None:
    look = Look()
    one, two = await given_to(look, Registry(handlers={"look": look}, read_only_handlers=["look"]))
    assert one == two
    assert one is not two
    assert one[0] is not two[0]


async def test_handlers_that_only_read_get_the_values_of_the_state() -> None:
    for read_only in (["look"], []):
        look = Look()
        registry = Registry(handlers={"look": look}, read_only_handlers=read_only)
        await runtime(load_graph("items.yaml", text=ITEMS, registry=registry), MemoryCheckpointer()).run({}, run_id="r")
        one, other = look.given
        assert one == other == [{"n": 1}]
        assert (one is other) == bool(read_only)


async def test_a_handler_that_takes_the_place_of_one_that_only_reads_gets_copies() -> None:
    look = Look()
    registry = Registry(handlers={"look": Look()}, read_only_handlers=["look"])
    one, two = await given_to(look, registry, handlers={"look": look})
    one[0]["n"] = 2
    assert two == [{"n": 1}]
