"""Which models serve whom: a role's own list, else the phase's, else the default one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import ProviderError
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.providers.llm.model_spec import EXTRACTIVE


class NoQuotingModel(ProviderError):
    """No model in this process selects quotations."""


@dataclass(frozen=True, kw_only=True)
class ModelRouter:
    """Lists of models in the order in which they are tried."""

    default: Sequence[Model]
    roles: Mapping[str, Sequence[Model]] = field(default_factory=dict)
    """By role and by phase; no phase is called as a role is."""
    quoting: Model | None = None
    """The model in this process that selects quotations; None where no research is driven."""

    def models(self, role: str, phase: str = "") -> Sequence[Model]:
        """The role's list, else that of the phase, else the default one."""
        return self.roles.get(role) or self.roles.get(phase) or self.default

    async def quoted(self, agent: str, material: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        """What the `quoting` model answers as `agent`, whatever serves the role. It is recorded, since an embedding
        model may have ranked its sentences. `NoQuotingModel` where there is none."""

        async def select() -> Any:
            if self.quoting is None:
                raise NoQuotingModel(f"{agent}: no model in this process", provider=EXTRACTIVE)
            request = ModelRequest(agent=agent, role="", system="", user="", material=material)
            return orjson.loads((await self.quoting.complete(request)).text)

        answer: dict[str, Any] = await ctx.call(CallKind.QUOTATIONS.value, {"agent": agent}, select)
        return answer

    def every(self) -> Iterator[Model]:
        """Each list's models, the default's first."""
        yield from self.default
        for models in self.roles.values():
            yield from models

    def wrapped(self, wrap: Callable[[Model], Model]) -> ModelRouter:
        """The same lists, each model behind `wrap`."""
        return ModelRouter(
            default=tuple(map(wrap, self.default)),
            roles={role: tuple(map(wrap, models)) for role, models in self.roles.items()},
            quoting=self.quoting,
        )
