"""The seam to a language model: one request, one reply, one method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Model", "ModelReply", "ModelRequest", "Usage"]


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one call as the provider counted them, or 4 characters a token where it did not say."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """What an agent asks of a model.

    `agent` is who asks (`planner`, `analyzer`, …), `role` which model role serves it (`research`, `summarization`,
    `compression`, `reflection`, `report`). `schema` is the JSON Schema the answer must fit, or None for prose.
    `material` is the validated handoff with the documents it refers to, for models that read data instead of
    prose (`extractive`, `scripted`); it never leaves the process. `attempt` counts the repair turns, from 1.
    """

    agent: str
    role: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_output_tokens: int = 4096
    attempt: int = 1
    material: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """The model's text as it came, with its usage."""

    text: str
    usage: Usage
    model: str


class Model(Protocol):
    """A language model. Errors are those of `graph_research.providers.errors`."""

    @property
    def spec(self) -> str:
        """The spec string that names it, such as `extractive` or `openai:gpt-5-mini`; never holds a key."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...
