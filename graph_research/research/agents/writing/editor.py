"""The editor: reads the sections together and writes what leads through them: summary, conclusions, transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.section_material import latest_limits
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
from graph_research.research.evidence.citations import without_markers
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.draft import Block, DraftSection, Statement, StatementKind
from graph_research.research.models.report_options import ReportOptions
from graph_research.research.report.draft import cited_only

_SECTIONS = (
    Section(name="limits", noun="limit", keep=0),
    Section(name="gaps", noun="gap", keep=0),
    Section(name="sections", noun="section", text="text", least_chars=300),
)
_SHARE_OF_SUMMARY = 0.1
"""Of the report's words."""


def editor(services: Services) -> Handler:
    """`summary` and `conclusions` as blocks, `openings` a sentence for some sections, `repeated` the statements that
    say again what another says, `answered_gaps` and `answered_limits` what statements answer that is told as
    open, `found` whether the report answers the question. All empty where no model answers."""
    agent = Agent(name="editor", role="report", phase="synthesis", sections=_SECTIONS)

    async def edit(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sections = [DraftSection.model_validate(row) for row in handoff["sections"]]
        if not sections:
            return {**_nothing(), "fabricated": 0, "degraded": []}
        words = _summary_words(handoff)
        result = await agent.call(
            services,
            _material(handoff, sections, ctx),
            ctx,
            fallback=_nothing,
            windows=handoff.get("model_windows"),
            review=lambda answer: _too_long(answer, words),
        )
        known = {row["id"] for row in handoff["evidence"]}
        summary, made_up = cited_only(_blocks(result, "summary", words), known)
        conclusions, more_made_up = cited_only(_blocks(result, "conclusions", words), known)
        return {
            "found": result.output.get("found", True),
            "summary": [block.to_json() for block in placed(summary, "summary")],
            "conclusions": [block.to_json() for block in placed(conclusions, "conclusions")],
            "openings": _openings(result.output.get("openings") or [], sections),
            "repeated": _repeated(result.output.get("repeated") or [], sections),
            "answered_gaps": _answered_gaps(result, _open_gaps(handoff), sections),
            "answered_limits": _answered_limits(result, sections),
            "fabricated": made_up + more_made_up,
            "degraded": [
                *result.degradations(agent.name, ctx),
                *([] if result.by_code else length_note("summary", summary, words, agent.name, ctx)),
                *([] if result.by_code else length_note("conclusions", conclusions, words, agent.name, ctx)),
            ],
        }

    return edit


def _nothing() -> dict[str, Any]:
    lists = ("summary", "conclusions", "openings", "repeated", "answered_gaps", "answered_limits")
    return {"found": True, **{name: [] for name in lists}}


def _summary_words(handoff: Mapping[str, Any]) -> int:
    options = ReportOptions.model_validate(handoff.get("report_options") or {})
    return round(_SHARE_OF_SUMMARY * sum(options.words) / 2 / 10) * 10 + 40


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
    return {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["question"],
        "versions": list(handoff.get("versions") or []),
        "system_prompt": handoff.get("system_prompt"),
        "guidance": handoff.get("guidance"),
        "type": options.type.value,
        "summary_words": _summary_words(handoff),
        "checklist": [row["text"] for row in handoff.get("checklist") or []],
        "not_answered": list(handoff.get("not_answered") or []),
        "gaps": [row["description"] for row in _open_gaps(handoff)],
        "limits": latest_limits(handoff.get("topics") or []),
        "contradictions": list(handoff.get("contradictions") or []),
        "sections": [
            {"n": n, "heading": section.heading, "text": section_text(section, n)}
            for n, section in enumerate(sections, 1)
        ],
    }


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


def _repeated(places: Sequence[str], sections: Sequence[DraftSection]) -> list[dict[str, Any]]:
    """The section and the statement of each `SECTION.PLACE` that there is; a row of a table is left as it is."""
    named = [_at(place, sections) for place in places]
    return [{"section": found[0].id, "id": found[1][0].id} for found in named if found and len(found[1]) == 1]


def _answered_gaps(
    result: AgentResult, gaps: Sequence[Mapping[str, Any]], sections: Sequence[DraftSection]
) -> list[dict[str, Any]]:
    """The gap and the statements of each answer whose number was shown; of one below the title `HEADER`."""
    shown = len(result.shown.get("gaps") or [])
    return [
        {"gap": gaps[row["gap"] - 1]["id"], "statements": _ids_at(row["place"], sections)}
        for row in result.output.get("answered_gaps") or []
        if 0 < row["gap"] <= shown
    ]


def _answered_limits(result: AgentResult, sections: Sequence[DraftSection]) -> list[dict[str, Any]]:
    """The limits of sections that a statement in another place answers, with that place's statements."""
    answered = []
    for row in result.output.get("answered_limits") or []:
        found = _at(row["limit"], sections)
        if found and found[1][0].kind is StatementKind.LIMIT:
            answered.append({"limit": found[1][0].id, "statements": _ids_at(row["place"], sections)})
    return answered


def _ids_at(place: str, sections: Sequence[DraftSection]) -> list[str]:
    if place.strip("() ").casefold() == HEADER:
        return [HEADER]
    found = _at(place, sections)
    return [statement.id for statement in found[1]] if found else []


def _at(place: str, sections: Sequence[DraftSection]) -> tuple[DraftSection, list[Statement]] | None:
    """The section and what stands at `SECTION.PLACE`."""
    number, _, position = place.strip("() ").partition(".")
    if number.isdigit() and position.isdigit() and 1 <= int(number) <= len(sections):
        section = sections[int(number) - 1]
        places = places_of(section)
        if 1 <= int(position) <= len(places):
            return section, places[int(position) - 1]
    return None


def _open_gaps(handoff: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in handoff.get("gaps") or [] if not row["addressed"]]
