"""The assembler: what of the findings stands behind the sections."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.agents.writing.assembler import assembler
from tests.support.research.harness import PlainContext, make_services

PIECES = [f"ev-000000000{n}" for n in range(9)]
CONTENTS = ["Cited.", "A side.", "The newest Larch is 3.1.4.", *(f"Finding {n}." for n in range(3, 9))]


async def more_of(words: int, length: str) -> list[str]:
    """What stands under "More evidence" of a report of so many words."""
    sentence = {"text": "word " * words, "evidence_ids": PIECES[:1], "kind": "fact", "place": "1"}
    section = {"id": "sec-1", "heading": "What is known", "blocks": [{"sentences": [sentence]}]}
    findings = [
        {
            "id": f"find-000000000{n}",
            "content": content,
            "confidence": "high" if n == 8 else "medium",
            "evidence_ids": PIECES[n : n + 1],
        }
        for n, content in enumerate(CONTENTS)
    ]
    handoff: dict[str, Any] = {
        "original_query": "What of Larch?",
        "iteration": 1,
        "findings": findings,
        "evidence": [{"id": name, "quote": "q"} for name in PIECES],
        "contradictions": [{"sides": [{"evidence_ids": PIECES[1:2]}, {"evidence_ids": ["ev-other"]}]}],
        "versions": ["Larch 3.1.4"],
        "report_options": {"length": length, "type": "report", "language": "en", "audience": None},
        "baseline": {"summary": [], "sections": []},
        "by_code": False,
        "outline": [{"id": "sec-1", "heading": "What is known"}],
        "sections": [section],
        "fabricated": 0,
        "found": True,
        **{key: [] for key in ("checks", "statement_verdicts", "summary", "conclusions", "openings", "repeated")},
    }
    draft = (await assembler(make_services({}))(handoff, PlainContext()))["draft"]
    return [row["text"] for row in draft["more"]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (1_000, ["Finding 8.", "Finding 3.", "Finding 4.", "Finding 5."]),
        (500, ["Finding 8.", *(f"Finding {n}." for n in range(3, 8))]),
        (1_500, []),
    ],
)
async def test_findings_that_no_section_cites_stand_behind_them_as_far_as_the_report_has_room(
    words: int, expected: list[str]
) -> None:
    assert await more_of(words, "1000") == expected
