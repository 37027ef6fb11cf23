"""Prices and context windows of models, from the data that the package genai-prices brings along; nothing is fetched.

The user's own numbers (`model_price_overrides`, `model_context_overrides`) come before these. A model that neither
knows has no price, which is not the price 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm.model_spec import CLI, EXTRACTIVE, SCRIPTED, ModelSpec, parse_spec

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

_SELLERS: Mapping[str, str] = {"anthropic": "anthropic", "openai": "openai", "gemini": "google"}
"""The provider in the data for each kind of model."""

_VERSION = re.compile(r"(?:-preview)?(?:-latest|[-@]\d{6,8}|-\d{4}-\d\d-\d\d|-\d\d-\d\d(?:\d\d)?|-\d{3,4})?\Z")
_WINDOWS: Mapping[str, int] = {
    **dict.fromkeys(("claude", "opus", "sonnet", "haiku"), 200_000),
    **dict.fromkeys(("gemini", "flash", "pro"), 1_048_576),
    **dict.fromkeys(("gpt-5", "gpt-6"), 272_000),
}
"""Tokens by the beginning of a name, for models that the data does not know and names that command lines use."""

_INPUT_OF_WINDOW: Mapping[int, int] = {400_000: 272_000}
"""OpenAI's window of 400,000 tokens takes a prompt of 272,000."""

_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Price:
    """USD for a million tokens, at the standard rate of a short prompt. `cached_input` is the rate of input that the
    provider had kept; None: as `input`."""

    input: float
    output: float
    cached_input: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached_input_tokens: int = 0) -> float:
        """USD of a call; the cached tokens are among the input tokens."""
        cached = min(cached_input_tokens, input_tokens)
        rate = self.input if self.cached_input is None else self.cached_input
        return ((input_tokens - cached) * self.input + cached * rate + output_tokens * self.output) / _MILLION


_FREE = Price(input=0.0, output=0.0)
_FREE_KINDS = frozenset({EXTRACTIVE, SCRIPTED})


@dataclass(frozen=True)
class Prices:
    """The listed prices with the user's own, which go by whole spec, by `KIND:MODEL` or by the model's name."""

    overrides: Mapping[str, Price] = field(default_factory=dict)

    def __call__(self, model: str, input_tokens: int, output_tokens: int, cached_input_tokens: int = 0) -> float | None:
        """USD of a call: 0 in this process and on the user's own machines, None where no price is known."""
        price = self.price(model)
        if price is None:
            return None if input_tokens or output_tokens else 0.0
        return price.of(input_tokens, output_tokens, cached_input_tokens)

    def price(self, model: str) -> Price | None:
        """The price of the model that a spec names."""
        try:
            spec = parse_spec(model)
        except UnknownModel:
            return None
        for name in (model, f"{spec.kind}{spec.command}:{spec.model}", spec.model):
            own = [known for known in self.overrides if name.startswith(known) and _VERSION.match(name, len(known))]
            if own:
                return self.overrides[max(own, key=len)]
        if spec.kind in _FREE_KINDS or spec.local:
            return _FREE
        sold_by_its_maker = spec.url is None or spec.host == "api.openai.com"
        return _price_of(_find(spec.kind, spec.model)) if sold_by_its_maker else None


def window_of(spec: ModelSpec, overrides: Mapping[str, int], *, overhead_tokens: int) -> int | None:
    """The window of a model in tokens, None where it is not known.

    `overrides` go by the beginning of the whole spec or of the model's name. A server at the user's own address serves
    a window of its own whatever its model could take, so that only an override tells it. `overhead_tokens` are what a
    command line itself puts into the window.
    """
    window = _longest(spec.text, overrides) or _longest(spec.model, overrides)
    if window is None and not spec.local:
        name = spec.model.rpartition("/")[2]
        listed = next(filter(None, (_window(_find(kind, name)) for kind in _SELLERS)), None)
        window = listed or _longest(name, _WINDOWS) or _longest(spec.command, _WINDOWS)
    return window if window is None or spec.kind != CLI else max(window - overhead_tokens, 1)


def listed_prices() -> dict[str, Price]:
    """The prices in the data, by `KIND:MODEL`."""
    return {f"{kind}:{model.id}": price for kind, model in _listed() if (price := _price_of(model)) is not None}


def listed_windows() -> dict[str, int]:
    """The windows in the data by model, and those that count for models which it does not know."""
    return {**_WINDOWS, **{model.id: window for _, model in _listed() if (window := _window(model)) is not None}}


def _data() -> Any:
    from genai_prices.data_snapshot import get_snapshot  # takes longer to load than a command that asks no model

    return get_snapshot()


def _listed() -> Iterator[tuple[str, ModelInfo]]:
    sellers = {provider.id: provider for provider in _data().providers}
    return ((kind, model) for kind, seller in _SELLERS.items() for model in sellers[seller].models)


@cache
def _find(kind: str, name: str) -> ModelInfo | None:
    """The model in the data, by its name, without the version at its end or as the preview that it still is."""
    if kind not in _SELLERS or not name:
        return None
    for known in dict.fromkeys((name, _VERSION.sub("", name), f"{name}-preview")):
        try:
            model: ModelInfo = _data().find_provider_model(known, None, _SELLERS[kind], None)[1]
        except LookupError:
            continue
        return model
    return None


def _price_of(model: ModelInfo | None) -> Price | None:
    rates = model.get_prices(datetime.now(UTC)) if model is not None else None
    if rates is None or rates.input_mtok is None or rates.output_mtok is None:
        return None
    cached = None if rates.cache_read_mtok is None else _base(rates.cache_read_mtok)
    return Price(input=_base(rates.input_mtok), output=_base(rates.output_mtok), cached_input=cached)


def _base(rate: Any) -> float:
    """The rate of a short prompt, where that of a long one differs."""
    return float(getattr(rate, "base", rate))


def _window(model: ModelInfo | None) -> int | None:
    window = None if model is None else model.context_window
    return None if window is None else _INPUT_OF_WINDOW.get(window, window)


def _longest(name: str, windows: Mapping[str, int]) -> int | None:
    beginnings = [known for known in windows if name.startswith(known)]
    return windows[max(beginnings, key=len)] if beginnings else None
