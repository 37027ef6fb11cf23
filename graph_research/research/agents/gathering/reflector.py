"""The reflector: after each search a turn without search tools, to say what is still missing, if anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.plan import Reflection
from graph_research.research.retrieval.query_novelty import asked_before
from graph_research.research.retrieval.reading import most_chars_of
from graph_research.text.wording import one_line, shortened

_SECTIONS = (Section(name="found", noun="source", keep=3),)
_SHOWN_CHARS = 160
"""How much of what a source says stands in its line."""

ENOUGH_SOURCES = 3
"""This many relevant sources are likely enough."""


def reflector(services: Services) -> Handler:
    """Reflect on a topic's searches so far. Fallback: stop searching. Where no search is left, or the settings switch
    reflections off, no model is asked."""
    agent = Agent(name="reflector", role="reflection", phase="gathering", sections=_SECTIONS)

    async def reflect(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources, read_before = handoff["sources"], handoff.get("read_before") or ()
        searches_left = max(handoff["max_searches"] - len(handoff["queries"]), 0)
        if not searches_left or not services.settings.topic_reflection:
            why = "Reflections are switched off." if searches_left else "No search is left."
            stop = Reflection.model_validate(_stop(len(sources), why))
            return {"reflection": stop.to_json(), "tokens": 0, "degraded": []}
        most_chars = most_chars_of(services.settings, [row.get("characters") or 0 for row in sources])
        material = {
            **prompt_context(handoff.get("report_options"), ctx),
            "question": handoff["original_query"],
            "sub_query": handoff["sub_query"]["query"],
            "queries": list(handoff["queries"]),
            "source_count": len(sources),
            "quality_distribution": dict(sorted(Counter(row["quality"] for row in sources).items())),
            "found": [_line(row, most_chars, read_before) for row in sources],
            "titles": [row["title"] for row in sources],
            "searches_left": searches_left,
            "enough_sources": ENOUGH_SOURCES,
            "guidance": handoff.get("guidance"),
        }
        result = await agent.call(
            services,
            material,
            ctx,
            fallback=lambda: _stop(len(sources), "The reflection could not be read."),
            windows=handoff.get("model_windows"),
        )
        reflection = _consistent(Reflection.model_validate(result.output), handoff["queries"])
        return {
            "reflection": reflection.to_json(),
            "tokens": result.tokens,
            "degraded": result.degradations(agent.name, ctx),
        }

    return reflect


def _line(row: Mapping[str, Any], most_chars: int, read_before: Collection[str]) -> str:
    """A source on one line: its title, what was found best in it, and whether its text was read in an earlier round or
    is too long to be read whole."""
    says = row.get("metadata", {}).get("summary") or row.get("content") or row.get("snippet") or ""
    length = row.get("characters") or 0
    cut = f" [read in passages, {length:,} characters are too long]" if length > most_chars else ""
    read = " [read in an earlier round]" if row["id"] in read_before else ""
    return f"{row['title']}: {shortened(one_line(says), _SHOWN_CHARS)}{cut}{read}"


def _stop(source_count: int, rationale: str) -> dict[str, Any]:
    return {
        "continue_searching": False,
        "refined_query": None,
        "research_complete": source_count >= ENOUGH_SOURCES,
        "rationale": rationale,
    }


def _consistent(reflection: Reflection, queries: list[str]) -> Reflection:
    """To go on takes a query that was not asked yet; complete means stop, whatever else is said."""
    query = " ".join((reflection.refined_query or "").split())[:1_000]
    go_on = reflection.continue_searching and not reflection.research_complete
    if not go_on or not query or asked_before(query, queries):
        return reflection.model_copy(update={"continue_searching": False, "refined_query": None})
    return reflection.model_copy(update={"refined_query": query})
