"""What the outline decides of the other prompts: which rules a section's writer gets, and what still counts as open."""

from __future__ import annotations

from typing import Any

from graph_research.providers.llm.base import ModelRequest
from tests.support.research.harness import Bench, one_section, research_script
from tests.support.research.strong_model import paragraph, source_id
from tests.unit.research.graphs.test_additions import FAIR_URL, FAIRNESS, finds_more
from tests.unit.research.graphs.test_rounds import reads_all
from tests.unit.research.graphs.test_write_report import STORES, bench_of, report_of

SERVED = "Alder serves waiting writers in the order in which they asked."
FOUND, OPEN = "No page says when the plant opened.", "No page says who built it."


async def test_only_the_writer_of_a_block_to_copy_gets_the_rules_for_one() -> None:
    def outline(request: ModelRequest) -> dict[str, Any]:
        first, *others = STORES.outline(request)["sections"]
        return {"sections": [{**first, "has_block": True}, *({**row, "has_block": False} for row in others)]}

    bench = bench_of(outliner=[outline])
    await report_of(bench)
    asked = bench.model.asked("section_writer")
    assert [row.material["section"]["has_block"] for row in asked if "- code, with a caption" in row.system] == [True]
    unsaid = bench_of()
    await report_of(unsaid)
    assert all("- code, with a caption" in row.system for row in unsaid.model.asked("section_writer"))


async def test_a_comment_on_a_judged_value_begins_with_the_word_of_the_reports_language() -> None:
    def outline(request: ModelRequest) -> dict[str, Any]:
        return {"sections": [{**row, "has_block": True} for row in STORES.outline(request)["sections"]]}

    bench = bench_of(outliner=[outline])
    await report_of(bench, report_options={"length": "standard", "type": "report", "language": "de", "audience": None})
    assert all('"Ermessen:"' in row.system for row in bench.model.asked("section_writer"))


async def test_what_a_finding_of_another_source_tells_is_unknown_to_no_writer_nor_to_the_report() -> None:
    def limited(request: ModelRequest) -> dict[str, Any]:
        return {**reads_all(request), "limits": [FOUND, OPEN]}

    def outline(request: ModelRequest) -> dict[str, Any]:
        shown = request.material["limits"]
        assert f"{shown.index(FOUND) + 1}. {FOUND}" in request.user
        return {**one_section(request), "answered_limits": [shown.index(FOUND) + 1, 99]}

    script = research_script(extractor=[limited], outliner=[outline])
    run = Bench(script, condensing=True, settings={"fetch_time_summarization": False})
    result = await run.run(max_iterations=1)
    assert result.state["answered_limits"] == [FOUND]
    assert [request.material["limits"] for request in run.model.asked("editor")] == [[OPEN]]
    assert all(FOUND not in request.material["limits"] for request in run.model.asked("section_writer"))
    report = await run.report(result.state)
    assert {limit for row in report.sub_queries for limit in row.limits} == {OPEN}


ASKED = "in which order waiting writers are served"


def asks_for_the_order(request: ModelRequest) -> dict[str, Any]:
    first, *others = STORES.outline(request)["sections"]
    return {
        "sections": [{**first, "searches": [ASKED, f" {ASKED}", ASKED, "order of a fourth query, not sent"]}, *others]
    }


def tells_the_order(request: ModelRequest) -> dict[str, Any]:
    """The study's section, and in the one that asked for it what was found."""
    written = STORES.section(request)
    found = [row["id"] for row in request.material["passages"] if FAIRNESS in row["quote"]]
    if not request.material["section"]["searches"] or not found:
        return written
    told = {"text": SERVED, "kind": "fact", "evidence_ids": found}
    return {**written, "blocks": [*written["blocks"], paragraph(told)]}


async def test_what_a_section_needs_and_nothing_tells_is_searched_for_before_it_is_written() -> None:
    bench = Bench(STORES.script(outliner=[asks_for_the_order], section_writer=[tells_the_order]), search=finds_more)
    report, state = await report_of(bench)
    assert "- searches: up to 3 queries" in bench.model.asked("outliner")[0].system
    assert SERVED in [row.text for row in report.statements()]
    urls = [source["url"] for source in state["sources"]]
    assert FAIR_URL in urls
    assert "https://shop.example/" not in urls, "what the report does not cite becomes no source"
    assert [row["query"] for row in state["searches"] if "order" in row["query"]] == [ASKED]
    assert state["sub_queries"][-1]["query"] == ASKED
    assert state["topics"][-1]["sub_query_id"] == state["sub_queries"][-1]["id"]


async def test_the_section_that_the_outline_names_tells_of_a_contradiction() -> None:
    quoted = [(url, page, f"{page[1].partition('. ')[0]}.") for url, page in list(STORES.pages.items())[:2]]
    sides = [
        {"value": quote, "evidence": [{"source_id": source_id(url, page[1]), "quote": quote}]}
        for url, page, quote in quoted
    ]
    told = {"kind": "statement", "topic": "Whether the two agree", "sides": sides}

    def outline(request: ModelRequest) -> dict[str, Any]:
        assert f"1. {told['topic']}" in request.user
        *others, last = STORES.outline(request)["sections"]
        return {"sections": [*others, {**last, "contradictions": [1, 99]}]}

    [analysis] = STORES.script()["analyzer"]
    bench = bench_of(analyzer=[{**analysis, "contradictions": [told]}], outliner=[outline])
    await report_of(bench)
    asked = sorted(bench.model.asked("section_writer"), key=lambda request: request.material["section"]["id"])
    assert [len(request.material["contradictions"]) for request in asked] == [0] * (len(asked) - 1) + [1]
