"""The planner: turns a question into a brief, a few sub-queries in the sources' own words where it can, and a checklist
of what the reader will look for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.search.base import SOURCE_TYPES
from graph_research.research.checklist import checklist_of
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.ids import sub_query_id
from graph_research.research.models.plan import SubQuery
from graph_research.research.quality_gates import LEAST_SUB_QUERIES
from graph_research.research.retrieval.question_queries import are_about, queries_of, takes_up
from graph_research.research.retrieval.search import is_local
from graph_research.research.scoring.versions import highest_versions
from graph_research.text.wording import one_line

_MOST_LOOKED_FOR = 12
"""Things that a sub-query's sources should say, at most."""

_QUERY_CHARS = 1_000
_ASKED = "The question is researched as it was asked."

_SECTIONS = (
    Section(name="background", noun="passage", text="text", keep=0),
    Section(name="titles", noun="title", keep=0),
)


def planner(services: Services) -> Handler:
    """Plan the first iteration. Fallback: the question as the only sub-query, which its gate objects to, and its parts
    as the checklist. A plan that does not take up the question is filled up with it and its parts."""
    agent = Agent(name="planner", phase="planning", sections=_SECTIONS)

    async def plan(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        question = handoff["original_query"]
        most = min(handoff["max_sub_queries"], services.settings.most_sub_queries)
        scouted = list(handoff.get("background") or [])
        versions = highest_versions(question, [row.get("versions") or {} for row in scouted])
        material = {
            **prompt_context(handoff.get("report_options"), ctx),
            "question": question,
            "max_sub_queries": most,
            "system_prompt": handoff.get("system_prompt"),
            "constraints": handoff.get("constraints"),
            "guidance": handoff.get("guidance"),
            "background": [row for row in scouted if row["text"]],
            "titles": list(dict.fromkeys(row["title"] for row in scouted if not row["text"])),
            "versions": [f"{name} {version}" for name, version in versions.items()],
            "is_local": is_local(services.search),
        }
        result = await agent.call(
            services,
            material,
            ctx,
            fallback=lambda: {**_question_by_parts(question, 1), "research_brief": _ASKED},
            windows=handoff.get("model_windows"),
        )
        sub_queries = _filled_up(result.output["sub_queries"], question, handoff["iteration"], most)
        return {
            "research_brief": result.output["research_brief"],
            "sub_queries": [sub_query.to_json() for sub_query in sub_queries],
            "checklist": [item.to_json() for item in checklist_of(result.output.get("checklist") or [], question)],
            "degraded": result.degradations(agent.name, ctx),
        }

    return plan


def _question_by_parts(question: str, most: int) -> dict[str, Any]:
    return {
        "sub_queries": [
            {"query": query[:_QUERY_CHARS], "rationale": rationale, "priority": priority}
            for priority, (query, rationale) in enumerate(queries_of(question, most), start=1)
        ],
    }


def _filled_up(rows: Sequence[Mapping[str, Any]], question: str, iteration: int, most: int) -> list[SubQuery]:
    """The plan's sub-queries, `most` of them. Where they do not take up the question, it comes first, and its parts
    stand where there is room; in the place of a single one it stands alone, since a plan of one is for the gate to
    judge."""
    planned = _distinct(rows, iteration)[:most]
    texts = [text for row in planned for text in (row.query, *row.look_for)]
    if are_about([row.query for row in planned], question) or takes_up(texts, question):
        return planned
    asked, *parts = _question_by_parts(question, most)["sub_queries"]
    if len(planned) < LEAST_SUB_QUERIES:
        return _distinct([asked], iteration)
    by_place = [asked, *(row.model_dump() for row in planned), *parts]
    return _distinct([{**row, "priority": place} for place, row in enumerate(by_place, start=1)], iteration)[:most]


def _distinct(rows: Sequence[Mapping[str, Any]], iteration: int) -> list[SubQuery]:
    """The plan's rows by priority, repeated queries left out, numbered for the state."""
    seen: set[str] = set()
    distinct: list[SubQuery] = []
    for row in sorted(rows, key=lambda row: row.get("priority", 1)):
        query = " ".join(row["query"].split())
        if not query or query.casefold() in seen:
            continue
        seen.add(query.casefold())
        distinct.append(
            SubQuery(
                id=sub_query_id(iteration, len(distinct) + 1),
                query=query,
                rationale=row.get("rationale", ""),
                look_for=list(dict.fromkeys(filter(None, map(one_line, row.get("look_for") or ()))))[:_MOST_LOOKED_FOR],
                priority=row.get("priority", 1),
                iteration=iteration,
                source_types=sorted(SOURCE_TYPES.intersection(map(str, row.get("source_types") or ()))),
            )
        )
    return distinct
