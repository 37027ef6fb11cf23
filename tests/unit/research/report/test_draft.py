"""Drafts: evidence that exists, text with marks, and the report's numbers."""

from __future__ import annotations

from graph_research.research.models.draft import Draft, DraftSection, Statement, StatementKind
from graph_research.research.report.draft import checked_draft, draft_markdown, report_metadata

DRAFT = Draft(
    summary=[Statement(text="It opened in 2016.", evidence_ids=["ev-1", "ev-9", "ev-1"])],
    sections=[
        DraftSection(
            heading="Two\nlines",
            statements=[
                Statement(text="It cost 4 million.", evidence_ids=["ev-8"]),
                Statement(text="More follows.", kind=StatementKind.CONNECTIVE),
                Statement(text="  "),
            ],
        )
    ],
    more=[Statement(text="A quote.", evidence_ids=["ev-2"], kind=StatementKind.QUOTE)],
)


def test_ids_that_do_not_exist_are_taken_out_and_counted_and_the_statement_stays() -> None:
    draft, fabricated = checked_draft(DRAFT, {"ev-1", "ev-2"})
    assert fabricated == 2
    assert draft.summary[0].evidence_ids == ["ev-1"]
    assert [(one.text, one.evidence_ids) for one in draft.sections[0].statements] == [
        ("It cost 4 million.", []),
        ("More follows.", []),
    ]
    assert draft.sections[0].heading == "Two lines"


def test_the_text_carries_the_evidence_behind_each_statement() -> None:
    draft, _ = checked_draft(DRAFT, {"ev-1", "ev-2"})
    assert draft_markdown("When?\nAnd why?", draft) == (
        "# When? And why?\n\n"
        "## Short answer\n\n- It opened in 2016. [ev-1]\n\n"
        "## Two lines\n\n- It cost 4 million.\n- More follows.\n\n"
        "## More evidence\n\n- A quote. [ev-2]\n"
    )


def test_a_report_that_found_nothing_says_what_was_searched() -> None:
    draft = Draft(found=False, searched=["a", "b"], summary=[Statement(text="Nothing was found.")])
    assert "## Not found" in draft_markdown("Q", draft)
    assert "Searched for: a; b." in draft_markdown("Q", draft)


def test_the_numbers_count_sections_words_citations_and_levels() -> None:
    draft, fabricated = checked_draft(DRAFT, {"ev-1", "ev-2"})
    findings = [{"confidence": level} for level in ("confirmed", "high", "medium", "low", "speculation")]
    assert report_metadata(draft, "one two three", findings, fabricated=fabricated, iteration=2) == {
        "sections": ["Two lines"],
        "word_count": 3,
        "citations_count": 2,
        "confidence_summary": {"high": 2, "medium": 1, "low": 2},
        "fabricated_citations": 2,
        "iteration": 2,
    }
