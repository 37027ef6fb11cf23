"""From a synthesizer's answer to a draft that cites only what exists, and to its text and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph_research.research.models.draft import (
    Block,
    BlockType,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    Writer,
    paragraphs_of,
)
from graph_research.research.report.labels import ENGLISH

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
    fabricated = sum(name not in known for statement in draft.statements() for name in statement.evidence_ids)

    def citing(statements: Sequence[Statement]) -> list[Statement]:
        return [_citing(known, statement) for statement in statements]

    def kept(blocks: Sequence[Block]) -> list[Block]:
        return [
            block.model_copy(
                update={
                    "sentences": citing(block.sentences),
                    "items": [citing(item) for item in block.items],
                    "rows": [citing(row) for row in block.rows],
                }
            )
            for block in blocks
        ]

    checked = draft.model_copy(
        update={
            "summary": kept(draft.summary),
            "sections": [
                section.model_copy(
                    update={"heading": " ".join(section.heading.split()), "blocks": kept(section.blocks)}
                )
                for section in draft.sections
            ],
            "conclusions": kept(draft.conclusions),
            "more": citing(draft.more),
        }
    )
    return checked, fabricated


def _citing(known: Collection[str], statement: Statement) -> Statement:
    ids = [evidence_id for evidence_id in dict.fromkeys(statement.evidence_ids) if evidence_id in known]
    return statement.model_copy(update={"evidence_ids": ids})


def findings_draft(handoff: Mapping[str, Any]) -> Draft:
    """A report by code from the findings of a `synthesizer.input`: the surest first as summary, all by category with
    their evidence. The report itself sets the sides of each contradiction side by side."""
    certainty = list(_SUMMARY_LEVELS)
    ordered = sorted(handoff["findings"], key=lambda row: certainty.index(row["confidence"]))
    sections: dict[str, list[Statement]] = {}
    for row in ordered:
        sections.setdefault(" ".join((row.get("category") or "Findings").split()), []).append(_finding(row))
    nothing = Statement(text="Nothing was found that answers the question.", kind=StatementKind.LIMIT)
    return Draft(
        notice="The report could not be written by a model; these are the findings as they were extracted.",
        found=bool(ordered),
        searched=[row["query"] for row in handoff.get("sub_queries") or []],
        summary=paragraphs_of([_finding(row) for row in ordered[:3]] or [nothing]),
        sections=[
            DraftSection(heading=heading, blocks=paragraphs_of(rows), writer=Writer.EXTRACTIVE)
            for heading, rows in sections.items()
        ],
    )


def _finding(row: Mapping[str, Any]) -> Statement:
    return Statement(text=row["content"], evidence_ids=list(row["evidence_ids"]))


def draft_markdown(question: str, draft: Draft) -> str:
    """The draft as Markdown with `[ev-…]` after each sentence; the report gives them numbers and sources."""
    parts = [f"# {' '.join(question.split())}"]
    if draft.notice:
        parts.append(f"> {draft.notice}")
    parts += _section(f"## {ENGLISH.short_answer if draft.found else ENGLISH.not_found}", draft.summary)
    if draft.searched and not draft.found:
        parts.append(f"{ENGLISH.searched_for}: " + "; ".join(draft.searched) + ".")
    for section in draft.sections:
        parts += _section(f"{'#' * (section.level + 1)} {section.heading}", section.blocks)
    parts += _section(f"## {ENGLISH.conclusions}", draft.conclusions)
    parts += _section(f"## {ENGLISH.more_evidence}", paragraphs_of(draft.more))
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
