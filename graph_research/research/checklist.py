"""The reader's checklist: what a demanding reader of a question will look for in its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.models.plan import ChecklistItem, ChecklistKind
from graph_research.text.relevance.query import parse
from graph_research.text.wording import shortened

MOST_POINTS = 12
_ITEM_CHARS = 300


def checklist_of(rows: Sequence[Mapping[str, Any]], question: str) -> list[ChecklistItem]:
    """The points of a plan, each once, twelve at most; the parts of the question where it names none."""
    points: dict[str, ChecklistItem] = {}
    for row in rows or question_points(question):
        text = " ".join(row["text"].split())
        if text and text.casefold() not in points and len(points) < MOST_POINTS:
            number = len(points) + 1
            kind = ChecklistKind(row.get("kind") or ChecklistKind.PART)
            points[text.casefold()] = ChecklistItem(id=f"chk-{number}", text=text, kind=kind)
    return list(points.values())


def question_points(question: str) -> list[dict[str, str]]:
    """The parts of the question, in its own words."""
    return [
        {"text": shortened(part.own, _ITEM_CHARS), "kind": ChecklistKind.PART.value} for part in parse(question).parts
    ]
