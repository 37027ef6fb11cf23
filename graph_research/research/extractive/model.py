"""`extractive`: a model provider without weights, which answers every agent from the structured handoff."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from graph_research.providers.errors import ProviderRefused
from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage
from graph_research.research.extractive import (
    analyzer,
    clarifier,
    pipeline,
    planner,
    refiner,
    reflector,
    supervisor,
    synthesizer,
)

__all__ = ["SPEC", "ExtractiveModel"]

SPEC = "extractive"
_CHARS_A_TOKEN = 4

_ANSWERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "analyzer": analyzer.answer,
    "claim_extractor": pipeline.claims,
    "clarifier": clarifier.answer,
    "decomposer": pipeline.decompose,
    "planner": planner.answer,
    "refiner": refiner.answer,
    "reflector": reflector.answer,
    "supervisor": supervisor.answer,
    "synthesizer": synthesizer.answer,
}


class ExtractiveModel:
    """Deterministic: the same material gives the same bytes. It reads `request.material` and never the prompt.

    Agents it does not know, such as those of a user's own graph, are refused with `ProviderRefused`.
    """

    @property
    def spec(self) -> str:
        return SPEC

    async def complete(self, request: ModelRequest) -> ModelReply:
        answer = _ANSWERS.get(request.agent)
        if answer is None:
            raise ProviderRefused(
                f"the model `extractive` cannot answer the agent {request.agent!r}: it has no language model behind it",
                provider=SPEC,
                help=f"choose a model with --llm, or one of the agents {', '.join(sorted(_ANSWERS))}",
            )
        text = json.dumps(await asyncio.to_thread(answer, request.material), ensure_ascii=False, sort_keys=True)
        usage = Usage(
            input_tokens=(len(request.system) + len(request.user)) // _CHARS_A_TOKEN,
            output_tokens=len(text) // _CHARS_A_TOKEN,
        )
        return ModelReply(text=text, usage=usage, model=SPEC)
