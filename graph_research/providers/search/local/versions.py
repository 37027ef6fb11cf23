"""Old versions in a folder: documents of which a newer version lies beside them, or that say so themselves."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from graph_research.text.language.versions import VersionMark, title_key, version_mark

SAYS_SO = ""
_NEAR_COPY = 0.35  # of the shorter text's word triples, where only the dates of two documents differ
_SAME_DOCUMENT = 0.1  # where their version numbers differ
_MOST_VERSIONS = 30
_FEWEST_TRIPLES = 6  # of words without digits: below, a text is a series of numbers

Row = Mapping[str, Any]


def superseded(rows: Iterable[Row], text_of: Callable[[int], str]) -> dict[int, str]:
    """By id, what supersedes each document that is not the newest version: the URL of the next newer one, or
    `SAYS_SO`.

    `rows` have `id`, `url`, `own_title`, `own_date` and `says_superseded`. Documents are versions of each other where
    their titles or file names are the same but for version and date, and enough of their words.
    """
    found: dict[int, str] = {}
    groups: dict[str, list[tuple[VersionMark, Row]]] = {}
    for row in rows:
        if row["says_superseded"]:
            found[row["id"]] = SAYS_SO
        stem = PurePosixPath(row["url"]).stem
        mark = version_mark(row["own_title"], stem, date=row["own_date"])
        if mark.number or mark.date:
            for key in dict.fromkeys((title_key(row["own_title"]), title_key(stem))):
                if key:
                    groups.setdefault(key, []).append((mark, row))
    shingles: dict[int, _Shingles] = {}
    for group in groups.values():
        if 1 < len(group) <= _MOST_VERSIONS and len({mark for mark, _ in group}) > 1:
            for _, row in group:
                if row["id"] not in shingles:
                    shingles[row["id"]] = _shingles(text_of(row["id"]))
            found |= _older(group, shingles)
    return found


def _older(group: Sequence[tuple[VersionMark, Row]], shingles: Mapping[int, _Shingles]) -> dict[int, str]:
    ordered = sorted(group, key=lambda member: (member[0], member[1]["url"]))
    found: dict[int, str] = {}
    for place, (mark, row) in enumerate(ordered):
        for newer, other in reversed(ordered[place + 1 :]):
            if _is_newer(newer, mark, shingles[other["id"]], shingles[row["id"]]):
                found[row["id"]] = other["url"]
                break
    return found


def _is_newer(newer: VersionMark, mark: VersionMark, its: _Shingles, own: _Shingles) -> bool:
    """Whether a document is a newer version of another. Where one of them is known by a month or a day, the numbers in
    their texts must be much the same, too: else they are tables of several months, and not versions of one."""
    if newer.number and mark.number:
        return newer.number > mark.number and _shared(own.words, its.words) >= _SAME_DOCUMENT
    is_series = newer.is_of_a_day or mark.is_of_a_day
    share = _shared(own.all, its.all) if is_series else _shared(own.words, its.words)
    return bool(newer.date and mark.date) and newer.date > mark.date and share >= _NEAR_COPY


def _shared(left: frozenset[int], right: frozenset[int]) -> float:
    return len(left & right) / max(1, min(len(left), len(right)))


class _Shingles(NamedTuple):
    """Word triples of a text: of all its words, and of those without digits where there are enough of them, since new
    numbers in an old table make a new version of it."""

    all: frozenset[int]
    words: frozenset[int]


def _shingles(text: str) -> _Shingles:
    words = text.casefold().split()
    whole, plain = _triples(words), _triples([word for word in words if not any(map(str.isdigit, word))])
    return _Shingles(whole, plain if len(plain) >= _FEWEST_TRIPLES else whole)


def _triples(words: Sequence[str]) -> frozenset[int]:
    triples = zip(words, words[1:], words[2:], strict=False)
    return frozenset(zlib.crc32(" ".join(triple).encode()) for triple in triples) or frozenset(
        {zlib.crc32(" ".join(words).encode())}
    )
