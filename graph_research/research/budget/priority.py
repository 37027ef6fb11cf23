"""The priority of sources in a prompt that cannot show all of them whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graph_research.research.budget.allocation import LEAST_SHARES, BudgetItem, BudgetTier, ProtectedTooLarge, allocate
from graph_research.research.models.source import Quality, Source

TOP_SOURCES = 5
"""So many sources of the highest priority keep at least 30 % of their text."""

_QUALITY: Mapping[Quality, float] = {Quality.HIGH: 1.0, Quality.MEDIUM: 0.6, Quality.UNKNOWN: 0.5, Quality.LOW: 0.2}
_LOCAL = "local"
_PROTECTED_WEIGHT = 10.0


def priority(*, relevance: float, recency: float, quality: float, user: float) -> float:
    """0.4 relevance + 0.3 recency + 0.2 quality + 0.1 user, each from 0 to 1."""
    return 0.4 * relevance + 0.3 * recency + 0.2 * quality + 0.1 * user


def priority_of(source: Source) -> float:
    """The priority of a source; the user's own documents count as preferred by the user."""
    return priority(
        relevance=source.score.relevance,
        recency=source.score.recency,
        quality=_QUALITY[source.quality],
        user=1.0 if source.provider == _LOCAL or is_protected(source) else 0.0,
    )


def is_protected(source: Source) -> bool:
    """Whether the user marked the source: `metadata.protected` is true."""
    return bool(source.metadata.get("protected"))


def weight(source: Source) -> float:
    """What a finding or quote of the source counts beside others that want the room of a prompt: its priority, and more
    than any certainty where the user marked it."""
    return priority_of(source) + (_PROTECTED_WEIGHT if is_protected(source) else 0.0)


def source_items(sources: Sequence[Source], tokens: Mapping[str, int]) -> list[BudgetItem]:
    """The sources as items of `tokens` by id: marked ones are protected, the top five of the others have priority."""
    ranked = sorted(sources, key=lambda source: (-priority_of(source), source.id))
    top = {source.id for source in [one for one in ranked if not is_protected(one)][:TOP_SOURCES]}

    def tier(source: Source) -> BudgetTier:
        if is_protected(source):
            return BudgetTier.PROTECTED
        return BudgetTier.PRIORITY if source.id in top else BudgetTier.REGULAR

    return [
        BudgetItem(id=source.id, tokens=tokens[source.id], tier=tier(source), priority=priority_of(source))
        for source in sources
    ]


def allotted_chars(
    sources: Sequence[Source], chars: Mapping[str, int], most_chars: int, *, allow_dropping: bool
) -> dict[str, int]:
    """How many of their `chars` the sources are shown within `most_chars`, by id. `ProtectedTooLarge` where not even
    the headlines of the protected ones fit."""
    items = source_items(sources, chars)
    try:
        allocation = allocate(items, most_chars, allow_dropping=allow_dropping)
    except ProtectedTooLarge as error:
        least = least_chars([item for item in items if item.tier is BudgetTier.PROTECTED])
        raise ProtectedTooLarge(
            f"a tenth of each protected source takes {least:,} characters, and there is room for {most_chars:,}",
            help="protect fewer sources, or use a model with a larger window",
        ) from error
    return {item.item_id: item.tokens for item in allocation.items}


def least_chars(items: Iterable[BudgetItem]) -> int:
    """How much the items take that have given way as far as they do while others can instead."""
    return sum(int(item.tokens * LEAST_SHARES[item.tier]) for item in items)
