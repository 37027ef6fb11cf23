"""The allocation of a prompt's room to the items that want it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.research.models.fidelity import LEVEL_SHARES, FidelityLevel, level_of


class BudgetTier(StrEnum):
    """How an item stands in the allocation, the first to give way last."""

    PROTECTED = "protected"
    PRIORITY = "priority"
    REGULAR = "regular"


LEAST_SHARES: Mapping[BudgetTier, float] = {
    BudgetTier.PROTECTED: 0.1,
    BudgetTier.PRIORITY: 0.3,
    BudgetTier.REGULAR: 0.1,
}
"""The share of its text that an item keeps as long as regular items can give way instead."""

_TO_GIVE_WAY = (BudgetTier.REGULAR, BudgetTier.PRIORITY, BudgetTier.PROTECTED)
_STEPS = tuple(share for share in LEVEL_SHARES.values() if 0 < share < 1)


class ProtectedTooLarge(GraphResearchError):
    """The headlines of the protected items alone exceed the room."""


@dataclass(frozen=True, kw_only=True)
class BudgetItem:
    """Something that wants `tokens` of a prompt. Items of a tier give way by ascending `priority`, then id."""

    id: str
    tokens: int
    tier: BudgetTier = BudgetTier.REGULAR
    priority: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Allotted:
    """The tokens that an item gets. `truncated` marks key points and headlines that are less than their level's
    nominal share."""

    item_id: str
    original_tokens: int
    tokens: int
    level: FidelityLevel
    truncated: bool


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """The items in the order given, and the room that they share."""

    items: tuple[Allotted, ...]
    tokens_available: int

    @property
    def tokens_used(self) -> int:
        """What all items take together."""
        return sum(item.tokens for item in self.items)

    def to_json(self) -> dict[str, Any]:
        """`fidelity` is the mean share of the items that is shown, `utilization` used over available tokens;
        `items_summarized` counts items that are shown in part."""
        shares = [share_of(item.tokens, item.original_tokens) for item in self.items]
        return {
            "fidelity": round(sum(shares) / len(shares), 4) if shares else 1.0,
            "tokens_used": self.tokens_used,
            "tokens_available": self.tokens_available,
            "utilization": round(self.tokens_used / max(self.tokens_available, 1), 4),
            "items_dropped": sum(item.level is FidelityLevel.DROPPED for item in self.items),
            "items_summarized": sum(0 < item.tokens < item.original_tokens for item in self.items),
        }


def share_of(tokens: int, original_tokens: int) -> float:
    """The share of an item that is shown, 0 to 1; an empty item is shown whole."""
    return min(tokens / original_tokens, 1.0) if original_tokens > 0 else 1.0


def allocate(items: Sequence[BudgetItem], tokens_available: int, *, allow_dropping: bool = False) -> Allocation:
    """Give every item its tokens where they fit into `tokens_available`, else lower items until all fit.

    Regular items are lowered first, level by level down to the headline, then priority items down to 30 %, then
    protected ones down to the headline. Where that is too much still, regular items give way: with `allow_dropping` one
    after the other is dropped, else all are cut to the same share; then priority items in the same manner. Raises
    `ProtectedTooLarge` where the headlines of the protected items alone do not fit.
    """
    given = {item.id: item.tokens for item in items}
    excess = sum(given.values()) - tokens_available
    for item, share in _steps(items, allow_dropping=allow_dropping):
        if excess <= 0:
            break
        lowered = max(int(item.tokens * share), given[item.id] - excess)
        if lowered < given[item.id]:
            excess -= given[item.id] - lowered
            given[item.id] = lowered
    if excess > 0:
        for tier in (BudgetTier.REGULAR, BudgetTier.PRIORITY):
            excess = _cut_alike([item for item in items if item.tier is tier], given, excess)
    if excess > 0:
        raise ProtectedTooLarge(
            f"the headlines of the protected items take {excess:,} tokens more than the {tokens_available:,} there are",
            help="protect fewer items, or use a model with a larger window",
        )
    return Allocation(items=tuple(_allotted(item, given[item.id]) for item in items), tokens_available=tokens_available)


def _steps(items: Sequence[BudgetItem], *, allow_dropping: bool) -> Iterator[tuple[BudgetItem, float]]:
    """Each item and the share that it is lowered to next, in the order in which items are lowered."""
    ranked = sorted(items, key=lambda item: (item.priority, item.id))
    for tier in _TO_GIVE_WAY:
        least = LEAST_SHARES[tier]
        for share in (*(step for step in _STEPS if step > least), least):
            yield from ((item, share) for item in ranked if item.tier is tier)
    if allow_dropping:
        for tier in (BudgetTier.REGULAR, BudgetTier.PRIORITY):
            yield from ((item, 0.0) for item in ranked if item.tier is tier)


def _cut_alike(items: Sequence[BudgetItem], given: dict[str, int], excess: int) -> int:
    """Cut the items in proportion to what they have; the excess that is left."""
    total = sum(given[item.id] for item in items)
    if excess <= 0 or not total:
        return excess
    kept = max(total - excess, 0)
    for item in items:
        given[item.id] = given[item.id] * kept // total
    return max(excess - total, 0)


def _allotted(item: BudgetItem, tokens: int) -> Allotted:
    share = share_of(tokens, item.tokens)
    level = level_of(share)
    is_marked = level in (FidelityLevel.KEY_POINTS, FidelityLevel.HEADLINE)
    return Allotted(
        item_id=item.id,
        original_tokens=item.tokens,
        tokens=tokens,
        level=level,
        truncated=is_marked and share < LEVEL_SHARES[level],
    )
