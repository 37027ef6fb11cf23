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


class TimeLimit:
    """A limit of time that several calls share. It begins with the first of them."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end: float | None = None

    def end(self) -> float:
        """When the time is over, by the clock of the event loop."""
        if self._end is None:
            self._end = asyncio.get_running_loop().time() + self.seconds
        return self._end


class InTime(WrappedModel):
    """A model that must answer within a time limit; else it counts as unavailable, and the journal says so."""

    def __init__(self, model: Model, limit: TimeLimit) -> None:
        super().__init__(model)
        self.limit = limit

    async def complete(self, request: ModelRequest) -> ModelReply:
        try:
            async with asyncio.timeout_at(self.limit.end()):
                return await self.model.complete(request)
        except TimeoutError as error:
            raise ProviderUnavailable(
                f"{self.spec} took longer than {self.limit.seconds:g} seconds", provider=self.spec
            ) from error


@dataclass
class _Slot:
    """The reply to one key, None until there is one, and by spec the models that gave none in time."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reply: ModelReply | None = None
    unavailable: dict[str, ProviderUnavailable] = field(default_factory=dict)


class SharedReplies:
    """The latest replies of models by key, so that callers that ask the same share one reply, or wait but once for a
    model that gives none."""

    def __init__(self) -> None:
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    def of(self, model: Model, key: Hashable) -> Model:
        """The model, which answers a request under `key` with the first reply that any model gave under that key."""
        return _Sharing(model, self._slot(key))

    def _slot(self, key: Hashable) -> _Slot:
        slot = self._slots.setdefault(key, _Slot())
        while len(self._slots) > _MOST_SHARED:
            self._slots.popitem(last=False)
        return slot


class _Sharing(WrappedModel):
    """A model that gives the shared reply where there is one. Its usage is zero then: it was counted the first time."""

    def __init__(self, model: Model, slot: _Slot) -> None:
        super().__init__(model)
        self._slot = slot

    async def complete(self, request: ModelRequest) -> ModelReply:
        slot = self._slot
        async with slot.lock:
            if slot.reply is not None:
                return replace(slot.reply, usage=Usage(), shared=True)
            if self.spec in slot.unavailable:
                raise slot.unavailable[self.spec]
            try:
                slot.reply = await self.model.complete(request)
            except ProviderUnavailable as error:
                slot.unavailable[self.spec] = error
                raise
            return slot.reply
