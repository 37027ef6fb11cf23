"""Rounds of the main graph: what a later one reads, and how many there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.search.base import Passage, SearchHit, SearchRequest
from graph_research.research.graph_functions import unsettled
from graph_research.text.readers.markdown import markdown_document
from tests.support.research.finished_research import paragraph
from tests.support.research.harness import (
    FISH_GAP,
    OPENED,
    Bench,
    ask_the_suggestions,
    finding,
    hit,
    one_section,
    research_script,
    small_web,
    states_findings,
    verdict,
)


def reads_all(request: ModelRequest) -> dict[str, Any]:
    """An extractor that quotes the first sentence of each source."""
    rows = [(row["id"], row["text"].partition(". ")[0].rstrip(".") + ".") for row in request.material["sources"]]
    return {
        "notes": [{"text": text, "sources": [n]} for n, (_, text) in enumerate(rows, start=1)],
        "findings": [
            {"content": text, "confidence": "high", "evidence": [{"source_id": name, "quote": text}]}
            for name, text in rows
        ],
        "limits": [],
    }


def keeps_asking(query: str, improvements: list[str]) -> Any:
    def refine(request: ModelRequest) -> dict[str, Any]:
        answer = ask_the_suggestions(request)
        answer["gap_analysis"][0]["follow_up_queries"] = [{"query": f"{query} {len(request.material['sub_queries'])}"}]
        return {**answer, "report_improvements": improvements}

    return refine


def bench(query: str, improvements: list[str], **script: Any) -> Bench:
    script = {
        "extractor": [reads_all],
        "analyzer": [{"findings": [], "gaps": [FISH_GAP]}],
        "refiner": [keeps_asking(query, improvements)],
        **script,
    }
    return Bench(research_script(**script), condensing=True, settings={"fetch_time_summarization": False})


@pytest.mark.requirement("5.3", "1.12")
async def test_a_gap_that_stays_open_is_asked_about_in_every_round_though_nothing_new_is_found() -> None:
    repeated = bench("cost and opening once more", [])
    result = await repeated.run(max_iterations=3)
    assert (result.status, result.state["iteration"]) == ("completed", 3)
    nodes = await repeated.nodes()
    assert nodes[nodes.index("next_iteration") :][:6] == [
        "next_iteration",
        "dispatch_gather",
        "gather",
        "review_gather",
        "read",
        "decide",
    ], "there is nothing new to analyze"
    assert nodes[-2:] == ["read", "decide"]
    assert len(repeated.model.asked("extractor")) == 2
    assert "[read in an earlier round]" in repeated.model.asked("reflector")[-1].user
    decided = [row for row in result.state["decisions"] if row["action"] == "decide_iteration"]
    assert [row["inputs"] for row in decided] == [
        {"gap_count": 1, "iteration": number, "max_iterations": 3} for number in (1, 2, 3)
    ]
    assert [row["outputs"]["should_iterate"] for row in decided] == [True, True, False]
    assert result.state["report"]


@pytest.mark.requirement("2.9")
async def test_the_report_is_written_again_where_the_refinement_asked_for_a_better_one() -> None:
    repeated = bench("cost and opening once more", ["Say more of fish."])
    result = await repeated.run(max_iterations=2)
    assert (result.status, result.state["iteration"]) == ("completed", 2)
    nodes = await repeated.nodes()
    assert nodes[nodes.index("next_iteration") + 5 :] == [
        "dispatch_synthesize",
        "synthesize",
        "review_synthesize",
        "decide",
    ]
    assert "Say more of fish." in repeated.model.asked("section_writer")[-1].user


async def test_a_gap_that_no_search_can_close_is_not_asked_about_again() -> None:
    cost = {"description": "What did the gates cost?", "suggested_queries": ["cost of fish passage"], "priority": 2}

    def only_the_cost(request: ModelRequest) -> dict[str, Any]:
        answer = ask_the_suggestions(request)
        rows = answer["gap_analysis"]
        for row in rows:
            row["addressable"] = row["gap_id"] != rows[0]["gap_id"]
        return answer

    def closes_the_cost(request: ModelRequest) -> dict[str, Any]:
        [closed] = [row["id"] for row in request.material["previous_gaps"] if row["description"] == cost["description"]]
        return {"findings": [], "gaps": [FISH_GAP], "addressed_gaps": [closed]}

    first = {"findings": [], "gaps": [FISH_GAP, cost]}
    analyses = [first, first, closes_the_cost]
    run = bench("", [], analyzer=analyses, refiner=[only_the_cost])
    state = (await run.run(max_iterations=4)).state
    assert state["iteration"] == 2
    assert [(gap["addressed"], gap["addressable"]) for gap in state["gaps"]] == [(False, False), (True, True)]
    assert len(run.model.asked("refiner")) == 1


async def test_the_analyzer_is_told_when_no_round_follows() -> None:
    repeated = bench("What of the fish at Tarn?", [])
    assert (await repeated.run(max_iterations=2)).state["iteration"] == 2
    first, *_, last = (request.system for request in repeated.model.asked("analyzer"))
    assert "with 1 or 2 search queries" in first and "that its reader would ask" not in first
    assert "searched for once more" in last and "that its reader would ask" in last


PASSAGE = "Fish pass the Tarn plant through a channel beside the gates."
FISH_QUERY = "fish passage at the Tarn plant"


def reads_for(answers: int | None) -> Any:
    """An extractor whose findings for open questions name the number of the one that they answer."""

    def read(request: ModelRequest) -> dict[str, Any]:
        answer = reads_all(request)
        return {**answer, "findings": [{**row, "answers": [answers] if answers else []} for row in answer["findings"]]}

    return read


def of_fish(request: ModelRequest) -> dict[str, Any]:
    """An outliner to whom the open question is the second section's."""
    rows = one_section(request)["sections"]
    return {"sections": [*rows, {**rows[0], "heading": "What else", "answers": "?", "findings": [], "gaps": [1, 9]}]}


async def test_what_is_open_in_the_last_round_is_searched_for_once_more_and_what_that_finds_is_read() -> None:
    single = bench("", [], extractor=[reads_all, reads_all, reads_for(1)])
    result = await single.run(max_iterations=1)
    assert result.status == "completed"
    assert single.web.requests[-1].query == FISH_QUERY
    assert [row["query"] for row in result.state["searches"]].count(FISH_QUERY) == 1
    *_, reading = single.model.asked("extractor")
    assert [row["title"] for row in reading.material["sources"]] == ["Fish"]
    assert "1. How do fish fare?" in reading.user
    assert "answers: the numbers of the open questions" in reading.system
    assert all("answers: the numbers" not in request.system for request in single.model.asked("extractor")[:-1])
    found = next(row for row in result.state["findings"] if row["content"] == PASSAGE)
    assert found["sub_query_id"] == "sq-1-3"
    assert found["id"] in {row["finding_id"] for row in result.state["claims"]}
    assert PASSAGE in single.model.asked("outliner")[0].user
    assert PASSAGE in single.model.asked("section_writer")[0].user
    [gap] = result.state["gaps"]
    assert (gap["addressed"], gap["addressed_in"]) == (True, 1)
    assert not single.model.asked("outliner")[0].material["gaps"]
    assert [row["query"] for row in result.state["sub_queries"]][2:] == ["How do fish fare?"]
    nodes = await single.nodes()
    place = nodes.index("search_gaps")
    assert nodes[place : place + 3] == ["search_gaps", "read_gaps", "dispatch_synthesize"]


@pytest.mark.parametrize("number", [None, 2])
async def test_a_question_that_stays_open_is_answered_by_the_section_that_the_outline_gives_it_to(
    number: int | None,
) -> None:
    def answers(request: ModelRequest) -> dict[str, Any]:
        if not request.material["gaps"]:
            return states_findings(request)
        [name] = [row["id"] for row in request.material["passages"] if PASSAGE in row["quote"]]
        sentence = {"text": PASSAGE, "evidence_ids": [name], "kind": "fact"}
        rows = [{"gap": n, "evidence_ids": [name]} for n in (1, 7)]
        return {"blocks": [{"type": "paragraph", "sentences": [sentence]}], "answered_gaps": rows}

    nothing = {"notes": [{"text": "The texts speak of fish.", "sources": [1]}], "findings": [], "limits": []}
    asked = [reads_all, reads_all, reads_for(number) if number else nothing]
    single = bench("", [], extractor=asked, outliner=[of_fish], section_writer=[answers])
    result = await single.run(max_iterations=1)
    assert "1. How do fish fare?" in single.model.asked("outliner")[0].user
    shown = [request.material["gaps"] for request in single.model.asked("section_writer")]
    assert sorted([row["description"] for row in gaps] for gaps in shown) == [[], ["How do fish fare?"]]
    assert any("1. How do fish fare?" in request.user for request in single.model.asked("section_writer"))
    assert not single.model.asked("editor")[0].material["gaps"]
    [gap] = result.state["gaps"]
    assert (gap["addressed"], gap["addressed_in"]) == (True, 1)


async def test_what_was_found_for_an_open_question_and_could_not_be_read_reaches_its_writer_as_passages() -> None:
    single = bench("", [], extractor=[reads_all, reads_all, "No."], outliner=[of_fish])
    result = await single.run(max_iterations=1)
    assert result.status == "completed"
    assert any(PASSAGE in request.user for request in single.model.asked("section_writer"))
    assert not any(row["content"] == PASSAGE for row in result.state["findings"])
    assert [row["addressed"] for row in result.state["gaps"]] == [False]


async def test_a_source_that_was_read_in_part_is_read_for_an_open_question_where_the_search_finds_nothing_new() -> None:
    hidden = "Fish that are counted at the Tarn plant pass the gates at night."
    long = "".join(f"In {year} the Tarn plant cost {year} euros a day.\n\n" for year in range(1500, 1700))
    gap = {**FISH_GAP, "suggested_queries": ["fish counted at the gates"]}
    found = hit("The Tarn plant opened in 2016.", url="https://tarn.gov/long", title="Opening")
    whole = replace(found, document=markdown_document(f"{long}{hidden}\n\n{long}"), passages=())
    script = research_script(extractor=[reads_all], analyzer=[{"findings": [], "gaps": [gap]}])
    settings = {"fetch_time_summarization": False, "topic_chars": 4_000}
    single = Bench(script, search=lambda request: [whole], condensing=True, settings=settings)
    await single.run(max_iterations=1)
    *_, reading = single.model.asked("extractor")
    assert hidden in reading.user
    assert all(hidden not in request.user for request in single.model.asked("extractor")[:-1])


async def test_the_room_for_open_questions_goes_to_what_answers_them_and_no_part_of_it_to_every_source() -> None:
    queries = ["fish counted at the gates", "gates and fish", "fish at gates of the plant", "gates"]
    gap = {**FISH_GAP, "suggested_queries": queries}
    facts = [f"Fish counted at the gates in {month} were {n} hundred." for n, month in enumerate(MONTHS, 2)]
    fillers = [" ".join(f"Page {n} has the number {n * k} in line {k}." for k in range(99, 114)) for n in range(20)]
    texts = [
        "\n\n".join(f"## Count {n}\n\n{fact} {fillers[-n]}" for n, fact in enumerate(facts, 1)),
        *(f"The gates of page {n} cost {n} euros. {filler}" for n, filler in enumerate(fillers[:14])),
    ]
    whole = [
        replace(row, document=document, passages=(Passage(start=0, end=min(700, len(document.text)), score=1.0),))
        for n, text in enumerate(texts)
        for row, document in [(hit(text, url=f"https://tarn.gov/{n}", title=f"Page {n}"), markdown_document(text))]
    ]

    def search(request: SearchRequest) -> list[SearchHit]:
        if request.query in queries:
            return [row for n, row in enumerate(whole) if n % len(queries) == queries.index(request.query)]
        return [hit("It opened in 2016.", url="https://tarn.gov/a")]

    script = research_script(extractor=[reads_all], analyzer=[{"findings": [], "gaps": [gap]}])
    settings = {"fetch_time_summarization": False, "topic_chars": 6_000}
    single = Bench(script, search=search, condensing=True, settings=settings)
    await single.run(max_iterations=1)
    *_, reading = single.model.asked("extractor")
    assert [fact for fact in facts if fact in reading.user] == facts


MONTHS = ("March", "April")


def costs(first: int) -> str:
    return "".join(f"In {year} the Tarn plant cost {year} euros a day.\n\n" for year in range(first, first + 200))


GATES = "Fish that are counted at the Tarn plant pass the gates at night."
PAINT = "Every door of it was painted green against rust."
PAINT_LIMIT = "Which paint is on the doors is not in the parts shown of Opening."
ROOF_LIMIT = "Nothing was found on the roof of the plant."


def in_part(limits: Sequence[str], last: Any, **changes: Any) -> Bench:
    """A page that is read in part, and what its reading lacked."""
    gap = {**FISH_GAP, "suggested_queries": ["fish counted at the gates"]}
    found = hit("The Tarn plant opened in 2016.", url="https://tarn.gov/long", title="Opening")
    text = f"{costs(1500)}{GATES}\n\n{costs(1700)}{PAINT}\n\n{costs(1900)}"
    whole = replace(found, document=markdown_document(text), passages=())

    def first(request: ModelRequest) -> dict[str, Any]:
        return {**reads_all(request), "limits": list(limits)}

    script = research_script(**{"extractor": [first, last], "analyzer": [{"findings": [], "gaps": [gap]}], **changes})
    settings = {"fetch_time_summarization": False, "topic_chars": 12_000}
    return Bench(script, search=lambda request: [whole], condensing=True, settings=settings)


async def test_what_the_reading_lacked_of_a_source_read_in_part_is_read_with_the_open_questions() -> None:
    def reads_colour(request: ModelRequest) -> dict[str, Any]:
        [name] = [row["id"] for row in request.material["sources"]]
        row = {
            "content": PAINT,
            "confidence": "high",
            "evidence": [{"source_id": name, "quote": PAINT}],
            "answers": [2],
        }
        return {**reads_all(request), "findings": [row]}

    single = in_part([ROOF_LIMIT, PAINT_LIMIT], reads_colour)
    result = await single.run(max_iterations=1)
    first, reading = single.model.asked("extractor")
    assert PAINT not in first.user
    assert GATES in reading.user and PAINT in reading.user
    assert f"1. How do fish fare?\n2. {PAINT_LIMIT}" in reading.user
    assert ROOF_LIMIT not in reading.user
    assert result.state["answered_limits"] == [PAINT_LIMIT]
    assert single.model.asked("outliner")[0].material["limits"] == [ROOF_LIMIT]
    assert [row["addressed"] for row in result.state["gaps"]] == [False]


COSTS = re.compile(r"In \d+ the Tarn plant cost \d+ euros a day")


async def test_a_later_round_reads_only_what_no_earlier_one_showed_of_a_source() -> None:
    single = in_part([], reads_all)
    result = await single.run(max_iterations=2)
    calls = [request.material for request in single.model.asked("extractor")]
    first, later = [call["sources"][0]["text"] for call in calls if not call["gaps"]][:2]
    read, anew = (set(COSTS.findall(text)) for text in (first, later))
    assert len(read) > 50 and len(anew) > 5
    assert not read & anew
    [metadata] = [source["metadata"] for source in result.state["sources"]]
    assert sum(end - start for start, end in metadata["read_spans"]) > len(first)
    assert metadata["shown_share"] * len(3 * costs(1500)) > len(first)


async def test_an_open_question_is_read_for_in_what_a_reading_showed_too() -> None:
    """What a reader passed over answers it as often as what was not shown."""
    gap = {**FISH_GAP, "description": "What did the plant cost in 1501?", "suggested_queries": ["Tarn plant cost 1501"]}
    single = in_part([], reads_all, analyzer=[{"findings": [], "gaps": [gap]}])
    await single.run(max_iterations=1)
    first, later = (set(COSTS.findall(request.user)) for request in single.model.asked("extractor"))
    assert first & later


async def test_what_the_reading_for_open_questions_lacks_reaches_the_writers_and_the_report() -> None:
    lacks = "How fish fare in winter is not in the parts shown of Opening."

    def reads_nothing(request: ModelRequest) -> dict[str, Any]:
        return {**reads_all(request), "limits": [lacks]}

    single = in_part([], reads_nothing)
    result = await single.run(max_iterations=1)
    assert single.model.asked("outliner")[0].material["limits"] == [lacks]
    report = await single.report(result.state)
    assert [row.limits for row in report.sub_queries] == [[], [], [lacks]]


async def test_what_several_readings_lacked_is_told_once_and_not_beside_the_open_question_that_says_it() -> None:
    single = in_part(
        [ROOF_LIMIT, "It was not found how fish do fare.", "On the plant's roof nothing was found."], reads_all
    )
    result = await single.run(max_iterations=1)
    report = await single.report(result.state)
    assert [limit for row in report.sub_queries for limit in row.limits] == [ROOF_LIMIT]


async def test_what_was_not_found_and_the_report_answers_is_not_told_as_open() -> None:
    def edits(request: ModelRequest) -> dict[str, Any]:
        place = re.findall(r"\((1\.\d+)\)", request.material["sections"][0]["text"])[0]
        answered = [{"limit": "limits.2", "place": place}, {"limit": "limits.9", "place": place}]
        summary = [paragraph({"text": "See there.", "kind": "transition"})]
        return {"found": True, "summary": summary, "conclusions": [], "answered_limits": answered}

    single = in_part([ROOF_LIMIT, PAINT_LIMIT], reads_all, editor=[edits])
    result = await single.run(max_iterations=1)
    [asked] = single.model.asked("editor")
    assert f"limits.2 {PAINT_LIMIT}" in asked.user and "answered_limits" in asked.system
    report = await single.report(result.state)
    assert [limit for row in report.sub_queries for limit in row.limits] == [ROOF_LIMIT]


@pytest.mark.parametrize(("left", "holds"), [("", True), ("Who painted them?", True), ("", False)])
async def test_what_was_not_found_is_open_until_an_addition_that_holds_answers_it_whole(left: str, holds: bool) -> None:
    def edits(request: ModelRequest) -> dict[str, Any]:
        summary = [paragraph({"text": "See there.", "kind": "transition"})]
        wanted = {"place": "1", "what": "the paint of every door, green against rust"}
        return {"found": True, "summary": summary, "conclusions": [], "missing": [wanted]}

    def mends(request: ModelRequest) -> dict[str, Any]:
        name = next(row["id"] for row in request.material["passages"] if PAINT in row["quote"])
        added = {"text": PAINT, "kind": "fact", "evidence_ids": [name]}
        return {"sentences": [], "added": [{"n": 1, "sentences": [added], "answers": [{"gap": 3, "left": left}]}]}

    def verifies(request: ModelRequest) -> dict[str, Any]:
        rows = [(row["n"], holds or row["text"] != PAINT) for row in request.material["statements"]]
        return {"verdicts": [{"n": n, "verdict": "supported" if holds else "not", "reason": ""} for n, holds in rows]}

    limits = [ROOF_LIMIT, PAINT_LIMIT]
    single = in_part(limits, reads_all, editor=[edits], section_mender=[mends], verifier=[verifies])
    result = await single.run(max_iterations=1)
    [asked] = single.model.asked("section_mender")
    assert f"2. {ROOF_LIMIT}\n3. {PAINT_LIMIT}" in asked.user and "answers: the open questions, also" in asked.system
    report = await single.report(result.state)
    assert (PAINT in {row.text for row in report.statements()}) is holds
    still_open = [ROOF_LIMIT] if holds and not left else limits
    assert [limit for row in report.sub_queries for limit in row.limits] == still_open


async def test_the_editor_of_a_later_round_is_shown_what_an_earlier_one_did_not_find() -> None:
    single = in_part([ROOF_LIMIT], reads_all)
    await single.run(max_iterations=2)
    asked = [request.material["limits"] for request in single.model.asked("editor")]
    assert asked == [[ROOF_LIMIT], [ROOF_LIMIT]]


async def test_of_several_things_that_one_gap_asks_each_is_closed_by_itself() -> None:
    gap = {
        **FISH_GAP,
        "description": "How do fish fare at the gates, what does it cost, and who counts the larks of the dam?",
        "suggested_queries": ["count of larks", "fish counted at the gates"],
    }
    single = in_part([], reads_all, analyzer=[{"findings": [], "gaps": [gap]}])
    result = await single.run(max_iterations=1)
    assert [(row["description"], row["suggested_queries"]) for row in result.state["gaps"]] == [
        ("How do fish fare at the gates, what does it cost?", ["fish counted at the gates"]),
        ("Who counts the larks of the dam?", ["count of larks"]),
    ]


async def test_without_an_open_question_nothing_is_read_once_more() -> None:
    single = in_part([PAINT_LIMIT], reads_all, analyzer=[{"findings": [], "gaps": []}])
    await single.run(max_iterations=1)
    assert len(single.model.asked("extractor")) == 1
    assert "search_gaps" not in await single.nodes()


async def test_where_nothing_new_is_found_for_an_open_question_nothing_is_read_for_it() -> None:
    gap = {**FISH_GAP, "suggested_queries": ["opening of the plant"]}
    single = bench("", [], analyzer=[{"findings": [], "gaps": [gap]}])
    await single.run(max_iterations=1)
    nodes = await single.nodes()
    assert "search_gaps" in nodes and "read_gaps" not in nodes


async def test_a_search_for_what_is_open_that_fails_leaves_what_was_found() -> None:
    gap = {**FISH_GAP, "suggested_queries": ["the web is down"]}
    single = bench("", [], analyzer=[{"findings": [], "gaps": [gap]}])
    result = await single.run(max_iterations=1)
    assert result.status == "completed"
    assert result.state["report"]


async def test_without_a_model_that_read_the_topics_nothing_is_searched_for_writers() -> None:
    plain = Bench(research_script(analyzer=[{"findings": [OPENED], "gaps": [FISH_GAP]}]))
    await plain.run(max_iterations=1)
    assert "search_gaps" not in await plain.nodes()


DISPUTED = {
    "kind": "statement",
    "topic": "What the Tarn plant was",
    "sides": [
        {"value": side["content"], "evidence": side["evidence"]}
        for side in (
            finding("the first lagoon", ("https://tarn.gov/opening", "It was the first tidal lagoon of the county.")),
            finding("wet", ("https://tarn.example/blog", "My visit to the Tarn plant was wet.")),
        )
    ],
}


@pytest.mark.requirement("1.5", "5.3")
async def test_a_conflict_alone_starts_one_round_that_looks_for_what_settles_it() -> None:
    disputed = bench("", [], analyzer=[{"findings": [], "gaps": [], "contradictions": [DISPUTED]}], refiner=[settles])
    state = (await disputed.run(max_iterations=4)).state
    [conflict] = state["contradictions"]
    [asked] = [row for row in state["sub_queries"] if row["iteration"] == 2]
    assert (asked["query"], asked["gap_id"]) == ("cost of fish passage", conflict["id"])
    assert state["gaps"] == []
    assert state["iteration"] == 2  # what was asked for once is not asked for again
    assert "Open gaps and conflicts: 1" in next(
        row["rationale"] for row in state["decisions"] if row["action"] == "decide_iteration"
    )


async def test_what_would_settle_a_conflict_is_searched_for_and_read_where_no_round_follows() -> None:
    analysis = {"findings": [], "gaps": [], "contradictions": [{**DISPUTED, "topic": FISH_QUERY}]}
    single = bench("", [], analyzer=[analysis], extractor=[reads_all, reads_all, reads_for(1)])
    state = (await single.run(max_iterations=1)).state
    assert single.web.requests[-1].query == f"{FISH_QUERY} the first lagoon wet"
    *_, reading = single.model.asked("extractor")
    assert f"1. {FISH_QUERY}: the first lagoon / wet" in reading.user
    assert PASSAGE in single.model.asked("section_writer")[0].user
    assert state["gaps"] == []


async def test_a_difference_of_date_or_scope_starts_no_round() -> None:
    apart = {"topic": "Cost", "nature": "date", "kind": "number", "id": "con-0000000001", "sides": []}
    assert unsettled([apart, {**apart, "nature": "scope"}], []) == []
    assert unsettled([{**apart, "nature": "conflict"}], []) != []


def settles(request: ModelRequest) -> dict[str, Any]:
    """A refiner that asks for what settles the first conflict."""
    [conflict] = request.material["contradictions"]
    return {
        "gap_analysis": [
            {
                "gap_id": conflict["id"],
                "severity": "critical",
                "addressable": True,
                "follow_up_queries": [{"query": "cost of fish passage"}],
            }
        ],
        "iteration_recommendation": {"should_iterate": True, "rationale": "", "priority_gaps": []},
    }


async def test_a_later_round_reads_only_the_sources_that_were_not_read_before() -> None:
    more = bench("cost of fish passage", [])
    state = (await more.run(max_iterations=2)).state
    *_, last = more.model.asked("extractor")
    first = {row["id"] for row in state["sources"] if row["iteration"] == 1}
    assert {row["id"] for row in last.material["sources"]}.isdisjoint(first)
    [topic] = [row for row in state["topics"] if row["sub_query_id"] == "sq-2-1"]
    assert first & set(topic["source_ids"])
    assert (await more.nodes()).count("analyze") == 4, "the gate of each analysis fails, which repeats it once"


async def test_a_later_round_which_asks_for_a_single_gap_reads_less_of_a_topic() -> None:
    def search(request: SearchRequest) -> list[SearchHit]:
        place = "gates" if "fish" in request.query else "plant"
        text = "\n\n".join(f"At the Tarn {place} day {n} cost {n * n} euros for fish." for n in range(3_000))
        found = hit("It opened in 2016.", url=f"https://tarn.gov/{place}", title=place)
        return [replace(found, document=markdown_document(text), passages=())]

    more = replace(bench("cost of fish passage", []), search=search)
    await more.run(max_iterations=2)
    first, second = (
        sum(len(row["text"]) for row in request.material["sources"])
        for request in more.model.asked("extractor")
        if not request.material["gaps"]
    )
    assert second <= 30_000 < 60_000 < first


@pytest.mark.requirement("1.4", "B24")
async def test_an_analysis_whose_gate_fails_is_repeated_once_also_where_a_model_read_the_topics() -> None:
    unsure = bench("cost of fish passage", [], analyzer=[{"findings": [], "gaps": []}])
    state = (await unsure.run(max_iterations=1)).state
    nodes = await unsure.nodes()
    assert (nodes.count("analyze"), nodes.count("read")) == (2, 1), "what was read is not read again"
    judged = [
        row["outputs"]["action"]
        for row in state["decisions"]
        if row["action"] == "judge_phase" and row["inputs"]["phase"] == "analysis"
    ]
    assert judged == ["retry", "proceed"]
    assert [row["reason"] for row in state["degraded"] if row["agent"] == "gate"][-1].startswith("analysis: ")


async def test_a_sub_query_of_several_searches_is_told_the_refiner_search_by_search() -> None:
    searches = ["fish passage at the Tarn plant", "cost of the gates at Tarn"]

    def outline(request: ModelRequest) -> dict[str, Any]:
        answer = one_section(request)
        return {**answer, "sections": [{**row, "searches": searches} for row in answer["sections"]]}

    more = bench("cost of fish passage", [], outliner=[outline])
    await more.run(max_iterations=2)
    sent = more.model.asked("refiner")[0].material["queries_sent"]
    assert [query for query in sent if "Tarn" in query and "gates" in query] == [searches[1]]
    assert searches[0] in sent


async def test_rules_for_what_a_prompt_does_not_show_are_not_sent() -> None:
    more = bench("cost of fish passage", [])
    await more.run(max_iterations=2)
    [refiner], (first, *_, last) = more.model.asked("refiner"), more.model.asked("analyzer")
    assert "A contradiction is weighed" not in refiner.system
    assert ("addressed_gaps:" in first.system, "addressed_gaps:" in last.system) == (False, True)
    assert "answered_limits" not in more.model.asked("editor")[0].system.partition("type answer")[0]
    assert "A text that is too long" not in more.model.asked("extractor")[0].user


async def test_what_the_queries_of_one_gap_find_is_reflected_on_and_read_once() -> None:
    queries = ["cost of fish passage", "fish at the Tarn plant", "opening of the Tarn plant once more"]

    def refine(request: ModelRequest) -> dict[str, Any]:
        answer = ask_the_suggestions(request)
        answer["gap_analysis"][0]["follow_up_queries"] = [{"query": query} for query in queries]
        return answer

    more = bench("", [], refiner=[refine])
    state = (await more.run(max_iterations=2, max_sub_queries=2)).state
    assert [row["gap_id"] for row in state["sub_queries"] if row["iteration"] == 2].count(state["gaps"][0]["id"]) == 1
    [asked] = [row for row in state["sub_queries"] if row["id"] == "sq-2-1"]
    assert [asked["query"], *asked["further_queries"]] == queries[:2]
    assert [row["query"] for row in state["searches"]].count(queries[1]) == 1
    [topic] = [row for row in state["topics"] if row["sub_query_id"] == asked["id"]]
    assert topic["queries"] == queries[:2]
    assert len(set(topic["source_ids"])) == len(topic["source_ids"]) > 1
    for agent in ("reflector", "extractor"):
        [shown] = [row for row in more.model.asked(agent) if row.material["sub_query"] == queries[0]]
        assert shown.material["queries"] == queries[:2]
    assert "\n".join(queries[:2]) in more.model.asked("analyzer")[-1].user


async def test_guidance_leads_to_the_analysis_also_where_nothing_new_was_found() -> None:
    def guides(request: ModelRequest) -> dict[str, Any]:
        return verdict("proceed", "Look at the fish.")

    class Hints:
        def on_think_pause(self, state: Any, prompt: str) -> str | None:
            return "Look at the fish." if state["phase"] == "gathering" else None

    repeated = bench("cost and opening once more", [], supervisor=[guides])
    repeated.hooks = Hints()
    result = await repeated.run(max_iterations=2)
    assert result.state["iteration"] == 2
    assert (await repeated.nodes()).count("analyze") == 4, "the gate of each analysis fails, which repeats it once"


@pytest.mark.parametrize(("improvements", "rounds_shown"), [([], {2}), (["Say more of the cost."], {1, 2})])
async def test_a_section_to_which_only_news_is_added_is_shown_the_passages_of_new_sources(
    improvements: list[str], rounds_shown: set[int]
) -> None:
    more = bench("cost of fish passage", improvements)
    more.web.answer = long_web
    state = (await more.run(max_iterations=2)).state
    material = more.model.asked("section_writer")[-1].material
    found_in = {row["id"]: row["iteration"] for row in state["sources"]}
    ids = {row["n"]: row["id"] for row in material["sources"]}
    assert {found_in[ids[row["source"]]] for row in material["passages"]} == rounds_shown
    assert material["previous"]
    assert {1, 2} <= {row["iteration"] for row in material["findings"]}
    assert more.model.asked("editor")[-1].material["improvements"] == improvements, "some are for the short answer"


def long_web(request: SearchRequest) -> list[SearchHit]:
    """The small web, its documents with two more sentences of their own."""
    return [
        hit(f"{found.document.text} What is known of it stands on {page}. {page} has what is not known.", url=found.url)
        for found in small_web(request)
        for page in [f"page {sum(map(ord, found.url))}"]
    ]


async def test_a_limit_that_another_topic_answers_leaves_outline_summary_and_report() -> None:
    answered, stays = "No page says when the plant opened.", "No page says who built it."

    def limited(request: ModelRequest) -> dict[str, Any]:
        return {**reads_all(request), "limits": [answered, stays]}

    def analyze(request: ModelRequest) -> dict[str, Any]:
        shown = request.material["limits"]
        assert f"{shown.index(answered) + 1}. {answered}" in request.user
        return {"findings": [], "gaps": [], "answered_limits": [shown.index(answered) + 1, 99]}

    run = bench("cost", [], extractor=[limited], analyzer=[analyze, {"findings": [], "gaps": []}])
    result = await run.run(max_iterations=1)
    assert result.state["answered_limits"] == [answered]
    for agent in ("outliner", "editor"):
        assert [request.material["limits"] for request in run.model.asked(agent)] == [[stays]]
    report = await run.report(result.state)
    assert {limit for row in report.sub_queries for limit in row.limits} == {stays}
