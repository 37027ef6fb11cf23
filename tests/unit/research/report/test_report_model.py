"""`report.json`: its schema is the model's, and every way a run can end gives a report that fits it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from graph_research.research.models.fidelity import FidelityLevel, fidelity_record
from graph_research.research.models.source import Source
from graph_research.research.report.build import build_report
from graph_research.research.report.documents.markdown import render_markdown
from graph_research.research.report.left_open import outcomes_left_open
from graph_research.research.report.model import Report, SubQueryOutcome, report_schema
from graph_research.research.report.page.html import render_html
from graph_research.research.report.run_metadata import roles_served, usage_of
from graph_research.text.relevance.open_points import Told
from tests.support.research import finished_research
from tests.support.research.finished_research import built, state

SCHEMA = Path(__file__).parents[4] / "schemas" / "report.json"


def test_the_schema_file_is_the_models():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == report_schema()


def test_a_report_fits_the_schema_and_a_spoilt_one_does_not():
    schema = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    report = built().to_json()
    assert schema.is_valid(report)
    assert not schema.is_valid({**report, "citations": [{**report["citations"][0], "n": "one"}]})
    assert not schema.is_valid({key: value for key, value in report.items() if key != "sources"})


def test_the_fields_that_the_contract_names_are_there():
    report = built().to_json()
    assert {"question", "model", "search", "sections", "claims", "citations", "sources", "gaps"} <= set(report)
    assert {"contradictions", "statistics", "confidence", "limitations"} <= set(report)
    assert {"n", "evidence_id", "source_id", "quote", "locator", "archive_hash"} <= set(report["citations"][0])
    assert {"id", "text", "confidence", "support", "against", "contradiction"} <= set(report["claims"][0])
    assert {"id", "title", "authors", "publisher", "url", "doi", "tier", "composite"} <= set(report["sources"][0])
    assert {"published_at", "retrieved_at", "quality", "fidelity"} <= set(report["sources"][0])


def test_cited_sources_come_first_in_the_order_of_their_numbers():
    unread = {**finished_research.SOURCES[0], "id": "src-unread0001", "score": finished_research.score(100, 0.99)}
    report = built(sources=[unread, *reversed(finished_research.SOURCES)])
    assert [source.composite for source in report.sources] == [0.7, 0.767, 0.452, 0.99]
    assert [source.citations for source in report.sources] == [["c1", "c4", "c6"], ["c2", "c3"], ["c5"], []]
    assert [source.n for source in report.sources] == [1, 2, 3, None]


def test_one_origin_is_never_rated_high():
    sure = {"confidence": 0.9, "claim_count": 1, "source_count": 12}
    assert built(confidence=sure, sub_queries=[]).confidence.level == "high"
    assert built(confidence=sure).confidence.level == "medium", "a part of the research failed"
    one_voice = [{**source, "publisher": "Lagoon Company", "doi": None} for source in finished_research.SOURCES]
    report = built(confidence=sure, sources=one_voice, sub_queries=[])
    assert report.confidence.level == "medium"
    assert any("one origin" in line for line in report.limitations)


def two_origins(**more):
    """The study with a claim that two origins support."""
    first, *others = finished_research.state()["claims"]
    first = {**first, "confidence": 0.9, "support": ["src-audit00001", "src-report0001"], "against": [], **more}
    return [{**first, "contradiction": bool(first["against"])}, *others]


@pytest.mark.requirement("18.4")
@pytest.mark.requirement("17.4")
def test_a_claim_is_strong_by_its_number_with_two_origins_and_nothing_against_it():
    sure = {"confidence": 0.9, "claim_count": 2, "source_count": 12}
    report = built(confidence=sure, claims=two_origins())
    assert report.confidence.strong == [report.claims[0].id]
    assert report.confidence.weak == [report.claims[1].id]
    assert (report.claims[0].level, report.claims[0].origins) == ("high", 2)
    assert report.claims[0].why[:2] == ["independent publishers or authors: 2", "best source: primary"]
    disputed = built(confidence=sure, claims=two_origins(against=["src-forum00001"])).claims[0]
    assert (disputed.level, disputed.why[2]) == ("medium", "origins against it: 1")


def test_a_report_with_a_sure_claim_does_not_say_that_no_finding_is_sure():
    [gate] = finished_research.state()["decisions"]
    objected = {**gate, "inputs": {"phase": "analysis"}, "outputs": {"issues": ["No high-confidence findings"]}}
    told = [" ".join(built(decisions=[objected], claims=claims).limitations) for claims in (two_origins(), [])]
    assert ["no findings of high confidence" in text for text in told] == [False, True]


@pytest.mark.requirement("17.5")
def test_copies_of_one_origin_count_once_and_no_claim_is_strong_in_a_report_that_is_not():
    one_voice = [{**source, "publisher": "Lagoon Company", "doi": None} for source in finished_research.SOURCES]
    claim = built(claims=two_origins(), sources=one_voice).claims[0]
    assert (claim.level, claim.origins) == ("medium", 1)
    assert claim.why[0] == "one origin only, so nothing confirms it independently"
    low = built(claims=two_origins()).confidence
    assert (low.level, low.strong) == ("low", [])


@pytest.mark.requirement("B43")
def test_a_source_is_reported_with_the_hashes_of_its_text_and_of_its_bytes():
    first, *others = finished_research.SOURCES
    known = {**first, "metadata": {"bytes_hash": "sha256:" + "b" * 64}}
    hashes = {row.id: (row.archive_hash, row.bytes_hash) for row in built(sources=[known, *others]).sources}
    assert hashes[first["id"]] == (first["archive_hash"], "sha256:" + "b" * 64)
    assert {hashes[row["id"]][1] for row in others} == {None}


@pytest.mark.parametrize(("writer", "is_told"), [("extractive", True), ("model", False)])
def test_readers_and_a_type_that_were_named_are_limitations_where_no_model_wrote(writer: str, is_told: bool) -> None:
    draft = state()["draft"]
    sections = [{**section, "id": "sec-1", "writer": writer} for section in draft["sections"]]
    report = built(draft={**draft, "sections": sections}, report_options={"audience": "a fishing\nclub"})
    told = [line for line in report.limitations if "a fishing club" in line]
    assert bool(told) is is_told
    assert not any("readers" in line for line in built(draft={**draft, "sections": sections}).limitations)
    for type in ("report", "timeline"):
        typed = built(draft={**draft, "sections": sections}, report_options={"type": type})
        told = [line for line in typed.limitations if line.startswith(f"Not built up as was asked for ({type})")]
        assert bool(told) is (is_told and type == "timeline")


def test_only_the_last_word_on_a_phase_is_a_limitation():
    gate = finished_research.state()["decisions"][0]
    mended = {**gate, "outputs": {"quality_ok": True, "issues": []}}
    rated = finished_research.SOURCES
    unrated = [{**row, "quality": "medium"} for row in rated]
    assert any(
        "no sources of high quality" in line for line in built(decisions=[mended, gate], sources=unrated).limitations
    )
    assert not any(
        "no sources of high quality" in line for line in built(decisions=[gate, mended], sources=unrated).limitations
    )
    worded = {**gate, "outputs": {"quality_ok": False, "issues": ["none is any good: 0/4"]}}
    assert any("no sources of high quality" in line for line in built(decisions=[worded], sources=unrated).limitations)
    assert not any("any good" in line for line in built(decisions=[worded], sources=rated).limitations)
    assert not any(
        "no sources of high quality" in line for line in built(decisions=[mended, gate], sources=rated).limitations
    )


def test_what_was_dropped_degraded_and_failed_is_told_without_the_errors_own_words():
    report = built(
        quotes_dropped=1,
        report_metadata={"fabricated_citations": 2},
        degraded=[{"node": "plan", "agent": "planner", "reason": "no model answered: /home/somebody/socket"}],
        search_failures=[{"query": "q", "provider": "local", "error": "ProviderUnavailable", "message": "/srv/x"}],
    )
    told = "\n".join(report.limitations)
    assert "Quotes discarded because no archived text holds them: 1." in told
    assert "Citations discarded because they name no evidence: 2." in told
    assert "reduced quality: planning." in told
    assert "local files on “q” (ProviderUnavailable)" in told
    assert "/home" not in render_markdown(report) and "/srv" not in render_markdown(report)


def test_statistics_add_up_and_an_unknown_price_makes_the_cost_unknown():
    totals = built().statistics.totals
    assert (totals.calls, totals.input_tokens, totals.output_tokens, totals.cost_usd) == (3, 3600, 1040, 0.0)
    rows = [
        finished_research.facts().usage[0].model_copy(update={"cost_usd": None}),
        finished_research.facts().usage[1],
    ]
    assert built(run=finished_research.facts(usage=rows)).statistics.totals.cost_usd is None


def test_only_what_costs_money_can_have_been_paid_twice():
    assert built(run=finished_research.facts(possibly_paid_twice=2)).statistics.possibly_paid_twice == 0
    paid = finished_research.facts(possibly_paid_twice=2, search=["local", "tavily"])
    assert built(run=paid).statistics.possibly_paid_twice == 2
    assert "Calls possibly billed twice</dt><dd>2<" in render_html(built(run=paid), texts=finished_research.texts())


@dataclass(frozen=True)
class Call:
    path: str
    answer: Any
    kind: str = "model"
    seconds: float | None = 0.25


def test_recorded_calls_are_summed_by_role_and_by_the_root_node_they_were_made_under():
    answer = {"role": "reflection", "model": "extractive", "input_tokens": 10, "output_tokens": 3}
    paid = {"role": "report", "model": "openai:m", "input_tokens": 100, "output_tokens": 50}
    calls = [
        Call("gather[0]/reflect", answer),
        Call("gather[1]/reflect", answer),
        Call("gather[0]/search", [], kind="search"),
        Call("gather[1]/analyze", {**answer, "role": "compression"}),
        Call("synthesize", paid, seconds=None),
    ]
    rows = usage_of(calls, price=lambda model, given, made, cached: (given + made - cached) / 1000)
    assert [(row.role, row.phase, row.calls, row.input_tokens, row.seconds) for row in rows] == [
        ("compression", "gather", 1, 10, 0.25),
        ("reflection", "gather", 2, 20, 0.5),
        ("report", "synthesize", 1, 100, 0.0),
    ]
    assert [row.cost_usd for row in rows] == [0.0, 0.0, 0.15]
    assert usage_of(calls)[-1].cost_usd is None


@dataclass(frozen=True)
class Journalled:
    request: Any
    answer: Any
    status: str = "answered"
    kind: str = "model"


def test_who_served_a_role_what_it_cost_and_who_was_passed_over_is_read_from_the_journal():
    first = {"role": "research", "model": "openai:a", "attempt": 1}
    second = {"role": "research", "model": "openai:b", "attempt": 2}
    reply = {"role": "research", "model": "openai:b", "input_tokens": 100, "output_tokens": 50}
    calls = [
        Journalled(first, {"type": "ProviderUnavailable", "message": "/home/somebody"}, status="failed"),
        Journalled(first, {**reply, "model": "openai:a", "exceeded": {"limit_tokens": 10}}),
        Journalled(first, {**reply, "model": "openai:a", "output_tokens": 0, "withheld": "/home/somebody"}),
        Journalled(second, reply),
        Journalled(first, {**reply, "input_tokens": 0, "output_tokens": 0, "shared": True}),
        Journalled({"query": "q"}, [], kind="search"),
        Journalled({**first, "role": "report", "model": "extractive"}, {**reply, "model": "extractive"}),
        Journalled(first, None, status="lost"),
    ]
    served = roles_served(calls, lambda model, given, made, cached: (given + made) / 1000)
    assert list(served) == ["research", "report"]
    research = served["research"]
    assert (research.models, research.calls, research.repair_turns, research.too_long) == ({"openai:b": 1}, 1, 1, 1)
    assert (research.input_tokens, research.output_tokens, research.cost_usd) == (200, 50, 0.25)
    assert [(one.model, one.reason, one.calls) for one in research.failures] == [
        ("openai:a", "did not answer", 1),
        ("openai:a", "found the prompt too long", 1),
        ("openai:a", "declined to answer", 1),
    ]
    assert served["report"].cost_usd == 0.0
    assert "somebody" not in json.dumps(research.to_json())


def test_windows_that_were_too_small_fallbacks_and_models_passed_over_are_limitations():
    window = {"tokens": 2_250, "prompt_chars": None}
    degraded = [
        {
            "node": "analyze",
            "agent": "analyzer",
            "kind": "window",
            "reason": "…",
            "model": "openai:m",
            "retries": 2,
        }
        | {"window": window},
        {"node": "analyze", "agent": "analyzer", "kind": "cut", "reason": "2 of 3 sources in part", "model": "m"},
        {"node": "plan", "agent": "planner", "kind": "failover", "model": "m"}
        | {"reason": "openai:m did not answer; n did"},
        {"node": "plan", "agent": "planner", "kind": "fallback", "reason": "answer not usable: /home/somebody"},
    ]
    report = built(degraded=degraded)
    assert report.statistics.token_limit_retries == 2
    assert set(report.limitations) >= {
        "The context window of m was too small; prompts shortened and sent again: 2.",
        "To fit the context window of the model, parts of the material were left out of prompts, for: analysis.",
        "Another model answered for planning: openai:m did not answer; n did.",
        "No model gave a usable answer, so code did it instead, for: planning.",
    }
    assert not any("somebody" in line for line in report.limitations)


def test_a_window_too_small_for_what_cannot_be_cut_says_so():
    refused = {"node": "clarify", "agent": "clarifier", "kind": "window", "reason": "…", "model": "m", "retries": 0}
    told = "The context window of m was too small; the prompt could not be shortened any further."
    assert told in built(degraded=[{**refused, "window": {"tokens": 100, "prompt_chars": None}}]).limitations


@pytest.mark.parametrize(("language", "is_compared_by_rules"), [("cs", False), ("sw", True), ("und", True)])
def test_what_is_in_english_and_whether_words_have_stems_is_said_of_a_language(
    language: str, is_compared_by_rules: bool
) -> None:
    options = {"length": "brief", "type": "report", "language": language, "audience": None}
    [said] = [line for line in built(report_options=options).limitations if "headings are in English" in line]
    assert ("general rules" in said) == is_compared_by_rules


@pytest.mark.parametrize(
    ("limit", "written"),
    [
        ("24,000 tokens", "24.000 Token"),
        ("30,000 tokens and 0.07 USD", "30.000 Token, 0,07 USD"),
        ("7.5 s", "7,5 s"),
    ],
)
def test_a_limit_of_the_run_is_written_as_the_language_writes_numbers(limit: str, written: str) -> None:
    saved = [f"gathering ended early, to keep within {limit}"]
    options = {"length": "brief", "type": "report", "language": "de", "audience": None}
    report = built(run=finished_research.facts(saved=saved), report_options=options)
    assert f"Um {written} einzuhalten: das Sammeln endete früher." in report.limitations


def test_the_wished_type_that_code_cannot_follow_is_named_in_the_language_of_the_report() -> None:
    options = {"length": "brief", "type": "memo", "language": "de", "audience": None}
    section = {"heading": "A", "level": 1, "blocks": [], "writer": "extractive"}
    draft = {"found": True, "searched": [], "summary": [], "sections": [section]}
    said = built(draft=draft, report_options=options).limitations
    assert any(line.startswith("Nicht wie gewünscht aufgebaut (Vermerk)") for line in said)


def empty_handed(**facts) -> Report:
    return build_report({}, texts={}, run=finished_research.facts(**facts))


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(empty_handed(), id="a graph without any of the channels"),
        pytest.param(empty_handed(question="", models={}, search=[], finished_at=None, usage=[]), id="no facts"),
        pytest.param(built(draft=None, sources=[], evidence=[], contradictions=[], claims=[]), id="empty library"),
        pytest.param(built(draft={}), id="empty draft"),
        pytest.param(built(draft={"found": False}), id="not found and nothing near"),
        pytest.param(built(question="x" * 50_000), id="longest question"),
        pytest.param(
            built(run=finished_research.facts(status="failed", cause="error", error="disk full"), draft=None),
            id="failed",
        ),
    ],
)
def test_a_report_with_next_to_nothing_in_it_is_written_in_every_format(report):
    schema = jsonschema_rs.Draft202012Validator(report_schema())
    assert schema.is_valid(report.to_json())
    assert render_markdown(report).startswith("# ")
    assert "<h1" in render_html(report, texts={})


def test_a_cancelled_run_without_a_draft_says_what_exists():
    run = finished_research.facts(status="aborted", cause="cancelled")
    report = built(run=run, draft=None, contradictions=[], metadata={"abort_phase": "gathering"})
    text = render_markdown(report)
    assert report.partial and not report.written
    assert "the run was cancelled in the phase “gathering”" in text
    assert "## No report was written" in text
    assert "Sub-questions answered by a search: 1 of 2" in text
    assert "Sources collected: 3" in text


@pytest.mark.requirement("5.4")
def test_a_run_that_timed_out_after_synthesis_keeps_its_report_and_says_that_it_is_partial():
    text = render_markdown(built(run=finished_research.facts(status="aborted", cause="timeout")))
    assert "ran out of time" in text
    assert "This report was written before that and may lack what was still to come." in text
    assert "## Short answer" in text


def test_not_found_says_what_was_searched_and_what_came_nearest():
    draft = {
        "found": False,
        "searched": ["age of the moon"],
        "summary": [finished_research.quotes(finished_research.quote(finished_research.FISH))],
    }
    text = render_markdown(built(draft=draft))
    assert "## Not found" in text and "## Short answer" not in text
    assert "Searched for:\n\n- age of the moon" in text
    assert "搜索内容：\n\n- age" in render_markdown(built(draft=draft).model_copy(update={"language": "zh"}))
    assert finished_research.FISH["quote"] in text
    nothing = built(draft={"found": False, "searched": ["age of the moon"]})
    for shown in (render_markdown(nothing), render_html(nothing, texts={})):
        assert "closest passages" not in shown, "there are none, such as where every source was left out"


def test_a_digested_source_that_was_read_whole_too_counts_as_read_whole():
    first, *others = finished_research.SOURCES
    digested = {**first, "fidelity": "digest", "content_type": "digest/v1"}
    chars = first["characters"]
    records = [
        fidelity_record(first["id"], "digest", chars, chars // 9, FidelityLevel.DIGEST, reason="digest_compression"),
        fidelity_record(first["id"], "analysis", chars, chars, FidelityLevel.FULL),
    ]
    report = built(sources=[digested, *others], content_fidelity=[record.to_json() for record in records])
    assert {source.id: source.fidelity for source in report.sources}[first["id"]] == "full"
    assert "Sources of which only a part was read" not in " ".join(report.limitations)


def test_where_something_was_not_found_is_no_part_of_what_was_not_found():
    audit = finished_research.SOURCES[0]["title"]
    limits = [f"The construction cost of the tidal lagoon is not in '{audit}'.", f"Its builder is not in '{audit}'."]
    report = built(
        sub_queries=[{"id": "sq-1-1", "query": "cost", "status": "completed"}],
        topics=[{"sub_query_id": "sq-1-1", "source_ids": [], "limits": limits}],
    )
    assert report.sub_queries[0].limits == limits[1:]


def test_a_limit_stays_open_though_the_text_says_something_of_the_source_that_it_names():
    limit = "The price is not in 'Tidal lagoon report'."
    source = Source.model_validate({**finished_research.SOURCES[0], "title": "Tidal lagoon report"})
    outcome = SubQueryOutcome(id="sq-1-1", query="price", status="completed", iteration=1, sources=1, limits=[limit])
    told = [Told("The price of a copy of the tidal lagoon report is 5 euros.")]
    assert outcomes_left_open([outcome], told, [source]) == [outcome]


def test_what_the_text_answers_is_no_longer_told_as_open():
    gaps = [
        {"id": "gap-1", "description": "How many gigawatt hours the turbines produce in an average year."},
        {"id": "gap-2", "description": "What the lagoon's construction cost reached, and what pays the interest?"},
        {"id": "gap-3", "description": "How many gigawatt hours the turbines produce in a dry year."},
    ]
    limits = ["The construction cost of the tidal lagoon is not in these sources.", "No source says who built it."]
    report = built(
        gaps=gaps,
        sub_queries=[{"id": "sq-1-1", "query": "cost", "status": "completed"}],
        topics=[{"sub_query_id": "sq-1-1", "source_ids": [], "limits": limits}],
    )
    said = {gap.id: (gap.addressed, gap.description) for gap in report.gaps}
    assert said["gap-1"] == (True, gaps[0]["description"])
    assert said["gap-2"] == (False, "What pays the interest?")
    assert said["gap-3"] == (False, gaps[2]["description"])
    assert report.sub_queries[0].limits == limits[1:]
    factors = {row.name: row.value for row in report.confidence.factors}
    assert factors["Open questions"] == "2"
    assert factors["Not found in what was read"] == "1"
