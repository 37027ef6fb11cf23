"""The interface to a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.text.tokens import quarter_tokens

_MOST_TOKENS = 10**12
"""More than any call uses, and small enough that sums remain exact in JSON."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one call as counted by the provider, else estimated.

    `cached_input_tokens` is the part of `input_tokens` that the provider had cached; it costs less. `cost_usd` is None
    if the price is unknown or not computed yet.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        """Bound the counts, since a server may send any number."""
        for name in ("input_tokens", "output_tokens", "cached_input_tokens"):
            object.__setattr__(self, name, min(max(getattr(self, name), 0), _MOST_TOKENS))


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """An agent's request to a model.

    `agent` is who asks (`planner`, `analyzer`, …), `role` which model role serves it (`research`, `summarization`,
    `compression`, `reflection`, `report`). `schema` is the JSON Schema the answer must fit, or None for prose.
    `material` is the validated handoff with the documents it refers to, for models that read data instead of
    prose (`extractive`, `scripted`); it never leaves the process. `attempt` counts the repair turns, from 1.
    `on_text`, where it is set, is given the answer piece by piece while it is written, by models that can.
    """

    agent: str
    role: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_output_tokens: int = 4096
    attempt: int = 1
    material: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    on_text: Callable[[str], None] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """The model's unchanged text with its usage. `model` is the spec that answered; `cut` is true if the answer
    ended at a length limit, `shared` if it is that of an earlier call, which alone is counted."""

    text: str
    usage: Usage
    model: str
    cut: bool = False
    shared: bool = False


class Model(Protocol):
    """A language model. Errors are those of `graph_research.providers.errors`."""

    @property
    def spec(self) -> str:
        """The spec string that names it, such as `extractive` or `openai:gpt-5-mini`; never holds a key."""
        ...

    @property
    def window_tokens(self) -> int | None:
        """What a prompt and its answer may take together, None where that is unknown or unlimited."""
        ...

    @property
    def in_process(self) -> bool:
        """True for a model that answers from `request.material` in this process: nothing is sent, fitted or paid."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...


class WrappedModel:
    """Base of a model that answers with another one."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.spec, self.window_tokens, self.in_process = model.spec, model.window_tokens, model.in_process


def estimated(request: ModelRequest, text: str) -> Usage:
    """The estimated usage of a call for which the server sent no counts."""
    return Usage(
        input_tokens=(quarter_tokens(request.system) + quarter_tokens(request.user)) // 4,
        output_tokens=quarter_tokens(text) // 4,
    )
