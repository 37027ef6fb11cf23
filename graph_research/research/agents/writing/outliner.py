"""The outliner: which sections the report has, what each must answer, and which findings it is written from."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.notes import answered_by_words, latest_limits
from graph_research.research.graph_functions import open_gaps
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.draft import DraftSection, Writer, words_of
from graph_research.research.models.inline_marks import plain_line
from graph_research.research.models.outline import OutlineSection, SectionAction
from graph_research.research.models.report_options import ReportOptions, report_language
from graph_research.text.language.tags import language_name, primary
from graph_research.text.language.words import held_share, language_of, term_weights

_MOST_SECTIONS = 16
_MOST_LAID_OUT = 0.4
"""Of the words of all sections, in tables and blocks to copy."""
_WORDS_OF_A_SECTION = 240
"""What is asked for a table of some rows with the sentences around it."""

_MOST_SEARCHES = 3
"""So many queries of a section are sent."""
_MOST_READ = 20
"""Quotes, to tell their language."""

_LEAST_HELD = 0.2
"""Of the words of a finding, by weight, in what its section is about: of what outlines of four plays named in a section
most had 0.25 to 0.55 in that, a finding on names of files 0.15 in one on security and 0.13 in one on caches."""

_SECTIONS = (
    Section(name="limits", noun="limit", keep=0),
    Section(name="gaps", noun="gap", keep=0),
    Section(name="contradictions", noun="contradiction", keep=0),
    Section(name="findings", noun="finding", text="content", least_chars=120, keep=4),
)


def outliner(services: Services) -> Handler:
    """The sections in reading order, every finding in at least one of them. Empty where no language model gives a
    usable one, or nothing was found to write of: then the quotations that code selected are the report. `by_code` says
    that no language model serves the role."""
    agent = Agent(
        name="outliner",
        role="report",
        phase="synthesis",
        max_output_tokens=services.settings.report_output_tokens,
        sections=_SECTIONS,
    )

    async def outline(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        by_code = agent.is_by_code(services, ctx)
        if not handoff["findings"] and not by_code:
            return {"outline": [], "not_answered": [], "answered_limits": [], "by_code": False, "degraded": []}
        lacking = latest_limits(handoff.get("topics") or [])
        found = [row["content"] for row in handoff["findings"]]
        found += [row["quote"] for row in handoff.get("evidence") or []]
        titles = [row["title"] for row in handoff["sources"]]
        told = await asyncio.to_thread(answered_by_words, lacking, found, titles)
        result = await agent.call(
            services,
            {**_material(handoff, ctx), "limits": [limit for limit in lacking if limit not in told]},
            ctx,
            fallback=lambda: {"sections": [], "not_answered": []},
            windows=handoff.get("model_windows"),
        )
        named = {key: [row["id"] for row in result.shown.get(key) or []] for key in ("gaps", "contradictions")}
        limits = dict(enumerate(result.shown.get("limits") or [], 1))
        answered = dict.fromkeys(result.output.get("answered_limits") or [])
        return {
            "outline": [section.to_json() for section in _arranged(result.output["sections"], handoff, named)],
            "not_answered": result.output.get("not_answered") or [],
            "answered_limits": [*told, *(limits[n] for n in answered if n in limits)],
            "by_code": by_code,
            "degraded": result.degradations(agent.name, ctx),
        }

    return outline


def _previous(handoff: Mapping[str, Any]) -> list[DraftSection]:
    """The sections of the last round that a model wrote, which may be kept or revised."""
    draft = handoff.get("draft") or {}
    sections = [DraftSection.model_validate(row) for row in draft.get("sections") or []]
    return [section for section in sections if section.id and section.writer is Writer.MODEL]


def _material(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    options = ReportOptions.model_validate(handoff.get("report_options") or {})
    titles = {row["id"]: row["title"] for row in handoff["sources"]}
    return {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["question"],
        "sources_language": _other_language(handoff),
        "versions": list(handoff.get("versions") or []),
        "research_brief": handoff.get("research_brief"),
        "system_prompt": handoff.get("system_prompt"),
        "guidance": handoff.get("guidance"),
        "type": options.type.value,
        "words": options.words,
        "section_words": round(options.section_words, -1),
        "most_sections": max(2, min(_MOST_SECTIONS, options.section_words // _WORDS_OF_A_SECTION)),
        "checklist": [row["text"] for row in handoff.get("checklist") or []],
        "findings": [
            {
                "n": n,
                "content": row["content"],
                "confidence": row["confidence"],
                "sources": [titles[name] for name in row["source_ids"] if name in titles][:3],
                "is_new": row["iteration"] == handoff["iteration"],
            }
            for n, row in enumerate(handoff["findings"], 1)
        ],
        "contradictions": list(handoff.get("contradictions") or []),
        "gaps": open_gaps(handoff.get("gaps") or []),
        "most_searches": _MOST_SEARCHES if handoff.get("searching") else 0,
        "previous": [
            {"id": section.id, "heading": section.heading, "words": words_of(section.blocks)}
            for section in _previous(handoff)
        ],
        "improvements": list(handoff.get("report_improvements") or []),
        "iteration": handoff["iteration"],
    }


def _arranged(
    rows: Sequence[Mapping[str, Any]], handoff: Mapping[str, Any], named: Mapping[str, Sequence[str]]
) -> list[OutlineSection]:
    """The outline with ids, those of its findings and of the `gaps` and `contradictions` that were shown, as `named`
    has them, and words; a section of the last round is known by its id or its heading, and those that it does not
    mention are kept where they were."""
    previous = {section.id: section for section in _previous(handoff)}
    headed = {_plain(section.heading): name for name, section in previous.items()}
    findings = list(handoff["findings"])
    sections: list[OutlineSection] = []
    dropped: set[str] = set()
    for row in rows:
        known = row.get("previous") if row.get("previous") in previous else headed.get(_plain(row["heading"]))
        action = SectionAction(row.get("action") or SectionAction.NEW)
        if action is SectionAction.DROP or not row["heading"].strip():
            dropped.update({known} if known else ())
            continue
        if any(section.id == known for section in sections):
            known = None
        sections.append(
            OutlineSection(
                id=known or f"sec-{_free(previous, sections)}",
                heading=plain_line(row["heading"]),
                level=min(max(row.get("level") or 1, 1), 2),
                answers=row.get("answers") or "",
                form=row.get("form") or "",
                parts=_listed(row.get("parts")),
                terms=_listed(row.get("terms")),
                searches=_listed(row.get("searches"))[:_MOST_SEARCHES] if handoff.get("searching") else [],
                words=row.get("words") or 0,
                has_block=row.get("has_block"),
                finding_ids=_numbered(row.get("findings"), [one["id"] for one in findings]),
                gap_ids=_numbered(row.get("gaps"), named["gaps"]),
                contradiction_ids=_numbered(row.get("contradictions"), named["contradictions"]),
                action=(action if action is SectionAction.KEEP else SectionAction.REVISE) if known else "new",
            )
        )
    if not sections:
        return []
    mentioned = {section.id for section in sections} | dropped
    for name, section in previous.items():
        if name not in mentioned:
            kept = OutlineSection(id=name, heading=section.heading, level=section.level, action=SectionAction.KEEP)
            sections.insert(_behind_last_rounds(name, list(previous), sections), kept)
    laid_out = {plain_line(row["heading"]): row["layout_words"] for row in rows if row.get("layout_words") is not None}
    present = {name: words_of(section.blocks) for name, section in previous.items()}
    return _with_words(_with_every_finding(sections[:_MOST_SECTIONS], findings), laid_out, present, handoff)


def _behind_last_rounds(name: str, previous: Sequence[str], sections: Sequence[OutlineSection]) -> int:
    """The place behind the nearest section that stood before the named one in the last round."""
    before = previous[: previous.index(name)]
    places = {section.id: place for place, section in enumerate(sections, 1)}
    return next((places[other] for other in reversed(before) if other in places), 0)


def _other_language(handoff: Mapping[str, Any]) -> str | None:
    """The language of what was found, by its English name, where the report is written in another one."""
    quotes = [row["quote"] for row in (handoff.get("evidence") or [])[:_MOST_READ]]
    found = language_of("\n".join(quotes))
    written = primary(report_language(handoff.get("report_options"), handoff["question"]))
    return language_name(found) if quotes and found != written else None


def _numbered(given: Sequence[int] | None, ids: Sequence[str]) -> list[str]:
    """The ids with these numbers, from 1; numbers of none are left out."""
    return [ids[n - 1] for n in dict.fromkeys(given or ()) if 1 <= n <= len(ids)]


def _listed(given: Sequence[str] | None) -> list[str]:
    return [" ".join(one.split()) for one in given or () if one.strip()]


def _plain(heading: str) -> str:
    return " ".join(heading.casefold().split())


def _free(previous: Mapping[str, Any], sections: Sequence[OutlineSection]) -> int:
    """The next number that no section has or had."""
    taken = [*previous, *(section.id for section in sections)]
    return 1 + max((int(name.removeprefix("sec-")) for name in taken), default=0)


def _with_every_finding(
    sections: Sequence[OutlineSection], findings: Sequence[Mapping[str, Any]]
) -> list[OutlineSection]:
    """Findings that no section names go to the one that is written and holds most of their words, by weight, if that
    holds enough, or the outline names none at all. Those that a kept section may already hold are left; the editor is
    told of what no section tells."""
    named = {name for section in sections for name in section.finding_ids}
    written = [section for section in sections if section.action is not SectionAction.KEEP]
    has_kept = len(written) < len(sections)
    about = {section.id: term_weights(_about(section)) for section in written}
    added: dict[str, list[str]] = {}
    for row in findings:
        if row["id"] in named or not written or (has_kept and row["iteration"] < findings[-1]["iteration"]):
            continue
        said = term_weights(row["content"])
        shares = {name: held_share(said, terms) for name, terms in about.items()}
        best = max(shares, key=shares.__getitem__)
        if shares[best] >= _LEAST_HELD or not named:
            added.setdefault(best, []).append(row["id"])
    return [
        section.model_copy(update={"finding_ids": [*section.finding_ids, *added.get(section.id, ())]})
        for section in sections
    ]


def _about(section: OutlineSection) -> str:
    return " ".join([section.heading, section.answers, *section.parts])


def _with_words(
    sections: Sequence[OutlineSection],
    laid_out: Mapping[str, int],
    present: Mapping[str, int],
    handoff: Mapping[str, Any],
) -> list[OutlineSection]:
    """Each section's words, so that together they are as many as all sections should have: those that its table and its
    block to copy take, and of the others its share, that of a kept section by its `present` words."""
    total = ReportOptions.model_validate(handoff.get("report_options") or {}).section_words
    wished = [
        present[section.id]
        if section.action is SectionAction.KEEP
        else section.words or 1 + 60 * len(section.finding_ids)
        for section in sections
    ]
    fixed = [min(laid_out.get(section.heading, 0), words) for section, words in zip(sections, wished, strict=True)]
    held = min(1.0, _MOST_LAID_OUT * total / sum(fixed)) if any(fixed) else 0.0
    rest = [words - own for words, own in zip(wished, fixed, strict=True)]
    share = (total - held * sum(fixed)) / (sum(rest) or 1)
    return [
        section.model_copy(
            update={
                "words": max(60, round((held * own + share * more) / 10) * 10),
                "layout_words": round(held * own / 10) * 10 if section.heading in laid_out else None,
            }
        )
        for section, own, more in zip(sections, fixed, rest, strict=True)
    ]
