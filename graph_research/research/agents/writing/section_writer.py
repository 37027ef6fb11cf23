"""The section writer: one section of the report, from its findings, their evidence and the sources' own passages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.notes import Note, noted_sources, notes_of, quotes_or_noted
from graph_research.research.agents.writing.passages import nearer
from graph_research.research.agents.writing.section_material import SectionNeeds, section_material, sources_of_section
from graph_research.research.agents.writing.section_text import (
    answered_blocks,
    is_shortened,
    length_note,
    placed,
    section_text,
    too_long,
)
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.contradictions import told_by_writer
from graph_research.research.evidence.quotes import QuoteFinder, attributed
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import ALL_ROWS, Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.draft import (
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    statements_of,
)
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.ids import ShortIds
from graph_research.research.models.outline import OutlineSection
from graph_research.research.models.report_options import MOST_OF_A_SECTION, report_language
from graph_research.research.models.source import Source
from graph_research.research.report.draft import (
    cited_only,
    with_chosen_operands,
    with_evidence_of_rows,
    with_evidence_of_settings,
)
from graph_research.research.report.labels.languages import labels_for
from graph_research.text.document import Document
from graph_research.text.language.words import term_weights

_CERTAINTY = {"confirmed": 4.0, "high": 3.0, "medium": 2.0, "low": 1.0}

_SECTIONS = (
    Section(name="notes", noun="note", text="text", least_chars=80, keep=0),
    Section(name="evidence", noun="quote", text="text", least_chars=0, keep=ALL_ROWS, shorten=nearer),
    Section(name="passages", noun="passage", text="text", least_chars=200, keep=0, shorten=nearer),
    Section(name="limits", noun="limit", keep=0),
    Section(name="gaps", noun="gap", keep=0),
    Section(name="previous", noun="previous version"),
    Section(name="findings", noun="finding", rank=lambda row: _certainty(row) + row["weight"], keep=2),
    Section(name="evidence", noun="quote", rank=lambda row: row["weight"], keep=2),
)
"""What gives way where the window is small: notes and the text around quotes first, the least certain findings with
their evidence last, of equally certain ones those of the sources of the lowest priority; those of protected sources
after all others."""


def _certainty(row: Mapping[str, Any]) -> float:
    return _CERTAINTY.get(str(row["confidence"]), 0.0)


def section_writer(services: Services) -> Handler:
    """The section, null where no model gives one that holds a sentence. `evidence` is new evidence that it cites:
    passages that code offered, and quotes that the writer asked for and that stand in a source. `contradictions` are
    those that it tells of beside the ones it was shown, `answered_gaps` the open questions that sentences answer."""
    agent = Agent(
        name="section_writer",
        role="report",
        phase="synthesis",
        max_output_tokens=services.settings.report_output_tokens,
        sections=_SECTIONS,
        settle=_settled,
    )

    async def write(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        needs = await asyncio.to_thread(SectionNeeds.of, handoff)
        section = needs.section
        sources = {row["id"]: Source.model_validate(row) for row in handoff["sources"]}
        documents = await read_documents(sources_of_section(needs, sources), ctx)
        material = await asyncio.to_thread(section_material, needs, sources, documents)
        result = await agent.call(
            services,
            {**_about(handoff, section, ctx), **material.rows},
            ctx,
            fallback=lambda: {"blocks": [], "quotes": []},
            windows=handoff.get("model_windows"),
            review=lambda answer: too_long(answered_blocks(answer["blocks"]), section.words, MOST_OF_A_SECTION),
        )
        result = _shortened(result, section.words)
        answer = _with_whole_ids(result.output, sources)
        notes = notes_of(handoff["topics"])
        documents = {**documents, **await read_documents(_named_only(answer, notes, sources, documents), ctx)}
        finder = QuoteFinder(handoff["question"], sources, documents)
        keys, asked = _asked(answer, [row["id"] for row in material.rows["sources"]], notes, finder)
        blocks = rewritten(answered_blocks(answer["blocks"]), partial(_resolved, keys))
        if result.broke_off:
            blocks = _without_the_last(blocks)
        known = {**material.evidence, **asked}
        quotes = {row["id"]: row["quote"] for row in handoff["evidence"]} | {n: row.quote for n, row in known.items()}
        blocks, fabricated = cited_only(_verbatim(blocks, known, finder, asked), quotes)
        explained = {row["id"]: row["heading"] for name in ("evidence", "passages") for row in material.rows[name]}
        blocks = _with_evidence(blocks, quotes, [row.id for row in needs.evidence], explained)
        cited = {name for statement in statements_of(blocks) for name in statement.evidence_ids}
        told = _told(answer, keys, known)
        cited |= {name for conflict in told for side in conflict.sides for name in side.evidence_ids}
        blocks = placed(_without_caption(blocks, section.heading), section.id)
        written = DraftSection(heading=section.heading, level=section.level, blocks=blocks, id=section.id)
        return {
            "id": section.id,
            "section": written.to_json() if any(written.statements()) else None,
            "evidence": [row.to_json() for name, row in {**material.fresh, **asked}.items() if name in cited],
            "contradictions": [row.to_json() for row in told],
            "answered_gaps": _answered(result, keys, written),
            "quotes_dropped": finder.dropped,
            "fabricated": fabricated,
            "degraded": [
                *result.degradations(agent.name, ctx),
                *([] if result.by_code else _length_note(section, blocks, agent, ctx)),
            ],
        }

    return write


def _with_evidence(
    blocks: list[Block], quotes: Mapping[str, str], own: Iterable[str], explained: Mapping[str, str]
) -> list[Block]:
    """The blocks, whose cells also cite what states their figures, and whose blocks to copy what names their settings:
    of all `quotes` by id, below the headings that they are `explained` by, those that the section cites, or that are
    its `own`."""
    blocks = with_evidence_of_rows(with_chosen_operands(blocks, quotes), quotes)
    cited = (name for row in statements_of(blocks) for name in row.evidence_ids)
    used = dict.fromkeys([*own, *cited])
    return with_evidence_of_settings(blocks, {name: f"{explained.get(name, '')}\n{quotes[name]}" for name in used})


def _with_whole_ids(answer: Mapping[str, Any], sources: Iterable[str]) -> dict[str, Any]:
    """The answer, whose quotes may also name a source of the run that this section was not shown by its short id."""
    return {**answer, "quotes": ShortIds.of(list(sources)).expand(answer.get("quotes") or [])}


def _named_only(
    answer: Mapping[str, Any], notes: Sequence[Note], sources: Mapping[str, Source], documents: Mapping[str, Document]
) -> list[Source]:
    """The sources of which the answer asks for quotes, itself or by the words of a note, though their texts were not
    among its material."""
    quotes = answer.get("quotes") or []
    named = {name for row in quotes for name in (row["source_id"], *noted_sources(row["quote"], notes))}
    return [source for name, source in sources.items() if name in named and name not in documents]


def _about(handoff: Mapping[str, Any], section: OutlineSection, ctx: Context) -> dict[str, Any]:
    """What the section is to be, and what stands around it."""
    outline = [OutlineSection.model_validate(row) for row in handoff["outline"]]
    draft = handoff.get("draft") or {}
    before = [DraftSection.model_validate(row) for row in draft.get("sections") or []]
    return {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["question"],
        "versions": list(handoff.get("versions") or []),
        "system_prompt": handoff.get("system_prompt"),
        "guidance": handoff.get("guidance"),
        "improvements": list(handoff.get("report_improvements") or []),
        "section": section.to_json(),
        "judgement": labels_for(report_language(handoff.get("report_options"), handoff["question"])).judgement,
        "others": [row.heading for row in outline if row.id != section.id],
        "overall_percent": round(100 * handoff["confidence"]["confidence"]) if handoff.get("confidence") else None,
        "previous": next((section_text(row) for row in before if row.id == section.id), ""),
    }


def _shortened(result: AgentResult, words: int) -> AgentResult:
    """The answer, or the one that was sent back as too long where this is not what it was sent back for."""
    if result.before is None:
        return result
    before, after = (answered_blocks(answer["blocks"]) for answer in (result.before, result.output))
    return result if is_shortened(before, after, words) else replace(result, output=dict(result.before))


def _without_caption(blocks: Iterable[Block], heading: str) -> list[Block]:
    """The blocks without a table's caption that says no more than the heading above."""
    said = term_weights(heading).keys()
    return [
        row.model_copy(update={"caption": ""})
        if row.type is BlockType.TABLE and term_weights(row.caption).keys() <= said
        else row
        for row in blocks
    ]


def _length_note(section: OutlineSection, blocks: Iterable[Block], agent: Agent, ctx: Context) -> list[dict[str, Any]]:
    return length_note(section.heading, blocks, section.words, agent.name, ctx, MOST_OF_A_SECTION)


def _settled(material: dict[str, Any]) -> dict[str, Any]:
    """Only the evidence of what is shown, and only the sources of that; a finding whose quotes say it has no words of
    its own where all of these are shown."""
    sides = [side for row in material["contradictions"] for side in row["sides"]]
    cited = {name for row in (*material["findings"], *sides) for name in row["evidence_ids"]}
    evidence = [row for row in material["evidence"] if row["id"] in cited]
    shown = {row["source"] for row in (*evidence, *material["passages"])}
    quoted = {row["id"] for row in evidence}
    return {
        **material,
        "findings": [
            {**row, "is_quoted": bool(row["is_quoted"] and quoted.issuperset(row["evidence_ids"]))}
            for row in material["findings"]
        ],
        "evidence": evidence,
        "sources": [row for row in material["sources"] if row["n"] in shown],
    }


def _said_of(blocks: Iterable[Block]) -> dict[str, str]:
    """What is said with each evidence id or key: the sentences, of a cell with its whole row."""
    said: dict[str, list[str]] = {}
    for block in blocks:
        sentences = [(row, row.text) for row in block.prose()]
        cells = [(cell, " ".join(other.text for other in row)) for row in block.rows for cell in row]
        for statement, text in (*sentences, *cells):
            for name in statement.evidence_ids:
                said.setdefault(name, []).append(text)
    return {name: " ".join(texts) for name, texts in said.items()}


def _asked(
    answer: Mapping[str, Any], order: Sequence[str], notes: Sequence[Note], finder: QuoteFinder
) -> tuple[dict[str, list[str]], dict[str, Evidence]]:
    """The evidence ids for each key of the quotes that the answer asks for, and that evidence by id."""
    keys: dict[str, list[str]] = {}
    asked: dict[str, Evidence] = {}
    said = _said_of(answered_blocks(answer["blocks"]))
    for row in answer.get("quotes") or []:
        [named] = attributed([{"evidence": [row]}], order, finder.documents)
        [quote] = named["evidence"]
        about = said.get(row["key"], "")
        found = finder.evidence(quotes_or_noted(quote, about, notes, finder.documents), about)
        keys.setdefault(row["key"], []).extend(one.id for one in found)
        asked.update({one.id: one for one in found})
    return keys, asked


def _resolved(keys: Mapping[str, Sequence[str]], statement: Statement) -> Statement:
    """The statement with the evidence of the quotes that were asked for in place of their keys."""
    ids = [one for name in statement.evidence_ids for one in keys.get(name, [name])]
    return statement.model_copy(update={"evidence_ids": list(dict.fromkeys(ids))})


def _told(
    answer: Mapping[str, Any], keys: Mapping[str, Sequence[str]], evidence: Mapping[str, Evidence]
) -> list[Contradiction]:
    """The contradictions that the answer names beside those that it was shown."""
    rows = [
        {
            **row,
            "sides": [
                {**side, "evidence_ids": [one for name in side["evidence_ids"] for one in keys.get(name, [name])]}
                for side in row["sides"]
            ],
        }
        for row in answer.get("contradictions") or []
    ]
    return told_by_writer(rows, evidence)


def _answered(result: AgentResult, keys: Mapping[str, Sequence[str]], written: DraftSection) -> list[dict[str, Any]]:
    """The open questions that the answer names by the numbers shown, each with the sentences that cite their answer."""
    gaps = result.shown.get("gaps") or []
    answered = []
    for row in result.output.get("answered_gaps") or []:
        if 1 <= row["gap"] <= len(gaps):
            cited = {one for name in row["evidence_ids"] for one in keys.get(name, [name])}
            ids = [statement.id for statement in written.statements() if cited & set(statement.evidence_ids)]
            answered.append({"gap": gaps[row["gap"] - 1]["id"], "statements": ids})
    return answered


def _verbatim(
    blocks: Sequence[Block], known: Mapping[str, Evidence], finder: QuoteFinder, asked: dict[str, Evidence]
) -> list[Block]:
    """Quotes that are a part of their evidence, or differ from it in spaces and marks, with evidence of their own."""

    def change(statement: Statement) -> Statement:
        evidence = known.get(statement.evidence_ids[0]) if statement.evidence_ids else None
        if statement.kind is not StatementKind.QUOTE or evidence is None or statement.text == evidence.quote:
            return statement
        dropped = finder.dropped
        found = finder.evidence([{"source_id": evidence.source_id, "quote": statement.text.strip(' "“”„«»')}])
        finder.dropped = dropped
        if not found:
            return statement
        asked[found[0].id] = found[0]
        ids = [found[0].id, *statement.evidence_ids[1:]]
        return statement.model_copy(update={"text": found[0].quote, "evidence_ids": ids})

    return rewritten(blocks, change)


def _without_the_last(blocks: Sequence[Block]) -> list[Block]:
    """The blocks without the sentence in which the answer broke off."""
    *_, last = (None, *statements_of(blocks))
    return rewritten(blocks, lambda statement: None if statement is last else statement)
