"""Sets of documents: what most documents of a folder share, such as the day on which they were made or a line at the
head of each page, says nothing of one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

_FEWEST = 20  # documents that share it


def shared(rows: Iterable[tuple[int, str, str]]) -> set[int]:
    """The ids of those of the rows `(id, path, value)` whose value more than half of the documents of a folder have,
    itself or in folders below it. A value may be empty: its document counts, and shares nothing."""
    given = list(rows)
    counts: Counter[tuple[str, str]] = Counter()
    documents: dict[str, set[str]] = defaultdict(set)
    for path, value in {(path, value) for _, path, value in given}:
        for folder in _folders_above(path):
            documents[folder].add(path)
            counts[folder, value] += 1
    return {
        number
        for number, path, value in given
        if value
        and any(
            counts[folder, value] >= max(_FEWEST, len(documents[folder]) // 2 + 1) for folder in _folders_above(path)
        )
    }


def _folders_above(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path
