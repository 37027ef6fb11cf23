"""The compressor: what one researcher found, put in order with a number after each statement, and nothing left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import ProviderError
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.source import Source
from graph_research.research.retrieval.excerpts import reading_of
from graph_research.research.retrieval.summarization import condenses
from graph_research.text.document import Document

_NUMBERS = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")


def compressor(services: Services) -> Handler:
    """Reformat a topic's findings. Where no usable text comes of it the sources stay as they are (null)."""
    agent = Agent(
        name="compressor",
        role="compression",
        phase="gathering",
        max_output_tokens=services.settings.report_output_tokens,
        sections=(Section(name="sources", noun="source", text="text"), Section(name="queries", noun="query")),
    )

    async def compress(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        wanted = services.settings.topic_compression and condenses(services.models, ctx.role or agent.role, agent.phase)
        if not wanted or not handoff["sources"]:
            return {"compressed_findings": None, "condensed": [], "tokens": 0, "degraded": []}
        sources = [Source.model_validate(row) for row in handoff["sources"]]
        documents = await read_documents(sources, ctx)
        whole = [reading_of(source, documents, services.settings.compression_chars) for source in sources]
        chars = min(services.settings.compression_chars, sum(map(len, whole)))
        material = _material(handoff, sources, documents, chars)
        tokens, notes, text, problem = 0, [], None, "no statement names its source"
        try:
            result = await agent.call(services, material, ctx, windows=handoff.get("model_windows"))
        except ProviderError as error:
            problem = str(error)
        else:
            tokens, notes = result.tokens, result.degradations(agent.name, ctx)
            text = _formatted(result.output["notes"], handoff["queries"], sources)
        if text is None:
            reason = f"the sources of {handoff['sub_query']['id']} are shown as they are: {problem}"
            notes = [*notes, {"node": ctx.path, "agent": agent.name, "reason": reason}]
        return {
            "compressed_findings": text,
            "condensed": [
                {
                    "kind": "compression",
                    "sub_query_id": handoff["sub_query"]["id"],
                    "done": int(text is not None),
                    "failed": int(text is None),
                    "excerpts_dropped": 0,
                }
            ],
            "tokens": tokens,
            "degraded": notes,
        }

    return compress


def _material(
    handoff: Mapping[str, Any], sources: Sequence[Source], documents: Mapping[str, Document], chars: int
) -> dict[str, Any]:
    each = max(chars // len(sources), 1)
    return {
        "question": handoff["original_query"],
        "sub_query": handoff["sub_query"]["query"],
        "queries": list(handoff["queries"]),
        "sources": [
            {"n": n, "title": source.title, "text": reading_of(source, documents, each)}
            for n, source in enumerate(sources, start=1)
        ],
    }


def _formatted(notes: Sequence[Mapping[str, Any]], queries: Sequence[str], sources: Sequence[Source]) -> str | None:
    """Queries made, findings with [n], and the list of sources; None where no statement names one of them."""
    findings = [line for note in notes if (line := _line(note, len(sources))) is not None]
    if not findings:
        return None
    listed = [f"[{n}] {source.id} {source.title}" for n, source in enumerate(sources, start=1)]
    parts = (("Queries made", [f"- {query}" for query in queries]), ("Findings", findings), ("Sources", listed))
    return "\n\n".join(f"{heading}:\n" + "\n".join(lines) for heading, lines in parts)


def _line(note: Mapping[str, Any], count: int) -> str | None:
    """A statement with its numbers after it; those that the text holds itself count as well."""
    inline = [int(number) for group in _NUMBERS.findall(note["text"]) for number in re.findall(r"\d+", group)]
    numbers = sorted({n for n in (*note["sources"], *inline) if 1 <= n <= count})
    text = " ".join(_NUMBERS.sub("", note["text"]).split())
    return f"- {text} {''.join(f'[{n}]' for n in numbers)}" if text and numbers else None
