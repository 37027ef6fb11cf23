"""From a synthesizer's answer to a draft that cites only what exists, and to its text and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from graph_research.research.models.draft import Draft, DraftSection, Statement
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

    A statement that loses all its evidence stays; the report marks it as unsupported.
    """
    fabricated = sum(name not in known for statement in draft.statements() for name in statement.evidence_ids)

    def kept(statements: Sequence[Statement]) -> list[Statement]:
        return [_citing(known, statement) for statement in statements if statement.text.strip()]

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


def _citing(known: Collection[str], statement: Statement) -> Statement:
    ids = [evidence_id for evidence_id in dict.fromkeys(statement.evidence_ids) if evidence_id in known]
    return statement.model_copy(update={"evidence_ids": ids})


def findings_draft(handoff: Mapping[str, Any]) -> dict[str, Any]:
    """A report by code from the findings of a `synthesizer.input`: the surest first as summary, all by category with
    their evidence, the sides of each contradiction side by side."""
    certainty = list(_SUMMARY_LEVELS)
    ordered = sorted(handoff["findings"], key=lambda row: certainty.index(row["confidence"]))
    statements = [_finding(row) for row in ordered]
    sections: dict[str, list[dict[str, Any]]] = {}
    for row in ordered:
        sections.setdefault(" ".join((row.get("category") or "Findings").split()), []).append(_finding(row))
    disputed = [
        _side(side, row) for row in handoff.get("contradictions") or [] for side in row["sides"] if side["evidence_ids"]
    ]
    if disputed:
        sections[ENGLISH.disagreements] = disputed
    nothing = {"text": "Nothing was found that answers the question.", "evidence_ids": [], "kind": "connective"}
    return {
        "notice": "The report could not be written by a model; these are the findings as they were extracted.",
        "found": bool(statements),
        "searched": [row["query"] for row in handoff.get("sub_queries") or []],
        "summary": statements[:3] or [nothing],
        "sections": [{"heading": heading, "statements": rows} for heading, rows in sections.items()],
    }


def _finding(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": row["content"], "evidence_ids": list(row["evidence_ids"]), "kind": "fact"}


def _side(side: Mapping[str, Any], contradiction: Mapping[str, Any]) -> dict[str, Any]:
    text = f"{contradiction['topic']}: {side['value']}" if side.get("value") else contradiction["topic"]
    return {"text": text, "evidence_ids": list(side["evidence_ids"]), "kind": "fact"}


def draft_markdown(question: str, draft: Draft) -> str:
    """The draft as Markdown with `[ev-…]` after each statement; the report gives them numbers and sources."""
    parts = [f"# {' '.join(question.split())}"]
    if draft.notice:
        parts.append(f"> {draft.notice}")
    parts += _section(ENGLISH.short_answer if draft.found else ENGLISH.not_found, draft.summary)
    if draft.searched and not draft.found:
        parts.append(f"{ENGLISH.searched_for}: " + "; ".join(draft.searched) + ".")
    for section in draft.sections:
        parts += _section(section.heading, section.statements)
    parts += _section(ENGLISH.conclusions, draft.conclusions)
    parts += _section(ENGLISH.more_evidence, draft.more)
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


def _section(heading: str, statements: Sequence[Statement]) -> list[str]:
    if not statements:
        return []
    return [f"## {heading}", "\n".join(f"- {_line(statement)}" for statement in statements)]


def _line(statement: Statement) -> str:
    marks = "".join(f"[{evidence_id}]" for evidence_id in statement.evidence_ids)
    text = " ".join(statement.text.split())
    return f"{text} {marks}" if marks else text
