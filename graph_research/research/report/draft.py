"""From what the writers gave to a draft that cites only what exists, and to its text and numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from graph_research.research.code_blocks import settings_in, tells_of
from graph_research.research.evidence.citations import in_place
from graph_research.research.evidence.claim_support import CitedPassage, judge
from graph_research.research.models.draft import (
    Block,
    BlockType,
    Draft,
    Statement,
    StatementKind,
    paragraphs_of,
    rewritten,
    statements_of,
)
from graph_research.research.report.labels.table import Labels
from graph_research.text.language.quantities import Value
from graph_research.text.language.stated import unstated
from graph_research.text.relevance.entries import names_in

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_OF_EVIDENCE = (StatementKind.FACT, StatementKind.ANALYSIS)

_SUMMARY_LEVELS: Mapping[str, str] = {
    "confirmed": "high",
    "high": "high",
    "medium": "medium",
    "low": "low",
    "speculation": "low",
}
"""By the confidence of a finding, the surest first."""


def checked_draft(draft: Draft, known: Collection[str]) -> tuple[Draft, int]:
    """The draft without evidence ids that are not `known`, and how many of those there were.

    A sentence that loses all its evidence stays; the report marks it as unsupported.
    """
    summary, conclusions = cited_only(draft.summary, known), cited_only(draft.conclusions, known)
    sections = [(section, cited_only(section.blocks, known)) for section in draft.sections]
    more = [_citing(known, statement) for statement in draft.more]
    checked = draft.model_copy(
        update={
            "summary": summary[0],
            "sections": [
                section.model_copy(update={"heading": " ".join(section.heading.split()), "blocks": blocks})
                for section, (blocks, _) in sections
            ],
            "conclusions": conclusions[0],
            "more": more,
        }
    )
    return checked, summary[1] + conclusions[1] + sum(made_up for _, (_, made_up) in sections)


def cited_only(blocks: Sequence[Block], known: Collection[str]) -> tuple[list[Block], int]:
    """The blocks without evidence ids that are not `known`, and how many of those there were."""
    made_up = sum(name not in known for statement in statements_of(blocks) for name in statement.evidence_ids)
    return rewritten(blocks, partial(_citing, known)), made_up


def _citing(known: Collection[str], statement: Statement) -> Statement:
    ids = [evidence_id for evidence_id in dict.fromkeys(statement.evidence_ids) if evidence_id in known]
    return statement.model_copy(update={"evidence_ids": ids})


def with_chosen_operands(blocks: Sequence[Block], quotes: Mapping[str, str]) -> list[Block]:
    """The blocks of a section in which an analysis may compute with the numbers that another of its statements sets by
    judgement: those without which code would object are added to its own. `quotes` are those of the evidence by id."""
    chosen = dict.fromkeys(value for statement in statements_of(blocks) for value in statement.judged)

    def computing(block: Block, statement: Statement, context: str | None) -> Statement:
        operands = set(_NUMBER.findall(" ".join(statement.computed)))
        others = [value for value in chosen if value not in statement.judged]
        more = [value for value in others if operands.intersection(_NUMBER.findall(value))]
        if not more or statement.kind is not StatementKind.ANALYSIS:
            return statement
        cited = [CitedPassage(1, quotes[name], valid=True) for name in statement.evidence_ids if name in quotes]

        def objection(added: Sequence[str]) -> str:
            judged, is_code = [*statement.judged, *added], block.type is BlockType.CODE
            return judge(
                *(statement.text, statement.kind, cited),
                computed=statement.computed,
                judged=judged,
                context=context or "",
                is_code=is_code,
            ).problem

        least = objection(more)
        for value in sorted(more, key=lambda value: (value in statement.text, len(value))):
            fewer = [other for other in more if other != value]
            more = fewer if objection(fewer) == least else more
        return statement.model_copy(update={"judged": [*statement.judged, *more]})

    return [in_place(block, partial(computing, block)) for block in blocks] if chosen else list(blocks)


def with_evidence_of_rows(blocks: Iterable[Block], quotes: Mapping[str, str]) -> list[Block]:
    """The blocks in which a cell rests on the evidence, too, of a cell of its row that states a figure which its own
    evidence lacks: "100, behind a pool" beside the default of 100. `quotes` are those of the evidence by id."""

    def resting(cell: Statement, row: Sequence[Statement]) -> Statement:
        own = [*(quotes.get(name, "") for name in cell.evidence_ids), *cell.judged]
        lacking = (
            unstated(cell.text, own) if cell.kind in _OF_EVIDENCE and cell.evidence_ids and not cell.computed else ()
        )
        for other in row if lacking else ():
            theirs = [quotes.get(name, "") for name in other.evidence_ids]
            if other is not cell and _states_more(other.text, theirs, lacking, cell.text):
                both = dict.fromkeys([*cell.evidence_ids, *other.evidence_ids])
                return cell.model_copy(update={"evidence_ids": list(both)})
        return cell

    return [
        block.model_copy(update={"rows": [[resting(cell, row) for cell in row] for row in block.rows]})
        for block in blocks
    ]


def with_evidence_of_settings(blocks: Sequence[Block], passages: Mapping[str, str]) -> list[Block]:
    """The blocks of a section, of which those to copy rest, for each setting that none of their own passages names, on
    one that does, before others on one that has the value, too: the first that another statement of the section cites,
    else the first of `passages`, those of the section's evidence by id, each quote below what it explains."""
    cited = (name for row in statements_of(blocks) for name in row.evidence_ids if name in passages)
    named = {name: set(names_in(passages[name])) for name in dict.fromkeys([*cited, *passages])}

    def resting(code: Statement, language: str) -> Statement:
        told = {setting for name in code.evidence_ids for setting in named.get(name, ())}
        lacking = [setting for setting in settings_in(code.text, language) if setting not in told]
        found = (telling(setting, code.text) for setting in lacking)
        ids = [*code.evidence_ids, *(name for name in found if name)]
        return code.model_copy(update={"evidence_ids": list(dict.fromkeys(ids))})

    def telling(setting: str, code: str) -> str:
        naming = [name for name in named if setting in named[name]]
        return next((name for name in naming if tells_of(passages[name], setting, code)), naming[0] if naming else "")

    return [
        block.model_copy(update={"sentences": [resting(row, block.language) for row in block.sentences]})
        if block.type is BlockType.CODE
        else block
        for block in blocks
    ]


def _states_more(said: str, quotes: Sequence[str], lacking: Sequence[Value], text: str) -> bool:
    """Whether a text and its quotes both state one of the figures that a text lacks."""
    written = [text[one.start : one.end] for one in lacking]
    return any(not unstated(figure, [said]) and not unstated(figure, quotes) for figure in written)


def draft_markdown(question: str, draft: Draft, labels: Labels) -> str:
    """The draft as Markdown with `[ev-…]` after each sentence; the report gives them numbers and sources."""
    parts = [f"# {' '.join(question.split())}"]
    if draft.notice:
        parts.append(f"> {draft.notice}")
    parts += _section(f"## {labels.short_answer if draft.found else labels.not_found}", draft.summary)
    if draft.searched and not draft.found:
        parts.append(labels.pair.format(name=labels.searched_for, value=labels.semicolon.join(draft.searched)))
    for section in draft.sections:
        parts += _section(f"{'#' * (section.level + 1)} {section.heading}", section.blocks)
    parts += _section(f"## {labels.conclusions}", draft.conclusions)
    parts += _section(f"## {labels.more_evidence}", paragraphs_of(draft.more))
    return "\n\n".join(parts) + "\n"


def report_metadata(
    draft: Draft, report: str, findings: Sequence[Mapping[str, Any]], *, fabricated: int, iteration: int
) -> dict[str, Any]:
    """Headings, words, citations (each evidence id as often as it is cited) and findings by confidence."""
    levels = Counter(_SUMMARY_LEVELS[row["confidence"]] for row in findings)
    return {
        "sections": [section.heading for section in draft.sections],
        "word_count": len(report.split()),
        "citations_count": sum(len(statement.evidence_ids) for statement in draft.statements()),
        "confidence_summary": {level: levels[level] for level in ("high", "medium", "low")},
        "fabricated_citations": fabricated,
        "iteration": iteration,
    }


def _section(heading: str, blocks: Sequence[Block]) -> list[str]:
    return [heading, *map(_block, blocks)] if blocks else []


def _block(block: Block) -> str:
    if block.type is BlockType.LIST:
        return "\n".join(f"- {_sentences(item)}" for item in block.items)
    if block.type is BlockType.TABLE:
        rows = [
            block.header,
            ["---"] * len(block.header),
            *([_sentences([cell]) for cell in row] for row in block.rows),
        ]
        return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows)
    if block.type is BlockType.CODE:
        return "\n".join(f"```{block.language}\n{row.text}\n```{_marks(row)}" for row in block.sentences)
    return ("> " if block.type is BlockType.QUOTE else "") + _sentences(block.sentences)


def _sentences(statements: Sequence[Statement]) -> str:
    return " ".join(" ".join(row.text.split()) + _marks(row) for row in statements)


def _marks(statement: Statement) -> str:
    marks = "".join(f"[{evidence_id}]" for evidence_id in statement.evidence_ids)
    return f" {marks}" if marks else ""
