"""What the names in a graph resolve to: handlers, functions, types, errors, schemas, subgraphs, prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.graph.context import Context
from graph_research.graph.resources import TextResolver

Handler = Callable[[Mapping[str, Any], Context], Awaitable[Mapping[str, Any]]]
"""`async (handoff, ctx) -> output`; it sees neither the state nor the graph."""


class Resolver(Protocol):
    """Finds a named text: a schema (JSON), a graph (YAML) or a prompt (Jinja)."""

    def find(self, name: str) -> tuple[str, str] | None:
        """`(text, file name to show)`, or None. `name` may hold one `.` or `/` parts, never `..`."""
        ...

    def names(self) -> list[str]:
        """Every name that `find` would answer, sorted; used for "did you mean"."""
        ...


class Prompter(Protocol):
    """Runs a `prompt:` node: render the template, ask the role's model, return what fits the schema."""

    async def __call__(
        self,
        prompt: str,
        role: str,
        handoff: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        ctx: Context,
    ) -> Mapping[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Registry:
    """The explicit lists that names in a graph resolve from."""

    handlers: Mapping[str, Handler] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Pure functions for expressions, beside the built-in ones."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """Pydantic models, dataclasses and enums that channels may name."""
    schemas: Resolver = field(default_factory=TextResolver)
    graphs: Resolver = field(default_factory=TextResolver)
    prompts: Resolver = field(default_factory=TextResolver)
    prompter: Prompter | None = None
    errors: Sequence[type[Exception]] = ()
    """What handlers raise that `retry.on` may name, beside the errors of Python and of the engine."""
