"""Fidelity: how much of each source's archived text the prompts showed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from graph_research.providers.llm.base import ModelReply, ModelRequest, estimated
from graph_research.research.agents.analyzer import analyzer
from graph_research.research.budget.allocation import ProtectedTooLarge
from graph_research.research.models.fidelity import LOW_FIDELITY, FidelityLevel, fidelity_record
from graph_research.research.models.source import Quality, Source, SourceScore
from graph_research.research.report.build import build_report
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.retrieval.fidelity import (
    compressed_content,
    content_fidelity_of,
    fidelity_score,
    record_shown,
)
from graph_research.text.document import source_id, text_hash
from tests.support.research.harness import PlainContext, make_services

SENTENCE = "The gates of the lagoon were renewed by divers in spring. "


class Reader:
    """A model with a small window that finds nothing but keeps what it was shown."""

    spec = "openai:reader"
    in_process = False

    def __init__(self, window: int) -> None:
        self.window_tokens: int | None = window
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        text = json.dumps({"findings": [], "gaps": []})
        return ModelReply(text=text, usage=estimated(request, text), model=self.spec)


def archived(ctx: PlainContext, number: int, *, sentences: int, relevance: float = 0.5) -> Source:
    text = f"Report {number}. " + SENTENCE * sentences
    ctx.put_text(text)
    return Source(
        id=source_id(None, text),
        title=f"Report {number}",
        content=text[:1_000],
        archive_hash=text_hash(text),
        characters=len(text),
        quality=Quality.MEDIUM,
        score=SourceScore(relevance=relevance),
    )


def handoff(sources: list[Source]) -> dict[str, Any]:
    return {
        "research_id": "r1",
        "original_query": "Who renewed the gates of the lagoon?",
        "current_phase": "analysis",
        "iteration": 1,
        "source_count": len(sources),
        "high_quality_sources": 0,
        "sub_queries": [{"id": "sq-1-1", "query": "gates", "priority": 1, "iteration": 1, "rationale": ""}],
        "sources": [source.to_json() for source in sources],
    }


def shares(output: dict[str, Any]) -> dict[str, float]:
    return {row["source_id"]: row["compression_ratio"] for row in output["content_fidelity"]}


@pytest.mark.requirement("13.8")
async def test_the_share_is_measured_against_the_archived_text(context: PlainContext) -> None:
    source = archived(context, 1, sentences=900)
    model = Reader(window=128_000)
    output = await analyzer(make_services([model], source_chars=12_000))(handoff([source]), context)
    [record] = output["content_fidelity"]
    assert source.characters > 50_000
    assert record["original_tokens"] == source.characters // 4
    assert record["final_tokens"] <= 3_000
    assert (record["level"], record["phase"]) == ("key_points", "analysis")
    assert record["truncated"]
    [changed] = output["sources"]
    assert changed["fidelity"] == "key_points"
    assert output["metadata"]["content_allocation"]["items_summarized"] == 1


@pytest.mark.requirement("B10")
async def test_sources_of_this_round_are_shown_before_better_ones_of_earlier_rounds(context: PlainContext) -> None:
    earlier = [archived(context, number, sentences=1, relevance=1.0) for number in range(3)]
    earlier = [row.model_copy(update={"score": SourceScore(relevance=1.0, composite=0.9)}) for row in earlier]
    fresh = archived(context, 9, sentences=1).model_copy(update={"iteration": 2})
    model = Reader(window=128_000)
    await analyzer(make_services([model]))({**handoff([*earlier, fresh]), "iteration": 2}, context)
    [request] = model.requests
    assert request.user.index("Report 9.") < min(request.user.index(f"Report {number}.") for number in range(3))


@pytest.mark.requirement("B10")
async def test_a_long_source_is_shown_whole_where_its_share_of_the_window_holds_it(context: PlainContext) -> None:
    source = archived(context, 1, sentences=900)
    output = await analyzer(make_services([Reader(window=200_000)]))(handoff([source]), context)
    assert source.characters > 50_000
    assert set(shares(output).values()) == {1.0}


@pytest.mark.requirement("13.8")
async def test_what_fits_is_full_whatever_its_length(context: PlainContext) -> None:
    sources = [archived(context, number, sentences=100) for number in range(3)]
    output = await analyzer(make_services([Reader(window=128_000)]))(handoff(sources), context)
    assert set(shares(output).values()) == {1.0}
    assert output["sources"] == []
    assert not any(kind == "content_fidelity.low" for kind, _ in context.events)


@pytest.mark.requirement("13.5")
@pytest.mark.requirement("B10")
async def test_in_a_small_window_the_best_sources_keep_a_larger_share(context: PlainContext) -> None:
    sources = [archived(context, number, sentences=150, relevance=number / 12) for number in range(12)]
    output = await analyzer(make_services([Reader(window=24_000)]))(handoff(sources), context)
    by_relevance = [shares(output)[source.id] for source in sources]
    assert min(by_relevance[7:]) >= 0.28
    assert max(by_relevance[:7]) < min(by_relevance[7:])
    assert sum(by_relevance[:7]) > 0


@pytest.mark.requirement("13.5", "B29")
async def test_findings_of_low_confidence_give_way_before_the_best_sources_lose_their_share(
    context: PlainContext,
) -> None:
    sources = [archived(context, number, sentences=100, relevance=0.5 + number / 12) for number in range(3)]
    findings = [
        {
            "id": f"fd-{number:010x}",
            "content": f"Gate {number} was renewed. {SENTENCE}",
            "confidence": "low" if number else "high",
            "source_ids": [sources[0].id],
            "evidence_ids": [],
            "iteration": 1,
        }
        for number in range(300)
    ]
    model = Reader(window=16_000)
    output = await analyzer(make_services([model]))({**handoff(sources), "findings": findings}, context)
    listed = re.findall(r"Gate (\d+) was renewed", model.requests[0].user)
    assert "0" in listed
    assert len(listed) < 300
    assert min(shares(output).values()) >= 0.29


@pytest.mark.requirement("B29")
async def test_protected_sources_whose_headlines_do_not_fit_are_an_error(context: PlainContext) -> None:
    marked = [
        archived(context, number, sentences=3_000).model_copy(update={"metadata": {"protected": True}})
        for number in range(3)
    ]
    with pytest.raises(ProtectedTooLarge, match="a tenth of each protected source") as raised:
        await analyzer(make_services([Reader(window=8_000)]))(handoff(marked), context)
    assert "protect fewer sources" in (raised.value.help or "")


async def test_where_code_answers_in_place_of_a_model_it_has_read_whole_texts(context: PlainContext) -> None:
    class Silent(Reader):
        async def complete(self, request: ModelRequest) -> ModelReply:
            return ModelReply(text="no", usage=estimated(request, "no"), model=self.spec)

    sources = [archived(context, number, sentences=10) for number in range(3)]
    output = await analyzer(make_services([Silent(window=128_000)]))(handoff(sources), context)
    assert output["degraded"] != []
    assert set(shares(output).values()) == {1.0}


@pytest.mark.requirement("13.9")
async def test_below_a_half_an_event_and_a_limitation_warn(context: PlainContext) -> None:
    sources = [archived(context, number, sentences=900) for number in range(4)]
    output = await analyzer(make_services([Reader(window=16_000)]))(handoff(sources), context)
    [warning] = [data for kind, data in context.events if kind == "content_fidelity.low"]
    marked = {row["id"]: row for row in output["sources"]}
    state = {
        "question": "Who renewed the gates of the lagoon?",
        "sources": [marked.get(source.id, source.to_json()) for source in sources],
        "content_fidelity": output["content_fidelity"],
    }
    measured = content_fidelity_of(state)
    assert measured.score == pytest.approx(warning["score"], abs=0.001)
    assert measured.score == pytest.approx(sum(shares(output).values()) / 4, abs=0.001)
    assert measured.band == "minimal"
    report = build_report(state, texts={}, run=RunFacts(run_id="r1", question=state["question"]))
    assert report.statistics.content_fidelity.items == measured.items
    assert any("read only in the passages nearest to the question" in line for line in report.limitations)


@pytest.mark.requirement("13.9")
@pytest.mark.parametrize(("share", "warns"), [(0.49, True), (0.5, False)])
def test_below_a_mean_share_of_one_half_a_limitation_warns(share: float, warns: bool) -> None:
    source = Source(id="src-0000000000", archive_hash="sha256:" + "0" * 64, characters=10_000)
    changed, records = record_shown([source], {source.id: int(10_000 * share)}, phase="analysis", iteration=1)
    state = {
        "question": "Who?",
        "sources": [row.to_json() for row in changed],
        "content_fidelity": [record.to_json() for record in records],
    }
    report = build_report(state, texts={}, run=RunFacts(run_id="r1", question="Who?"))
    assert any("read only in the passages nearest to the question" in line for line in report.limitations) is warns
    assert LOW_FIDELITY == 0.5


@pytest.mark.requirement("13.9")
@pytest.mark.parametrize(
    ("share", "band"),
    [(1.0, "full"), (0.9, "full"), (0.6, "condensed"), (0.3, "compressed"), (0.29, "minimal")],
)
def test_bands_go_by_the_mean_share(share: float, band: str) -> None:
    source = Source(id="src-0000000000", archive_hash="sha256:" + "0" * 64, characters=10_000)
    changed, records = record_shown([source], {source.id: int(10_000 * share)}, phase="analysis", iteration=1)
    rows = [row.to_json() for row in changed or [source]]
    state = {"sources": rows, "content_fidelity": [record.to_json() for record in records]}
    assert content_fidelity_of(state).band == band


@pytest.mark.requirement("2.7")
@pytest.mark.requirement("B10")
async def test_without_token_management_20_sources_of_1000_characters_are_shown(context: PlainContext) -> None:
    sources = [archived(context, number, sentences=100) for number in range(25)]
    model = Reader(window=128_000)
    output = await analyzer(make_services([model], token_management_enabled=False))(handoff(sources), context)
    shown = [share for share in shares(output).values() if share]
    assert len(shown) == 20
    assert max(shown) <= 1_000 / 5_800
    dropped = [row for row in output["content_fidelity"] if row["level"] == FidelityLevel.DROPPED]
    assert len(dropped) == 5
    assert set(output["metadata"]["dropped_content_ids"]) == {row["source_id"] for row in dropped}
    assert set(output["metadata"]["content_archive_hashes"]) == {source.id for source in sources}


@pytest.mark.requirement("13.3", "B29")
@pytest.mark.parametrize("dropping", [False, True])
async def test_a_source_whose_text_has_no_room_is_named_where_nothing_may_be_dropped(
    dropping: bool, context: PlainContext
) -> None:
    sources = [archived(context, number, sentences=100) for number in range(60)]
    model = Reader(window=6_000)
    services = make_services([model], allow_content_dropping=dropping)
    output = await analyzer(services)(handoff(sources), context)
    listed = re.findall(r"^src-\w+: (.*)$", model.requests[0].user, re.MULTILINE)
    named = [source for source in sources if source.title in listed]
    levels = {row["source_id"]: row["level"] for row in output["content_fidelity"]}
    without_text = [source for source in sources if f": source {source.id[:8]}" not in model.requests[0].user]
    assert len(without_text) > 30
    assert named == ([] if dropping else without_text)
    assert {levels[source.id] for source in without_text} == {"dropped" if dropping else "headline"}
    assert ("dropped_content_ids" in output["metadata"] and bool(output["metadata"]["dropped_content_ids"])) == dropping


@pytest.mark.requirement("13.10")
def test_texts_of_which_less_than_30_percent_was_shown_are_worth_archiving_and_those_not_shown_are_dropped() -> None:
    rows = [
        Source(id=f"src-{n:010x}", archive_hash=f"sha256:{n:064x}", metadata={"shown_share": share})
        for n, share in enumerate((0.0, 0.29, 0.3, 1.0))
    ]
    assert compressed_content(rows) == {
        "dropped_content_ids": [rows[0].id],
        "content_archive_hashes": {row.id: row.archive_hash for row in rows[:2]},
    }


@pytest.mark.requirement("11.24", "13.8")
def test_each_source_has_the_share_that_the_phase_which_showed_most_showed_of_it() -> None:
    read, digested, both = (
        Source(
            id=f"src-000000000{n}",
            archive_hash=f"sha256:{n:064}",
            characters=40_000,
            fidelity=level,
            content_type="digest/v1" if level == "digest" else "text/plain",
        )
        for n, level in enumerate(("condensed", "digest", "digest"))
    )
    records = [
        fidelity_record(read.id, "gathering", 40_000, 28_000, FidelityLevel.CONDENSED),
        fidelity_record(read.id, "analysis", 40_000, 4_000, FidelityLevel.HEADLINE),
        fidelity_record(digested.id, "digest", 40_000, 2_000, FidelityLevel.DIGEST, reason="digest_compression"),
        fidelity_record(both.id, "gathering", 40_000, 20_000, FidelityLevel.COMPRESSED),
        fidelity_record(both.id, "digest", 40_000, 2_000, FidelityLevel.DIGEST, reason="digest_compression"),
    ]
    rows = [record.to_json() for record in records]
    shown = content_fidelity_of(
        {"sources": [row.to_json() for row in (read, digested, both)], "content_fidelity": rows}
    ).to_json()
    assert shown["items"] == {
        read.id: {
            "original_tokens": 10_000,
            "current_tokens": 7_000,
            "current_level": "condensed",
            "compression_ratio": 0.7,
        },
        digested.id: {
            "original_tokens": 10_000,
            "current_tokens": 500,
            "current_level": "digest",
            "compression_ratio": 0.05,
        },
        both.id: {
            "original_tokens": 10_000,
            "current_tokens": 5_000,
            "current_level": "compressed",
            "compression_ratio": 0.5,
        },
    }
    assert shown["records"] == rows
    assert {name: rows[2][name] for name in ("source_id", "phase", "original_tokens", "final_tokens", "reason")} == {
        "source_id": digested.id,
        "phase": "digest",
        "original_tokens": 10_000,
        "final_tokens": 500,
        "reason": "digest_compression",
    }
    assert shown["levels"] == {"compressed": 1, "condensed": 1, "digest": 1}
    assert (shown["score"], shown["band"]) == (0.4167, "compressed")


@pytest.mark.requirement("13.8")
def test_a_repeated_phase_that_shows_less_takes_nothing_from_what_was_shown_before() -> None:
    source = archived(PlainContext(), 1, sentences=100)
    [shown], _ = record_shown([source], {source.id: source.characters // 2}, phase="analysis", iteration=1)
    _, [again] = record_shown([shown], {source.id: source.characters // 100}, phase="analysis", iteration=1)
    [item] = content_fidelity_of({"sources": [shown.to_json()], "content_fidelity": [again.to_json()]}).items.values()
    assert (item.current_level, item.compression_ratio) == ("compressed", 0.5)


def test_a_source_known_by_its_abstract_only_never_counts_as_full() -> None:
    abstract = Source(id="src-0000000000", archive_hash="sha256:" + "0" * 64, characters=1_000, fidelity="key_points")
    assert fidelity_score([abstract]) == 0.2


@pytest.mark.requirement("6.7", "13.8")
def test_of_a_run_stored_before_there_were_records_the_sources_and_their_texts_say_what_was_shown() -> None:
    rows = [
        {"id": f"src-000000000{n}", "archive_hash": f"sha256:{n:064}", "fidelity": level, "metadata": metadata}
        for n, (level, metadata) in enumerate([("compressed", {"shown_share": 0.4}), ("key_points", {}), ("full", {})])
    ]
    shown = content_fidelity_of({"sources": rows}, {row["archive_hash"]: 8_000 for row in rows})
    assert [(row.original_tokens, row.current_tokens) for row in shown.items.values()] == [
        (2_000, 800),
        (2_000, 400),
        (2_000, 2_000),
    ]


def test_a_digested_source_whose_text_itself_was_read_counts_as_full() -> None:
    source = archived(PlainContext(), 1, sentences=100)
    digested = source.model_copy(update={"fidelity": "digest", "content_type": "digest/v1"})
    _, [read] = record_shown([digested], {source.id: source.characters}, phase="analysis", iteration=1)
    _, [shown] = record_shown([digested], {source.id: 900}, phase="analysis", iteration=1)
    assert (read.level, read.compression_ratio, read.reason) == ("full", 1.0, "")
    assert (shown.level, shown.final_tokens, shown.reason) == ("digest", 225, "digest_compression")
    state = {"sources": [digested.to_json()], "content_fidelity": [shown.to_json(), read.to_json()]}
    [item] = content_fidelity_of(state).items.values()
    assert (item.current_level, item.current_tokens) == ("full", item.original_tokens)
