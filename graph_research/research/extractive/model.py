"""`extractive`: a model provider without weights, which answers every agent from the structured handoff."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from graph_research.providers.llm.base import ModelReply, ModelRequest, estimated
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.extractive import analyzer, planner, prompt_node, reviews, synthesizer
from graph_research.research.extractive.sources import EMBEDDER
from graph_research.text.relevance.embedding import Embedder

_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "analyzer": analyzer.find,
    "claim_extractor": analyzer.claims,
    "clarifier": planner.clarify,
    "decomposer": planner.decompose,
    "digestor": analyzer.condense,
    "outliner": synthesizer.no_outline,
    "planner": planner.plan,
    "refiner": reviews.refine,
    "reflector": reviews.reflect,
    "supervisor": reviews.supervise,
    "synthesizer": synthesizer.answer,
}


class ExtractiveModel:
    """Deterministic: the same material gives the same bytes. It reads `request.material` and never the prompt.

    A step of a user's own graph is answered as far as `prompt_node` can, and else refused with `ProviderRefused`.
    With an `embedder` sentences are ranked by meaning too.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

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
        material = {**request.material, EMBEDDER: self._embedder}
        if answer is None:
            given = await asyncio.to_thread(prompt_node.answer, request.agent, material, request.schema)
        else:
            given = await asyncio.to_thread(answer, material)
        text = json.dumps(given, ensure_ascii=False, sort_keys=True)
        return ModelReply(text=text, usage=estimated(request, text), model=EXTRACTIVE)
