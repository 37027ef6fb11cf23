"""The record of how much of each source's archived text a prompt showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, Literal

from graph_research.research.budget.allocation import Allocation, Allotted
from graph_research.research.models.fidelity import (
    LEVEL_SHARES,
    ContentFidelity,
    FidelityLevel,
    FidelityRecord,
    ItemFidelity,
    fidelity_record,
    level_of,
)
from graph_research.research.models.source import Source
from graph_research.text.tokens import CHARS_PER_TOKEN

HEAVILY_COMPRESSED = 0.3
"""A text of which less than this share was shown is worth archiving."""

_DIGEST_REASON = "digest_compression"
_PASSAGES_REASON = "passages"


def record_shown(
    sources: Sequence[Source], shown_chars: Mapping[str, int], *, phase: str, iteration: int
) -> tuple[list[Source], list[FidelityRecord]]:
    """The sources whose fidelity changed, and a record of each, where one prompt of a phase showed `shown_chars`
    characters by source id; a source that is not among them was not shown.

    A source keeps the largest share of its text that any prompt showed, as `metadata.shown_share`; of one of an earlier
    iteration without a share all was shown before.
    """
    records = [_record(source, shown_chars.get(source.id, 0), phase) for source in sources]
    marked = [
        _with_share(source, record.compression_ratio, is_new=source.iteration == iteration)
        for source, record in zip(sources, records, strict=True)
    ]
    return [now for now, before in zip(marked, sources, strict=True) if now is not before], records


def compressed_content(sources: Iterable[Source]) -> dict[str, Any]:
    """`dropped_content_ids`, the sources of which no prompt showed anything, and `content_archive_hashes`, the archived
    texts by source of which less than 30 % was shown; nothing where there are none."""
    low = [source for source in sources if source.metadata.get("shown_share", 1.0) < HEAVILY_COMPRESSED]
    if not low:
        return {}
    return {
        "dropped_content_ids": [source.id for source in low if not source.metadata["shown_share"]],
        "content_archive_hashes": {source.id: source.archive_hash for source in low},
    }


def fidelity_score(sources: Iterable[Source]) -> float:
    """The mean of the largest shares of the sources' texts that were shown; 1 without sources."""
    shares = [_known_share(source.fidelity, source.metadata.get("shown_share", 1.0)) for source in sources]
    return sum(shares) / len(shares) if shares else 1.0


def _fullest_records(records: Iterable[FidelityRecord]) -> dict[str, FidelityRecord]:
    """By source the record of the phase that showed most of it. The records of digests count where no prompt's do: a
    digest is made before it is shown."""
    fullest: dict[str, FidelityRecord] = {}
    for record in sorted(records, key=lambda record: (record.phase != "digest", record.compression_ratio)):
        fullest[record.source_id] = record
    return fullest


def _known_share(level: str, share: float) -> float:
    """The share of a text that was shown, at most what `level` keeps where less of the text is known than was
    archived, such as its abstract only."""
    nominal = LEVEL_SHARES.get(FidelityLevel(level), 1.0)
    return nominal if nominal < LEVEL_SHARES[level_of(share)] else share


def _record(source: Source, chars: int, phase: str) -> FidelityRecord:
    share = min(chars / max(source.characters, 1), 1.0)
    is_digest = source.is_digest and share < 1  # a model in this process reads the text itself
    level = FidelityLevel.DIGEST if is_digest and chars else level_of(share)
    is_cut = not is_digest and share < 1
    return fidelity_record(
        source.id,
        phase,
        source.characters,
        min(chars, source.characters),
        level,
        truncated=is_cut,
        reason=_DIGEST_REASON if is_digest else _PASSAGES_REASON if is_cut else "",
    )


def _with_share(source: Source, share: float, *, is_new: bool) -> Source:
    before = source.metadata.get("shown_share", -1.0 if is_new else 1.0)
    if share <= before or (share == 1.0 and "shown_share" not in source.metadata):
        return source
    level = source.fidelity if source.is_digest else _lower(source, level_of(share))
    known = {"gathered_fidelity": source.fidelity, **source.metadata}
    return source.model_copy(update={"fidelity": level, "metadata": {**known, "shown_share": share}})


def _lower(source: Source, shown: FidelityLevel) -> str:
    """What was gathered of a source, or what was shown of that, whichever is less."""
    gathered = source.metadata.get("gathered_fidelity", source.fidelity)
    levels = [level.value for level in LEVEL_SHARES]
    return shown.value if gathered not in levels else max(gathered, shown.value, key=levels.index)


def content_allocation(records: Sequence[FidelityRecord], room_chars: int | None) -> dict[str, Any]:
    """`{content_allocation: …}`: what the recorded sources took of the `room_chars` that their phase has; nothing where
    prompts are not fitted."""
    if room_chars is None or not records:
        return {}
    items = tuple(
        Allotted(
            item_id=record.source_id,
            original_tokens=record.original_tokens,
            tokens=record.final_tokens,
            level=record.level,
            truncated=record.truncated,
        )
        for record in records
    )
    allocation = Allocation(items=items, tokens_available=room_chars // CHARS_PER_TOKEN)
    return {"content_allocation": allocation.to_json()}


def content_fidelity_of(state: Mapping[str, Any], lengths: Mapping[str, int] | None = None) -> ContentFidelity:
    """The records of a state's `content_fidelity`, and what they say together; absent channels count as empty. A phase
    that is repeated replaces its records; a source counts as far as any of its prompts showed it.

    Earlier versions stored no records and no lengths of sources: then what the sources themselves say of what was shown
    counts, and `lengths` are the characters of the archived texts by archive hash.
    """
    records = [FidelityRecord.model_validate(row) for row in state.get("content_fidelity") or []]
    fullest = _fullest_records(records)
    sources = [Source.model_validate(row) for row in state.get("sources") or []]
    known = lengths or {}
    items = {
        source.id: _item_fidelity(
            source, fullest.get(source.id), source.characters or known.get(source.archive_hash, 0)
        )
        for source in sources
    }
    score = mean(item.compression_ratio for item in items.values()) if items else 1.0
    return ContentFidelity(
        items=items,
        records=records,
        levels=dict(sorted(Counter(item.current_level.value for item in items.values()).items())),
        score=round(score, 4),
        band=_band(score),
    )


def _item_fidelity(source: Source, fullest: FidelityRecord | None, characters: int) -> ItemFidelity:
    before = source.metadata.get("shown_share", 0.0 if fullest else 1.0)
    share = _known_share(source.fidelity, max(before, fullest.compression_ratio) if fullest else before)
    original = characters // CHARS_PER_TOKEN
    return ItemFidelity(
        original_tokens=original,
        current_tokens=round(original * share),
        current_level=fullest.level if fullest and source.is_digest else FidelityLevel(source.fidelity),
        compression_ratio=share,
    )


def _band(score: float) -> Literal["full", "condensed", "compressed", "minimal"]:
    """A word for a mean share of kept text."""
    if score >= 0.9:
        return "full"
    if score >= 0.6:
        return "condensed"
    return "compressed" if score >= 0.3 else "minimal"
