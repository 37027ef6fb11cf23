"""The model providers by name. A new one is a file with its `ModelProviderSpec` and a line in `MODEL_PROVIDERS`."""

from __future__ import annotations

from collections.abc import Mapping

from graph_research.providers.llm import anthropic, command_line, gemini, openai, scripted
from graph_research.providers.llm.provider_spec import Hosting, ModelProviderSpec

MODEL_PROVIDERS: Mapping[str, ModelProviderSpec] = {
    spec.name: spec for spec in (anthropic.SPEC, openai.SPEC, gemini.SPEC, command_line.SPEC, scripted.SPEC)
}

HOSTINGS: Mapping[str, Hosting] = {
    name: spec.hosting for name, spec in MODEL_PROVIDERS.items() if spec.hosting is not None
}
"""The servers of the providers that have one, by kind of model."""


def default_hosting(environ: Mapping[str, str]) -> Hosting | None:
    """The first provider whose key is set: it serves a run that names no model."""
    return next((hosting for hosting in HOSTINGS.values() if environ.get(hosting.key)), None)
