"""Proves quotes: each is looked up in its source's archived text, and what does not stand there is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.llm.services import Services
from graph_research.research.models.source import Source


def quote_prover(services: Services) -> Handler:  # noqa: ARG001 -- every maker of handlers is given the services
    """Of `quotes` (`source_id`, `quote`, perhaps `start`, and anything else) those that stand word for word in one of
    `sources`, with `evidence_id`, `title`, `url` and `locator`. It asks no model."""

    async def prove(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources = {row["id"]: Source.model_validate(row) for row in handoff["sources"]}
        documents = await read_documents(list(sources.values()), ctx)
        finder = QuoteFinder(question=handoff.get("question") or "", sources=sources, documents=documents)
        proved = [_proved(given, finder, sources) for given in handoff["quotes"]]
        return {"quotes": _distinct([quote for quote in proved if quote]), "dropped": finder.dropped}

    return prove


def _proved(given: Mapping[str, Any], finder: QuoteFinder, sources: Mapping[str, Source]) -> dict[str, Any] | None:
    evidence = next(iter(finder.evidence([given])), None)
    if evidence is None:
        return None
    source = sources[evidence.source_id]
    return {
        **{name: value for name, value in given.items() if name != "start"},
        "quote": evidence.quote,
        "evidence_id": evidence.id,
        "title": source.title,
        "url": source.url,
        "locator": evidence.locator,
    }


def _distinct(quotes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[str, dict[str, Any]] = {}
    for quote in quotes:
        first.setdefault(quote["evidence_id"], quote)
    return list(first.values())
