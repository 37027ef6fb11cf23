"""Claims × sources: who supports a claim, who contradicts it, who means something else, and who is silent."""

from __future__ import annotations

import pytest

from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import MatrixDifference
from graph_research.research.report.page.html import render_html
from graph_research.research.report.reading import matrix_view
from graph_research.text.relevance.statements import Nature, SourceSentence, nature
from tests.support.research import finished_research
from tests.support.research.finished_research import built

AUDIT, COMPANY, FORUM = "src-audit00001", "src-report0001", "src-forum00001"


def said(text: str) -> list[SourceSentence]:
    return [SourceSentence(source_id=text, text=text, start=0, end=len(text))]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The Tarn plant cost 1.6 billion euros.", "The Tarn plant cost 1.3 billion euros.", Nature.CONFLICT),
        ("The Tarn plant generated 455 MWh in 2019.", "The Tarn plant generated 512 MWh in 2021.", Nature.DATE),
        ("The Tarn plant generated 455 MWh.", "The planned Tarn plant generated 512 MWh.", Nature.SCOPE),
        ("The Tarn plant cost 1.6 billion euros.", "The Tarn plant cost 1.9 billion dollars.", Nature.UNIT),
    ],
)
def test_another_date_unit_or_scope_is_not_a_conflict(one: str, other: str, expected: Nature) -> None:
    assert nature(said(one), said(other)) is expected


@pytest.mark.requirement("18.4")
def test_a_row_says_of_each_source_where_it_stands() -> None:
    report = built()
    cost = next(claim for claim in report.claims if "1.61" in claim.text)
    row = next(row for row in report.matrix if row.claim == cost.id)
    assert (row.supports, row.refutes, row.differs, row.silent) == ([AUDIT], [COMPANY], [], [FORUM])


def test_what_only_looks_like_a_conflict_is_shown_with_what_is_meant() -> None:
    state = finished_research.state()
    claims = [{**claim, "against": [], "contradiction": False} for claim in state["claims"]]
    [contradiction] = state["contradictions"]
    report = built(claims=claims, contradictions=[{**contradiction, "nature": "definition"}])
    cost = next(claim for claim in report.claims if "1.61" in claim.text)
    row = next(row for row in report.matrix if row.claim == cost.id)
    assert row.differs == [MatrixDifference(source=COMPANY, nature="definition")]
    assert "Possibly not a conflict: another definition." in render_html(report, texts=finished_research.texts())


def test_the_matrix_shows_claims_of_which_two_sources_speak() -> None:
    report = built()
    view = matrix_view(report, labels_for("en"))
    assert view is not None
    assert [(claim.text[:21], marks) for claim, marks in view.rows] == [("The construction cost", ("−", "+"))]
    page = render_html(report, texts=finished_research.texts(), layouts=finished_research.layouts())
    assert '<table class="matrix">' in page
    alone = built(sources=finished_research.SOURCES[:1], evidence=[finished_research.COST_AUDIT], contradictions=[])
    assert matrix_view(alone, labels_for("en")) is None
