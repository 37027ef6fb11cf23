"""What cannot be stored fails its node with the names of node and channel; it is never stored as something else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.errors import InputInvalid
from graph_research.graph.loader import load_graph
from tests.support.graph.harness import graph_of, runtime

SCORED = """
    graph: scored
    version: "1"
    state: {score: {default: null}, found: {type: array, reduce: append, default: []}}
    start: judge
    nodes:
      judge: {run: judge, output: {into: {score: output.score}}}
      done: {end: completed}
    edges: [{from: judge, to: done}]
"""
SET = """
graph: scored
version: "1"
state: {score: {default: null}}
start: judge
nodes: {judge: {set: {score: "{'deep': [odd()]}"}}, done: {end: completed}}
edges: [{from: judge, to: done}]
"""


@pytest.mark.parametrize(("value", "word"), [(math.nan, "NaN"), (-math.inf, "-Infinity"), ({1}, "a set")])
async def test_a_node_that_gives_it_fails_with_its_name_and_the_channels(
    store: Checkpointer, value: Any, word: str
) -> None:
    async def judge(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"score": {"mean": value}, "none": None}

    result = await runtime(graph_of(SCORED, judge=judge), store).run({}, run_id="r")
    assert result.status == "failed" and result.error
    assert result.error["type"] == "HandoffInvalid"
    assert (
        f'node "judge": channel "score" would hold {word} at /mean, which cannot be stored' in result.error["message"]
    )
    assert result.state["score"] is None


async def test_an_item_of_a_fan_out_does_too(store: Checkpointer) -> None:
    async def judge(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"score": math.nan}

    text = SCORED.replace(
        "{run: judge, output: {into: {score: output.score}}}",
        "{run: judge, each: '[1]', output: {into: {found: outputs}}}",
    )
    result = await runtime(graph_of(text, judge=judge), store).run({}, run_id="r")
    assert result.error and 'node "judge": channel "found" would hold NaN at /0/score' in result.error["message"]


async def test_an_expression_that_makes_it_fails_its_node(store: Checkpointer) -> None:
    graph = load_graph("scored.yaml", text=SET, functions={"odd": lambda: math.nan})
    result = await runtime(graph, store).run({}, run_id="r")
    assert result.status == "failed" and result.error
    assert 'channel "score" would hold NaN at /deep/0' in result.error["message"]


async def test_the_answer_of_a_call_fails_the_node_that_asked(store: Checkpointer) -> None:
    async def judge(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"score": await ctx.call("ask", {}, answer)}

    async def answer() -> Any:
        return {"mean": math.nan, "none": None}

    result = await runtime(graph_of(SCORED, judge=judge), store).run({}, run_id="r")
    assert result.error and (result.error["node"], result.error["type"]) == ("judge", "NotStorable")
    assert "NaN at /mean cannot be stored" in result.error["message"]


async def test_the_request_of_a_call_does_too(store: Checkpointer) -> None:
    async def judge(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"score": await ctx.call("ask", {"words": {"a", "b"}}, answer)}

    async def answer() -> Any:
        raise AssertionError("it is not asked")

    result = await runtime(graph_of(SCORED, judge=judge), store).run({}, run_id="r")
    assert result.error and (result.error["node"], result.error["type"]) == ("judge", "NotStorable")
    assert "set at /words cannot be stored" in result.error["message"]


async def test_an_input_that_holds_it_is_refused_before_anything_runs(store: Checkpointer) -> None:
    graph = graph_of(SCORED, judge=None)
    with pytest.raises(InputInvalid, match=r'input "score" of graph "scored".*NaN at /0'):
        await runtime(graph, store).run({"score": [math.nan]}, run_id="r")
