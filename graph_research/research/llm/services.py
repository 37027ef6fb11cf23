"""What handlers and agents work with: models by role, search providers, prompts, schemas, settings and hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graph_research.errors import UserMistake
from graph_research.graph.registry import Resolver
from graph_research.graph.values.json_schema import Contract, SchemaInvalid
from graph_research.providers.search.base import SearchProvider
from graph_research.research.allowance import Allowance
from graph_research.research.digest.cache import DigestCache
from graph_research.research.hooks import Hooks, StateReader
from graph_research.research.instructions import InstructionReader
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.research_settings import ResearchSettings

if TYPE_CHECKING:
    from graph_research.providers.web.page_reader import PageCache

_ANSWER = ".answer"


class UnknownSchema(UserMistake):
    """An agent's answer schema that no schema folder holds."""


class AnswerSchemas:
    """Compiled schemas of agents' answers, found by name and compiled once."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._compiled: dict[str, Contract] = {}

    def get(self, name: str) -> Contract:
        """The contract `name`, such as `planner.answer`; `UnknownSchema` where there is none."""
        if name not in self._compiled:
            located = self._resolver.find(name)
            if located is None:
                raise UnknownSchema(f'no schema "{name}"', help=f"add schemas/handoffs/{name}.json")
            self._compiled[name] = Contract(json.loads(located[0]), name, self._resolver)
        return self._compiled[name]

    def compile_all(self) -> None:
        """Compile the schema of every agent's answer; those that are not valid are left to `get`."""
        for name in self._resolver.names():
            if name.endswith(_ANSWER):
                with suppress(SchemaInvalid, json.JSONDecodeError, UserMistake):
                    self.get(name)

    def contract(self, schema: Mapping[str, object], name: str) -> Contract:
        """A contract of a schema that a graph holds itself; `$ref` may name the schemas known here."""
        return Contract(schema, name, self._resolver)


@dataclass(frozen=True, kw_only=True)
class Services:
    """Everything that a research handler may reach. `search` is asked in this order, as far as a query concerns it.

    Without `hooks` every think pause passes without guidance, without `pages` no hit is followed to its page.
    """

    models: ModelRouter
    search: Sequence[SearchProvider]
    prompts: PromptRenderer
    schemas: AnswerSchemas
    settings: ResearchSettings = field(default_factory=ResearchSettings)
    hooks: Hooks | None = None
    read_state: StateReader | None = None
    """Reads the channels that `hooks` see."""
    pages: PageCache | None = None
    allowance: Allowance | None = None
    """Asked before a further round; None: rounds are not limited by what they cost."""
    instructions: InstructionReader | None = None
    """Reads what the user told the run since it began."""
    digests: DigestCache = field(default_factory=DigestCache)
    """Digests that runs of this process made; another run about the same question uses those of the same texts."""
