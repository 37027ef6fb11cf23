"""Which models serve whom: a role's own list, else the phase's, else the default one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import ProviderError
from graph_research.providers.http.host_names import names_of_server
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.providers.llm.model_spec import EXTRACTIVE, url_of, without_address


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

    def name_of(self, model: Model) -> str:
        """What a run's state calls a model: its spec without the address, which only whoever runs its server may know.
        Where several servers have a model of that name, their number in the order of the lists stands behind it."""
        return self._names.get(model.spec, without_address(model.spec))

    def without_addresses(self, text: str) -> str:
        """A message in which the models' servers are called by the models' names."""
        for address, name in self._addresses.items():
            text = text.replace(address, name)
        return text

    @cached_property
    def _addresses(self) -> Mapping[str, str]:
        """What messages may say of the models' addresses, and what stands for it, the longest first."""
        said: dict[str, str] = {}
        for spec, name in self._names.items():
            if servers := names_of_server(url_of(spec)):
                said[spec] = name
                said |= {server: f"the server of {name}" for server in servers if server not in said}
        return {address: said[address] for address in sorted(said, key=len, reverse=True)}

    @cached_property
    def _names(self) -> Mapping[str, str]:
        specs: dict[str, list[str]] = {}
        for spec in dict.fromkeys(model.spec for model in self.every()):
            specs.setdefault(without_address(spec), []).append(spec)
        return {
            spec: name if len(same) == 1 else f"{name} ({number})"
            for name, same in specs.items()
            for number, spec in enumerate(same, 1)
        }

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
