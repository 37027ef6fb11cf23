"""The source summarizer: what a source says that is too long to be shown, with excerpts that code finds in its text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import ProviderError
from graph_research.providers.llm.base import Model
from graph_research.research.digest.eligibility import DigestPolicy
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.quotes import find_quote
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.fidelity import level_of
from graph_research.research.models.source import Source
from graph_research.research.research_settings import ResearchSettings
from graph_research.research.retrieval.reading import Reading, aspects_of, chars_of_each
from graph_research.research.retrieval.summarization import InTime, SharedReplies, TimeLimit, condenses
from graph_research.text.document import Document
from graph_research.text.locators import make_locator

MOST_EXCERPTS = 5

SHARE = 0.25
"""Of the text that is shown, what its summary may take; with its excerpts it is 25 to 30 %."""

_CHARS_A_WORD = 6
_OUTPUT_TOKENS = 4_096


@dataclass(frozen=True, kw_only=True)
class _Summary:
    """The summary of one source; `source` is None where the model gave nothing usable."""

    source: Source | None
    tokens: int = 0
    dropped: int = 0
    degraded: tuple[dict[str, Any], ...] = ()


def source_summarizer(services: Services) -> Handler:
    """Summarize the sources whose texts do not fit a prompt, and where topics are read or sources digested have no
    found passage that does, at the same time as far as the settings allow. One text is summarized once a run: a summary
    of an earlier round (`summarized`) is taken over, and researchers at the same time share one, or its failure. A
    source whose summary fails or takes too long stays as it is, and that is recorded; the text in the archive never
    changes."""
    shared = SharedReplies()
    agent = Agent(
        name="source_summarizer",
        role="summarization",
        phase="gathering",
        repairs=0,
        max_output_tokens=_OUTPUT_TOKENS,
        sections=(Section(name="text", noun="source text"),),
    )

    async def summarize(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        settings = services.settings
        wanted = settings.fetch_time_summarization and condenses(services.models, ctx.role or agent.role, agent.phase)
        sources = [Source.model_validate(row) for row in handoff["sources"]] if wanted else []
        cached = settings.summarization_cache_enabled
        known = {row["archive_hash"]: row for row in handoff.get("summarized") or [] if cached}
        shown = chars_of_each(settings, [source.characters for source in sources])
        too_long = [source for source in sources if _needs_summary(source, settings, shown)]
        reused = [_reused(source, known[source.archive_hash]) for source in too_long if source.archive_hash in known]
        long = [source for source in too_long if source.archive_hash not in known]
        if not long:
            rows = [source.to_json() for source in reused]
            return {"sources": rows, "condensed": [], "tokens": 0, "degraded": []}
        documents = await read_documents(long, ctx)
        slots = asyncio.Semaphore(settings.max_concurrent)

        async def summarize_one(source: Source) -> _Summary:
            key = (ctx.run_id, source.archive_hash, handoff["original_query"])
            limit = TimeLimit(settings.summarization_timeout)

            def hurried(model: Model) -> Model:
                in_time = InTime(model, limit)
                return shared.of(in_time, key) if cached else in_time

            async with slots:
                own = replace(services, models=services.models.wrapped(hurried))
                return await _summary(agent, own, source, documents[source.id], handoff, ctx)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(summarize_one(source)) for source in long]
        return _output(long, [task.result() for task in tasks], reused, handoff)

    return summarize


def _needs_summary(source: Source, settings: ResearchSettings, most_chars: int) -> bool:
    """Whether the text does not fit into the `most_chars` that a prompt shows, and nothing else makes it fit: no later
    step reads it in passages, or none of the passages that were found in it fits."""
    too_long = source.characters > max(most_chars, settings.summarization_min_chars - 1)
    if not too_long or "summary" in source.metadata:
        return False
    is_read_later = settings.topic_compression or settings.digest.policy is not DigestPolicy.OFF
    passages = source.metadata.get("passages") or ()
    return not is_read_later or all(end - start > most_chars for start, end, _ in passages)


def _reused(source: Source, earlier: Mapping[str, Any]) -> Source:
    """The source with the summary that its text got in an earlier round."""
    summary = {name: earlier["metadata"][name] for name in ("summary", "excerpts")}
    update = {"content": earlier["content"], "fidelity": level_of(len(earlier["content"]) / source.characters).value}
    return source.model_copy(
        update={**update, "metadata": {"gathered_fidelity": source.fidelity, **source.metadata, **summary}}
    )


async def _summary(
    agent: Agent, services: Services, source: Source, document: Document, handoff: Mapping[str, Any], ctx: Context
) -> _Summary:
    looked_for = (handoff.get("sub_query") or {}).get("query") or handoff["original_query"]
    most_chars = services.settings.summarization_chars
    reading = Reading([source], {source.id: document}, aspects_of([looked_for]))
    text = reading.text(source.id, most_chars)
    material = {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["original_query"],
        "sub_query": looked_for,
        "title": source.title,
        "text": text,
        "most_words": int(len(text) * SHARE) // _CHARS_A_WORD,
        "most_excerpts": MOST_EXCERPTS,
    }
    try:
        result = await agent.call(services, material, ctx, windows=handoff.get("model_windows"))
    except ProviderError as error:
        reason = f"{source.id} is shown as it is: {error}"
        return _Summary(source=None, degraded=({"node": ctx.path, "agent": agent.name, "reason": reason},))
    excerpts, dropped = _proved(result.output["key_excerpts"], document)
    return _Summary(
        source=_summarized(source, " ".join(result.output["executive_summary"].split()), excerpts),
        tokens=result.tokens,
        dropped=dropped,
        degraded=tuple(result.degradations(agent.name, ctx)),
    )


def _proved(quotes: list[str], document: Document) -> tuple[list[dict[str, str]], int]:
    """The excerpts that stand in the text, as they stand there, and how many do not."""
    places = [find_quote(document.text, quote) for quote in quotes]
    found = sorted({place for place in places if place is not None}, key=places.index)[:MOST_EXCERPTS]
    excerpts = [{"text": document.text[slice(*place)], "locator": make_locator(document, *place)} for place in found]
    return excerpts, sum(place is None for place in places)


def _summarized(source: Source, summary: str, excerpts: list[dict[str, str]]) -> Source:
    parts = [f"Summary, not to be quoted: {summary}"]
    if excerpts:
        parts += ["Excerpts, word for word:", *(excerpt["text"] for excerpt in excerpts)]
    content = "\n\n".join(parts)
    made = {"summary": summary, "excerpts": excerpts}
    return source.model_copy(
        update={
            "content": content,
            "fidelity": level_of(len(content) / max(source.characters, 1)).value,
            "metadata": {"gathered_fidelity": source.fidelity, **source.metadata, **made},
        }
    )


def _output(
    sources: Sequence[Source], summaries: Sequence[_Summary], reused: Sequence[Source], handoff: Mapping[str, Any]
) -> dict[str, Any]:
    done = [summary.source for summary in summaries if summary.source is not None]
    account = {
        "kind": "summary",
        "sub_query_id": (handoff.get("sub_query") or {}).get("id") or "",
        "texts": [
            {"hash": source.archive_hash, "done": summary.source is not None, "excerpts_dropped": summary.dropped}
            for source, summary in zip(sources, summaries, strict=True)
        ],
    }
    return {
        "sources": [source.to_json() for source in [*reused, *done]],
        "condensed": [account],
        "tokens": sum(summary.tokens for summary in summaries),
        "degraded": [entry for summary in summaries for entry in summary.degraded],
    }
