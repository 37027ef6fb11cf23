"""What a call of a model costs, by the model's name.

USD for a million tokens as public price tables gave them on 22 November 2026: the standard rate of a short prompt,
without discounts for batches and surcharges for long prompts. Prices change and differ by contract: the setting
`model_price_overrides` replaces any of them, and a model that is in neither has no price (which is not the price 0).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm.model_spec import ModelSpec, parse_spec

__all__ = ["PRICES", "Price", "Prices"]

_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """USD for a million tokens. `cached_input` is the rate of input that the provider had kept; None: as `input`."""

    input: float
    output: float
    cached_input: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached_input_tokens: int = 0) -> float:
        """USD of a call; the cached tokens are among the input tokens."""
        cached = min(cached_input_tokens, input_tokens)
        rate = self.input if self.cached_input is None else self.cached_input
        return ((input_tokens - cached) * self.input + cached * rate + output_tokens * self.output) / _MILLION


def _listed(input: float, cached_input: float, output: float) -> Price:
    return Price(input=input, cached_input=cached_input, output=output)


PRICES: Mapping[str, Price] = {
    "anthropic:claude-fable-5": _listed(10, 1, 50),
    "anthropic:claude-haiku-4-5": _listed(1, 0.1, 5),
    "anthropic:claude-opus-4-5": _listed(5, 0.5, 25),
    "anthropic:claude-opus-4-6": _listed(5, 0.5, 25),
    "anthropic:claude-opus-4-7": _listed(5, 0.5, 25),
    "anthropic:claude-opus-4-8": _listed(5, 0.5, 25),
    "anthropic:claude-opus-5": _listed(5, 0.5, 25),
    "anthropic:claude-opus-5-5": _listed(4, 0.4, 20),
    "anthropic:claude-sonnet-4": _listed(3, 0.3, 15),
    "anthropic:claude-sonnet-4-5": _listed(3, 0.3, 15),
    "anthropic:claude-sonnet-4-6": _listed(3, 0.3, 15),
    "anthropic:claude-sonnet-5": _listed(2, 0.2, 10),
    "anthropic:claude-sonnet-5-5": _listed(2, 0.2, 10),
    "gemini:gemini-2.5-flash": _listed(0.3, 0.03, 2.5),
    "gemini:gemini-2.5-pro": _listed(1.25, 0.125, 10),
    "gemini:gemini-3.1-flash-lite": _listed(0.25, 0.025, 1.5),
    "gemini:gemini-3.1-pro": _listed(2, 0.2, 12),
    "gemini:gemini-3.5-flash": _listed(1.5, 0.15, 9),
    "gemini:gemini-3.6-flash": _listed(0.75, 0.075, 3.75),
    "gemini:gemini-3.7-flash": _listed(0.75, 0.075, 3.75),
    "openai:gpt-4.1": _listed(2, 0.5, 8),
    "openai:gpt-4.1-mini": _listed(0.4, 0.1, 1.6),
    "openai:gpt-4.1-nano": _listed(0.1, 0.025, 0.4),
    "openai:gpt-4o": _listed(2.5, 1.25, 10),
    "openai:gpt-4o-mini": _listed(0.15, 0.075, 0.6),
    "openai:gpt-5": _listed(1.25, 0.125, 10),
    "openai:gpt-5-mini": _listed(0.25, 0.025, 2),
    "openai:gpt-5-nano": _listed(0.05, 0.005, 0.4),
    "openai:gpt-5.1": _listed(1.25, 0.125, 10),
    "openai:gpt-5.2": _listed(1.75, 0.175, 14),
    "openai:gpt-5.4": _listed(2.5, 0.25, 15),
    "openai:gpt-5.4-mini": _listed(0.75, 0.075, 4.5),
    "openai:gpt-5.4-nano": _listed(0.2, 0.02, 1.25),
    "openai:gpt-5.5": _listed(5, 0.5, 30),
    "openai:gpt-5.6-luna": _listed(0.2, 0.02, 1.2),
    "openai:gpt-5.6-sol": _listed(5, 0.5, 30),
    "openai:gpt-5.6-terra": _listed(2, 0.2, 12),
}
"""By `KIND:MODEL`. A name also stands for its dated versions (`…-2025-08-07`, `…-latest`, `…-preview`)."""

_FREE_KINDS = frozenset({"extractive", "scripted"})
_FREE = Price(input=0.0, output=0.0)
_VERSION = re.compile(r"(?:-preview)?(?:-latest|[-@]\d{6,8}|-\d{4}-\d\d-\d\d|-\d\d-\d\d(?:\d\d)?|-\d{3,4})?")


@dataclass(frozen=True)
class Prices:
    """The price table with the user's own prices, which go by whole spec, by `KIND:MODEL` or by the model's name."""

    overrides: Mapping[str, Price] = field(default_factory=dict)

    def __call__(self, model: str, input_tokens: int, output_tokens: int, cached_input_tokens: int = 0) -> float | None:
        """USD of a call: 0 in this process and on the user's own machines, None where no price is known."""
        found = self.price(model)
        if found is None:
            return None if input_tokens or output_tokens else 0.0
        return found.of(input_tokens, output_tokens, cached_input_tokens)

    def price(self, model: str) -> Price | None:
        """The price of the model that a spec names."""
        try:
            spec = parse_spec(model)
        except UnknownModel:
            return None
        named = f"{spec.kind}{spec.command}:{spec.model}"
        for name in (model, named, spec.model):
            if (own := _matching(name, self.overrides)) is not None:
                return own
        if spec.kind in _FREE_KINDS or spec.local:
            return _FREE
        return _matching(named, PRICES) if _at_home(spec) else None


def _at_home(spec: ModelSpec) -> bool:
    """Whether the provider that the table is about serves the model; others sell it at prices of their own."""
    return spec.url is None or spec.host == "api.openai.com"


def _matching(name: str, prices: Mapping[str, Price]) -> Price | None:
    fitting = [one for one in prices if name.startswith(one) and _VERSION.fullmatch(name[len(one) :])]
    return prices[max(fitting, key=len)] if fitting else None
