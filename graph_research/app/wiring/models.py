"""Models from their specs: the models behind each role, and what a run asks that names none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from graph_research.errors import suggestion
from graph_research.providers.clients import Clients
from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm.base import Model
from graph_research.providers.llm.catalog import HOSTINGS, MODEL_PROVIDERS
from graph_research.providers.llm.model_spec import EXTRACTIVE, ModelSpec, parse_spec
from graph_research.providers.llm.provider_spec import ModelProviderSpec, window_in
from graph_research.research.llm.model_router import ModelRouter
from graph_research.settings.config import Settings


def _extractive(_spec: ModelSpec, clients: Clients) -> Model:
    """Imported with its first use: most commands ask no model, and its stemmer takes long to load."""
    from graph_research.research.extractive.model import ExtractiveModel
    from graph_research.text.relevance.embedding import load_embedder

    named = clients.settings.embedding_model
    return ExtractiveModel(load_embedder(named) if named else None)


MODELS: Mapping[str, ModelProviderSpec] = {
    EXTRACTIVE: ModelProviderSpec(
        name=EXTRACTIVE,
        usage=EXTRACTIVE,
        summary="sentences selected word for word by code, the same bytes each time",
        needs="nothing",
        build=_extractive,
    ),
    **MODEL_PROVIDERS,
}
"""Every kind of model by its name."""


def build_router(models: Sequence[str], roles: Mapping[str, Sequence[str]], clients: Clients) -> ModelRouter:
    """The models behind each role; one spec is built once, however many roles name it.

    `UnknownModel`, `KeyMissing` and `CommandMissing` say which spec cannot be used and what it lacks.
    """
    if not models:
        raise UnknownModel("no model is named", help="use extractive, which needs no key, or scripted:FILE")
    named = dict.fromkeys([*models, *(spec for specs in roles.values() for spec in specs)])
    built = {spec: build_model(spec, clients) for spec in named}
    return ModelRouter(
        quoting=built.get(EXTRACTIVE) or build_model(EXTRACTIVE, clients),
        default=tuple(built[spec] for spec in models),
        roles={role: tuple(built[spec] for spec in specs) for role, specs in roles.items()},
    )


def build_model(spec: str, clients: Clients) -> Model:
    """The model that `spec` names. Nothing is asked of it yet."""
    parsed = parse_spec(spec)
    provider = MODELS.get(parsed.kind)
    if provider is None or (parsed.kind == EXTRACTIVE and parsed.text != EXTRACTIVE):
        usages = ", ".join(provider.usage for provider in MODELS.values())
        raise UnknownModel(f"no model {spec[:80]!r}", help=f"{suggestion(parsed.kind, MODELS)}write {usages}")
    return provider.build(parsed, clients)


def window_tokens(spec: str, settings: Settings) -> int | None:
    """The window of the model that a spec names, as far as it can be known without asking it."""
    return window_in(parse_spec(spec), settings)


def hosts_of(specs: Iterable[str]) -> set[str]:
    """The hosts that models of these specs are asked at; a spec that means nothing has none."""
    hosts = set()
    for text in specs:
        try:
            spec = parse_spec(text)
        except UnknownModel:
            continue
        hosting = HOSTINGS.get(spec.kind)
        hosts.add(urlsplit(spec.url or (hosting.base_url if hosting else "")).hostname or "")
    return hosts - {""}
