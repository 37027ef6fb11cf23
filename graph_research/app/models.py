"""Model specs become models: `extractive`, `scripted:FILE`, and a plain word on those this version does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from graph_research.app.outside import Outside
from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm.base import Model
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.research.services import ModelRouter

__all__ = ["MODEL_KINDS", "build_model", "build_router", "price"]

MODEL_KINDS: Mapping[str, str] = {
    "extractive": "sentences selected word for word by code; no key, no network, no weights",
    "scripted": "scripted:FILE answers from a JSON file, for tests and your own graphs",
}
"""Every kind that can be built, and what it is."""

_LATER = ("openai", "anthropic", "gemini", "[cli]")


def build_router(models: Sequence[str], roles: Mapping[str, Sequence[str]], outside: Outside) -> ModelRouter:
    """The models behind each role; one spec is built once, however many roles name it. `UnknownModel` names a spec."""
    if not models:
        raise UnknownModel("no model is named", help="use extractive, which needs no key, or scripted:FILE")
    built: dict[str, Model] = {}
    for spec in (*models, *(spec for specs in roles.values() for spec in specs)):
        if spec not in built:
            built[spec] = build_model(spec, outside)
    return ModelRouter(
        default=tuple(built[spec] for spec in models),
        roles={role: tuple(built[spec] for spec in specs) for role, specs in roles.items()},
    )


def build_model(spec: str, outside: Outside) -> Model:  # noqa: ARG001 -- models over HTTP are built with it
    """The model that `spec` names."""
    kind, _, rest = spec.partition(":")
    if spec == "extractive":
        return ExtractiveModel()
    if kind == "scripted" and rest:
        return ScriptedModel.from_file(Path(rest), spec=f"scripted:{Path(rest).name}")
    if spec.startswith(_LATER):
        raise UnknownModel(
            f"model {spec!r} is not available in this version",
            help="use extractive, which needs no key, or scripted:FILE",
        )
    if kind == "scripted":
        raise UnknownModel(f"model {spec!r} names no file", help="write it as scripted:FILE")
    near = difflib.get_close_matches(kind, MODEL_KINDS, n=1)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    raise UnknownModel(f"no model {spec[:80]!r}", help=f"{hint}use extractive or scripted:FILE")


def price(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """USD of a call; 0 for models that run in this process, None where no price is known."""
    in_process = model.partition(":")[0] in MODEL_KINDS
    return 0.0 if in_process or not (input_tokens or output_tokens) else None
