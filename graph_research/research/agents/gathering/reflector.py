"""The reflector: after each search a turn without search tools, to say what is still missing, if anything."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.plan import Reflection
from graph_research.research.models.source import Source
from graph_research.research.retrieval.query_novelty import asked_before
from graph_research.research.retrieval.reading import chars_of_each
from graph_research.research.retrieval.search import is_local
from graph_research.research.retrieval.second_step import second_step
from graph_research.research.retrieval.summarization import condenses
from graph_research.text.document import Document
from graph_research.text.language.terms import content_terms, occurring
from graph_research.text.language.words import language_of
from graph_research.text.sentences import sentence_spans
from graph_research.text.wording import one_line, shortened

_SECTIONS = (Section(name="found", noun="source", keep=3),)
_SHOWN_CHARS = 160
"""How much of what was found in a source stands in its line."""
_HEADING_CHARS = 90
"""How much of that are headings, at most."""

ENOUGH_SOURCES = 3
"""This many relevant sources are likely enough."""


def reflector(services: Services) -> Handler:
    """Reflect on a topic's searches so far. Fallback: code compares what was found with the words of the sub-query.
    Each search is reflected on, the last one as well, with the titles alone, since nothing is searched for after it; no
    model is asked where the settings switch reflections off."""
    agent = Agent(name="reflector", role="reflection", phase="gathering", sections=_SECTIONS, quotes=True)

    async def reflect(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources, read_before = handoff["sources"], handoff.get("read_before") or ()
        searches_left = max(handoff["max_searches"] - len(handoff["queries"]), 0)
        if not services.settings.topic_reflection:
            stop = Reflection.model_validate(_stop(len(sources), "Reflections are switched off."))
            return {"reflection": stop.to_json(), "tokens": 0, "degraded": []}
        documents = await read_documents([Source.model_validate(row) for row in sources], ctx)
        query = handoff["sub_query"]["query"]
        fresh = {row["id"] for row in handoff.get("fresh", sources)} if searches_left else set()
        found = {row["id"]: _found(row, documents[row["id"]], query) for row in sources if row["id"] in fresh}
        most_chars = chars_of_each(services.settings, [row.get("characters") or 0 for row in sources])
        material = {
            **prompt_context(handoff.get("report_options"), ctx),
            "question": handoff["original_query"],
            "sub_query": handoff["sub_query"]["query"],
            "queries": list(handoff["queries"]),
            "look_for": list(handoff["sub_query"].get("look_for") or []),
            "source_count": len(sources),
            "quality_distribution": dict(sorted(Counter(row["quality"] for row in sources).items())),
            "found": [_line(row, found.get(row["id"], ""), most_chars, read_before) for row in sources],
            "searches_left": searches_left,
            "enough_sources": ENOUGH_SOURCES,
            "is_local": is_local(services.search),
            "guidance": handoff.get("guidance"),
            "second_step": await _second_step(services, handoff, documents) if searches_left else "",
        }
        result = await agent.call(services, material, ctx, windows=handoff.get("model_windows"))
        reflection = _consistent(Reflection.model_validate(result.output), handoff["queries"])
        return {
            "reflection": reflection.to_json(),
            "tokens": result.tokens,
            "degraded": result.degradations(agent.name, ctx),
        }

    return reflect


async def _second_step(services: Services, handoff: Mapping[str, Any], documents: Mapping[str, Document]) -> str:
    """What to search for next where no model says so."""
    sources = handoff["sources"]
    if not sources or condenses(services.models, "reflection", "gathering"):
        return ""
    best = sources[0]
    text = documents[best["id"]].text
    found = " ".join(text[start:end] for start, end, _ in best["metadata"].get("passages") or [(0, len(text), 1.0)])
    held = {row["id"]: documents[row["id"]] for row in sources}
    return await asyncio.to_thread(second_step, handoff["sub_query"]["query"], handoff["queries"], found, held)


def _found(row: Mapping[str, Any], document: Document, query: str) -> str:
    """What was found in a source beside what its title says: the headings above its passages, those of the best ones
    first, and the sentence of them with the most words of the query; its summary in place of that, where it has one."""
    best_first = sorted(row["metadata"].get("passages") or (), key=lambda passage: -passage[2])
    above = (_heading(document, start) for start, _, _ in best_first)
    headings = dict.fromkeys(heading for heading in above if heading and heading not in row["title"])
    sentences_in = partial(sentence_spans, document.text, language=language_of(document.text))
    spans = [span for start, end, _ in best_first for span in sentences_in(start, end)]
    asked = frozenset(content_terms(query))
    sentences = [one_line(document.text[start:end]) for start, end in spans]
    fits = max(
        (sentence for sentence in sentences if sentence not in row["title"]),
        key=lambda sentence: len(occurring(asked, sentence)),
        default="",
    )
    said = row["metadata"].get("summary") or fits or row.get("content") or row.get("snippet") or ""
    named = shortened("; ".join(headings), _HEADING_CHARS)
    return (
        f"{named}: {shortened(one_line(said), _SHOWN_CHARS - len(named))}"
        if named
        else shortened(one_line(said), _SHOWN_CHARS)
    )


def _heading(document: Document, start: int) -> str:
    """The last heading above a place, or at it."""
    above = [block for block in document.blocks if block.kind == "heading" and block.start <= start]
    return one_line(document.text[above[-1].start : above[-1].end]) if above else ""


def _line(row: Mapping[str, Any], found: str, most_chars: int, read_before: Collection[str]) -> str:
    """A source on one line: its title, and where it is new what was found in it and whether its text is too long to be
    read whole; also whether that was read in an earlier round."""
    cut = " [read in passages]" if found and (row.get("characters") or 0) > most_chars else ""
    read = " [read in an earlier round]" if row["id"] in read_before else ""
    return ": ".join(filter(None, [row["title"], found])) + cut + read


def _stop(source_count: int, rationale: str) -> dict[str, Any]:
    return {
        "continue_searching": False,
        "refined_query": None,
        "research_complete": source_count >= ENOUGH_SOURCES,
        "rationale": rationale,
    }


def _consistent(reflection: Reflection, queries: list[str]) -> Reflection:
    """To go on takes a query that was not asked yet; complete means stop, whatever else is said."""
    query = " ".join((reflection.refined_query or "").split())[:1_000]
    go_on = reflection.continue_searching and not reflection.research_complete
    if not go_on or not query or asked_before(query, queries):
        return reflection.model_copy(update={"continue_searching": False, "refined_query": None})
    return reflection.model_copy(update={"refined_query": query})
