"""A whole research with digests: they are made before the analysis, once, and every citation is still proved."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.digest.eligibility import DigestOptions, DigestPolicy
from graph_research.research.digest.payload import deserialize_payload
from graph_research.text.document import text_hash
from graph_research.text.locators import resolve
from tests.support.research.harness import Bench, hit, research_script

FILLER = "Swimmers met at the northern pier and spoke of the weather and of the tide. "
TEXTS = {
    "https://tarn.gov/opening": FILLER * 90 + "The Tarn plant opened in March 2016. " + FILLER * 90,
    "https://reuters.com/cost": FILLER * 95 + "Maintenance of the Tarn plant cost 4.1 million in 2020. " + FILLER * 95,
}
CONDENSED = {"summary": "The plant opened in 2016.", "key_points": ["Opened in March 2016."]}
ALWAYS = DigestOptions(policy=DigestPolicy.ALWAYS)


def long_pages(_request: SearchRequest) -> Sequence[SearchHit]:
    return [hit(text, url=url, title=url.rpartition("/")[2]) for url, text in TEXTS.items()]


def bench(search: Callable[[SearchRequest], Sequence[SearchHit]] = long_pages, **changes: Sequence[object]) -> Bench:
    script = research_script(digestor=[CONDENSED], **changes)
    return Bench(script, search=search, settings={"digest": ALWAYS})


@pytest.mark.requirement("11.3", "11.25", "B28", "23.2")
async def test_digests_are_made_between_gathering_and_analysis_and_every_citation_stays_proved() -> None:
    made = bench()
    result = await made.run()
    assert result.status == "completed"
    nodes = await made.nodes()
    assert nodes[nodes.index("gather") :][:5] == ["gather", "review_gather", "read", "dispatch_analyze", "digest"]
    for row in result.state["sources"]:
        payload = deserialize_payload(row["content"])
        assert payload is not None
        assert row["content_type"] == "digest/v1"
        assert row["score"]["relevance"] > 0
        text = await made.store.text(payload.source_text_hash)
        assert text_hash(text) == payload.source_text_hash
        assert payload.evidence_snippets
        for snippet in payload.evidence_snippets:
            assert text[slice(*resolve(text, snippet.locator))] == snippet.text
    shown = made.model.asked("analyzer")[0].user
    assert "Summary, not to be quoted: The plant opened in 2016." in shown
    assert FILLER * 20 not in shown
    assert result.state["evidence"]
    assert {row["level"] for row in result.state["content_fidelity"] if row["phase"] == "digest"} == {"digest"}


@pytest.mark.requirement("11.9", "B12", "23.2")
async def test_a_digested_source_leaves_the_others_the_room_that_its_text_would_take() -> None:
    notes = {f"https://tarn.gov/note-{n}": f"Note {n} of the Tarn plant. " + FILLER * 35 for n in range(4)}
    long = {"https://tarn.gov/opening": "The Tarn plant opened in March 2016. " + FILLER * 2_500}

    def pages(_request: SearchRequest) -> Sequence[SearchHit]:
        return [hit(text, url=url) for url, text in (long | notes).items()]

    script = research_script(digestor=[CONDENSED])
    made = Bench(script, search=pages, settings={"digest": DigestOptions()}, window_tokens=24_000)
    await made.run()
    shown = made.model.asked("analyzer")[0].user
    assert "Summary, not to be quoted: The plant opened in 2016." in shown
    assert [text.strip() in shown for text in notes.values()] == [True] * 4


@pytest.mark.requirement("5.5", "23.2")
async def test_a_further_round_does_not_digest_a_source_again() -> None:
    gap = {"description": "What became of the fish?", "suggested_queries": ["fish at Tarn"], "priority": 1}
    analyzer = [{"findings": [], "gaps": [gap]}, {"findings": [], "gaps": []}]
    later = "https://tarn.gov/fish"

    def pages(request: SearchRequest) -> Sequence[SearchHit]:
        found = (
            [hit(FILLER * 99 + "Fish pass the Tarn plant.", url=later, title="fish")] if "fish" in request.query else []
        )
        return [*found, *long_pages(request)]

    made = bench(pages, analyzer=analyzer)
    state = (await made.run(max_iterations=2)).state
    assert state["iteration"] == 2
    assert (await made.nodes()).count("digest") == 2
    assert [row["url"] for row in state["sources"] if row["iteration"] == 2] == [later]
    assert len(made.model.asked("digestor")) == len(TEXTS) + 1
    assert not any(row["metadata"]["_digest_cache_hit"] for row in state["sources"])


@pytest.mark.requirement("B28")
async def test_the_inner_fields_of_a_digest_stay_out_of_the_report() -> None:
    made = bench()
    state = (await made.run()).state
    for source in state["sources"]:
        assert source["metadata"]["_digest_archive_hash"] == source["archive_hash"]
        assert source["metadata"]["_digest_cache_hit"] is False
    report = (await made.report(state)).to_json()
    assert not any(name in json.dumps(report) for name in ("digest_archive_hash", "digest_cache_hit"))
    assert "_digest" not in json.dumps(state["draft"])
    assert "_raw_content" not in json.dumps(state)


@pytest.mark.requirement("11.2")
async def test_an_analysis_that_is_repeated_makes_no_further_digests() -> None:
    made = bench(analyzer=[{"findings": [], "gaps": []}])
    await made.run(max_iterations=1)
    nodes = await made.nodes()
    assert (nodes.count("analyze"), nodes.count("digest"), nodes.count("dispatch_analyze")) == (2, 1, 2)
