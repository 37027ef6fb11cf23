"""From a synthesizer's answer to a draft that cites only what exists, and to its text and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph_research.research.models.draft import Draft, DraftSection, Statement

__all__ = ["checked_draft", "draft_markdown", "report_metadata"]

_SUMMARY_LEVELS: Mapping[str, str] = {
    "confirmed": "high",
    "high": "high",
    "medium": "medium",
    "low": "low",
    "speculation": "low",
}


def checked_draft(draft: Draft, known: Collection[str]) -> tuple[Draft, int]:
    """The draft without evidence ids that are not `known`, and how many of those there were.

    A statement that loses all its evidence stays; the report marks it as unsupported.
    """
    every = [
        *draft.summary,
        *(statement for section in draft.sections for statement in section.statements),
        *draft.conclusions,
        *draft.more,
    ]
    fabricated = sum(1 for statement in every for one in statement.evidence_ids if one not in known)

    def kept(statements: Sequence[Statement]) -> list[Statement]:
        return [
            statement.model_copy(
                update={"evidence_ids": [one for one in dict.fromkeys(statement.evidence_ids) if one in known]}
            )
            for statement in statements
            if statement.text.strip()
        ]

    checked = draft.model_copy(
        update={
            "summary": kept(draft.summary),
            "sections": [
                DraftSection(heading=" ".join(section.heading.split()), statements=kept(section.statements))
                for section in draft.sections
            ],
            "conclusions": kept(draft.conclusions),
            "more": kept(draft.more),
        }
    )
    return checked, fabricated


def draft_markdown(question: str, draft: Draft) -> str:
    """The draft as Markdown with `[ev-…]` after each statement; numbers and sources are the report's business."""
    parts = [f"# {' '.join(question.split())}"]
    if draft.notice:
        parts.append(f"> {draft.notice}")
    parts += _section("Short answer" if draft.found else "Not found", draft.summary)
    if draft.searched and not draft.found:
        parts.append("Searched for: " + "; ".join(draft.searched) + ".")
    for section in draft.sections:
        parts += _section(section.heading, section.statements)
    parts += _section("Conclusions", draft.conclusions)
    parts += _section("More evidence", draft.more)
    return "\n\n".join(parts) + "\n"


def report_metadata(
    draft: Draft, report: str, findings: Sequence[Mapping[str, Any]], *, fabricated: int, iteration: int
) -> dict[str, Any]:
    """The numbers of requirements 2.8; citations count evidence ids, each time they stand in the text."""
    levels = Counter(_SUMMARY_LEVELS[row["confidence"]] for row in findings)
    statements = [*draft.summary, *draft.conclusions, *draft.more]
    statements += [statement for section in draft.sections for statement in section.statements]
    return {
        "sections": [section.heading for section in draft.sections],
        "word_count": len(report.split()),
        "citations_count": sum(len(statement.evidence_ids) for statement in statements),
        "confidence_summary": {level: levels[level] for level in ("high", "medium", "low")},
        "fabricated_citations": fabricated,
        "iteration": iteration,
    }


def _section(heading: str, statements: Sequence[Statement]) -> list[str]:
    if not statements:
        return []
    return [f"## {heading}", "\n".join(f"- {_line(statement)}" for statement in statements)]


def _line(statement: Statement) -> str:
    marks = "".join(f"[{one}]" for one in statement.evidence_ids)
    text = " ".join(statement.text.split())
    return f"{text} {marks}" if marks else text
