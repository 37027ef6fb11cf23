"""Who gets a digest: every policy, size and quality."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.digest.cache import MOST_CACHES, MOST_ENTRIES, DigestCache, DigestCaches, digest_key
from graph_research.research.digest.eligibility import (
    DigestOptions,
    DigestPolicy,
    SkipReason,
    in_digest_order,
    skip_reason,
)
from graph_research.research.digest.payload import make_payload
from graph_research.research.models.digest import DIGEST_CONTENT_TYPE
from graph_research.research.models.source import Quality, Source, SourceScore
from graph_research.text.document import text_hash


def source(number: int = 1, *, relevance: float = 0.5, **more: Any) -> Source:
    given: dict[str, Any] = {"characters": 12_000, "quality": Quality.HIGH, "content": "text", **more}
    return Source(
        id=f"src-{number:010x}", archive_hash=text_hash(str(number)), score=SourceScore(relevance=relevance), **given
    )


@pytest.mark.requirement("11.1", "23.1")
@pytest.mark.parametrize("quality", list(Quality))
@pytest.mark.parametrize("characters", [9_999, 10_000])
@pytest.mark.parametrize("policy", list(DigestPolicy))
def test_policy_size_and_quality_decide(policy: DigestPolicy, characters: int, quality: Quality) -> None:
    given = skip_reason(source(characters=characters, quality=quality), DigestOptions(policy=policy))
    if policy is DigestPolicy.OFF:
        assert given is SkipReason.POLICY_OFF
    elif policy is DigestPolicy.ALWAYS:
        assert given is None
    else:
        good = quality in (Quality.HIGH, Quality.MEDIUM) and characters >= 10_000
        assert given is (None if good else SkipReason.NOT_ELIGIBLE)


@pytest.mark.requirement("11.1", "11.4")
@pytest.mark.parametrize("policy", [DigestPolicy.AUTO, DigestPolicy.ALWAYS])
def test_a_digest_is_not_digested_again_and_a_snippet_not_at_all(policy: DigestPolicy) -> None:
    options = DigestOptions(policy=policy)
    assert skip_reason(source(content_type=DIGEST_CONTENT_TYPE), options) is SkipReason.ALREADY_DIGESTED
    assert skip_reason(source(content=None), options) is SkipReason.NOT_ELIGIBLE
    assert skip_reason(source(characters=0), options) is SkipReason.NOT_ELIGIBLE


@pytest.mark.requirement("11.4")
def test_the_order_is_quality_relevance_length_and_id() -> None:
    rows = [
        source(5, quality=Quality.LOW, relevance=1.0),
        source(4, quality=Quality.UNKNOWN, relevance=1.0),
        source(3, quality=Quality.MEDIUM, relevance=1.0),
        source(2, relevance=0.4),
        source(7, relevance=0.6, characters=11_000),
        source(6, relevance=0.6, characters=13_000),
        source(1, relevance=0.6, characters=13_000),
    ]
    assert [int(row.id[4:], 16) for row in in_digest_order(rows)] == [1, 6, 7, 2, 3, 4, 5]


@pytest.mark.requirement("11.20")
def test_the_cache_drops_its_older_half_when_it_is_full() -> None:
    cache, made = (
        DigestCache(),
        make_payload("s", [], [], question="q", original_chars=9, source_text_hash=text_hash("")),
    )
    for number in range(MOST_ENTRIES):
        cache.put(str(number), made)
    cache.put("5", made)
    assert len(cache) == MOST_ENTRIES == 100
    cache.put("new", made)
    assert len(cache) == 51
    assert cache.get("49") is None
    assert cache.get("50") == cache.get("new") == made


@pytest.mark.requirement("11.20")
def test_of_many_users_those_who_asked_last_have_a_cache() -> None:
    caches = DigestCaches()
    first, second = caches.of("first"), caches.of("second")
    for number in range(MOST_CACHES - 1):
        assert caches.of("first") is first
        caches.of(str(number))
    assert caches.of("first") is first
    assert caches.of("second") is not second


@pytest.mark.requirement("11.20", "B5")
def test_the_key_names_all_that_a_digest_depends_on() -> None:
    first = source()
    key = digest_key(first, "Which gates?", DigestOptions(), "models and prompt")
    kind, version, name, content, question, config = key.split(":")
    assert (kind, version, name) == ("digest", "1.0", first.id)
    assert content == first.archive_hash.removeprefix("sha256:")[:16]
    assert (len(question), len(config)) == (8, 8)


@pytest.mark.requirement("11.20", "23.1")
@pytest.mark.parametrize(
    "change",
    [
        {"policy": DigestPolicy.ALWAYS},
        {"min_chars": 1},
        {"max_sources": 1},
        {"include_evidence": False},
        {"evidence_max_chars": 100},
        {"max_evidence_snippets": 1},
    ],
)
def test_another_setting_another_digest(change: dict[str, Any]) -> None:
    assert digest_key(source(), "q", DigestOptions(**change), "m") != digest_key(source(), "q", DigestOptions(), "m")


@pytest.mark.requirement("11.20", "B5")
def test_another_text_question_or_summarizer_another_digest_but_not_another_time_limit() -> None:
    key = digest_key(source(), "q", DigestOptions(), "m")
    assert digest_key(source(2), "q", DigestOptions(), "m") != key
    assert digest_key(source(), "r", DigestOptions(), "m") != key
    assert digest_key(source(), "q", DigestOptions(), "n") != key
    assert digest_key(source(), "q", DigestOptions(timeout=1, max_concurrent=1), "m") == key
