"""Condensing, the two steps that make less text of much: summaries of sources and the extraction of a topic."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field, replace

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.llm.base import Model, ModelReply, ModelRequest, Usage, WrappedModel
from graph_research.research.llm.model_router import ModelRouter

_MOST_SHARED = 256


def condenses(models: ModelRouter, role: str, phase: str = "") -> bool:
    """Whether `role` has a model that condenses: `extractive` does not, since it quotes whole passages anyway, and a
    script does only where it is named for the role."""
    serving = models.models(role, phase)
    if not serving or serving[0].in_process:
        return False
    return role in models.roles or not serving[0].spec.startswith("scripted")


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


@dataclass
class _Slot:
    """The reply on one text, once there is one."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reply: ModelReply | None = None


class SharedReplies:
    """The latest replies of models by what they are on, so that those who want the same at the same time share one."""

    def __init__(self) -> None:
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    def of(self, model: Model, key: Hashable) -> Model:
        """The model, which answers anything on `key` with the first reply that it, or another one, gave to that."""
        slot = self._slots.setdefault(key, _Slot())
        while len(self._slots) > _MOST_SHARED:
            self._slots.popitem(last=False)
        return _Sharing(model, slot)


class _Sharing(WrappedModel):
    """A model that passes on a reply which is there already, without its usage: that was counted where it was made."""

    def __init__(self, model: Model, slot: _Slot) -> None:
        super().__init__(model)
        self._slot = slot

    async def complete(self, request: ModelRequest) -> ModelReply:
        async with self._slot.lock:
            if self._slot.reply is not None:
                return replace(self._slot.reply, usage=Usage())
            self._slot.reply = await self.model.complete(request)
            return self._slot.reply
