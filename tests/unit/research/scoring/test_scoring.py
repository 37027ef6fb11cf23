"""Scores of sources, claims and jobs: the exact formulas."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.evidence.claims import Ground, levelled, scored_claim
from graph_research.research.models.finding import Claim, Confidence, Finding
from graph_research.research.models.ids import finding_id
from graph_research.research.models.source import Quality, Source, Tier
from graph_research.research.scoring.claim import claim_level, confidence_level, job_confidence, score_claim
from graph_research.research.scoring.origin import independent, origin, origins
from graph_research.research.scoring.source import composite, recency, score_source
from graph_research.research.scoring.tiers import is_maker, is_makers_site, preliminary_quality, tier_of_address
from graph_research.text.relevance.query import parse

NOW = datetime(2024, 7, 1, tzinfo=UTC)
HASH = "sha256:" + "0" * 64


def source(number: int, **fields: object) -> Source:
    return Source.model_validate({"id": f"src-{number:010x}", "archive_hash": HASH, **fields})


@pytest.mark.requirement("17.1", "B30")
def test_the_composite_weighs_authority_recency_relevance_and_credibility() -> None:
    assert composite(authority=80, recency=0.5, relevance=0.9, credibility=0.85) == pytest.approx(
        0.25 * 0.8 + 0.20 * 0.5 + 0.35 * 0.9 + 0.20 * 0.85
    )


@given(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.floats(-10, 10, allow_nan=False),
    st.floats(-10, 10, allow_nan=False),
    st.floats(-10, 10, allow_nan=False),
)
def test_the_composite_never_leaves_zero_to_one(authority: float, fresh: float, relevance: float, trust: float) -> None:
    assert 0.0 <= composite(authority=authority, recency=fresh, relevance=relevance, credibility=trust) <= 1.0


@pytest.mark.requirement("17.1")
def test_recency_falls_to_one_over_e_in_180_days() -> None:
    assert recency((NOW - timedelta(days=180)).isoformat(), NOW) == pytest.approx(1 / math.e)


@pytest.mark.requirement("17.1")
@pytest.mark.parametrize("unknown", [None, "", "last spring", "2024-13-40"])
def test_an_unknown_date_counts_as_half_fresh(unknown: str | None) -> None:
    assert recency(unknown, NOW) == 0.5


def test_a_date_in_the_future_counts_as_today() -> None:
    assert recency("2030-01-01", NOW) == 1.0


def test_a_year_alone_stands_for_its_first_day() -> None:
    assert recency("2024", NOW) == recency("2024-01-01T00:00:00+00:00", NOW) == recency("2024-01", NOW)


@pytest.mark.requirement("17.2", "B8", "B31")
@pytest.mark.parametrize(
    ("tier", "authority", "credibility"),
    [
        (Tier.PRIMARY_SOURCE, 100, 1.0),
        (Tier.AUTHORITATIVE, 85, 0.85),
        (Tier.SECONDARY, 65, 0.65),
        (Tier.UNVERIFIED, 30, 0.3),
        (Tier.FLAGGED, 0, 0.0),
    ],
)
def test_authority_and_credibility_follow_the_tier(tier: Tier, authority: float, credibility: float) -> None:
    score = score_source(tier=tier, relevance=0.6, published_at=None, now=NOW)
    assert (score.authority, score.credibility) == (authority, credibility)
    assert score.composite == pytest.approx(0.25 * authority / 100 + 0.1 + 0.35 * 0.6 + 0.2 * credibility)


@pytest.mark.requirement("17.2", "B8", "B31")
@pytest.mark.parametrize(
    ("url", "tier"),
    [
        ("https://www.nasa.gov/x", Tier.PRIMARY_SOURCE),
        ("https://cs.stanford.edu/", Tier.PRIMARY_SOURCE),
        ("https://www.nature.com/articles/1", Tier.PRIMARY_SOURCE),
        ("https://www.gov.uk/guidance", Tier.PRIMARY_SOURCE),
        ("https://data.gov.uk/x", Tier.PRIMARY_SOURCE),
        ("https://www.ox.ac.uk/", Tier.PRIMARY_SOURCE),
        ("https://www.reuters.com/world", Tier.AUTHORITATIVE),
        ("https://en.wikipedia.org/wiki/X", Tier.SECONDARY),
        ("https://notnature.com/", Tier.UNVERIFIED),
        ("https://nasa.gov.evil.example/", Tier.UNVERIFIED),
        ("https://www.gov.uk.evil.example/", Tier.UNVERIFIED),
        ("papers/nasa.gov.md", Tier.UNVERIFIED),
        ("https://[broken", Tier.UNVERIFIED),
        (None, Tier.UNVERIFIED),
    ],
)
def test_the_host_of_an_address_suggests_a_tier(url: str | None, tier: Tier) -> None:
    assert tier_of_address(url) is tier


@pytest.mark.requirement("B8", "B31")
def test_the_quality_before_analysis_follows_the_tier() -> None:
    assert [preliminary_quality(tier) for tier in Tier] == [
        Quality.HIGH,
        Quality.HIGH,
        Quality.MEDIUM,
        Quality.MEDIUM,
        Quality.LOW,
    ]


@pytest.mark.requirement("17.4")
def test_a_claim_gains_by_each_support_and_loses_by_each_contradiction() -> None:
    score = score_claim([0.6, 0.8], [0.5])
    assert score.support_strength == pytest.approx(0.7)
    assert score.confidence == pytest.approx(0.7 + 0.10 - 0.15)
    assert score.contradiction


@pytest.mark.requirement("17.4")
def test_the_gain_is_capped_at_one_before_contradictions_are_taken_off() -> None:
    assert score_claim([1.0] * 10, [0.1]).confidence == pytest.approx(0.85)


@pytest.mark.requirement("17.4")
def test_a_claim_without_support_is_worth_nothing() -> None:
    assert score_claim([], []).confidence == 0.0
    assert score_claim([0.3], [0.9] * 9).confidence == 0.0


@pytest.mark.requirement("2.6", "B9")
def test_one_origin_is_never_more_than_medium() -> None:
    assert confidence_level(Confidence.HIGH, 0.99, 1) is Confidence.MEDIUM


@pytest.mark.parametrize(
    ("content", "sources", "level"),
    [
        ("SQLite has one writer.", [("sqlite3", "AUTHORITATIVE"), ("sqlite3", "AUTHORITATIVE")], Confidence.HIGH),
        ("There is one writer.", [("sqlite3", "AUTHORITATIVE"), ("sqlite3", "AUTHORITATIVE")], Confidence.HIGH),
        ("There is one writer.", [("larch", "AUTHORITATIVE"), ("larch", "AUTHORITATIVE")], Confidence.MEDIUM),
        ("SQLite has one writer.", [("sqlite3", "AUTHORITATIVE")], Confidence.MEDIUM),
        ("SQLite has one writer.", [("sqlite3", "UNVERIFIED"), ("sqlite3", "AUTHORITATIVE")], Confidence.MEDIUM),
        ("PostgreSQL has many.", [("sqlite3", "AUTHORITATIVE"), ("sqlite3", "AUTHORITATIVE")], Confidence.MEDIUM),
    ],
)
def test_two_authoritative_documents_of_a_maker_on_its_own_product_may_be_high(
    content: str, sources: list[tuple[str, str]], level: Confidence
) -> None:
    rows = [source(n, publisher=publisher, tier=tier) for n, (publisher, tier) in enumerate(sources)]
    by_id = {row.id: row for row in rows}
    known = {**by_id, "other": source(len(rows), publisher="postgresql", tier="AUTHORITATIVE")}
    ground = Ground(
        question="SQLite or PostgreSQL?",
        sources=known,
        evidence={},
        contradictions=(),
        origins=dict.fromkeys(by_id, "sqlite3"),
    )
    finding = Finding(id=finding_id(content), content=content, confidence=Confidence.HIGH, source_ids=list(by_id))
    claim = scored_claim(finding, list(by_id), [], ground).model_copy(update={"confidence": 0.99})
    assert levelled(finding, claim, ground).confidence is level


@pytest.mark.requirement("2.6", "B9")
def test_confirmed_and_speculation_come_from_the_claims_score() -> None:
    assert confidence_level(Confidence.HIGH, 0.95, 2) is Confidence.CONFIRMED
    assert confidence_level(Confidence.HIGH, 0.9, 2) is Confidence.CONFIRMED
    assert confidence_level(Confidence.HIGH, 0.89, 2) is Confidence.HIGH
    assert confidence_level(Confidence.MEDIUM, 0.95, 2) is Confidence.MEDIUM
    assert confidence_level(Confidence.HIGH, 0.3, 2) is Confidence.HIGH
    assert confidence_level(Confidence.HIGH, 0.29, 2) is Confidence.SPECULATION
    assert confidence_level(Confidence.HIGH, 0.9, 0) is Confidence.SPECULATION


def claims(*confidences: float, contradicted: bool = False) -> list[Claim]:
    return [
        Claim(id=f"claim-{n}", text="t", confidence=c, support_strength=c, contradiction=contradicted)
        for n, c in enumerate(confidences)
    ]


@pytest.mark.requirement("17.5")
def test_the_jobs_confidence_is_the_mean_claim_times_how_many_of_ten_sources_there_are() -> None:
    result = job_confidence(claims(0.6, 0.8), 5, 4)
    assert result.confidence == pytest.approx(0.35)
    assert (result.claim_count, result.source_count, result.has_contradictions) == (2, 5, False)
    assert job_confidence(claims(0.6, 0.8), 20, 4).confidence == pytest.approx(0.7)
    assert job_confidence([], 20, 4).confidence == 0.0
    assert job_confidence(claims(0.5, contradicted=True), 1, 1).has_contradictions


def test_the_origin_is_the_publisher_else_the_host_else_the_authors() -> None:
    assert origin(source(1, publisher="The  Courier", url="https://a.example/x")) == "the courier"
    assert origin(source(2, url="https://www.a.example/x")) == "a.example"
    assert origin(source(3, url="notes/2020/a.md", authors=["B. Writer"])) == "b. writer"


def test_two_papers_of_a_journal_have_two_origins() -> None:
    papers = [
        source(1, url="https://doi.org/10.1000/a", doi="10.1000/a", publisher="Journal", authors=["Ada Moor"]),
        source(2, url="https://doi.org/10.1000/b", doi="10.1000/b", publisher="Journal", authors=["Ben Firth"]),
    ]
    assert [origin(one) for one in papers] == ["ada moor", "ben firth"]
    assert origin(source(3, url="https://doi.org/10.1000/c", doi="10.1000/c", publisher="Journal")) == "journal"
    own = source(4, url="a.pdf", doi="10.1000/d", publisher="Lagoon Company", authors=["C. Dee"], provider="local")
    assert origin(own) == "lagoon company"


def test_near_duplicates_share_the_origin_of_the_first() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    sources = [source(1, publisher="A"), source(2, publisher="B"), source(3, publisher="C")]
    texts = {
        sources[0].id: text,
        sources[1].id: "Reprinted. " + text + " The end.",
        sources[2].id: text[::-1],
    }
    assert list(origins(sources, texts).values()) == ["a", "a", "c"]


def test_hosts_of_one_site_are_one_origin_and_users_of_a_shared_host_are_not() -> None:
    urls = ["https://docs.a.example/x", "https://www.a.example/y", "https://a.co.uk/1", "https://news.a.co.uk/2"]
    assert [origin(source(n, url=url)) for n, url in enumerate(urls)] == [
        "a.example",
        "a.example",
        "a.co.uk",
        "a.co.uk",
    ]
    assert origin(source(9, url="https://ann.github.io/x")) == "ann.github.io"
    assert origin(source(9, url="http://127.0.0.1:8000/x")) == "127.0.0.1"


def test_documents_that_name_nobody_are_one_origin_whatever_their_folders_are_called() -> None:
    unnamed = [
        source(1, url="official/a.md"),
        source(2, url="community/b.html", content_type="text/html", metadata={"library": "ministry"}),
        source(3),
    ]
    found = origins([*unnamed, source(4, url="community/c.md", authors=["Ann"])], {})
    assert list(found.values()) == ["", "", "", "ann"]
    assert [independent(found.values()), independent(["", ""]), independent([])] == [1, 1, 0]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.sqlite.org/wal.html", True),
        ("https://docs.postgresql.org/15/", True),
        ("https://sqlite.example/x", False),
        ("https://sqlite-tips.org/x", False),
        ("https://database.org/x", False),
        ("docs/sqlite.org/a.html", False),
    ],
)
def test_the_site_of_a_maker_whom_the_question_names_is_official(url: str, expected: bool) -> None:
    assert is_makers_site(url, parse("How do SQLite and PostgreSQL differ?").names) is expected


@pytest.mark.parametrize(
    ("publisher", "expected"),
    [
        ("Flask", True),
        ("flask2", True),
        ("python3-flask", True),
        ("python-flask", True),
        ("python3", False),
        ("awesome-flask", False),
        (None, False),
    ],
)
def test_a_package_of_a_library_is_called_by_its_language_and_name(publisher: str | None, expected: bool) -> None:
    assert is_maker(publisher, ["Flask"]) is expected


@pytest.mark.parametrize(
    ("confidence", "origins", "against", "by_maker", "level"),
    [
        (0.7, 2, 0, 0, "high"),
        (0.69, 2, 0, 0, "medium"),
        (0.9, 1, 0, 0, "medium"),
        (0.9, 1, 0, 1, "medium"),
        (0.9, 1, 0, 2, "high"),
        (0.9, 3, 1, 0, "medium"),
        (0.9, 1, 1, 2, "low"),
        (0.9, 0, 0, 0, "low"),
        (0.39, 3, 0, 3, "low"),
    ],
)
def test_the_word_for_a_claim(confidence: float, origins: int, against: int, by_maker: int, level: str) -> None:
    counts = {"origins": origins, "against": against, "by_maker": by_maker}
    assert claim_level(confidence, **counts, support=0.15) == level
    assert claim_level(confidence, **counts, support=0.14) == "low"
