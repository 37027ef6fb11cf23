"""Condensing, the two steps that make less text of much: summaries of sources and the compression of a topic."""

from __future__ import annotations

import asyncio

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.llm.base import Model, ModelReply, ModelRequest, WrappedModel
from graph_research.research.llm.model_router import ModelRouter

_LEVELS = ((0.85, "full"), (0.55, "condensed"), (0.3, "compressed"), (0.15, "key_points"))


def condenses(models: ModelRouter, role: str, phase: str = "") -> bool:
    """Whether `role` has a model that condenses: `extractive` does not, since it quotes whole passages anyway, and a
    script does only where it is named for the role."""
    serving = models.models(role, phase)
    if not serving or serving[0].in_process:
        return False
    return role in models.roles or not serving[0].spec.startswith("scripted")


def fidelity_of(kept_chars: int, whole_chars: int) -> str:
    """The fidelity level that is nearest to the share of a text that is kept."""
    share = kept_chars / max(whole_chars, 1)
    return next((level for least, level in _LEVELS if share >= least), "headline")


class InTime(WrappedModel):
    """A model that must answer within some seconds; else it counts as unavailable, and the journal says so."""

    def __init__(self, model: Model, seconds: float) -> None:
        super().__init__(model)
        self.seconds = seconds

    async def complete(self, request: ModelRequest) -> ModelReply:
        try:
            async with asyncio.timeout(self.seconds):
                return await self.model.complete(request)
        except TimeoutError as error:
            raise ProviderUnavailable(
                f"{self.spec} took longer than {self.seconds:g} seconds", provider=self.spec
            ) from error
