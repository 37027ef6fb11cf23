"""The decomposer of the pipeline: a question becomes 1 to 8 sub-questions, itself the first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import ProviderError
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.ids import sub_query_id
from graph_research.research.models.plan import SubQuery

MOST_QUESTIONS = 8
_NUMBERED = re.compile(
    r"^\s*(?:[-*•]\s+)?(?:(?P<bold>\*\*)?[(（]?Q?\d{1,2}(?:[.．)）:：、](?!\d)|\s+[-–—]\s+(?!\d))(?(bold)\*\*)(?:\s+|(?=[^\W\d_]{2})))?",
    re.IGNORECASE,
)
"""The bullet and the number of a list's entry; "3.5 mm" and "2:1" are none."""


def decomposer(services: Services) -> Handler:
    """Sub-questions as sub-queries. The question itself is always the first, whatever fails."""
    agent = Agent(name="decomposer", phase="planning")

    async def decompose(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        question = handoff["original_query"]
        material = {"question": question, "most_questions": MOST_QUESTIONS}
        try:
            result = await agent.call(
                services,
                material,
                ctx,
                fallback=lambda: {"questions": [question]},
                windows=handoff.get("model_windows"),
            )
        except ProviderError as error:
            result = AgentResult(output={"questions": [question]}, degraded=f"no model answered: {error}")
        return {
            "sub_queries": [sub_query.to_json() for sub_query in _sub_queries(question, result.output["questions"])],
            "degraded": result.degradations(agent.name, ctx),
        }

    return decompose


def _sub_queries(question: str, rows: Sequence[str]) -> list[SubQuery]:
    texts = [" ".join(question.split()), *(" ".join(_NUMBERED.sub("", row).split()) for row in rows)]
    distinct = {text.casefold(): text for text in reversed(texts) if text}
    ordered = [distinct[key] for key in dict.fromkeys(text.casefold() for text in texts if text)]
    return [
        SubQuery(id=sub_query_id(1, number), query=text, priority=number)
        for number, text in enumerate(ordered[:MOST_QUESTIONS], start=1)
    ]
