"""From an analyzer's answer to proved, scored findings."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.evidence.findings import Analysed, Known, analyse
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.finding import Finding, Gap
from graph_research.research.models.ids import gap_id
from graph_research.research.models.plan import SubQuery, TopicResult
from graph_research.research.models.source import Quality, Source, SourceScore, Tier
from graph_research.text.document import Document

TEXTS = {
    "src-0000000001": "The Tarn plant opened in March 2016. Its turbines deliver 40 MW at spring tide.",
    "src-0000000002": "Visitors report that the Tarn plant opened in May 2017 after long delays.",
    "src-0000000003": "Fish pass the Tarn plant through a separate channel beside the sluice gates.",
}
DOCUMENTS = {name: Document(text=text) for name, text in TEXTS.items()}
GAP = Gap(id=gap_id("What did it cost?"), description="What did it cost?")


def source(name: str, composite: float = 0.8, tier: Tier = Tier.AUTHORITATIVE) -> Source:
    return Source(
        id=name,
        publisher=f"publisher of {name}",
        tier=tier,
        quality=Quality.MEDIUM,
        score=SourceScore(composite=composite),
        archive_hash=DOCUMENTS[name].hash,
    )


def known(**more: Any) -> Known:
    fields: dict[str, Any] = {
        "question": "When did the Tarn plant open?",
        "iteration": 1,
        "sub_queries": [],
        "sources": {name: source(name) for name in TEXTS},
        "topics": [],
        "findings": [],
        "evidence": {},
        "gaps": [],
        "contradictions": [],
    }
    return Known(**{**fields, **more})


def quote(number: int, text: str) -> dict[str, Any]:
    return {"source_id": f"src-{number:010d}", "quote": text}


def finding(content: str, *quotes: dict[str, Any], confidence: str = "high") -> dict[str, Any]:
    return {"content": content, "confidence": confidence, "category": None, "evidence": list(quotes)}


OPENED_2016 = quote(1, "The Tarn plant opened in March 2016.")
OPENED_2017 = quote(2, "Visitors report that the Tarn plant opened in May 2017 after long delays.")
FISH = quote(3, "Fish pass the Tarn plant through a separate channel beside the sluice gates.")


def analysed(*findings: dict[str, Any], to: Known | None = None, **more: Any) -> Analysed:
    return analyse({"findings": list(findings), "gaps": [], **more}, to or known(), DOCUMENTS)


def test_a_finding_keeps_the_evidence_that_is_there_and_loses_the_rest() -> None:
    result = analysed(finding("It opened in 2016.", OPENED_2016, quote(1, "It opened on a Sunday.")))
    assert [one.quote for one in result.evidence] == [OPENED_2016["quote"]]
    assert result.findings[0].source_ids == ["src-0000000001"]
    assert result.quotes_dropped == 1


def test_a_finding_without_any_quote_that_is_there_is_no_finding() -> None:
    result = analysed(finding("Invented.", quote(1, "Nobody wrote this.")))
    assert (result.findings, result.claims, result.quotes_dropped) == ([], [], 1)
    assert result.confidence.confidence == 0.0


@pytest.mark.requirement("17.4")
def test_claims_are_scored_by_the_sources_of_the_evidence() -> None:
    result = analysed(finding("Fish have a channel.", FISH))
    [claim] = result.claims
    assert claim.support == ["src-0000000003"]
    assert claim.confidence == 0.8 + 0.05
    assert claim.finding_id == result.findings[0].id


@pytest.mark.requirement("2.6")
def test_one_origin_alone_is_medium_whatever_the_analyzer_says() -> None:
    alone = analysed(finding("Fish have a channel.", FISH)).findings[0]
    both = analysed(finding("It opened, some time.", OPENED_2016, OPENED_2017)).findings[0]
    assert (alone.confidence, both.confidence) == ("medium", "confirmed")


def test_a_finding_rises_again_when_a_second_origin_carries_it() -> None:
    first = analysed(finding("It opened, some time.", OPENED_2016))
    later = known(iteration=2, findings=first.findings, evidence={one.id: one for one in first.evidence})
    second = analysed(finding("It opened, some time.", OPENED_2017), to=later)
    assert (first.findings[0].confidence, second.findings[0].confidence) == ("medium", "confirmed")


@pytest.mark.requirement("17.3")
def test_a_contradiction_that_the_answer_names_counts_against_the_claims_of_both_sides() -> None:
    named = {
        "kind": "date",
        "topic": "opening",
        "sides": [{"value": "March 2016", "evidence": [OPENED_2016]}, {"value": "May 2017", "evidence": [OPENED_2017]}],
    }
    result = analysed(
        finding("It opened in 2016.", OPENED_2016), finding("It opened in 2017.", OPENED_2017), contradictions=[named]
    )
    assert [side.value for side in result.contradictions[0].sides] == ["March 2016", "May 2017"]
    assert [claim.contradiction for claim in result.claims] == [True, True]
    assert [claim.against for claim in result.claims] == [["src-0000000002"], ["src-0000000001"]]
    assert result.confidence.has_contradictions


def test_a_contradiction_of_which_only_one_side_is_proved_is_none() -> None:
    named = {
        "kind": "date",
        "topic": "opening",
        "sides": [{"value": "2016", "evidence": [OPENED_2016]}, {"value": "2018", "evidence": [quote(2, "in 2018")]}],
    }
    result = analysed(finding("Fish have a channel.", FISH), contradictions=[named])
    assert [one for one in result.contradictions if one.topic == "opening"] == []


def next_round(first: Analysed) -> Known:
    return known(
        iteration=2,
        findings=first.findings,
        evidence={one.id: one for one in first.evidence},
        contradictions=first.contradictions,
    )


def test_the_same_contradiction_is_kept_once_across_iterations() -> None:
    named = {
        "kind": "date",
        "topic": "opening",
        "sides": [{"value": "March 2016", "evidence": [OPENED_2016]}, {"value": "May 2017", "evidence": [OPENED_2017]}],
    }
    first = analysed(finding("It opened.", OPENED_2016, OPENED_2017), contradictions=[named])
    again = next_round(first)
    second = analysed(to=again, contradictions=[{**named, "topic": "the opening"}])
    assert [one.id for one in second.contradictions] == [one.id for one in first.contradictions]
    assert isinstance(second.contradictions[0], Contradiction)


def test_the_same_contradiction_with_a_longer_quote_is_kept_once() -> None:
    sides = [{"value": "March 2016", "evidence": [OPENED_2016]}, {"value": "May 2017", "evidence": [OPENED_2017]}]
    named = {"kind": "date", "topic": "opening", "sides": sides}
    first = analysed(finding("It opened.", OPENED_2016, OPENED_2017), contradictions=[named])
    again = next_round(first)
    longer = [{"value": "March 2016", "evidence": [quote(1, TEXTS["src-0000000001"])]}, sides[1]]
    second = analysed(to=again, contradictions=[{**named, "sides": longer}])
    assert [one.id for one in second.contradictions] == [one.id for one in first.contradictions]


def test_findings_of_earlier_iterations_stay_and_keep_their_iteration() -> None:
    first = analysed(finding("It opened in 2016.", OPENED_2016))
    later = known(iteration=2, findings=first.findings, evidence={one.id: one for one in first.evidence})
    second = analysed(finding("It opened in  2016.", OPENED_2017), finding("Fish have a channel.", FISH), to=later)
    assert [(one.content, one.iteration) for one in second.findings] == [
        ("It opened in 2016.", 1),
        ("Fish have a channel.", 2),
    ]
    assert second.findings[0].source_ids == ["src-0000000001", "src-0000000002"]


def follow_up(*source_ids: str) -> Known:
    asked = SubQuery(id="sq-2-1", query="cost of the plant", iteration=2, gap_id=GAP.id, status="completed")
    topic = TopicResult(sub_query_id="sq-2-1", source_ids=list(source_ids))
    return known(iteration=2, gaps=[GAP], sub_queries=[asked], topics=[topic])


def test_a_gap_is_closed_by_new_evidence_from_a_source_that_its_follow_up_found() -> None:
    result = analysed(finding("Fish have a channel.", FISH), to=follow_up("src-0000000003"))
    assert [(gap.id, gap.addressed) for gap in result.gaps] == [(GAP.id, True)]


def test_a_gap_stays_open_where_its_follow_up_brought_nothing_that_is_quoted() -> None:
    assert analysed(finding("It opened.", OPENED_2016), to=follow_up("src-0000000003")).gaps == []


def test_evidence_that_was_known_before_closes_no_gap() -> None:
    first = analysed(finding("Fish have a channel.", FISH))
    again = follow_up("src-0000000003")
    later = known(
        iteration=2,
        gaps=again.gaps,
        sub_queries=again.sub_queries,
        topics=again.topics,
        evidence={one.id: one for one in first.evidence},
    )
    assert analysed(finding("Fish have a channel.", FISH), to=later).gaps == []


def test_a_gap_that_the_analyzer_names_again_stays_open() -> None:
    again = {"description": "What did it  COST?", "suggested_queries": ["price"]}
    result = analysed(finding("Fish have a channel.", FISH), to=follow_up("src-0000000003"), gaps=[again])
    assert [(gap.id, gap.addressed) for gap in result.gaps] == [(GAP.id, False)]


def test_the_analyzers_own_word_on_closed_gaps_goes_before_the_rule() -> None:
    told = analysed(to=follow_up(), addressed_gaps=[GAP.id])
    denied = analysed(finding("Fish.", FISH), to=follow_up("src-0000000003"), addressed_gaps=[])
    assert [gap.addressed for gap in told.gaps] == [True]
    assert denied.gaps == []


@pytest.mark.requirement("2.5")
def test_quality_is_updated_but_a_flagged_source_stays_as_it_is() -> None:
    sources = {name: source(name) for name in TEXTS}
    sources["src-0000000002"] = source("src-0000000002", tier=Tier.FLAGGED)
    updates = [
        {"source_id": "src-0000000001", "quality": "high"},
        {"source_id": "src-0000000002", "quality": "high"},
        {"source_id": "src-0000000003", "quality": "medium"},
        {"source_id": "src-ffffffffff", "quality": "high"},
    ]
    result = analysed(to=known(sources=sources), quality_updates=updates)
    assert [(one.id, one.quality) for one in result.requalified] == [("src-0000000001", Quality.HIGH)]


def test_the_same_answer_gives_the_same_ids() -> None:
    one, other = (analysed(finding("It opened in 2016.", OPENED_2016)) for _ in range(2))
    assert one == other
    assert isinstance(one.findings[0], Finding)


def test_findings_that_say_the_same_are_one_with_the_evidence_of_all_and_the_first_ones_id() -> None:
    first = analysed(finding("The Tarn plant opened in March 2016.", OPENED_2016, confidence="low"))
    told = known(findings=first.findings, evidence={one.id: one for one in first.evidence})
    result = analysed(
        finding("The Tarn plant opened in March 2016", OPENED_2016, FISH),
        finding("The plant opened in March 2016.", OPENED_2016),
        to=told,
    )
    [joined] = result.findings
    assert joined.id == first.findings[0].id
    assert len(joined.evidence_ids) == 2
    assert joined.stated == "high"


def test_findings_of_other_things_numbers_or_denials_stay_apart() -> None:
    said = [
        "SQLite allows one writer at a time.",
        "PostgreSQL allows one writer at a time.",
        "SQLite allows two writers at a time, 2 in all.",
        "SQLite allows no writer at a time.",
    ]
    assert len(analysed(*(finding(text, OPENED_2016) for text in said)).findings) == 4


def test_a_gap_that_was_closed_is_not_opened_again() -> None:
    closed = GAP.model_copy(update={"addressed": True, "addressed_in": 1})
    again = [{"description": "what did it cost ?"}, {"description": "What did the gates cost?"}]
    result = analysed(finding("Fish have a channel.", FISH), to=known(iteration=2, gaps=[closed]), gaps=again)
    assert [gap.description for gap in result.gaps] == ["What did the gates cost?"]


@pytest.mark.requirement("2.9", "5.2")
def test_a_gap_that_is_named_again_keeps_its_round_and_how_much_it_matters() -> None:
    before = GAP.model_copy(update={"severity": "moderate", "addressable": False, "suggested_queries": ["old"]})
    again = {"description": GAP.description, "suggested_queries": ["price of the Tarn plant"], "priority": 2}
    [gap] = analysed(to=known(iteration=2, gaps=[before]), gaps=[again]).gaps
    assert gap == before.model_copy(update={"suggested_queries": ["price of the Tarn plant"], "priority": 2})


def test_a_gap_that_is_named_as_closed_is_closed_although_it_is_named_again() -> None:
    again = [{"description": GAP.description}]
    result = analysed(to=known(iteration=2, gaps=[GAP]), gaps=again, addressed_gaps=[GAP.id])
    assert [(gap.id, gap.addressed) for gap in result.gaps] == [(GAP.id, True)]


def test_the_analyzer_may_change_the_confidence_of_a_listed_finding() -> None:
    first = analysed(finding("It opened in 2016.", OPENED_2016, confidence="high"))
    told = known(findings=first.findings, evidence={one.id: one for one in first.evidence})
    result = analysed(to=told, confidences=[{"finding_id": first.findings[0].id, "confidence": "low"}])
    assert [one.confidence for one in result.findings] == ["low"]


def test_evidence_of_another_text_than_the_kept_sources_is_looked_up_in_that() -> None:
    first = analysed(finding("It opened in 2016.", OPENED_2016), finding("Fish have a channel.", FISH))
    other = "sha256:" + "a" * 64
    evidence = {one.id: one.model_copy(update={"archive_hash": other}) for one in first.evidence}
    lost = next(one for one in evidence.values() if one.source_id == "src-0000000003")
    evidence[lost.id] = lost.model_copy(update={"quote": "This stands in the other text only."})
    result = analysed(to=known(findings=first.findings, evidence=evidence))
    assert [one.content for one in result.findings] == ["It opened in 2016."]
    assert [one.quote for one in result.evidence] == [OPENED_2016["quote"]]


def test_marks_of_citations_do_not_stay_in_a_finding_and_code_does() -> None:
    result = analysed(finding("It opened [1] in 2016 [2, 3], see gates[4]. [5]", OPENED_2016))
    assert [one.content for one in result.findings] == ["It opened in 2016 , see gates[4]."]


def test_findings_whose_things_change_places_stay_apart() -> None:
    said = ["The Tarn plant is older than the Alder plant.", "The Alder plant is older than the Tarn plant."]
    result = analysed(*(finding(text, quote) for text, quote in zip(said, (OPENED_2016, FISH), strict=True)))
    assert [one.content for one in result.findings] == said


PART = {**OPENED_2016, "quote": OPENED_2016["quote"][4:]}


def test_findings_of_overlapping_quotes_that_say_the_same_are_one() -> None:
    said = ["The Tarn plant opened in March 2016.", "The plant opened in March 2016.", "The plant opened in 2016."]
    quotes = (OPENED_2016, PART, PART)
    joined = analysed(*(finding(text, quote) for text, quote in zip(said, quotes, strict=True))).findings
    assert [(one.content, len(one.evidence_ids)) for one in joined] == [(said[0], 2), (said[2], 1)]
    assert len(analysed(finding(said[0], OPENED_2016), finding(said[1], FISH)).findings) == 2
    moved = "In March 2016 the Tarn plant opened."
    assert len(analysed(finding(said[0], OPENED_2016), finding(moved, PART)).findings) == 2


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("Larch wrote 3,400 tons in 2021.", "Larch wrote 3,400 kilograms in 2021."),
        ("Larch has many readers, but one writer.", "Larch has many writers, but one reader."),
        ("Alder was acquired by Larch in June.", "In June Alder acquired Larch."),
        ("The drug cut it by 7.4 and the placebo by 2.1.", "The drug cut it by 2.1 and the placebo by 7.4."),
        ("Pupils of the fourth grade read on paper.", "Pupils of the eighth grade read on paper."),
        ("Larch sends rows from Alder to Birch.", "Larch sends rows to Alder from Birch."),
        ("The office may impose a fine of 20,000 euros.", "The office must impose a fine of 20,000 euros."),
        ("Larch took over 60 of the 85 employees.", "Larch took over the 85 employees."),
        ("Only Larch allows one writer.", "Larch allows only one writer."),
        ("Larch took over Alder for $4.5 million in cash.", "Larch took over Alder for 4.5 million euros in cash."),
        ("Larch never blocks readers.", "Larch blocks readers."),
        ("Larch allows one writer.", "Larch allows one writer a file."),
    ],
)
def test_findings_of_the_same_quote_that_say_something_else_stay_apart(said: str, other: str) -> None:
    result = analysed(finding(said, OPENED_2016), finding(other, PART))
    assert [one.content for one in result.findings] == [said, other]


def test_a_difference_has_the_nature_that_the_analysis_gives_it_and_opposes_no_claim() -> None:
    named = {
        "kind": "date",
        "topic": "opening",
        "nature": "scope",
        "description": "The first speaks of the turbines, the second of the visitors' centre.",
        "sides": [{"value": "2016", "evidence": [OPENED_2016]}, {"value": "2017", "evidence": [OPENED_2017]}],
    }
    result = analysed(finding("It opened in 2016.", OPENED_2016), contradictions=[named])
    assert result.contradictions[0].nature == "scope"
    assert not result.claims[0].contradiction
