"""What is chosen from several sources, in which order, and how sure the result is."""

from __future__ import annotations

from typing import Any

from graph_research.research.extractive import analyzer
from graph_research.research.extractive.analyzer import analyze
from tests.support.research.extractive_sources import written

QUESTION = "What did the Alder Dam cost?"
COST = "The Alder Dam cost 9 million euros in the end."


def findings(texts: list[str], tiers: list[str], publishers: list[str | None] | None = None) -> list[dict[str, Any]]:
    handoff = {**written(texts, tiers, publishers or []), "question": QUESTION}
    rows: list[dict[str, Any]] = analyzer.find(handoff)["findings"]
    return rows


def test_of_near_duplicates_the_best_tier_leads_and_the_others_follow() -> None:
    (finding,) = findings([COST, COST.replace("in the end", "at the end")], ["UNVERIFIED", "PRIMARY_SOURCE"])
    assert finding["source_ids"] == ["s1", "s0"]
    assert finding["content"] == COST.replace("in the end", "at the end")


def test_the_same_value_in_other_words_is_agreement() -> None:
    texts = [
        "The cost of the Alder Dam was 9 million euros.",
        "Auditors found that the cost of the Alder Dam reached 9 million euros.",
    ]
    (finding,) = findings(texts, ["PRIMARY_SOURCE", "AUTHORITATIVE"])
    assert (sorted(finding["source_ids"]), finding["confidence"]) == (["s0", "s1"], "high")


def test_other_numbers_are_never_merged() -> None:
    assert len(findings([COST, COST.replace("9", "8")], ["SECONDARY", "SECONDARY"])) == 2


def test_one_publisher_is_never_high_however_many_pages_say_it() -> None:
    texts = [COST, f"{COST} Rain delayed the work on the wall."]
    (finding, *_) = findings(texts, ["PRIMARY_SOURCE", "PRIMARY_SOURCE"], ["agency", "agency"])
    assert finding["confidence"] == "medium"


def test_one_weak_source_is_low() -> None:
    (finding,) = findings([COST], ["UNVERIFIED"])
    assert finding["confidence"] == "low"


def test_what_an_authority_disputes_is_at_most_medium() -> None:
    rows = findings([COST, COST, COST.replace("9", "12")], ["PRIMARY_SOURCE", "PRIMARY_SOURCE", "AUTHORITATIVE"])
    assert {row["confidence"] for row in rows} == {"medium"}


def test_flagged_sources_are_not_quoted() -> None:
    assert findings([COST], ["FLAGGED"]) == []


def test_a_namesake_is_not_taken_for_the_subject() -> None:
    handoff = {**written([COST, "The Birch Dam cost 3 million euros in the end."]), "question": QUESTION}
    assert [group.lead.source_id for group in analyze(handoff).groups] == ["s0"]


def test_what_is_nearest_shares_a_word_of_the_question_before_words_that_were_searched_on_the_way() -> None:
    texts = [
        "The lagoon in the bay makes power on every tide of the year.",
        "Aqueduct arches of brick were copied for the station hall.",
    ]
    handoff = {
        **written(texts, ["PRIMARY_SOURCE", "UNVERIFIED"], []),
        "question": "How did Roman engineers build aqueducts for the city of Nemausus?",
        "sub_queries": [{"query": "Roman engineers lagoon bay tide power"}],
    }
    (nearest,) = analyzer.find(handoff)["findings"]
    assert (nearest["content"], nearest["confidence"]) == (texts[1], "speculation")
