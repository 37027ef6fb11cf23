"""Old versions in a folder: documents of which a newer version lies beside them, or that say so themselves."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from graph_research.text.language.versions import (
    VersionMark,
    has_name_of_an_old_copy,
    is_stamped_as_a_draft,
    named_successors,
    title_key,
    version_mark,
)

SAYS_SO = ""
_NEAR_COPY = 0.35  # of the shorter text's word triples, where only the dates or stages of two documents differ
_SAME_DOCUMENT = 0.1  # where their version numbers differ, or one says that it is superseded
_MOST_VERSIONS = 30
_FEWEST_TRIPLES = 6  # of words without digits: below, a text is a series of numbers

Row = Mapping[str, Any]


def superseded(rows: Iterable[Row], text_of: Callable[[int], str]) -> dict[int, str]:
    """By id, what supersedes each document that is not the newest version: the URL of the next newer one, or
    `SAYS_SO` where it says so itself and no newer one is known.

    `rows` have `id`, `url`, `own_title`, `own_date` and `says_superseded`. Documents are versions of each other where
    their titles or file names are the same but for version, date and stage, and enough of their words. What supersedes
    a document that says so, or an old copy, is the file that it names there, else the only current version of it.
    """
    rows = list(rows)
    found: dict[int, str] = {}
    groups: dict[str, list[tuple[VersionMark, Row]]] = {}
    for row in rows:
        mark = version_mark(row["own_title"], PurePosixPath(row["url"]).stem, date=row["own_date"])
        if mark.number or mark.date:
            for key in _keys(row):
                groups.setdefault(key, []).append((mark, row))
    shingles = cache(lambda number: _shingles(text_of(number)))
    for group in groups.values():
        if 1 < len(group) <= _MOST_VERSIONS and len({mark for mark, _ in group}) > 1:
            found |= _older(group, shingles)
    having = Counter(key for row in rows for key in _keys(row))
    others = [row for row in rows if row["id"] not in found]
    marked = [row for row in others if row["says_superseded"] or _is_old_copy(row, having, text_of)]
    if marked:
        behind = found.keys() | {row["id"] for row in marked}
        current = [row for row in rows if row["id"] not in behind]
        found |= _behind_current(marked, current, text_of, shingles)
    return found


def _keys(row: Row) -> Iterable[str]:
    titles = row["own_title"], PurePosixPath(row["url"]).stem
    return filter(None, dict.fromkeys(map(title_key, titles)))


def _is_old_copy(row: Row, having: Mapping[str, int], text_of: Callable[[int], str]) -> bool:
    """Whether a document is called a draft or an old copy, or is stamped as one where others, of which `having` has the
    number, have its title."""
    if has_name_of_an_old_copy(row["own_title"], PurePosixPath(row["url"])):
        return True
    has_others = any(having[key] > 1 for key in _keys(row))
    return has_others and is_stamped_as_a_draft(row["own_title"], text_of(row["id"]))


def _behind_current(
    marked: Iterable[Row], current: Iterable[Row], text_of: Callable[[int], str], shingles: Callable[[int], _Shingles]
) -> dict[int, str]:
    """What supersedes documents that say so and old copies, among the `current` documents."""
    named: defaultdict[str, list[Row]] = defaultdict(list)
    same: defaultdict[str, list[Row]] = defaultdict(list)
    for row in current:
        named[PurePosixPath(row["url"]).name.casefold()].append(row)
        for key in _keys(row):
            same[key].append(row)
    found: dict[int, str] = {}
    for row in marked:
        says = bool(row["says_superseded"])
        names = named_successors(text_of(row["id"])) if says else ()
        newer = {one["url"] for name in names for one in named.get(name.casefold(), ())}
        if not newer:
            least, own = _SAME_DOCUMENT if says else _NEAR_COPY, shingles(row["id"]).words
            versions = [one for key in _keys(row) for one in same.get(key, ())][:_MOST_VERSIONS]
            newer = {one["url"] for one in versions if _shared(own, shingles(one["id"]).words) >= least}
        if says or len(newer) == 1:
            found[row["id"]] = newer.pop() if len(newer) == 1 else SAYS_SO
    return found


def _older(group: Sequence[tuple[VersionMark, Row]], shingles: Callable[[int], _Shingles]) -> dict[int, str]:
    ordered = sorted(group, key=lambda member: (member[0], member[1]["url"]))
    found: dict[int, str] = {}
    for place, (mark, row) in enumerate(ordered):
        for newer, other in reversed(ordered[place + 1 :]):
            if _is_newer(newer, mark, shingles(other["id"]), shingles(row["id"])):
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
