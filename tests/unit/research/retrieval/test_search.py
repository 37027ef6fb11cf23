"""Federated search: which provider gets which query, one that fails or hangs, and what is lost by it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.search.base import SearchHit, SearchProvider, SearchRequest
from graph_research.research.agents.gathering.gatherer import gatherer
from graph_research.research.report.build import build_report
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.retrieval.search import Searched, search_everywhere
from tests.support.research.harness import (
    Bench,
    FolderOfHits,
    PlainContext,
    hit,
    make_services,
    research_script,
    small_web,
)
from tests.support.virtual_time import in_virtual_time

EVERY = ("web", "academic", "news")


class Serving(FolderOfHits):
    """A search with some kinds of sources, or one that never answers."""

    def __init__(self, name: str, *serves: str, hangs: bool = False, fails: Exception | None = None) -> None:
        super().__init__(name, lambda request: [replace(hit(f"Of {name}.", url=f"https://{name}.org"), provider=name)])
        self.serves = frozenset(serves or EVERY)
        self.hangs = hangs
        self.fails = fails

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        if self.hangs:
            self.requests.append(request)
            await asyncio.Event().wait()
        if self.fails is not None:
            self.requests.append(request)
            raise self.fails
        return await super().search(request)


async def searched(*providers: SearchProvider, types: Sequence[str] = EVERY, **more: Any) -> Searched:
    return await search_everywhere(providers, "tarn", PlainContext(), max_results=5, source_types=types, **more)


async def test_a_query_goes_to_the_searches_that_have_such_sources() -> None:
    result = await searched(Serving("web", "web"), Serving("papers", "academic"), Serving("all"), types=["academic"])
    assert result.asked == ("papers", "all")
    assert result.skipped == ("web",)
    assert [found.provider for found in result.hits] == ["papers", "all"]


async def test_where_no_search_has_such_sources_all_are_asked() -> None:
    result = await searched(Serving("web", "web"), Serving("papers", "academic"), types=["news"])
    assert (result.asked, result.skipped) == (("web", "papers"), ())


@in_virtual_time
async def test_one_that_hangs_or_fails_costs_its_own_hits_and_no_more_than_its_time() -> None:
    down = Serving("down", fails=ProviderUnavailable("out of order", provider="down"))
    result = await searched(Serving("slow", hangs=True), down, Serving("well"), seconds=0.01)
    assert [found.provider for found in result.hits] == ["well"]
    assert not result.all_failed
    assert [(one["provider"], one["error"], one["message"].partition(";")[0]) for one in result.failures] == [
        ("slow", "ProviderUnavailable", "slow took longer than 0.01 seconds"),
        ("down", "ProviderUnavailable", "out of order"),
    ]


@pytest.mark.requirement("2.4")
async def test_a_search_counts_who_answered_and_what_was_found_twice(context: PlainContext) -> None:
    down = Serving("down", fails=ProviderUnavailable("out of order", provider="down"))
    search = gatherer(make_services({}, search=[Serving("one"), down, Serving("two"), Serving("one")]))
    found = await search({"query": "tarn", "original_query": "tarn"}, context)
    assert found["stats"] == {
        "queries_executed": 3,
        "queries_failed": 1,
        "sources_collected": 2,
        "duplicates_skipped": 1,
    }


async def test_an_error_that_is_not_a_search_error_is_raised() -> None:
    with pytest.raises(ExceptionGroup, match="TaskGroup"):
        await searched(Serving("broken", fails=RuntimeError("a bug")), Serving("well"))


# ── In the graph ────────────────────────────────────────────────────────────────────────────────────────────────────


def report_of(state: Mapping[str, Any]) -> Any:
    facts = RunFacts(run_id="run-1", question="What is known of the Tarn plant?", search=["web", "slow"])
    return build_report(state, texts={}, run=facts)


@in_virtual_time
async def test_a_search_that_hangs_is_in_the_report_and_the_research_goes_on() -> None:
    bench = Bench(
        research_script(), others=[Serving("slow", hangs=True)], settings={"search_timeout": 0.01, "scouting": False}
    )
    result = await bench.run()
    assert result.status == "completed"
    assert len(result.state["findings"]) == 2
    report = report_of(result.state)
    uses = {use.provider: (use.asked, use.failed) for use in report.statistics.gathering.searches}
    assert uses == {"web": (2, 0), "slow": (2, 2)}
    assert any("slow on “opening of the Tarn plant” (ProviderUnavailable)" in one for one in report.limitations)


async def test_one_researcher_that_breaks_down_does_not_end_the_others_and_is_in_the_report() -> None:
    def broken(request: SearchRequest) -> Sequence[SearchHit]:
        if "cost" in request.query:
            raise RuntimeError("a bug in a search")
        return small_web(request)

    bench = Bench(research_script(), search=broken, settings={"scouting": False})
    result = await bench.run()
    assert result.status == "completed"
    outcomes = {row["query"]: row["status"] for row in result.state["sub_queries"]}
    assert outcomes == {"opening of the Tarn plant": "completed", "maintenance cost of the Tarn plant": "failed"}
    assert [row["content"] for row in result.state["findings"]] != []
    told = " ".join(report_of(result.state).limitations)
    assert "A sub-question failed and was left out: maintenance cost of the Tarn plant." in told
    assert "maintenance cost of the Tarn plant" in told.split("Failed searches:")[1]


async def test_a_search_that_has_no_such_sources_is_counted_as_skipped() -> None:
    bench = Bench(research_script(), others=[Serving("slow", "academic")])
    result = await bench.run(source_types=["news"])
    uses = {use.provider: (use.asked, use.skipped) for use in report_of(result.state).statistics.gathering.searches}
    assert uses == {"web": (2, 0), "slow": (0, 2)}


async def test_each_sub_query_goes_where_the_plan_says() -> None:
    rows = [
        {"query": "opening of the Tarn plant", "priority": 1, "source_types": ["academic", "cookbooks"]},
        {"query": "maintenance cost of the Tarn plant", "priority": 2},
    ]
    plan = {"research_brief": "A brief.", "sub_queries": rows}
    bench = Bench(research_script(planner=[plan]), settings={"scouting": False})
    papers = Serving("papers", "academic")
    bench.web.serves = frozenset({"web"})
    bench.others = [papers]
    await bench.run()
    asked = {request.query for request in papers.requests}  # side by side, in any order
    assert (asked, len(papers.requests)) == ({row["query"] for row in rows}, 2)
    assert [request.query for request in bench.web.requests] == ["maintenance cost of the Tarn plant"]
