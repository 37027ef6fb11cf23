"""The reflector: after each search a turn without search tools, to say what is still missing, if anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.plan import Reflection
from graph_research.research.retrieval.query_novelty import asked_before

_SECTIONS = (Section(name="titles", noun="title", keep=3),)

ENOUGH_SOURCES = 3
"""This many relevant sources are likely enough."""


def reflector(services: Services) -> Handler:
    """Reflect on a topic's searches so far. Fallback: stop searching."""
    agent = Agent(name="reflector", role="reflection", phase="gathering", sections=_SECTIONS)

    async def reflect(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources = handoff["sources"]
        material = {
            "question": handoff["original_query"],
            "sub_query": handoff["sub_query"]["query"],
            "queries": list(handoff["queries"]),
            "source_count": len(sources),
            "quality_distribution": dict(sorted(Counter(row["quality"] for row in sources).items())),
            "titles": [row["title"] for row in sources],
            "searches_left": max(handoff["max_searches"] - len(handoff["queries"]), 0),
            "enough_sources": ENOUGH_SOURCES,
            "guidance": handoff.get("guidance"),
        }
        result = await agent.call(
            services, material, ctx, fallback=lambda: _stop(len(sources)), windows=handoff.get("model_windows")
        )
        reflection = _consistent(Reflection.model_validate(result.output), handoff["queries"])
        return {
            "reflection": reflection.to_json(),
            "tokens": result.tokens,
            "degraded": result.degradations(agent.name, ctx),
        }

    return reflect


def _stop(source_count: int) -> dict[str, Any]:
    return {
        "continue_searching": False,
        "refined_query": None,
        "research_complete": source_count >= ENOUGH_SOURCES,
        "rationale": "The reflection could not be read.",
    }


def _consistent(reflection: Reflection, queries: list[str]) -> Reflection:
    """To go on takes a query that was not asked yet; complete means stop, whatever else is said."""
    query = " ".join((reflection.refined_query or "").split())[:1_000]
    go_on = reflection.continue_searching and not reflection.research_complete
    if not go_on or not query or asked_before(query, queries):
        return reflection.model_copy(update={"continue_searching": False, "refined_query": None})
    return reflection.model_copy(update={"refined_query": query})
