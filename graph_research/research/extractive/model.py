"""`extractive`: a model provider without weights, which answers every agent from the structured handoff."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from graph_research.providers.llm.base import ModelReply, ModelRequest, estimated
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.extractive import analyzer, planner, prompt_node, reviews, synthesizer

_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "analyzer": analyzer.find,
    "claim_extractor": analyzer.claims,
    "clarifier": planner.clarify,
    "decomposer": planner.decompose,
    "planner": planner.plan,
    "refiner": reviews.refine,
    "reflector": reviews.reflect,
    "supervisor": reviews.supervise,
    "synthesizer": synthesizer.answer,
}


class ExtractiveModel:
    """Deterministic: the same material gives the same bytes. It reads `request.material` and never the prompt.

    A step of a user's own graph is answered as far as `prompt_node` can, and else refused with `ProviderRefused`.
    """

    @property
    def spec(self) -> str:
        return EXTRACTIVE

    @property
    def window_tokens(self) -> int | None:
        return None

    @property
    def in_process(self) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> ModelReply:
        answer = _ANSWERS.get(request.agent)
        if answer is None:
            given = await asyncio.to_thread(prompt_node.answer, request.agent, request.material, request.schema)
        else:
            given = await asyncio.to_thread(answer, request.material)
        text = json.dumps(given, ensure_ascii=False, sort_keys=True)
        return ModelReply(text=text, usage=estimated(request, text), model=EXTRACTIVE)
