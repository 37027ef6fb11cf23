"""What the names in a graph resolve to: handlers, functions, types, errors, schemas, subgraphs, prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from graph_research.errors import UserMistake
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
class TemplateName:
    """A value that the templates of a prompt take from the handoff, with the place where they first do: `always`, or
    only on a branch that a template may leave out."""

    name: str
    file: str
    line: int
    always: bool


ResourceKind = Literal["graphs", "prompts", "schemas"]
"""What a resolver finds."""


class TemplateInvalid(UserMistake):
    """A template that does not parse, with its `file` and `line`."""


TemplateReader = Callable[[Resolver, str], Sequence[TemplateName]]
"""The names that the templates of a `prompt:` node's prompt take from its handoff, in the order of the templates.
Raises `TemplateInvalid`."""


@dataclass(frozen=True, kw_only=True)
class Registry:
    """The explicit lists that names in a graph resolve from."""

    handlers: Mapping[str, Handler] = field(default_factory=dict)
    read_only_handlers: Collection[str] = ()
    """Handlers that change nothing of what they are given: they get values of the state itself, all others copies."""
    handoff_checks: Mapping[str, Callable[[Mapping[str, Any]], object]] = field(default_factory=dict)
    """By handler, what raises `UserMistake` for a constant field of its handoff, given alone, that it would refuse
    though it fits the schema."""
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Pure functions for expressions, beside the built-in ones."""
    types: Mapping[str, Any] = field(default_factory=dict)
    """Pydantic models, dataclasses and enums that channels may name."""
    schemas: Resolver = field(default_factory=TextResolver)
    graphs: Resolver = field(default_factory=TextResolver)
    prompts: Resolver = field(default_factory=TextResolver)
    prompter: Prompter | None = None
    template_names: TemplateReader | None = None
    """None where templates are not checked with the graph."""
    hidden: Callable[[ResourceKind, str], str | None] | None = None
    """The file beside a graph that goes by this name and is not read, since the name is taken; None where none is."""
    roles: Collection[str] = ()
    """What `role` of a node may name; empty: anything."""
    errors: Sequence[type[Exception]] = ()
    """What handlers raise that `retry.on` may name, beside the errors of Python and of the engine."""
