"""The model providers by name. A new one is a file with its `ModelProviderSpec` and a line in `MODEL_PROVIDERS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm import anthropic, command_line, gemini, openai, scripted
from graph_research.providers.llm.model_spec import EXTRACTIVE, parse_spec
from graph_research.providers.llm.provider_spec import Hosting, ModelProviderSpec

MODEL_PROVIDERS: Mapping[str, ModelProviderSpec] = {
    spec.name: spec for spec in (anthropic.SPEC, openai.SPEC, gemini.SPEC, command_line.SPEC, scripted.SPEC)
}

HOSTINGS: Mapping[str, Hosting] = {
    name: spec.hosting for name, spec in MODEL_PROVIDERS.items() if spec.hosting is not None
}
"""The servers of the providers that have one, by kind of model."""


def _default_hosting(environ: Mapping[str, str]) -> Hosting | None:
    """The first provider whose key is set: it serves a run that names no model."""
    return next((hosting for hosting in HOSTINGS.values() if environ.get(hosting.key)), None)


def default_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The models of a run that names none: those of the first key that is set, `extractive` without any."""
    hosting = _default_hosting(environ)
    return hosting.default_specs[:1] if hosting else (EXTRACTIVE,)


def why_default(environ: Mapping[str, str]) -> str | None:
    """Why a run that names no model asks one over the network; None where it asks none."""
    hosting = _default_hosting(environ)
    return f"model {hosting.default_specs[0]}, since {hosting.key} is set" if hosting else None


def default_roles(environ: Mapping[str, str], named: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The roles that have models of their own unless the user says otherwise. Where no model is `named`, a cheap one
    summarizes and one for much work verifies; where one of a provider's own server is, its cheap one summarizes, and
    the named ones stand behind it; none for a spec that means nothing."""
    if not named:
        hosting = _default_hosting(environ)
        if hosting is None:
            return {}
        strong, default, cheap = hosting.default_specs
        return {"summarization": (cheap, strong), "verification": (default, strong)}
    try:
        spec = parse_spec(named[0])
    except UnknownModel:
        return {}
    hosting = HOSTINGS.get(spec.kind) if spec.url is None else None
    if hosting is None or not environ.get(hosting.key):
        return {}
    cheap = hosting.default_specs[2]
    return {"summarization": tuple(dict.fromkeys((cheap, *named)))}


def whole_spec(spec: str, role: str = "") -> str:
    """A spec that names a provider only with the model that the provider has for this role."""
    hosting = HOSTINGS.get(spec)
    if hosting is None:
        return spec
    strong, default, cheap = hosting.default_specs
    return {"summarization": cheap, "verification": default}.get(role, strong)
