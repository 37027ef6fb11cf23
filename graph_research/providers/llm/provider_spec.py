"""The description of a model provider that each adapter exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from graph_research.providers.clients import Clients
from graph_research.providers.errors import KeyMissing
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.health_check import Probe
from graph_research.providers.llm.base import Model
from graph_research.providers.llm.http_model import HttpModel, HttpModelConfig
from graph_research.providers.llm.model_data import window_of
from graph_research.providers.llm.model_spec import ModelSpec, checked_model
from graph_research.settings.config import Settings

_SECONDS, OWN_SECONDS = 120.0, 600.0
"""Time limits of a call where the setting `model_timeout` is not set: a model on one's own machine may be slow."""

_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class ModelProviderSpec:
    """Describes a kind of model: `name` stands before the colon of a model spec, `usage` says how such a spec is
    written, `summary` what the model is and `needs` what it cannot do without. `doctor`, `capabilities`, error messages
    and the tables of the documentation follow from it. A provider that is asked over HTTP has a `hosting`."""

    name: str
    usage: str
    summary: str
    needs: str
    build: Callable[[ModelSpec, Clients], Model]
    hosting: Hosting | None = None


@dataclass(frozen=True, kw_only=True)
class Hosting:
    """The provider's own server at `base_url`, whose key stands in the variable `key`. A spec with another address
    names a server of the user's own, which is given the key that the setting `model_keys` names for it.

    `is_reasoning` says by a model's name, and whether it is the provider's own server, if the setting
    `reasoning_effort` applies to it. Where the key is set and no model is named, `strong_model` serves every role but
    that `default_model` verifies and `cheap_model` summarizes, also beside a model of this server that is named.
    """

    kind: str
    key: str
    base_url: str
    key_headers: Callable[[str], Mapping[str, str]]
    is_reasoning: Callable[[str, bool], bool]
    protocol: type[HttpModel[Any]]
    strong_model: str
    default_model: str
    cheap_model: str

    @property
    def default_specs(self) -> tuple[str, str, str]:
        """The specs of the strongest model, of the one for much work, and of the cheapest."""
        return (
            f"{self.kind}:{self.strong_model}",
            f"{self.kind}:{self.default_model}",
            f"{self.kind}:{self.cheap_model}",
        )

    def build(self, spec: ModelSpec, clients: Clients) -> HttpModel[Any]:
        """The model of a spec, not asked yet. `UnknownModel` and `KeyMissing` say what is wrong with the spec."""
        model, official = checked_model(spec), self._is_official(spec)
        key_name = self.key if official else _own_key_name(spec.host, clients.settings)
        key = _key(spec, key_name, clients)
        own_server = spec.url is not None and not official
        seconds = clients.settings.model_timeout or (OWN_SECONDS if own_server else _SECONDS)
        reasoning = self.is_reasoning(model, official)
        return self.protocol(
            HttpModelConfig(
                http=clients.http,
                endpoint=Endpoint(
                    name=spec.host if own_server else spec.kind,
                    base_url=spec.url or self.base_url,
                    headers=self.key_headers(key) if key else {},
                    secrets=(key,) if key else (),
                    attempts=_TRIES,
                    timeout_seconds=seconds,
                    budget_seconds=seconds * _TRIES,
                    remedy=f"check the key and the address of {spec.kind}",
                ),
                spec=spec.text,
                model=model,
                window_tokens=window_in(spec, clients.settings),
                effort=spec.options.get("effort") or (clients.settings.reasoning_effort if reasoning else None),
                key_name=key_name,
                official=official,
            )
        )

    def probe(self, spec: ModelSpec, clients: Clients) -> Probe:
        """A request for the list of models: it shows that the server answers and, where a key is sent, takes it."""
        if self._is_official(spec) and not clients.key(self.key):
            return Probe(endpoint=Endpoint(name=self.kind, base_url=self.base_url), path=self.protocol.models_path)
        return self.build(spec, clients).probe

    def _is_official(self, spec: ModelSpec) -> bool:
        """Whether a spec means the provider's own server; any other scheme, host or port is somebody else's."""
        if spec.url is None:
            return True
        parts, own = urlsplit(spec.url), urlsplit(self.base_url)
        return (parts.scheme.lower(), parts.hostname, parts.port or 443) == (own.scheme, own.hostname, 443)


def window_in(spec: ModelSpec, settings: Settings) -> int | None:
    """The window of a model in tokens under the user's settings, None where it is not known."""
    return window_of(spec, settings.model_context_overrides, overhead_tokens=settings.runtime_overhead)


def _own_key_name(host: str, settings: Settings) -> str:
    """The variable that the user named for this host, with its port or without; empty where none is."""
    names = settings.model_keys
    return names.get(host) or names.get(host.rpartition(":")[0] if ":" in host else host) or ""


def _key(spec: ModelSpec, name: str, clients: Clients) -> str | None:
    if not name:
        return None
    key = clients.key(name)
    if key is None:
        raise KeyMissing(
            f"model {spec.text!r} needs a key, and the variable {name} is not set",
            help=f"set {name}, or use extractive, which needs no key",
        )
    return key
