"""The search providers by name. A new one is a file with its `SearchSpec` and a line in `SEARCHES`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph_research.providers.search import (
    arxiv,
    crossref,
    google,
    openalex,
    pubmed,
    searxng,
    semantic_scholar,
    tavily,
    wikipedia,
)
from graph_research.providers.search.base import LOCAL, MCP, SCRIPTED
from graph_research.providers.search.spec import SearchSpec


@dataclass(frozen=True)
class SearchCatalog:
    """Specs in the order in which they are listed and, where no search is named, asked."""

    specs: tuple[SearchSpec, ...]

    def find(self, name: str) -> SearchSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.specs)

    @property
    def web(self) -> tuple[SearchSpec, ...]:
        """The searches that `web` stands for."""
        return tuple(spec for spec in self.specs if spec.in_web)

    @property
    def keyless(self) -> tuple[str, ...]:
        """The names of those that can be used without any key or setting."""
        return tuple(spec.name for spec in self.specs if not spec.keys and not spec.required_settings)

    @property
    def kinds(self) -> Mapping[str, str]:
        """Everything that a search can be named by, with what it finds and needs."""
        return {
            LOCAL: "the local library: text, web pages, PDF, office files, books, mails, notebooks and code",
            "web": f"{', '.join(spec.name for spec in self.web)}, as far as their keys are set",
            **{spec.name: f"{spec.summary} ({spec.content}); {spec.needs}" for spec in self.specs},
            MCP: "mcp:NAME, the search tool of an MCP server of the setting mcp_servers; what its server needs",
            SCRIPTED: "scripted:FILE answers from a JSON file, for tests and your own graphs",
        }

    @property
    def key_purposes(self) -> Mapping[str, str]:
        """Every key of a search, and what it adds."""
        return {key: purpose for spec in self.specs for key, purpose in spec.key_purposes.items()}


SEARCHES = SearchCatalog(
    (
        tavily.SPEC,
        google.SPEC,
        semantic_scholar.SPEC,
        arxiv.SPEC,
        openalex.SPEC,
        crossref.SPEC,
        pubmed.SPEC,
        wikipedia.SPEC,
        searxng.SPEC,
    )
)
