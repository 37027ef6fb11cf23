"""The analyzer: joins the topics' findings, says where sources disagree and what is missing, and reads itself what no
topic was read for."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.notes import notes_of, quotes_or_noted
from graph_research.research.budget.allocation import ProtectedTooLarge
from graph_research.research.budget.priority import allotted_chars, least_chars, source_items, weight
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.findings import CONFIDENCE_RANK, Analysed, Known, analyse
from graph_research.research.evidence.quotes import any_quote_stands, attributed
from graph_research.research.graph_functions import first_searches
from graph_research.research.llm.phase_budget import material_chars, topic_chars
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import ALL_ROWS, Section, own_chars
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.fidelity import LOW_FIDELITY, FidelityRecord
from graph_research.research.models.finding import Confidence
from graph_research.research.models.report_options import report_language
from graph_research.research.models.source import Quality, Source, Tier
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.retrieval.excerpts import reading_of
from graph_research.research.retrieval.fidelity import (
    compressed_content,
    content_allocation,
    fidelity_score,
    record_shown,
)
from graph_research.text.document import Document
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import held_weight, term_weights
from graph_research.text.relevance.open_points import single_questions

PHASE = "analysis"

LEAST_CHARS = 300
"""Less of a source is not worth showing."""

KEPT_SOURCES = 6
"""So many sources stay before the topics' notes give way."""

_UNSURE = CONFIDENCE_RANK[Confidence.LOW]

_UNPROVED = "no finding of the answer stands in a source; code selected findings"
_STATEMENT = re.compile(r"^- (.+?)\s*(?:\[\d+\])+$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """The sources by how the prompt shows them: `read` with their texts, since no topic's extraction covers them,
    `listed` by title only."""

    read: Sequence[Source]
    listed: Sequence[Source]

    @classmethod
    def of(cls, handoff: Mapping[str, Any], known: Known) -> _Reading:
        extracted = {name for topic in handoff.get("topics") or [] for name in topic.get("read_ids") or ()}
        ranked = sorted(known.sources.values(), key=lambda source: _reading_order(source, known.iteration))
        unread = [source for source in ranked if source.id not in extracted]
        read = [source for source in unread if source.iteration == known.iteration] if extracted else unread
        return cls(read=read, listed=[source for source in ranked if source.id in extracted])


_UNRATED = f"{Tier.UNVERIFIED.value}, quality {Quality.MEDIUM.value}"


def analyzer(services: Services) -> Handler:
    """Findings, gaps and contradictions of one iteration, scored. Fallback: what code selects from the sources, where
    the topics have no findings.

    Without any source there is nothing to read: then each sub-query is a gap, and no model is asked.
    """

    async def analyze(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        known = Known.of(handoff)
        documents = await read_documents(list(known.sources.values()), ctx)
        if known.sources:
            reading = _Reading.of(handoff, known)
            lengths = _lengths(services, reading.read, documents)
            sure = sum(CONFIDENCE_RANK[row["confidence"]] > _UNSURE for row in handoff.get("findings") or [])
            agent = _agent(services, reading.read, documents, lengths, sure)
            most_chars = _most_chars(services, handoff) if agent.fits_windows(services, ctx) else None
            rows = _rows(services, reading.read, documents, lengths, most_chars)
            ranked = [*reading.read, *reading.listed]
            material = {
                **prompt_context(handoff.get("report_options"), ctx),
                **_material(handoff, rows, reading.listed, known),
                "unshown": [] if most_chars is None or agent.settle is None else _unshown(reading.read, rows),
            }
            local = {
                "sources": [source.to_json() for source in ranked],
                "documents": documents,
                "report_options": handoff.get("report_options"),
            }
            result = await agent.call(
                services,
                material,
                ctx,
                local=local,
                fallback=_no_findings if known.findings and reading.listed else None,
                windows=handoff.get("model_windows"),
            )
            result = _attributed(result, documents)
            if not (any_quote_stands(result.output["findings"], documents) or known.findings or result.by_code):
                selected = await services.models.quoted(agent.name, {**material, **local}, ctx)
                output = {**result.output, "findings": selected["findings"]}
                result = replace(result, output=output, degraded=result.degraded or _UNPROVED)
        else:
            reading, result = _Reading(read=(), listed=()), AgentResult(output=_nothing_read(handoff))
        answer = result.output if handoff.get("rounds_left", 1) else _with_single_gaps(result.output)
        analysed = analyse(_with_noted_sides(answer, handoff, documents), known, documents)
        changed, records = _with_fidelity(analysed.requalified, known, reading, result)
        _warn_of_low_fidelity({**known.sources, **changed}.values(), ctx)
        return {
            **_output(analysed),
            "answered_limits": _answered_limits(result),
            "sources": [source.to_json() for source in changed.values()],
            "content_fidelity": [record.to_json() for record in records],
            "metadata": {
                **content_allocation(records, _room(services, handoff)),
                **compressed_content({**known.sources, **changed}.values()),
            },
            "degraded": result.degradations("analyzer", ctx),
        }

    return analyze


def _agent(
    services: Services,
    read: Sequence[Source],
    documents: Mapping[str, Document],
    lengths: Mapping[str, int],
    sure: int,
) -> Agent:
    """The agent for these sources of `lengths`. In a small window these give way first, as far as the best of them keep
    their share; then the findings beyond the `sure` ones, the least certain first; then sources again, notes and the
    rest. Where no content may be dropped, sources without room are named."""
    by_id = {source.id: source for source in read}

    def shorter(row: Mapping[str, Any], most_chars: int) -> str:
        return reading_of(by_id[row["id"]], documents, most_chars, to_quote=True)

    def allot(rows: Sequence[Mapping[str, Any]], most_chars: int) -> list[int]:
        chosen, dropping = [by_id[row["id"]] for row in rows], services.settings.allow_content_dropping
        try:
            limits = allotted_chars(chosen, lengths, most_chars, allow_dropping=dropping)
        except ProtectedTooLarge:  # in less room than the phase has
            return [most_chars // len(rows)] * len(rows)
        return [limits[source.id] for source in chosen]

    def settle(material: dict[str, Any]) -> dict[str, Any]:
        return {**material, "unshown": _unshown(read, material["sources"])}

    sources = Section(
        name="sources",
        noun="source",
        text="content",
        least_chars=LEAST_CHARS,
        shorten=shorter,
        allot=allot,
        rank=lambda row: weight(by_id[row["id"]]),
    )
    findings = Section(name="findings", noun="finding", rank=lambda row: CONFIDENCE_RANK[row["confidence"]])
    least = least_chars(source_items(read, lengths)) // max(len(read), 1)
    return Agent(
        name="analyzer",
        phase=PHASE,
        quotes=True,
        max_output_tokens=services.settings.report_output_tokens,
        settle=None if services.settings.allow_content_dropping else settle,
        sections=(
            replace(sources, least_chars=max(least, LEAST_CHARS), keep=ALL_ROWS),
            replace(findings, keep=sure),
            replace(sources, least_chars=2 * LEAST_CHARS, keep=KEPT_SOURCES),
            Section(name="topics", noun="topic", text="found", keep=0),
            sources,
            Section(name="listed", noun="title", keep=0),
            findings,
            Section(name="sub_queries", noun="sub-query"),
            Section(name="previous_gaps", noun="earlier gap", keep=0),
        ),
    )


def _most_chars(services: Services, handoff: Mapping[str, Any]) -> int:
    """The characters of sources that a prompt shows at most: as many as this iteration's topics would have read, within
    the analysis's share of the window."""
    topics = [row for row in handoff["sub_queries"] if row["iteration"] == handoff["iteration"]]
    count = max(1, len(topics))
    most = count * topic_chars(services, count, handoff.get("model_windows"))
    room = _room(services, handoff)
    return most if room is None else min(most, room)


def _room(services: Services, handoff: Mapping[str, Any]) -> int | None:
    """The characters of the analysis's share of the window; None where prompts are not fitted."""
    return material_chars(services, "research", PHASE, handoff.get("model_windows"))


def _lengths(services: Services, read: Sequence[Source], documents: Mapping[str, Document]) -> dict[str, int]:
    """The characters of each source where there is room for all that a prompt may show of it."""
    most = services.settings.source_chars or sys.maxsize
    return {source.id: min(len(reading_of(source, documents, sys.maxsize, to_quote=True)), most) for source in read}


def _rows(
    services: Services,
    read: Sequence[Source],
    documents: Mapping[str, Document],
    lengths: Mapping[str, int],
    most_chars: int | None,
) -> list[dict[str, Any]]:
    """The sources as the prompt shows them: together as much as the room allows, which is then fitted to the window; or
    where prompts are not fitted the first ones with their short contents."""
    settings = services.settings
    if most_chars is None:
        return [
            {**source.to_json(), "content": reading_of(source, {}, settings.content_chars)}
            for source in read[: settings.analysis_sources]
        ]
    limits = allotted_chars(read, lengths, most_chars, allow_dropping=settings.allow_content_dropping)
    return [
        {**source.to_json(), "content": reading_of(source, documents, limits[source.id], to_quote=True)}
        for source in read
        if limits[source.id]
    ]


def _unshown(read: Sequence[Source], rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The sources of which the prompt shows no text."""
    shown = {row["id"] for row in rows}
    return [{"id": source.id, "title": _title(source)} for source in read if source.id not in shown]


def _notes(topic: Mapping[str, Any]) -> str:
    return topic.get("compressed_findings") or ""


def _statements(topic: Mapping[str, Any]) -> str:
    """The notes without queries, numbers of sources and the list of them."""
    return "\n".join(f"- {said}" for said in _STATEMENT.findall(_notes(topic)))


def _material(
    handoff: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], listed: Sequence[Source], known: Known
) -> dict[str, Any]:
    """What the prompt shows. Of earlier rounds it lists the findings and the limits that are open, with the quotes only
    of this round's. Of the notes it shows the statements, of the sources that were read those that findings rest on."""
    own = {row["id"] for row in handoff["sub_queries"] if row["iteration"] == known.iteration}
    findings = handoff.get("findings") or []
    all_topics = handoff.get("topics") or []
    topics = [topic for topic in all_topics if topic["sub_query_id"] in own]
    cited = {name for row in findings for name in row["source_ids"]}
    gaps = handoff.get("gaps") or []
    return {
        "question": handoff["original_query"],
        "versions": list(handoff.get("versions") or []),
        "research_brief": handoff.get("research_brief"),
        "checklist": list(handoff.get("checklist") or []),
        "sub_queries": first_searches(handoff["sub_queries"]),
        "sources": list(rows),
        **_of_listed([source for source in listed if source.id in cited]),
        "topics": [{"id": topic["sub_query_id"], "found": _statements(topic)} for topic in topics if _notes(topic)],
        "limits": list(dict.fromkeys(limit for topic in all_topics for limit in topic.get("limits") or [])),
        "findings": [_listed(row, known) for row in findings],
        "previous_gaps": [row for row in gaps if not row["addressed"]],
        "closed_gaps": [row for row in gaps if row["addressed"]],
        "iteration": known.iteration,
        "rounds_left": handoff.get("rounds_left", 1),
        "guidance": handoff.get("guidance"),
    }


def _answered_limits(result: AgentResult) -> list[str]:
    """The limits that the answer names by their numbers in the prompt."""
    limits = result.shown.get("limits") or []
    numbers = dict.fromkeys(result.output.get("answered_limits") or [])
    return [limits[number - 1] for number in numbers if 0 < number <= len(limits)]


def _listed(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """A finding as it is listed, with its quotes where it is of this round."""
    quoted = row["evidence_ids"] if row["iteration"] == known.iteration else ()
    evidence = [known.evidence[name] for name in quoted if name in known.evidence]
    return {**row, "quotes": [{"source_id": one.source_id, "quote": one.quote} for one in evidence]}


def _of_listed(sources: Sequence[Source]) -> dict[str, Any]:
    """The sources `listed` by title, and the tier and quality that most of them have, which `usual` says once."""
    counts = Counter(map(_rating, sources)).most_common(1)
    usual = counts[0][0] if counts else _UNRATED
    return {"listed": [_title(source, usual) for source in sources], "usual": usual}


def _rating(source: Source) -> str:
    return f"{source.tier.value}, quality {source.quality.value}"


def _title(source: Source, usual: str = _UNRATED) -> str:
    rating = "" if _rating(source) == usual else _rating(source)
    facts = ", ".join(filter(None, (rating, source.published_on)))
    named = f"{source.title}, {source.publisher}" if source.publisher else source.title
    return f"{source.id} ({facts}): {named}" if facts else f"{source.id}: {named}"


def _reading_order(source: Source, iteration: int) -> tuple[bool, float, str]:
    """Sources new in this iteration first, then by composite score."""
    return source.iteration != iteration, -source.score.composite, source.id


def _no_findings() -> dict[str, Any]:
    return {"findings": [], "gaps": []}


def _attributed(result: AgentResult, documents: Mapping[str, Document]) -> AgentResult:
    """The result with its quotes under their sources."""
    order = [row["id"] for row in result.shown.get("sources") or ()]
    findings = attributed(result.output["findings"], order, documents)
    return replace(result, output={**result.output, "findings": findings})


def _with_noted_sides(
    answer: Mapping[str, Any], handoff: Mapping[str, Any], documents: Mapping[str, Document]
) -> dict[str, Any]:
    """The answer in which the side of a contradiction that quotes a researcher's note quotes the passages that say it,
    where these state the figures of the side's value."""
    notes = notes_of(handoff.get("topics") or [])

    def proved(side: dict[str, Any], topic: str) -> dict[str, Any]:
        about = f"{topic}: {side['value']}"
        quotes = [one for quote in side["evidence"] for one in quotes_or_noted(quote, about, notes, documents)]
        return side if unstated(side["value"], [row["quote"] for row in quotes]) else {**side, "evidence": quotes}

    rows = answer.get("contradictions") or []
    told = [{**row, "sides": [proved(side, row["topic"]) for side in row["sides"]]} for row in rows]
    return {**answer, "contradictions": told}


def _with_fidelity(
    requalified: Sequence[Source], known: Known, reading: _Reading, result: AgentResult
) -> tuple[dict[str, Source], list[FidelityRecord]]:
    """The sources whose quality or fidelity changed, by id, and what was shown of each that was read: the whole
    text to code that answered, nothing where nobody gave a usable answer."""
    changed = {source.id: source for source in requalified}
    if result.by_code:
        shown = {source.id: source.characters for source in reading.read}
    else:
        named = {row["id"] for row in result.shown.get("unshown") or ()}
        shown = {source.id: len(source.title) for source in reading.read if source.id in named}
        shown |= {row["id"]: own_chars(row["content"]) for row in result.shown.get("sources") or ()}
    now = [changed.get(source.id, source) for source in reading.read]
    marked, records = record_shown(now, shown, phase=PHASE, iteration=known.iteration)
    return changed | {source.id: source for source in marked}, records


def _warn_of_low_fidelity(sources: Iterable[Source], ctx: Context) -> None:
    score = fidelity_score(sources)
    if score < LOW_FIDELITY:
        ctx.emit("content_fidelity.low", score=round(score, 4), least=LOW_FIDELITY)


def _with_single_gaps(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with one gap for each question that a gap asks, so that each is closed by itself: no further round is
    made for it. A suggested query goes to the question that shares most of its words with it."""
    gaps = []
    for row in answer["gaps"]:
        asked = {question: term_weights(question) for question in single_questions(row["description"])}
        queries: dict[str, list[str]] = {question: [] for question in asked}
        for query in row.get("suggested_queries") or []:
            nearest = max(asked, key=lambda question: held_weight(term_weights(query), asked[question]))
            queries[nearest].append(query)
        gaps += [{**row, "description": question, "suggested_queries": queries[question]} for question in asked]
    return {**answer, "gaps": gaps}


def _nothing_read(handoff: Mapping[str, Any]) -> dict[str, Any]:
    labels = labels_for(report_language(handoff.get("report_options"), handoff["original_query"]))
    return {
        "findings": [],
        "gaps": [
            {"description": labels.no_source_for.format(query=row["query"]), "priority": row["priority"]}
            for row in handoff["sub_queries"]
            if row["iteration"] == handoff["iteration"]
        ],
    }


def _output(analysed: Analysed) -> dict[str, Any]:
    return {
        "findings": [finding.to_json() for finding in analysed.findings],
        "evidence": [evidence.to_json() for evidence in analysed.evidence],
        "gaps": [gap.to_json() for gap in analysed.gaps],
        "contradictions": [contradiction.to_json() for contradiction in analysed.contradictions],
        "claims": [claim.to_json() for claim in analysed.claims],
        "confidence": analysed.confidence.to_json(),
        "quality_updates": [
            {"source_id": source.id, "quality": source.quality.value} for source in analysed.requalified
        ],
        "quotes_dropped": analysed.quotes_dropped,
    }
