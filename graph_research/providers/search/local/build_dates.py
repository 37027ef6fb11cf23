"""Dates of sets: a date that nearly all pages of a folder bear is when they were made, not when each was published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

_FEWEST = 20  # dated documents
_LEAST_SHARE = 0.8  # of the dated documents

Row = Mapping[str, Any]


def of_sets(rows: Iterable[Row]) -> set[int]:
    """The ids of documents whose date is that of a set: of all documents that were added, or of those in one of the
    folders right below. `rows` have `id`, `url` and `own_date`."""
    sets: dict[str, list[Row]] = {}
    for row in rows:
        if row["own_date"]:
            for name in {"", row["url"].partition("/")[0] if "/" in row["url"] else ""}:
                sets.setdefault(name, []).append(row)
    found: set[int] = set()
    for dated in sets.values():
        day, count = Counter(row["own_date"] for row in dated).most_common(1)[0]
        if count >= max(_FEWEST, _LEAST_SHARE * len(dated)):
            found |= {row["id"] for row in dated if row["own_date"] == day}
    return found
