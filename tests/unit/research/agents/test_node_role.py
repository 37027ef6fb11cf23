"""The `role:` of a `run` node: the agent of the node is served by the models of that role, not of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.loader import load_graph
from graph_research.graph.runtime import Runtime
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.structured_call import Agent
from tests.support.research.harness import make_services

PLAN = {"research_brief": "A brief.", "sub_queries": [{"query": "a query of some length"}]}
MATERIAL: Mapping[str, Any] = {
    "question": "Why is the sky blue?",
    "max_sub_queries": 5,
    "system_prompt": None,
    "constraints": None,
    "guidance": None,
    "background": [],
    "titles": [],
    "versions": [],
    "is_local": False,
}
GRAPH = """
graph: thinking
start: think
state: {brief: {type: string, default: ""}}
nodes:
  think: {run: think, ROLE output: {into: {brief: output.research_brief}}}
  done: {end: completed}
edges: [{from: think, to: done}]
"""


@pytest.mark.requirement("16.1", "23.3")
@pytest.mark.parametrize(("role", "asked"), [("role: report,", "report"), ("", "reflection")])
async def test_the_role_of_a_node_wins_over_that_of_its_agent(role: str, asked: str) -> None:
    models = {name: ScriptedModel({"*": [PLAN]}) for name in ("report", "reflection")}
    roles = {name: [model] for name, model in models.items()}
    services = replace(make_services({}), models=ModelRouter(default=(), roles=roles))
    agent = Agent(name="planner", role="reflection")

    async def think(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return (await agent.call(services, MATERIAL, ctx)).output

    graph = load_graph("thinking.yaml", text=GRAPH.replace("ROLE", role), handlers={"think": think})
    result = await Runtime(graph, checkpointer=MemoryCheckpointer()).run({})
    assert result.state["brief"] == "A brief."
    assert {name: [one.role for one in model.requests] for name, model in models.items()} == {
        "report": ["report"] if asked == "report" else [],
        "reflection": ["reflection"] if asked == "reflection" else [],
    }
