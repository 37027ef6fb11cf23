"""The extractor: reads sources that were found, once, and gives notes, findings with quotes, and what was missing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import BudgetReached, ProviderError
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.findings import proved_findings
from graph_research.research.evidence.quotes import QuoteFinder, any_quote_stands, attributed
from graph_research.research.llm.phase_budget import topic_chars
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section, own_chars
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.source import Source, folders_apart
from graph_research.research.retrieval.reading import Reading, aspects_of, named_in
from graph_research.research.retrieval.summarization import condenses
from graph_research.research.retrieval.unread import Span, read_spans, record_read, unread_part, without_passages
from graph_research.research.scoring.versions import older_release
from graph_research.text.document import Document

LEAST_CHARS = 600
"""Less of a source is not worth reading for findings."""

MOST_LIMITS = 8

_MOST_FINDINGS, _CHARS_OF_A_FINDING = 12, 4_000
"""An answer may have so many findings; where much is read, one for each so many characters."""

_MOST_OF_ONE = 4
"""One source takes at most this fraction of the room for open questions, which are about different things."""

_SHARES = (1.0, 0.5, 0.25)
"""Of the room for texts; where the budget has none for a call with all of it, less is read."""

_NUMBERS = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")


def extractor(services: Services) -> Handler:
    """Notes, findings and limits of one topic, in one call. Where no model extracts, or no usable answer comes, there
    are none, and the analyzer reads the sources itself. Sources in `read_before` are not read again, and with
    `only_unread` nothing of one that was read in part. For open `gaps`
    and the `limits` that name a source the best passages of all sources are read, and no other source is shown;
    `answered_gaps` and `answered_limits` are those that a finding answers."""

    async def extract(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        settings = services.settings
        read = set(handoff.get("read_before") or ())
        unread = [Source.model_validate(row) for row in handoff["sources"] if row["id"] not in read]
        sources = [source for source in unread if not source.metadata.get("lists_names")] or unread
        wanted = settings.topic_compression and condenses(services.models, ctx.role or "compression", "gathering")
        if not wanted or not sources:
            return _output(handoff)
        documents = await read_documents(sources, ctx)
        earlier = {source.id: read_spans(source) for source in sources} if handoff.get("only_unread") else {}
        rest = await asyncio.to_thread(_rest, sources, documents, earlier)
        sources = [source for source in sources if source.id not in rest or len(rest[source.id].text) >= LEAST_CHARS]
        if not sources:
            return _output(handoff)
        asked = [*handoff["queries"], *(handoff["sub_query"].get("look_for") or ())]
        aspects = aspects_of(asked, handoff.get("checklist") or (), handoff.get("other_topics") or ())
        limits, lacking = _lacking(handoff, sources)
        competing = {source.id for source in sources} if handoff.get("gaps") else set(rest)
        in_part = {source.id for source in sources if source.id in competing and "shown_share" in source.metadata}
        read_of = [without_passages(source) if source.id in rest else source for source in sources]
        reading = await asyncio.to_thread(
            Reading, read_of, {**documents, **rest}, aspects, lacking, competing, "\n".join(asked)
        )
        agent = _agent(services, reading)
        refused = ""
        for share in _SHARES:
            texts = await asyncio.to_thread(_texts, services, handoff, reading, share)
            shown = [source for source in sources if texts[source.id]]
            if not shown:
                return _output(handoff)
            material = {**_material(handoff, shown, texts), "limits": limits}
            try:
                result = await agent.call(
                    services,
                    {**prompt_context(handoff.get("report_options"), ctx), **material},
                    ctx,
                    windows=handoff.get("model_windows"),
                )
                break
            except BudgetReached as error:
                refused = error.message
            except ProviderError as error:
                return _failed(handoff, [_unread(handoff, str(error), ctx)])
        else:
            noted = {**_unread(handoff, refused, ctx), "kind": DegradationKind.BUDGET.value}
            return _output(handoff, degraded=[noted])
        measured = [source for source in sources if source.id in rest or source.id not in in_part]
        return _read(result, handoff, shown, measured, documents, earlier, ctx)

    return extract


def _rest(
    sources: Sequence[Source], documents: Mapping[str, Document], earlier: Mapping[str, Sequence[Span]]
) -> dict[str, Document]:
    """What is unread of each source that was read in part."""
    return {
        source.id: unread_part(documents[source.id], earlier[source.id]) for source in sources if earlier.get(source.id)
    }


def _lacking(handoff: Mapping[str, Any], sources: Sequence[Source]) -> tuple[list[str], dict[str, list[str]]]:
    """The limits of earlier readings that name one of the sources, and what they say of each, by its id."""
    titles = {source.id: source.title for source in sources}
    limits: list[str] = []
    lacking: dict[str, list[str]] = {}
    for limit in handoff.get("limits") or ():
        names, text = named_in(limit, titles)
        limits += [limit] if names else []
        for name in names:
            lacking.setdefault(name, []).append(text)
    return limits, lacking


def _agent(services: Services, reading: Reading) -> Agent:
    """The agent for these sources. In a window that is too small for all of them, each is shortened to its passages."""

    def shorter(row: Mapping[str, Any], most_chars: int) -> str:
        return reading.text(row["id"], most_chars)

    return Agent(
        name="extractor",
        role="compression",
        phase="gathering",
        max_output_tokens=services.settings.report_output_tokens,
        sections=(
            Section(name="sources", noun="source", text="text", least_chars=LEAST_CHARS, shorten=shorter),
            Section(name="queries", noun="query"),
            Section(name="look_for", noun="entry", keep=0),
        ),
        settle=_settled,
    )


def _texts(services: Services, handoff: Mapping[str, Any], reading: Reading, share: float) -> dict[str, str]:
    """The text that is read of each source, by id, with so much of the room. Where open questions are looked up, most
    sources give nothing."""
    most_each = services.settings.source_chars
    whole = topic_chars(services, handoff.get("topic_count", 1), handoff.get("model_windows"))
    room = int(share * min(whole, handoff.get("most_chars") or whole))
    if not handoff.get("gaps"):
        return reading.texts(most_chars=room, most_each=most_each, least_each=LEAST_CHARS)
    each = room // _MOST_OF_ONE
    return reading.texts(most_chars=room, most_each=min(each, most_each or each), least_each=0)


def _material(handoff: Mapping[str, Any], sources: Sequence[Source], texts: Mapping[str, str]) -> dict[str, Any]:
    folders = folders_apart(sources)
    material = {
        "question": handoff["original_query"],
        "sub_query": handoff["sub_query"]["query"],
        "queries": list(handoff["queries"]),
        "look_for": list(handoff["sub_query"].get("look_for") or []),
        "other_topics": _others(handoff.get("other_topics") or (), sources),
        "checklist": list(handoff.get("checklist") or []),
        "gaps": list(handoff.get("gaps") or []),
        "guidance": handoff.get("guidance"),
        "sources": [
            {
                "n": n,
                "id": source.id,
                "title": source.title,
                "folder": folders.get(source.id, ""),
                "tier": source.tier.value,
                "published_on": source.published_on,
                "older_release": older_release(handoff["original_query"], source, handoff.get("versions") or ()),
                "text": texts[source.id],
            }
            for n, source in enumerate(sources, start=1)
        ],
    }
    return _settled(material)


def _others(topics: Sequence[Mapping[str, Any]], sources: Sequence[Source]) -> list[dict[str, Any]]:
    """What other topics ask, each with the numbers of the sources that are read for it as well."""
    rows = [
        {"query": topic["query"], "sources": [n for n, one in enumerate(sources, 1) if one.id in topic["source_ids"]]}
        for topic in topics
    ]
    return [row for row in rows if row["sources"]]


def _settled(material: dict[str, Any]) -> dict[str, Any]:
    """The material with the number of findings that the answer may have, by how much of the sources it shows, and for
    each source whether what is shown of it begins with its title."""
    rows = material["sources"]
    chars = sum(own_chars(row["text"]) for row in rows)
    return {
        **material,
        "sources": [{**row, "is_titled": row["text"].startswith(row["title"])} for row in rows],
        "most_findings": max(_MOST_FINDINGS, round(chars / _CHARS_OF_A_FINDING)),
    }


def _read(
    result: AgentResult,
    handoff: Mapping[str, Any],
    sources: Sequence[Source],
    measured: Sequence[Source],
    documents: Mapping[str, Document],
    earlier: Mapping[str, Sequence[Span]],
    ctx: Context,
) -> dict[str, Any]:
    """The answer, its findings proved and its notes with numbers of the `sources` that were shown, and how much was
    shown of the `measured` ones, with what was read of them `earlier`."""
    answer = result.output
    sub_query_id, iteration = handoff["sub_query"]["id"], handoff.get("iteration", 1)
    finder = QuoteFinder(handoff["original_query"], {source.id: source for source in sources}, documents)
    rows = attributed(answer["findings"], [source.id for source in sources], documents)
    findings, evidence = proved_findings(rows, finder, iteration, sub_query_id)
    notes = result.degradations("extractor", ctx)
    text = _formatted(answer["notes"], handoff["queries"], sources)
    shown = {row["id"]: row["text"] for row in result.shown.get("sources") or ()}
    marked, records = record_read(measured, shown, documents, earlier, iteration)
    if not findings and (rows or text is None):
        reason = "no finding stands in a source" if rows else "no statement names its source"
        return _failed(handoff, [*notes, _unread(handoff, reason, ctx)], result.tokens)
    answered = _answered(rows, finder)
    gaps, open_limits = (result.shown.get(name) or [] for name in ("gaps", "limits"))
    return _output(
        handoff,
        read_ids=[row["id"] for row in handoff["sources"]],
        compressed_findings=text,
        findings=[finding.to_json() for finding in findings],
        evidence=[one.to_json() for one in evidence],
        answered_gaps=[gap["id"] for n, gap in enumerate(gaps, 1) if n in answered],
        answered_limits=[limit for n, limit in enumerate(open_limits, 1 + len(gaps)) if n in answered],
        limits=[limit for row in answer["limits"] if (limit := " ".join(row.split()))][:MOST_LIMITS],
        sources=[source.to_json() for source in marked],
        content_fidelity=[record.to_json() for record in records],
        quotes_dropped=finder.dropped,
        condensed=[_account(handoff, done=True)],
        tokens=result.tokens,
        degraded=notes,
    )


def _answered(rows: Sequence[Mapping[str, Any]], finder: QuoteFinder) -> set[int]:
    """The numbers of the open questions that findings with a quote which stands in its source answer."""
    return {n for row in rows if any_quote_stands([row], finder.documents) for n in row.get("answers") or ()}


def _output(handoff: Mapping[str, Any], **made: Any) -> dict[str, Any]:
    sub_query_id = handoff["sub_query"]["id"]
    nothing = {"sub_query_id": sub_query_id, "compressed_findings": None, "quotes_dropped": 0, "tokens": 0}
    answered = ("answered_gaps", "answered_limits")
    lists = ("read_ids", "findings", "evidence", "limits", "sources", "content_fidelity", "condensed", "degraded")
    return {**nothing, **{name: [] for name in (*answered, *lists)}, **made}


def _failed(handoff: Mapping[str, Any], degraded: Sequence[Mapping[str, Any]], tokens: int = 0) -> dict[str, Any]:
    return _output(handoff, condensed=[_account(handoff, done=False)], degraded=list(degraded), tokens=tokens)


def _unread(handoff: Mapping[str, Any], problem: str, ctx: Context) -> dict[str, Any]:
    reason = f"the sources of {handoff['sub_query']['id']} are shown as they are: {problem}"
    return {"node": ctx.path, "agent": "extractor", "reason": reason}


def _account(handoff: Mapping[str, Any], *, done: bool) -> dict[str, Any]:
    sub_query_id = handoff["sub_query"]["id"]
    return {"kind": "compression", "sub_query_id": sub_query_id, "done": done}


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
