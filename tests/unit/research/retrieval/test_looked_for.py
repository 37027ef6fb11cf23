"""What a sub-query looks for: the library is searched for each thing, and long texts are read there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.agents.gathering.extractor import extractor
from graph_research.research.agents.gathering.gatherer import gatherer
from graph_research.research.agents.planner import planner
from tests.support.research.harness import FolderOfHits, PlainContext, hit, make_services

PAGES = {
    "gates": "The gates of the Tarn plant open twice a day.",
    "silt": "Silt is dredged from the basin every third year.",
    "crew": "A crew of nine keeps the plant running.",
    "fish": "Fish pass beside the gates.",
}
SUB_QUERY = {"id": "sq-1-1", "query": "gates of the Tarn plant", "look_for": ["silt dredged", "crew size", "gates"]}
NOTHING = {"findings": [], "notes": [], "limits": []}


def pages(provider: str) -> FolderOfHits:
    def found(request: SearchRequest) -> Sequence[SearchHit]:
        named = [name for name in PAGES if name in request.query] or ["fish"]
        rows = [hit(PAGES[name], url=f"https://{provider}.org/{name}", title=name) for name in named]
        return [replace(row, provider=provider) for row in rows]

    return FolderOfHits(provider, found)


async def gathered(*providers: FolderOfHits, **given: Any) -> dict[str, Any]:
    handoff = {"original_query": "Tarn?", "iteration": 1, "sub_query": SUB_QUERY, "max_sources_per_query": 1, **given}
    return await gatherer(make_services((), search=providers))({"query": SUB_QUERY["query"], **handoff}, PlainContext())  # type: ignore[return-value]


async def test_the_library_is_searched_for_each_thing_beside_the_query_and_no_page_is_taken_twice() -> None:
    library = pages("local")
    output = await gathered(library)
    assert [request.query for request in library.requests] == [SUB_QUERY["query"], *SUB_QUERY["look_for"]]
    assert [row["title"] for row in output["sources"]] == ["gates", "silt", "crew"]
    assert output["searches"][0]["looked_for"] == SUB_QUERY["look_for"]


async def test_what_earlier_searches_of_the_topic_found_is_not_taken_again() -> None:
    known = (await gathered(pages("local")))["sources"][1:2]
    output = await gathered(pages("local"), known=known)
    assert [row["title"] for row in output["sources"]] == ["gates", "crew"]


async def test_only_the_query_goes_out_over_the_web_and_a_later_query_alone_to_the_library() -> None:
    library, web = pages("local"), pages("web")
    await gathered(web)
    assert [request.query for request in web.requests] == [SUB_QUERY["query"]]
    await gathered(library, query="fish")
    assert [request.query for request in library.requests] == ["fish"]


async def test_a_long_text_is_read_where_it_says_what_is_looked_for() -> None:
    filler = "Nothing of interest stands in this sentence of the annex. " * 400
    long = f"{filler}{PAGES['silt']} {filler}The gates of the plant are of steel. {filler}"
    context = PlainContext()
    source = (await gathered(FolderOfHits("local", lambda request: [hit(long, url="https://a.org/1")])))["sources"][0]
    context.put_text(long)
    for look_for, is_read in ((["silt dredged"], True), ([], False)):
        model = ScriptedModel({"extractor": [NOTHING]})
        services = make_services([model], roles={"compression": [model]}, topic_chars=1_500)
        sub_query = {"id": "sq-1-1", "query": "steel gates", "look_for": look_for}
        handoff = {"original_query": "Tarn?", "sub_query": sub_query, "queries": ["steel gates"]}
        row = {**source, "layout_hash": None, "metadata": {}}
        await extractor(services)({**handoff, "sources": [row]}, context)
        assert (PAGES["silt"] in model.requests[0].user) == is_read
        assert ("What its sources should say:" in model.requests[0].user) == is_read


async def test_a_plan_says_what_to_look_for_each_thing_once() -> None:
    row = {"query": "gates of the Tarn plant", "look_for": ["silt  dredged", "silt dredged", "", *map(str, range(12))]}
    plan = planner(make_services({"planner": [{"research_brief": "B.", "sub_queries": [row]}]}, scouting=False))
    handoff = {"original_query": "Tarn?", "current_phase": "planning", "iteration": 1, "max_sub_queries": 5}
    [sub_query] = (await plan(handoff, PlainContext()))["sub_queries"]  # type: ignore[arg-type]
    assert sub_query["look_for"] == ["silt dredged", *map(str, range(11))]
