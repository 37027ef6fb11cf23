"""One topic researcher: search, mandatory reflection, better queries, and where it stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph_research.graph.runtime import RunResult
from graph_research.providers.errors import BudgetReached
from graph_research.providers.search.base import Passage, SearchHit, SearchRequest
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.text.document import Block, Document
from tests.support.research.harness import ONE_TOPIC, Bench, hit, small_web


def go_on(query: str | None, *, complete: bool = False) -> dict[str, Any]:
    return {
        "continue_searching": True,
        "refined_query": query,
        "research_complete": complete,
        "rationale": "Something is missing.",
    }


STOP = {"continue_searching": False, "refined_query": None, "research_complete": False, "rationale": "No more."}


async def research(bench: Bench, query: str = "opening of the Tarn plant", **input: Any) -> RunResult:
    sub_query = {"id": "sq-1-1", "query": query, "status": "pending", "iteration": 1}
    return await bench.run(sub_query=sub_query, **input)


def bench(*reflections: Any, search: Any = small_web) -> Bench:
    return Bench({"reflector": reflections}, graph="topic_research", search=search)


@pytest.mark.requirement("8.1", "8.2", "8.5", "23.3")
async def test_a_reflection_follows_every_search_and_refines_the_query() -> None:
    topic = bench(go_on("cost of the plant"), go_on("fish at the plant"), STOP)
    result = await research(topic)
    assert result.status == "completed"
    round_of_nodes = ["search", "summarize", "reflect"]
    assert await topic.nodes() == ["begin", *round_of_nodes * 3, "conclude"]
    assert result.state["topic"]["queries"] == ["opening of the Tarn plant", "cost of the plant", "fish at the plant"]
    assert result.state["topic"]["searches_performed"] == 3
    assert result.state["topic"]["source_ids"] == [row["id"] for row in result.state["sources"]]
    assert len(result.state["sources"]) == 4
    assert result.state["topic"]["duplicates_skipped"] == 1


@pytest.mark.requirement("8.1", "B19")
async def test_without_reflections_a_topic_is_searched_once_and_no_model_reflects() -> None:
    topic = Bench(
        {"reflector": [go_on("cost of the plant")]},
        graph="topic_research",
        search=small_web,
        settings={"topic_reflection": False},
    )
    result = await research(topic)
    assert (result.status, result.state["topic"]["searches_performed"]) == ("completed", 1)
    assert topic.model.asked("reflector") == []


@pytest.mark.requirement("8.3")
async def test_max_searches_is_a_hard_cap_whatever_the_reflection_says() -> None:
    queries = iter(range(100))
    topic = bench(lambda request: go_on(f"query {next(queries)}"))
    result = await research(topic, max_searches=2)
    assert result.state["topic"]["searches_performed"] == 2
    assert len(topic.web.requests) == 2


@pytest.mark.requirement("8.1", "8.3", "B19")
async def test_the_last_search_is_reflected_on_too_and_a_topic_that_is_cut_short_is_not_complete() -> None:
    queries = iter(range(100))
    topic = bench(lambda request: go_on(f"query {next(queries)}"))
    concluded = (await research(topic, max_searches=2)).state["topic"]
    assert ["Searches left: 0." in request.user for request in topic.model.asked("reflector")] == [False, True]
    assert len(concluded["reflections"]) == 2
    assert concluded["research_complete"] is False


@pytest.mark.requirement("8.3", "22.3")
async def test_research_complete_stops_at_once() -> None:
    topic = bench(go_on("another query", complete=True))
    result = await research(topic)
    assert result.state["topic"]["research_complete"] is True
    assert len(topic.web.requests) == 1


@pytest.mark.requirement("8.2")
async def test_a_refined_query_that_was_asked_before_stops_the_search() -> None:
    topic = bench(go_on("Opening of  the Tarn PLANT"))
    assert (await research(topic)).state["topic"]["searches_performed"] == 1


@pytest.mark.requirement("8.2")
async def test_where_a_reflection_is_unreadable_code_decides_and_that_is_recorded() -> None:
    by_code = Bench({}, graph="topic_research", search=small_web, roles={"reflection": [ExtractiveModel()]})
    result = await research(bench("Let me think."))
    assert result.state["topic"]["queries"] == (await research(by_code)).state["topic"]["queries"]
    assert {row["agent"] for row in result.state["degraded"]} == {"reflector"}


@pytest.mark.requirement("8.4", "8.5")
async def test_the_reflection_sees_counts_and_qualities_and_its_tokens_are_counted() -> None:
    topic = bench(STOP)
    result = await research(topic)
    [request] = topic.model.asked("reflector")
    assert "Sources found: 2. By quality: high 1, medium 1." in request.user
    assert "Searches left: 2." in request.user
    assert "stands in what was found; 3 relevant sources are likely enough" in request.system
    assert request.role == "reflection"
    assert result.state["topic"]["tokens_used"] > 0


async def test_the_reflection_sees_the_headings_of_the_passages_found_and_the_sentence_that_fits_best() -> None:
    blocks = [
        ("heading", "The Tarn plant"),
        ("paragraph", "It is wet there."),
        ("heading", "History"),
        ("paragraph", "Boats came early. The opening of the Tarn plant was in May. It rained."),
        ("heading", "Costs"),
        ("paragraph", "Nobody knows."),
    ]
    text = "\n".join(part for _, part in blocks)
    starts = [text.index(part) for _, part in blocks]
    title = "The Tarn plant | The Tarn Gazette"
    found = hit(text, url="https://tarn.gov/", title=title)
    layout = tuple(Block(kind, start, start + len(part)) for start, (kind, part) in zip(starts, blocks, strict=True))  # type: ignore[arg-type]
    passages = [
        Passage(start=starts[n], end=starts[n] + len(blocks[n][1]), score=score)
        for n, score in ((0, 0.2), (1, 0.1), (3, 0.9), (5, 0.5))
    ]
    document = Document(text=text, blocks=layout, title=title)
    topic = bench(STOP, search=lambda request: [replace(found, document=document, passages=tuple(passages))])
    await research(topic)
    line = f"{title}: History; Costs: The opening of the Tarn plant was in May."
    assert topic.model.asked("reflector")[0].material["found"] == [line]


async def test_a_reflection_sees_only_the_titles_of_earlier_sources_and_after_the_last_search_of_all() -> None:
    queries = iter(range(100))

    def found(request: SearchRequest) -> list[SearchHit]:
        title = f"Page on {request.query}"
        return [hit(f"It opened in {request.query}.", url=f"https://{len(request.query)}.org/", title=title)]

    topic = bench(lambda request: go_on("year" * (2 + next(queries))), search=found)
    await research(topic, query="May", max_searches=3)
    shown = [request.material["found"] for request in topic.model.asked("reflector")]
    assert shown == [
        ["Page on May: It opened in May."],
        ["Page on May", "Page on yearyear: It opened in yearyear."],
        ["Page on May", "Page on yearyear", "Page on yearyearyear"],
    ]


async def test_the_sentence_that_a_reflection_sees_ends_where_the_language_of_its_source_ends_it() -> None:
    said = "Das Werk am Tarn ging am 14. März 2016 in Betrieb und liefert seither Strom."
    topic = bench(STOP, search=lambda request: [hit(f"Es ist nass. {said}", url="https://tarn.de/", title="Werk")])
    await research(topic)
    assert topic.model.asked("reflector")[0].material["found"] == [f"Werk: {said}"]


async def test_a_search_that_nobody_answers_fails_the_topic_and_says_why() -> None:
    topic = bench(STOP)
    result = await research(topic, query="the web is down")
    assert result.status == "completed"
    assert "the web is down" in result.state["topic"]["error"]
    assert result.state["failures"][0]["error"] == "ProviderUnavailable"
    assert topic.model.asked("reflector") == []


async def test_a_search_that_the_runs_limit_leaves_no_room_for_did_not_fail() -> None:
    def refused(request: SearchRequest) -> list[SearchHit]:
        raise BudgetReached("gathering ended early, to keep within 5 s", provider="budget")

    state = (await research(bench(STOP, search=refused))).state
    assert {row["error"] for row in state["failures"]} == {"BudgetReached"}
    assert "gathering ended early, to keep within 5 s" in state["topic"]["error"]
    assert "check the keys" not in state["topic"]["error"]


async def test_a_later_search_that_fails_leaves_what_was_found() -> None:
    result = await research(bench(go_on("the web is down")))
    assert result.state["topic"]["error"] is None
    assert len(result.state["sources"]) == 2
    assert len(result.state["failures"]) == 1


async def test_a_reflection_that_no_model_gives_leaves_what_was_found() -> None:
    result = await research(bench({"error": "refused", "message": "no quota"}))
    assert result.status == "completed"
    assert len(result.state["sources"]) == 2
    assert "no quota" in result.state["degraded"][0]["reason"]


@pytest.mark.requirement("2.3", "18.2")
async def test_sources_are_archived_scored_and_merged_by_address_and_by_text() -> None:
    def twice(request: SearchRequest) -> Sequence[SearchHit]:
        return [
            hit("The same text.", url="https://a.gov/1", relevance=0.5, published_at="2024-06-01"),
            hit("The same text.", url="https://b.example/2", relevance=0.9),
            hit("A third text.", url="https://c.example/3", tier="SECONDARY", relevance=0.3),
            hit("A third", url="http://www.c.example/3/?utm_source=x", relevance=0.2),
            hit("   ", url="https://empty.example/"),
        ]

    topic = bench(STOP, search=twice)
    result = await research(topic)
    rows = result.state["sources"]
    assert [(row["url"], row["tier"], row["quality"]) for row in rows] == [
        ("https://a.gov/1", "PRIMARY_SOURCE", "high"),
        ("https://c.example/3", "SECONDARY", "medium"),
    ]
    assert result.state["topic"]["duplicates_skipped"] == 3
    assert await topic.store.text(rows[0]["archive_hash"]) == "The same text."
    assert rows[0]["content"] == "The same text."
    assert (rows[0]["score"]["authority"], rows[0]["score"]["relevance"]) == (100.0, 0.9)
    assert rows[1]["score"]["composite"] == 0.25 * 0.65 + 0.2 * 0.5 + 0.35 * 0.3 + 0.2 * 0.65
    assert [one["url"] for one in rows[1]["metadata"]["found_by"]] == [
        "https://c.example/3",
        "http://www.c.example/3/?utm_source=x",
    ]
    assert rows[0]["retrieved_at"] == "2024-06-01T12:00:00+00:00"


@pytest.mark.requirement("2.3")
async def test_no_more_sources_than_asked_for_are_taken_from_a_search() -> None:
    def many(request: SearchRequest) -> Sequence[SearchHit]:
        return [hit(f"Text number {n}.", url=f"https://x.example/{n}", relevance=n / 10) for n in range(9)]

    result = await research(bench(STOP, search=many), max_sources=2)
    assert [row["url"] for row in result.state["sources"]] == ["https://x.example/8", "https://x.example/7"]


async def test_each_search_of_a_sub_query_adds_its_best_sources() -> None:
    def three_a_query(request: SearchRequest) -> Sequence[SearchHit]:
        better = 0.5 if "better" in request.query else 0.1
        name = request.query.replace(" ", "-")
        return [
            hit(f"Text {n} of {name}.", url=f"https://x.example/{name}/{n}", relevance=better + n / 10)
            for n in range(3)
        ]

    topic = bench(go_on("better query"), STOP, search=three_a_query)
    result = await research(topic, query="first query", max_sources=2)
    urls = [row["url"] for row in result.state["sources"]]
    assert sorted(urls) == [
        "https://x.example/better-query/1",
        "https://x.example/better-query/2",
        "https://x.example/first-query/1",
        "https://x.example/first-query/2",
    ]
    assert result.state["topic"]["source_ids"] == [row["id"] for row in result.state["sources"]]


async def test_an_index_of_a_book_is_a_source_of_low_quality_comes_last_and_is_not_read() -> None:
    names = [f"{one} {other}, Settings" for one in ("lock", "commit", "vacuum") for other in ("writer", "reader") * 3]
    text = "\n".join(names * 12)
    blocks, start = [], 0
    for line in text.split("\n"):
        blocks.append(Block("item", start, start + len(line)))
        start += len(line) + 1
    index = hit(text, url="https://x.example/index", relevance=0.9)
    index = replace(index, document=Document(text=text, blocks=tuple(blocks), title="Index"))
    page = hit("A writer holds a lock until it is done.", url="https://x.example/page", relevance=0.2)
    both = Bench(
        {"reflector": [STOP], "extractor": [{"findings": [], "notes": [], "limits": []}]},
        graph=ONE_TOPIC,
        search=lambda request: [index, page],
        condensing=True,
    )
    [first, last] = (await both.run()).state["sources"]
    assert (first["url"], last["url"]) == ("https://x.example/page", "https://x.example/index")
    assert last["quality"] == "low"
    assert [row["id"] for row in both.model.asked("extractor")[0].material["sources"]] == [first["id"]]


@pytest.mark.requirement("18.2")
async def test_a_source_says_what_it_is_and_whether_documents_or_the_web_gave_it() -> None:
    def both(request: SearchRequest) -> Sequence[SearchHit]:
        own = replace(hit("A text of the user's own.", url="file:///notes.md"), provider="local")
        return [own, hit("A page of the web.", url="https://a.gov/1", published_at="2024-05-01")]

    rows = (await research(bench(STOP, search=both))).state["sources"]
    assert {row["url"]: row["retrieval_method"] for row in rows} == {
        "file:///notes.md": "rag",
        "https://a.gov/1": "web",
    }
    [page] = [row for row in rows if row["url"] == "https://a.gov/1"]
    assert (page["title"], page["published_at"], page["tier"]) == ("A title", "2024-05-01", "PRIMARY_SOURCE")
    assert (page["score"]["relevance"], page["score"]["authority"]) == (0.8, 100.0)


async def test_a_title_that_a_text_begins_with_is_shown_once_to_who_reads_it() -> None:
    hits = [
        hit("The Tarn plant. It opened in May.", url="https://tarn.gov/", title="The Tarn plant"),
        hit("Opening of the plant: it was in May.", url="https://news.tarn.gov/", title="Tarn today"),
    ]
    topic = Bench(
        {"reflector": [STOP], "extractor": [{"findings": [], "notes": [], "limits": []}]},
        graph=ONE_TOPIC,
        search=lambda request: hits,
        condensing=True,
    )
    await topic.run()
    [request] = topic.model.asked("extractor")
    assert "]\nThe Tarn plant. It opened in May.\n[" in request.user
    assert "]\nTitle: Tarn today\n\nOpening of the plant: it was in May.\n[" in request.user
