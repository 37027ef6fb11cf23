"""The editor: reads the sections together and writes what leads through them: summary, conclusions, transitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.comparisons import told_lines
from graph_research.research.agents.writing.section_text import (
    HEADER,
    answered_blocks,
    is_shortened,
    length_note,
    placed,
    places_of,
    section_text,
    too_long,
)
from graph_research.research.agents.writing.summary_sources import with_sources_of_sections
from graph_research.research.evidence.citations import without_markers
from graph_research.research.evidence.doubles import Telling, doubles
from graph_research.research.graph_functions import open_gaps
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.draft import (
    EMPTY_CELL,
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    words_of,
)
from graph_research.research.models.inline_marks import plain_line
from graph_research.research.models.report_options import ReportOptions
from graph_research.research.report.draft import cited_only
from graph_research.research.topic_functions import flatten
from graph_research.text.language.quantities import figures, states
from graph_research.text.language.words import held_weight, term_weights
from graph_research.text.relevance.alike import told_among
from graph_research.text.relevance.leaning import leans_back
from graph_research.text.wording import one_line

_SECTIONS = (
    Section(name="untold", noun="finding", keep=0),
    Section(name="limits", noun="limit", keep=0),
    Section(name="gaps", noun="gap", keep=0),
    Section(name="sections", noun="section", text="text", least_chars=300),
)
_PLACE = re.compile(r"(\w+)\.(\d{1,4})(?:\.(\d{1,4}))?")
_MOST_TITLE_CHARS = 150
_SECTION = re.compile(r"\d{1,4}")


def editor(services: Services) -> Handler:
    """`title` of the report, `summary` and `conclusions` as blocks, `openings` a sentence for some sections, `repeated`
    the sentences and rows to leave out, each with the place that tells the same if one does, `answered_gaps` and
    `answered_limits` what statements answer that is told as open, `inconsistencies` what does not agree with what else
    the report says, `missing` what a reader will look for and no section tells, `found` whether the report answers the
    question. All empty where no model answers."""
    agent = Agent(
        name="editor",
        role="report",
        phase="synthesis",
        max_output_tokens=services.settings.report_output_tokens,
        sections=_SECTIONS,
    )

    async def edit(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sections = [DraftSection.model_validate(row) for row in handoff["sections"]]
        if not sections:
            return {**_nothing(), "fabricated": 0, "degraded": []}
        options = ReportOptions.model_validate(handoff.get("report_options") or {})
        words = options.summary_words
        result = await agent.call(
            services,
            _material(handoff, sections, ctx),
            ctx,
            fallback=_nothing,
            windows=handoff.get("model_windows"),
            review=lambda answer: _too_long(answer, words),
        )
        quotes = {row["id"]: row["quote"] for row in handoff["evidence"]}
        summary, made_up = cited_only(_blocks(result, "summary", words), quotes)
        conclusions, more_made_up = cited_only(_blocks(result, "conclusions", words), quotes)
        summary, conclusions = (
            placed(with_sources_of_sections(blocks, sections, quotes), name)
            for name, blocks in (("summary", summary), ("conclusions", conclusions))
        )
        numbered = {str(n): section for n, section in enumerate(sections, 1)}
        own = {"summary": summary, "conclusions": conclusions}
        parts = {**numbered, **{name: DraftSection(heading=name, blocks=blocks) for name, blocks in own.items()}}
        return {
            "found": result.output.get("found", True),
            "title": _title(result.output.get("title") or "", handoff["question"]),
            "summary": [block.to_json() for block in summary],
            "conclusions": [block.to_json() for block in conclusions],
            "openings": _openings(result.output.get("openings") or [], sections),
            "repeated": _left_out(result, numbered, options.most_section_words),
            "answered_gaps": _answered_gaps(result, open_gaps(handoff.get("gaps") or []), numbered),
            "answered_limits": _answered_limits(result, {**numbered, "limits": _limits_shown(result)}),
            "inconsistencies": _inconsistencies(result.output.get("inconsistencies") or [], parts, ctx),
            "missing": _at_most(_missing(result.output.get("missing") or [], numbered, ctx), options.most_additions),
            "fabricated": made_up + more_made_up,
            "degraded": [
                *result.degradations(agent.name, ctx),
                *([] if result.by_code else length_note("summary", summary, words, agent.name, ctx)),
                *([] if result.by_code else length_note("conclusions", conclusions, words, agent.name, ctx)),
            ],
        }

    return edit


def _nothing() -> dict[str, Any]:
    lists = ("summary", "conclusions", "openings", "repeated", "answered_gaps", "answered_limits", "inconsistencies")
    return {"found": True, "title": "", **{name: [] for name in (*lists, "missing")}}


def _title(given: str, question: str) -> str:
    """The title on one line; empty where it is long, or has a figure that the question lacks, which nothing proves."""
    title, asked = plain_line(given), figures(question)
    is_told = all(any(states(other, figure) for other in asked) for figure in figures(title))
    return title if is_told and len(title) <= _MOST_TITLE_CHARS else ""


def _too_long(answer: Mapping[str, Any], words: int) -> str:
    """What to change where the summary or the conclusions have many more words than they should."""
    problems = {name: too_long(answered_blocks(answer.get(name) or []), words) for name in ("summary", "conclusions")}
    return " ".join(f"{name}: {problem}" for name, problem in problems.items() if problem)


def _blocks(result: AgentResult, name: str, words: int) -> list[Block]:
    """The answer's blocks of this name, or those that were sent back where these are not what they were sent for."""
    blocks = answered_blocks(result.output.get(name) or [])
    before = answered_blocks((result.before or {}).get(name) or [])
    return before if too_long(before, words) and not is_shortened(before, blocks, words) else blocks


def _material(handoff: Mapping[str, Any], sections: Sequence[DraftSection], ctx: Context) -> dict[str, Any]:
    options = ReportOptions.model_validate(handoff.get("report_options") or {})
    parts = {row["id"]: row.get("parts") or [] for row in handoff.get("outline") or []}
    return {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["question"],
        "versions": list(handoff.get("versions") or []),
        "system_prompt": handoff.get("system_prompt"),
        "guidance": handoff.get("guidance"),
        "improvements": list(handoff.get("report_improvements") or []),
        "type": options.type.value,
        "summary_words": options.summary_words,
        "conclusion_words": options.conclusion_words,
        "most_missing": options.most_additions,
        "checklist": [row["text"] for row in handoff.get("checklist") or []],
        "not_answered": list(handoff.get("not_answered") or []),
        "gaps": [row["description"] for row in open_gaps(handoff.get("gaps") or [])],
        "limits": list(dict.fromkeys(flatten(handoff.get("topics") or [], "limits"))),
        "contradictions": list(handoff.get("contradictions") or []),
        "untold": _untold(handoff.get("findings") or [], sections),
        "words_to_cut": max(0, _words(sections) - options.most_section_words),
        "doubles": [[f"{row.section}.{row.place}" for row in pair] for pair in doubles(sections)],
        "sections": [
            {
                "n": n,
                "heading": section.heading,
                "parts": parts.get(section.id, []),
                "words": words_of(section.blocks),
                "text": section_text(section, n),
            }
            for n, section in enumerate(sections, 1)
        ],
    }


def _untold(findings: Iterable[Mapping[str, Any]], sections: Sequence[DraftSection]) -> list[str]:
    """The findings of whose evidence no section cites anything."""
    cited = {name for section in sections for row in section.statements() for name in row.evidence_ids}
    return [row["content"] for row in findings if row["evidence_ids"] and cited.isdisjoint(row["evidence_ids"])]


def _openings(rows: Sequence[Mapping[str, Any]], sections: Sequence[DraftSection]) -> list[dict[str, Any]]:
    """The first sentence of a section, at most one for each."""
    texts = {
        sections[row["section"] - 1].id: without_markers(row["text"])[0]
        for row in rows
        if 1 <= row["section"] <= len(sections) and row["text"].strip()
    }
    return [
        {
            "section": name,
            "statement": Statement(text=text, kind=StatementKind.TRANSITION, place=f"opening of {name}").to_json(),
        }
        for name, text in texts.items()
    ]


def _left_out(result: AgentResult, parts: Mapping[str, DraftSection], most_words: int) -> list[dict[str, Any]]:
    """`{statements, told, kept}`: the ids of each sentence or row to leave out, and of the place that tells the same;
    of what is cut, since the sections together have more than `most_words`, there is no such place. Also the later of
    two sentences with the same words and evidence, which the answer may have overlooked. What cannot be left out
    is `kept` for a reason: a single cell would leave a hole, a block to copy is needed where it stands, a section
    begins with the answer to its question, and what tells the same shares evidence, but for two analyses, which may
    infer the same from other passages."""
    blocks = (block for part in parts.values() for block in part.blocks if block.type is BlockType.CODE)
    needed = {row.id for block in blocks for row in block.sentences}
    needed |= {row.id for part in parts.values() for place in places_of(part)[:1] for row in place}
    words = _words(parts.values())

    def why_needed(place: str, cut: Sequence[Statement]) -> str:
        is_whole = place.count(".") == 1 and needed.isdisjoint(row.id for row in cut)
        return "" if is_whole else "it is a cell, a block to copy or the beginning of a section"

    said = [(row["place"], row["told"]) for row in result.output.get("repeated") or []]
    rows = []
    gone: dict[str, Statement] = {}
    for place, other in dict.fromkeys([*said, *_same(parts)]):
        cut, told = _at(place, parts), _at(other, parts)
        ids, others = ([statement.id for statement in side] for side in (cut, told))
        cited, cited_there = ({name for one in side for name in one.evidence_ids} for side in (cut, told))
        if not cut or not told or set(ids) & set(others):
            continue
        infer = all(row.kind is StatementKind.ANALYSIS for row in (*cut, *told))
        is_other = bool(cited) and cited.isdisjoint(cited_there) and not infer
        kept = why_needed(place, cut) or ("the places share no evidence" if is_other else "")
        rows.append({"statements": ids, "told": others, "kept": kept})
        gone |= {} if kept else {statement.id: statement for statement in cut}
    for place in result.output.get("cuts") or []:
        cut = _at(place, parts)
        left = words - words_of([Block(sentences=list(gone.values()))])
        if left > most_words and cut and not why_needed(place, cut):
            rows.append({"statements": [statement.id for statement in cut], "told": [], "kept": ""})
            gone |= {statement.id: statement for statement in cut}
    return rows


def _same(parts: Mapping[str, DraftSection]) -> list[tuple[str, str]]:
    """The later and the earlier place of the sentences of two sections that are the same word for word. Nearly the same
    words may say the opposite, such as with another order or with "not"."""
    pairs = [
        sorted(pair, key=lambda row: (row.section, row.place))
        for pair in doubles(list(parts.values()))
        if one_line(pair[0].text).casefold() == one_line(pair[1].text).casefold()
    ]
    return [
        (f"{later.section}.{later.place}", f"{first.section}.{first.place}")
        for first, later in pairs
        if len(first.statements) == len(later.statements) == 1 and not _is_leaned_on(later, parts)
    ]


def _is_leaned_on(row: Telling, parts: Mapping[str, DraftSection]) -> bool:
    """Whether the sentence behind it points back."""
    behind = _at(f"{row.section}.{row.place + 1}", parts)
    return bool(behind) and leans_back(behind[0].text)


def _words(sections: Iterable[DraftSection]) -> int:
    return words_of(block for section in sections for block in section.blocks)


def _answered_gaps(
    result: AgentResult, gaps: Sequence[Mapping[str, Any]], parts: Mapping[str, DraftSection]
) -> list[dict[str, Any]]:
    """The gap and the statements of each answer whose number was shown; of one below the title `HEADER`."""
    shown = len(result.shown.get("gaps") or [])
    return [
        {
            "gap": gaps[row["gap"] - 1]["id"],
            "statements": _answering(row["place"], parts),
            "left": one_line(row.get("left") or ""),
        }
        for row in result.output.get("answered_gaps") or []
        if 0 < row["gap"] <= shown
    ]


def _limits_shown(result: AgentResult) -> DraftSection:
    """What the researchers did not find, as a part of the report with the numbers that are shown."""
    limits = [Statement(text=text, kind=StatementKind.LIMIT) for text in result.shown.get("limits") or []]
    return DraftSection(heading="limits", blocks=[Block(type=BlockType.LIST, items=[[limit] for limit in limits])])


def _answered_limits(result: AgentResult, parts: Mapping[str, DraftSection]) -> list[dict[str, Any]]:
    """The limits of sections and of researchers that a statement in another place answers, with that place's
    statements."""
    answered = []
    for row in result.output.get("answered_limits") or []:
        found = _at(row["limit"], parts)
        if found and found[0].kind is StatementKind.LIMIT:
            place = _answering(row["place"], parts)
            answered.append({"limit": found[0].id, "text": found[0].text, "statements": place})
    return answered


def _inconsistencies(
    rows: Sequence[Mapping[str, Any]], parts: Mapping[str, DraftSection], ctx: Context
) -> list[dict[str, Any]]:
    """`{change, against, problem}`: the ids of the statements to change, of a row those of the cells that the problem
    is about, and of those that they do not agree with. An entry with nothing to change is left out, and one whose other
    side does not exist; an event tells of places that do not."""
    found = []
    for row in rows:
        sides = [{place: _at(place, parts) for place in row.get(name) or []} for name in ("change", "against")]
        meant = (_about(row["problem"], stated) for stated in sides[0].values())
        change, against = ([one.id for stated in side for one in stated] for side in (meant, sides[1].values()))
        if unknown := [place for side in sides for place, stated in side.items() if not stated]:
            ctx.emit("inconsistency.unknown_place", places=unknown, problem=row["problem"])
        if change and (against or len(set(change)) > 1 or not unknown):
            found.append({"change": change, "against": against, "problem": row["problem"]})
    return found


def _about(problem: str, row: Sequence[Statement]) -> Sequence[Statement]:
    """Those of the cells of a row, its label among them, that have words of a problem, all where none has any."""
    wanted = term_weights(problem)
    return [cell for cell in row if held_weight(wanted, term_weights(cell.text))] or row


def _missing(
    rows: Sequence[Mapping[str, Any]], parts: Mapping[str, DraftSection], ctx: Context
) -> list[dict[str, Any]]:
    """`{section, after, what, is_limit}`: what to look up, with the ids of the section and of the statement that it
    belongs behind, none where only the section was named; with `is_limit` that statement says that it was not found.
    What several sentences or rows tell already is left out. An event tells of a section that does not exist."""
    found = []
    told = told_among([row["what"] for row in rows], list(told_lines(parts.values())))
    for row in (row for place, row in enumerate(rows) if place not in told):
        place = row["place"].strip("() ").casefold()
        named = _PLACE.fullmatch(place) or _SECTION.fullmatch(place)
        number = named[0].partition(".")[0] if named else ""
        if number not in parts:
            ctx.emit("addition.unknown_place", place=row["place"], what=row["what"])
        elif row["what"].strip():
            stated = _at(place, parts)
            after = stated[0].id if stated else ""
            is_limit = [one.kind for one in stated] == [StatementKind.LIMIT]
            found.append({"section": parts[number].id, "after": after, "what": row["what"], "is_limit": is_limit})
    return found


def _at_most(missing: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The first of what is missing, and as many of what was not found: that gives way to what is found."""
    return [row for is_limit in (False, True) for row in [one for one in missing if one["is_limit"] is is_limit][:most]]


def _answering(place: str, parts: Mapping[str, DraftSection]) -> list[str]:
    return [HEADER] if place.strip("() ").casefold() == HEADER else _ids_at(place, parts)


def _ids_at(place: str, parts: Mapping[str, DraftSection]) -> list[str]:
    return [statement.id for statement in _at(place, parts)]


def _at(place: str, parts: Mapping[str, DraftSection]) -> list[Statement]:
    """What stands at `PART.PLACE`: a sentence, a block of code, or the cells of a row; at `PART.PLACE.COLUMN` one of
    them. Empty where there is no such place."""
    named = _PLACE.fullmatch(place.strip("() ").casefold())
    if named is None or named[1] not in parts:
        return []
    position = int(named[2])
    statements = [row for found in places_of(parts[named[1]])[position - 1 : position] for row in found]
    if named[3] and len(statements) > 1:
        statements = statements[int(named[3]) - 1 : int(named[3])]
    return [row for row in statements if row != EMPTY_CELL]
