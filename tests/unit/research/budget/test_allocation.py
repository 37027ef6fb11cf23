"""The allocation of a prompt's room: levels, tiers and their guarantees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.budget.allocation import (
    BudgetItem,
    BudgetTier,
    ProtectedTooLarge,
    allocate,
    share_of,
)
from graph_research.research.budget.priority import TOP_SOURCES, priority, priority_of, source_items
from graph_research.research.models.fidelity import LEVEL_SHARES, FidelityLevel, level_of
from graph_research.research.models.source import Quality, Source, SourceScore


def regular(name: str, tokens: int = 1_000, rank: float = 0.0) -> BudgetItem:
    return BudgetItem(id=name, tokens=tokens, priority=rank)


def tokens_of(items: list[BudgetItem], room: int, *, allow_dropping: bool = False) -> dict[str, int]:
    return {one.item_id: one.tokens for one in allocate(items, room, allow_dropping=allow_dropping).items}


@pytest.mark.requirement("13.4")
def test_levels_keep_ever_less_and_each_share_belongs_to_its_level() -> None:
    assert list(LEVEL_SHARES.values()) == [1.0, 0.7, 0.4, 0.2, 0.1, 0.0]
    assert [level_of(share) for share in LEVEL_SHARES.values()] == list(LEVEL_SHARES)


@pytest.mark.requirement("13.4")
@pytest.mark.parametrize(
    ("least", "level", "below"),
    [
        (0.9, FidelityLevel.FULL, FidelityLevel.CONDENSED),
        (0.6, FidelityLevel.CONDENSED, FidelityLevel.COMPRESSED),
        (0.3, FidelityLevel.COMPRESSED, FidelityLevel.KEY_POINTS),
        (0.15, FidelityLevel.KEY_POINTS, FidelityLevel.HEADLINE),
        (0.0001, FidelityLevel.HEADLINE, FidelityLevel.DROPPED),
    ],
)
def test_a_level_begins_at_its_least_share(least: float, level: FidelityLevel, below: FidelityLevel) -> None:
    assert (level_of(least), level_of(least - 0.0001)) == (level, below)


def test_what_fits_is_given_whole() -> None:
    allocation = allocate([regular("a"), regular("b")], 2_000)
    assert [one.level for one in allocation.items] == [FidelityLevel.FULL] * 2
    assert not any(one.truncated for one in allocation.items)


def test_the_lowest_priority_gives_way_first_and_only_as_far_as_needed() -> None:
    assert tokens_of([regular("a", rank=0.9), regular("b", rank=0.1)], 1_900) == {"a": 1_000, "b": 900}
    assert tokens_of([regular("a", rank=0.9), regular("b", rank=0.1)], 1_500) == {"a": 800, "b": 700}


@pytest.mark.requirement("13.5", "B29")
def test_regular_items_are_headlines_before_priority_items_are_lowered() -> None:
    top = BudgetItem(id="top", tokens=1_000, tier=BudgetTier.PRIORITY)
    own = BudgetItem(id="own", tokens=1_000, tier=BudgetTier.PROTECTED)
    assert tokens_of([top, own, regular("a")], 2_100) == {"top": 1_000, "own": 1_000, "a": 100}
    assert tokens_of([top, own, regular("a")], 1_400) == {"top": 300, "own": 1_000, "a": 100}
    assert tokens_of([top, own, regular("a")], 500) == {"top": 300, "own": 100, "a": 100}


@pytest.mark.requirement("B29")
@pytest.mark.requirement("13.3")
def test_below_the_headlines_regular_items_are_cut_alike_or_dropped_one_by_one() -> None:
    own = BudgetItem(id="own", tokens=1_000, tier=BudgetTier.PROTECTED)
    items = [own, regular("a", rank=0.9), regular("b", rank=0.1)]
    assert tokens_of(items, 250) == {"own": 100, "a": 75, "b": 75}
    assert tokens_of(items, 200, allow_dropping=True) == {"own": 100, "a": 100, "b": 0}
    dropped = allocate(items, 200, allow_dropping=True)
    assert dropped.items[2].level is FidelityLevel.DROPPED
    assert dropped.to_json()["items_dropped"] == 1


@pytest.mark.requirement("13.5", "B29")
def test_below_the_least_shares_regular_items_give_way_before_priority_items() -> None:
    top = BudgetItem(id="top", tokens=1_000, tier=BudgetTier.PRIORITY)
    assert tokens_of([top, regular("a")], 350) == {"top": 300, "a": 50}
    assert tokens_of([top, regular("a")], 200) == {"top": 200, "a": 0}


@pytest.mark.requirement("B29")
def test_protected_items_that_do_not_fit_are_an_error() -> None:
    own = BudgetItem(id="own", tokens=1_000, tier=BudgetTier.PROTECTED)
    assert tokens_of([own, regular("a")], 100) == {"own": 100, "a": 0}
    with pytest.raises(ProtectedTooLarge, match="20 tokens more than the 80"):
        allocate([own, regular("a")], 80)


@pytest.mark.requirement("B42")
def test_truncated_marks_key_points_and_headlines_below_their_share() -> None:
    [one] = allocate([regular("a")], 50).items
    assert (one.level, one.truncated) == (FidelityLevel.HEADLINE, True)
    [one] = allocate([regular("a")], 650).items
    assert (one.level, one.truncated) == (FidelityLevel.CONDENSED, False)


@pytest.mark.requirement("13.8")
def test_an_allocation_says_how_much_is_used_and_shown() -> None:
    assert allocate([regular("a"), regular("b", rank=1)], 1_700).to_json() == {
        "fidelity": 0.85,
        "tokens_used": 1_700,
        "tokens_available": 1_700,
        "utilization": 1.0,
        "items_dropped": 0,
        "items_summarized": 1,
    }
    assert allocate([], 100).to_json()["fidelity"] == 1.0


_ITEMS = st.lists(
    st.builds(
        BudgetItem,
        id=st.uuids().map(str),
        tokens=st.integers(0, 50_000),
        tier=st.sampled_from(BudgetTier),
        priority=st.floats(0, 1),
    ),
    max_size=30,
    unique_by=lambda item: item.id,
)


@pytest.mark.requirement("13.5")
@given(items=_ITEMS, room=st.integers(0, 200_000), allow_dropping=st.booleans())
def test_every_allocation_fits_and_keeps_the_least_shares(
    items: list[BudgetItem], room: int, *, allow_dropping: bool
) -> None:
    try:
        allocation = allocate(items, room, allow_dropping=allow_dropping)
    except ProtectedTooLarge:
        assert sum(int(item.tokens * 0.1) for item in items if item.tier is BudgetTier.PROTECTED) > room
        return
    assert allocation.tokens_used <= room
    given_tokens = {one.item_id: one.tokens for one in allocation.items}
    for item in items:
        if item.tier is BudgetTier.PROTECTED:
            assert given_tokens[item.id] >= int(item.tokens * 0.1)
    if sum(item.tokens for item in items) <= room:
        assert all(share_of(one.tokens, one.original_tokens) == 1.0 for one in allocation.items)


@pytest.mark.requirement("13.6")
def test_priority_weighs_relevance_recency_quality_and_the_user() -> None:
    assert priority(relevance=1, recency=0, quality=0, user=0) == pytest.approx(0.4)
    assert priority(relevance=0, recency=1, quality=0, user=0) == pytest.approx(0.3)
    assert priority(relevance=0, recency=0, quality=1, user=0) == pytest.approx(0.2)
    assert priority(relevance=0, recency=0, quality=0, user=1) == pytest.approx(0.1)


@pytest.mark.requirement("13.6", "B30")
def test_a_sources_priority_is_of_its_scores_its_quality_and_whether_it_is_the_users_own() -> None:
    score = SourceScore(relevance=0.5, recency=0.2, authority=100.0, credibility=1.0, composite=0.9)
    given = {"id": "src-0000000001", "archive_hash": "sha256:" + "0" * 64, "score": score}
    rated = {quality: priority_of(Source(**given, quality=quality)) for quality in Quality}
    assert rated[Quality.HIGH] == pytest.approx(0.4 * 0.5 + 0.3 * 0.2 + 0.2)
    assert rated[Quality.HIGH] > rated[Quality.MEDIUM] > rated[Quality.LOW]
    own = priority_of(Source(**given, quality=Quality.HIGH, provider="local"))
    assert own == pytest.approx(rated[Quality.HIGH] + 0.1)


@pytest.mark.requirement("13.5")
def test_marked_sources_are_protected_and_the_five_best_of_the_others_have_priority() -> None:
    sources = [
        Source(
            id=f"src-{number:010x}",
            archive_hash="sha256:" + "0" * 64,
            quality=Quality.MEDIUM,
            score=SourceScore(relevance=number / 10),
            metadata={"protected": number == 0},
        )
        for number in range(8)
    ]
    items = source_items(sources, dict.fromkeys((source.id for source in sources), 100))
    assert items[0].tier is BudgetTier.PROTECTED
    assert [item.tier for item in items].count(BudgetTier.PRIORITY) == TOP_SOURCES
    assert [item.tier for item in items[1:3]] == [BudgetTier.REGULAR] * 2
