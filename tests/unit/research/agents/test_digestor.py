"""The digestor: what it chooses, what it makes of it, and what stays where it fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.llm.base import Model, ModelReply, ModelRequest, estimated
from graph_research.research.agents.digestor import digestor
from graph_research.research.digest.eligibility import DigestOptions, DigestPolicy
from graph_research.research.digest.payload import digest_of
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.research.models.source import Quality, Source
from graph_research.research.retrieval.excerpts import reading_of
from graph_research.text.document import Document, source_id, text_hash
from graph_research.text.locators import resolve
from tests.support.research.harness import PlainContext, make_services
from tests.support.virtual_time import in_virtual_time

QUESTION = "How much did the renewal of the lagoon's gates cost?"
FILLER = "Swimmers met at the northern pier and spoke of the weather and of the tide. "
ANSWER = "The renewal of the gates of the lagoon cost 4.1 million pounds in 2019. "


class Condenser:
    """A model that condenses what it is shown, or fails as `fails` says of the source's id."""

    spec = "openai:condenser"
    in_process = False

    def __init__(
        self, fails: Mapping[str, Exception] | None = None, *, window: int = 16_000, seconds: float = 0
    ) -> None:
        self.window_tokens: int | None = window
        self.fails, self.seconds = fails or {}, seconds
        self.requests: list[ModelRequest] = []
        self.at_once = self.most_at_once = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
            for name, error in self.fails.items():
                if name in request.user:
                    raise error
        finally:
            self.at_once -= 1
        text = json.dumps({"summary": "The gates cost 4.1 million pounds.", "key_points": ["Renewed in 2019."]})
        return ModelReply(text=text, usage=estimated(request, text), model=self.spec)


def archived(ctx: PlainContext, number: int, *, sentences: int = 300, **more: Any) -> Source:
    """A source whose answer stands in its middle."""
    text = FILLER * (sentences // 2) + ANSWER + FILLER * (sentences // 2) + f"End of {number}."
    given = {"quality": Quality.HIGH, "content": text[:900], "title": f"Text {number}", **more}
    return Source(
        id=source_id(f"https://a.example/{number}", ""), archive_hash=ctx.put_text(text), characters=len(text), **given
    )


def run(ctx: PlainContext, sources: list[Source], model: Model | None = None, **more: Any) -> dict[str, Any]:
    options = DigestOptions(**more.pop("options", {}))
    services = make_services([model or Condenser()], digest=options, **more.pop("settings", {}))
    handoff = {"original_query": QUESTION, "iteration": 1, "sources": [row.to_json() for row in sources], **more}
    return in_virtual_time(digestor(services))(handoff, ctx)


def events(ctx: PlainContext, name: str) -> list[dict[str, Any]]:
    return [data for event, data in ctx.events if event == name]


@pytest.mark.requirement("11.6", "11.8", "11.18", "11.19", "B14", "B18")
def test_a_long_source_becomes_a_digest_with_provable_evidence() -> None:
    ctx = PlainContext()
    given = archived(ctx, 1)
    output = run(ctx, [given])
    source = Source.model_validate(output["sources"][0])
    payload = digest_of(source)
    assert payload is not None
    assert source.is_digest
    assert (source.fidelity, source.content_type) == ("digest", "digest/v1")
    assert source.metadata["_digest_archive_hash"] == given.archive_hash
    assert source.metadata["_digest_cache_hit"] is False
    assert source.archive_hash == given.archive_hash == payload.source_text_hash
    text = ctx.texts[payload.source_text_hash]
    assert text_hash(text) == payload.source_text_hash
    for snippet in payload.evidence_snippets:
        start, end = resolve(text, snippet.locator)
        assert text[start:end] == snippet.text
    assert any(ANSWER.strip() in snippet.text for snippet in payload.evidence_snippets)
    assert payload.compression_ratio < 0.5
    assert "_raw_content" not in json.dumps(output)


@pytest.mark.requirement("11.24", "13.11", "22.1")
def test_events_and_record_tell_sizes_but_never_the_text() -> None:
    ctx = PlainContext()
    given = archived(ctx, 1)
    output = run(ctx, [given])
    [started], [completed] = events(ctx, "digest.started"), events(ctx, "digest.completed")
    assert started == {
        "source_id": given.id,
        "content_size": given.characters,
        "policy": "auto",
        "query_hash": started["query_hash"],
    }
    assert completed["original_chars"] == given.characters
    assert 0.0 < completed["compression_ratio"] <= 0.5
    assert not completed["cache_hit"]
    assert completed["duration_ms"] >= 0
    [record] = output["content_fidelity"]
    assert record["source_id"] == given.id
    assert record["phase"] == "digest"
    assert record["reason"] == "digest_compression"
    assert record["level"] == "digest"
    assert record["original_tokens"] == given.characters // 4
    assert record["final_tokens"] == completed["digest_chars"] // 4
    assert FILLER not in json.dumps(ctx.events)


@pytest.mark.requirement("22.1", "B40")
def test_a_text_that_the_analyzer_can_be_shown_whole_is_left_alone() -> None:
    ctx = PlainContext()
    given = archived(ctx, 1, sentences=140)
    assert given.characters > 10_000
    assert run(ctx, [given], Condenser(window=128_000))["sources"] == []
    assert events(ctx, "digest.skipped") == [{"source_id": given.id, "reason": "not_eligible"}]
    options = {"policy": DigestPolicy.ALWAYS}
    assert run(ctx, [given], Condenser(window=128_000), options=options)["sources"] != []


@pytest.mark.requirement("B32", "B40")
def test_a_source_that_a_topic_was_read_for_is_not_read_again() -> None:
    ctx = PlainContext()
    first, second = archived(ctx, 1), archived(ctx, 2)
    topic = {"compressed_findings": "- Something [1]", "source_ids": [first.id, second.id], "read_ids": [first.id]}
    output = run(ctx, [first, second], topics=[topic])
    assert [row["id"] for row in output["sources"]] == [second.id]


@pytest.mark.requirement("11.23", "11.2", "11.25")
def test_so_many_are_digested_at_the_same_time_and_in_all() -> None:
    ctx, model = PlainContext(), Condenser(seconds=0.01)
    sources = [archived(ctx, number) for number in range(6)]
    output = run(ctx, sources, model, options={"max_sources": 5, "max_concurrent": 2})
    assert len(output["sources"]) == 5
    assert model.most_at_once == 2
    assert [event["reason"] for event in events(ctx, "digest.skipped")] == ["not_eligible"]


@pytest.mark.requirement("11.20", "5.5")
def test_the_same_text_and_question_are_condensed_once() -> None:
    ctx, model = PlainContext(), Condenser()
    given = archived(ctx, 1)
    services = make_services([model], digest=DigestOptions())
    handler = digestor(services)
    handoff = {"original_query": QUESTION, "iteration": 1, "sources": [given.to_json()]}
    first = asyncio.run(handler(handoff, ctx))  # type: ignore[arg-type]
    again = asyncio.run(handler(handoff, ctx))  # type: ignore[arg-type]
    assert len(model.requests) == 1
    assert [event["cache_hit"] for event in events(ctx, "digest.completed")] == [False, True]
    assert again["sources"][0]["content"] == first["sources"][0]["content"]
    assert again["sources"][0]["metadata"]["_digest_cache_hit"]


@pytest.mark.requirement("11.22", "22.1")
@pytest.mark.parametrize(
    ("error", "kind"), [(ProviderUnavailable("down sk-12345678901", provider="x"), "ProviderUnavailable")]
)
def test_a_source_keeps_its_text_where_its_digest_fails(error: Exception, kind: str) -> None:
    ctx = PlainContext()
    good, bad = archived(ctx, 1), archived(ctx, 2, title="Broken text")
    output = run(ctx, [good, bad], Condenser({"Broken text": error}))
    assert [row["id"] for row in output["sources"]] == [good.id]
    kept = next(row for row in output["content_fidelity"] if row["source_id"] == bad.id)
    assert kept["level"] == "full"
    assert kept["warnings"][0].startswith("digest_failed: ")
    [told] = events(ctx, "digest.error")
    assert told["error_type"] == kind
    assert "sk-12345678901" not in told["message"]
    assert "sk-12345678901" not in json.dumps(output)
    assert output["degraded"][0]["agent"] == "digestor"


@pytest.mark.requirement("11.23", "11.22", "B2")
def test_a_digest_that_takes_too_long_leaves_nothing_behind() -> None:
    ctx = PlainContext()
    given = archived(ctx, 1)
    output = run(ctx, [given], Condenser(seconds=5), options={"timeout": 0.05})
    assert output["sources"] == []
    assert events(ctx, "digest.error")[0]["error_type"] == "TimeoutError"
    assert output["content_fidelity"][0]["warnings"] == ["digest_failed: it took too long"]


@pytest.mark.requirement("11.23", "B2")
def test_a_slow_digest_leaves_the_next_one_its_time() -> None:
    class SlowAtFirst(Condenser):
        async def complete(self, request: ModelRequest) -> ModelReply:
            self.seconds = 0 if self.requests else 5
            return await super().complete(request)

    ctx = PlainContext()
    given = [archived(ctx, 1), archived(ctx, 2)]
    output = run(ctx, given, SlowAtFirst(), options={"timeout": 0.5, "max_concurrent": 1})
    assert len(output["sources"]) == 1
    assert [row["error_type"] for row in events(ctx, "digest.error")] == ["TimeoutError"]


@pytest.mark.requirement("11.22")
def test_a_digest_that_failed_is_not_cached_and_tried_again() -> None:
    ctx, model = PlainContext(), Condenser({"Text": ProviderUnavailable("down", provider="x")})
    handler = digestor(make_services([model], digest=DigestOptions()))
    handoff = {"original_query": QUESTION, "iteration": 1, "sources": [archived(ctx, 1).to_json()]}
    assert asyncio.run(handler(handoff, ctx))["sources"] == []  # type: ignore[arg-type]
    model.fails = {}
    [source] = asyncio.run(handler(handoff, ctx))["sources"]  # type: ignore[arg-type]
    assert not source["metadata"]["_digest_cache_hit"]
    assert len(model.requests) == 2


@pytest.mark.requirement("11.19")
@pytest.mark.parametrize(
    ("fails", "options"),
    [
        ({}, {}),
        ({"Text": ProviderUnavailable("down", provider="x")}, {}),
        ({}, {"timeout": 0.05}),
    ],
)
def test_the_raw_text_leaves_the_step_neither_with_a_digest_nor_where_it_fails(
    fails: Mapping[str, Exception], options: dict[str, Any]
) -> None:
    ctx = PlainContext()
    output = run(ctx, [archived(ctx, 1)], Condenser(fails, seconds=5 if options else 0), options=options)
    left = json.dumps([output, ctx.events])
    assert FILLER * 12 not in left
    assert "_raw_content" not in left


@pytest.mark.requirement("11.23", "B2")
def test_the_digests_of_a_round_have_the_time_of_so_many_batches() -> None:
    ctx, model = PlainContext(), Condenser(seconds=0.2)
    sources = [archived(ctx, number) for number in range(5)]
    output = run(ctx, sources, model, options={"max_concurrent": 1, "timeout": 0.6})
    assert len(output["sources"]) == 5
    assert events(ctx, "digest.error") == []


@pytest.mark.requirement("5.5", "11.21")
def test_a_further_round_begins_with_a_closed_breaker() -> None:
    ctx, model = PlainContext(), Condenser({"Text": ProviderUnavailable("down", provider="x")})
    handler = digestor(make_services([model], digest=DigestOptions(max_concurrent=1)))
    rows = [archived(ctx, number).to_json() for number in range(8)]
    asyncio.run(handler({"original_query": QUESTION, "iteration": 1, "sources": rows}, ctx))  # type: ignore[arg-type]
    assert events(ctx, "digest.circuit_breaker_triggered")
    model.fails = {}
    output = asyncio.run(handler({"original_query": QUESTION, "iteration": 2, "sources": rows}, ctx))  # type: ignore[arg-type]
    assert len(output["sources"]) == len(rows)


@pytest.mark.requirement("11.21", "B20")
def test_after_many_failures_the_others_are_not_tried() -> None:
    ctx, error = PlainContext(), ProviderUnavailable("down", provider="x")
    model = Condenser({"Text": error})
    sources = [archived(ctx, number) for number in range(8)]
    run(ctx, sources, model, options={"max_concurrent": 1})
    assert events(ctx, "digest.circuit_breaker_triggered") == [{"window_failures": 5, "window_size": 5}]
    assert [event["reason"] for event in events(ctx, "digest.skipped")] == ["breaker_open"] * 3
    assert len(events(ctx, "digest.started")) == 5, "the others are not started"


@pytest.mark.requirement("11.21", "B20")
def test_four_failures_of_five_open_the_breaker_though_the_last_attempt_succeeds() -> None:
    ctx = PlainContext()
    model = Condenser({"Text": ProviderUnavailable("down", provider="x")})
    known = archived(ctx, 9, title="Known", quality=Quality.MEDIUM)
    sources = [archived(ctx, number) for number in range(4)]
    later = archived(ctx, 10, title="Later", quality=Quality.MEDIUM)
    run(ctx, [*sources, known, later], model, options={"max_concurrent": 1})
    assert events(ctx, "digest.circuit_breaker_triggered") == [{"window_failures": 4, "window_size": 5}]
    assert [event["reason"] for event in events(ctx, "digest.skipped")] == ["breaker_open"]


@pytest.mark.requirement("11.21", "22.1")
def test_the_breaker_opens_once_though_several_digests_are_under_way() -> None:
    ctx, model = PlainContext(), Condenser({"Text": ProviderUnavailable("down", provider="x")}, seconds=0.01)
    run(ctx, [archived(ctx, number) for number in range(8)], model, options={"max_concurrent": 3})
    assert events(ctx, "digest.circuit_breaker_triggered") == [{"window_failures": 5, "window_size": 5}]


@pytest.mark.requirement("11.21", "23.1")
def test_cached_digests_are_served_while_the_breaker_is_open() -> None:
    ctx = PlainContext()
    known = archived(ctx, 1, title="Known", quality=Quality.MEDIUM)
    model = Condenser()
    handler = digestor(make_services([model], digest=DigestOptions(max_concurrent=1)))
    base = {"original_query": QUESTION, "iteration": 1}
    asyncio.run(handler({**base, "sources": [known.to_json()]}, ctx))  # type: ignore[arg-type]
    model.fails = {"Text": ProviderUnavailable("down", provider="x")}
    others = [archived(ctx, number) for number in range(2, 8)]
    rows = [row.to_json() for row in (*others, known)]
    output = asyncio.run(handler({**base, "sources": rows}, ctx))  # type: ignore[arg-type]
    assert events(ctx, "digest.circuit_breaker_triggered")
    assert [row["id"] for row in output["sources"]] == [known.id]


@pytest.mark.requirement("11.22")
def test_a_cancelled_digest_passes_the_cancellation_on() -> None:
    async def cancelled() -> None:
        ctx = PlainContext()
        services = make_services([Condenser(seconds=5)], digest=DigestOptions())
        rows = [archived(ctx, 1).to_json()]
        task = asyncio.create_task(digestor(services)({"original_query": QUESTION, "sources": rows}, ctx))  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(cancelled())


def test_without_a_language_model_the_best_sentences_are_the_digest() -> None:
    ctx = PlainContext()
    output = run(ctx, [archived(ctx, 1)], ExtractiveModel(), options={"policy": DigestPolicy.ALWAYS})
    payload = digest_of(Source.model_validate(output["sources"][0]))
    assert payload is not None
    assert ANSWER.strip() in payload.summary


@pytest.mark.requirement("11.9")
def test_a_prompt_shows_the_digest_in_place_of_the_text() -> None:
    ctx = PlainContext()
    source = Source.model_validate(run(ctx, [archived(ctx, 1)])["sources"][0])
    shown = reading_of(source, {source.id: Document(text=ctx.texts[source.archive_hash])}, 12_000)
    assert "The gates cost 4.1 million pounds." in shown
    assert ANSWER.strip() in shown
    assert len(shown) < 4_000
