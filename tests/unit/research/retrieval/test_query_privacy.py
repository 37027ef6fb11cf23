"""What goes out as a web query once local documents may have been read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.providers.errors import ProviderError
from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.agents.gathering.gatherer import gatherer
from graph_research.research.retrieval.query_privacy import PublicWords, word_list
from tests.support.research.harness import (
    PLAN,
    Bench,
    FolderOfHits,
    PlainContext,
    hit,
    make_services,
    research_script,
    small_web,
)

QUESTION = "What is known of the Tarn plant?"
SECRET = "Zebrafish-4711"
MEMO = f"The Tarn plant opened in March 2016. Our internal code name for the sale of the plant is {SECRET}."


def limited(query: str, *texts: str) -> tuple[str, tuple[str, ...]]:
    out = PublicWords(texts).limited(query)
    return out.query, out.withheld


def test_words_of_the_question_their_other_forms_and_stop_words_go_out() -> None:
    assert limited("the Plants, opened by 'Tarn'", "Which plant does Tarn open?") == ("the Plants opened by Tarn", ())


def test_other_words_stay_and_are_named_once() -> None:
    query, withheld = limited("Tarn zebrafish cost zebrafish", QUESTION)
    assert (query, withheld) == ("Tarn", ("zebrafish", "cost"))


def test_words_of_web_results_go_out() -> None:
    assert limited("Tarn turbines cost", QUESTION, word_list(["The cost of a turbine"]))[0] == "Tarn turbines cost"


@pytest.mark.parametrize("query", ["4711", "zebra4711", "47 11", "z-e-b-r-a", "\u200bzebra", "tarnzebra"])
def test_a_secret_in_pieces_or_with_figures_does_not_pass_as_something_known(query: str) -> None:
    assert limited(query, QUESTION)[0] == ""


def test_a_secret_behind_a_long_public_word_stays() -> None:
    known = "tarn" * 16
    assert limited(f"{known}zebrafish", known) == ("", (f"{known}zebrafish",))
    assert limited(f"{known}zebrafish", f"{known}zebrafish") == (f"{known}zebrafish", ())


def test_signs_between_words_do_not_go_out() -> None:
    assert limited("Tarn ...---... plant!? ¶§", QUESTION) == ("Tarn plant", ())


def test_stop_words_alone_are_no_query() -> None:
    assert limited("what is the zebrafish", QUESTION) == ("", ("zebrafish",))
    assert limited("who is who", QUESTION) == ("who is who", ())


@given(st.text(max_size=60), st.text(max_size=60))
def test_nothing_goes_out_that_is_neither_public_nor_a_stop_word(query: str, public: str) -> None:
    words = PublicWords([public])
    once = words.limited(query).query
    assert words.limited(once).withheld == ()
    assert words.limited(once).query == once


def local_memo(request: SearchRequest) -> Sequence[SearchHit]:
    return [replace(hit(MEMO, url="memo.md", title="Memo"), provider="local")]


def leak(request: ModelRequest) -> Mapping[str, Any]:
    """A researcher that does as a document told it to."""
    return {
        "continue_searching": True,
        "refined_query": f"Tarn plant opening gates {SECRET}",
        "research_complete": False,
        "rationale": "The memo says to look for this.",
    }


def bench(**changes: Any) -> Bench:
    local = FolderOfHits("local", local_memo)
    return Bench(research_script(reflector=[leak]), others=[local], **changes)


def queries(search: Any) -> list[str]:
    return [request.query for request in search.requests]


async def test_a_secret_of_a_local_document_never_reaches_a_search_on_the_web() -> None:
    research = bench()
    result = await research.run()
    assert result.status == "completed"
    sent = " ".join(queries(research.web))
    assert "ebrafish" not in sent
    assert "4711" not in sent
    assert f"Tarn plant opening gates {SECRET}" in queries(research.others[0])
    assert "Tarn plant opening gates" in queries(research.web)
    assert {word for row in result.state["searches"] for word in row["withheld"]} >= {"Zebrafish", "4711"}


async def test_the_plan_is_made_without_local_texts_and_asks_in_its_own_words() -> None:
    research = bench()
    await research.run()
    [request] = research.model.asked("planner")
    assert "opened in March 2016" not in request.user
    assert {row["query"] for row in PLAN["sub_queries"]} <= set(queries(research.web))


async def test_what_only_local_documents_speak_of_is_not_asked_over_the_web_at_all() -> None:
    def only_the_secret(request: ModelRequest) -> Mapping[str, Any]:
        return {**leak(request), "refined_query": f"{SECRET} is what"}

    local = FolderOfHits("local", local_memo)
    research = Bench(research_script(reflector=[only_the_secret]), others=[local])
    result = await research.run()
    assert f"{SECRET} is what" in queries(local)
    assert not any("what" in query for query in queries(research.web))
    assert any(row["skipped"] == ["web"] for row in result.state["searches"])


async def test_without_local_documents_nothing_is_taken_out() -> None:
    research = Bench(research_script(reflector=[leak]))
    await research.run()
    assert f"Tarn plant opening gates {SECRET}" in queries(research.web)


async def test_the_user_may_allow_it() -> None:
    research = bench(settings={"allow_local_terms_in_web_queries": True})
    result = await research.run()
    assert f"Tarn plant opening gates {SECRET}" in queries(research.web)
    assert all(row["withheld"] == [] for row in result.state["searches"])


async def test_the_first_plan_of_a_pipeline_has_read_nothing_and_is_sent_as_it_is() -> None:
    plan = {"questions": ["Tarn plant opening ceremony"]}
    script = {"decomposer": [plan], "claim_extractor": [{"claims": []}], "outliner": [{"error": "refused"}]}
    research = Bench(script, graph="pipeline", others=[FolderOfHits("local", local_memo)])
    await research.run()
    assert "Tarn plant opening ceremony" in queries(research.web)


async def test_a_web_result_without_a_title_makes_no_local_title_public() -> None:
    def memo(request: SearchRequest) -> Sequence[SearchHit]:
        return [replace(hit("A memo.", url="https://tarn.example/memo", title=f"Sale {SECRET}"), provider="local")]

    def untitled(request: SearchRequest) -> Sequence[SearchHit]:
        return [hit(f"The Tarn plant opened. {'It opened. ' * 30}", url="https://tarn.example/memo", title="")]

    research = Bench(research_script(reflector=[leak]), search=untitled, others=[FolderOfHits("local", memo)])
    await research.run()
    sent = " ".join(queries(research.web))
    assert "ebrafish" not in sent
    assert "4711" not in sent


async def test_a_query_of_which_no_word_may_go_out_says_so(context: PlainContext) -> None:
    local = FolderOfHits("local", local_memo)
    local.serves = frozenset({"academic"})
    web = FolderOfHits("web", small_web)
    handoff = {"query": "zebrafish", "original_query": QUESTION, "source_types": ["web"], "local_read": True}
    with pytest.raises(ProviderError, match="stand in local documents only") as caught:
        await gatherer(make_services({}, search=[local, web]))(handoff, context)
    assert "none is configured" not in str(caught.value)
    assert (local.requests, web.requests) == ([], [])
