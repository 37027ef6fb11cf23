"""The description of a search provider that each adapter exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.providers.clients import Clients
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.health_check import Probe
from graph_research.providers.search.http_search import HttpSearch
from graph_research.settings.config import Settings


def _any_answer(clients: Clients, endpoint: Endpoint) -> Probe:  # noqa: ARG001 -- the signature of every spec's probe
    """A request that is not a search: it uses no quota."""
    return Probe(endpoint=endpoint)


@dataclass(frozen=True, kw_only=True)
class SearchSpec:
    """Describes a search provider that is asked over HTTP. Selection, rate limits, `doctor`, `capabilities`, error
    messages and the tables of the documentation follow from it.

    `summary` says what it finds and `content` which text comes with a result. Without each of `keys` (variables of the
    environment) and `required_settings` it cannot be used; `optional_keys` maps a key to what it adds. `in_web` makes
    it one of the searches that `web` stands for. `endpoint` gives its server, also without the keys; `options` are the
    arguments of `adapter` that come from the settings; `probe` is a request free of charge that shows that the server
    answers.
    """

    adapter: type[HttpSearch]
    summary: str
    content: str
    endpoint: Callable[[Clients], Endpoint]
    options: Callable[[Settings], Mapping[str, Any]] = lambda _: {}
    probe: Callable[[Clients, Endpoint], Probe] = _any_answer
    keys: Sequence[str] = ()
    optional_keys: Mapping[str, str] = field(default_factory=dict)
    required_settings: Sequence[str] = ()
    in_web: bool = False

    @property
    def name(self) -> str:
        return self.adapter.name

    @property
    def serves(self) -> frozenset[str]:
        return self.adapter.serves

    def build(self, clients: Clients, endpoint: Endpoint) -> HttpSearch:
        """The provider at an endpoint."""
        return self.adapter(http=clients.http, endpoint=endpoint, **self.options(clients.settings))

    @property
    def needs(self) -> str:
        """What it needs, in words: its keys and settings, or `no key` with what an optional one adds."""
        needed = " and ".join([*self.keys, *self.required_settings]) or "no key"
        return "; ".join([needed, *(f"{adds} with {key}" for key, adds in self.optional_keys.items())])

    @property
    def key_purposes(self) -> dict[str, str]:
        """What each of its keys, required or optional, adds."""
        required = {
            key: ", together with ".join([f"search `{self.name}`", *(other for other in self.keys if other != key)])
            for key in self.keys
        }
        optional = {key: f"{adds} with the search `{self.name}`" for key, adds in self.optional_keys.items()}
        return {**required, **optional}

    def missing(self, environ: Mapping[str, str], settings: Settings) -> tuple[str, ...]:
        """The keys and settings that it cannot be used without and that are not set."""
        unset_keys = [key for key in self.keys if not environ.get(key)]
        return (*unset_keys, *(name for name in self.required_settings if getattr(settings, name) is None))
