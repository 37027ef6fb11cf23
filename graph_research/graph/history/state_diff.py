"""What differs between two states, value by value: objects by their keys, lists of objects by their ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

_BEFORE_CHARS = 20
_PIECE_CHARS = 80


class ChangeType(StrEnum):
    """How a value differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One value that differs. `path` is dotted, with ids or places for entries of lists; `old` and `new` are
    null where there is none."""

    path: str
    change: ChangeType
    old: Any = None
    new: Any = None

    def to_json(self) -> dict[str, Any]:
        """The change as JSON."""
        return asdict(self)


def changes_between(old: Any, new: Any, path: str = "") -> Iterator[Change]:
    """The changes that lead from `old` to `new`, in the order of `old` and then of what is new."""
    before, after = _entries(old), _entries(new)
    if before is None or after is None or isinstance(old, list) is not isinstance(new, list):
        if type(old) is not type(new) or old != new:
            yield Change(path=path, change=ChangeType.CHANGED, old=old, new=new)
        return
    for key, value in before.items():
        inner = f"{path}.{key}" if path else key
        if key in after:
            yield from changes_between(value, after[key], inner)
        else:
            yield Change(path=inner, change=ChangeType.REMOVED, old=value)
    for key, value in after.items():
        if key not in before:
            yield Change(path=f"{path}.{key}" if path else key, change=ChangeType.ADDED, new=value)
    if list(before) != list(after) and before.keys() == after.keys() and isinstance(old, list):
        yield Change(path=path, change=ChangeType.CHANGED, old=list(before), new=list(after))


def _entries(value: Any) -> Mapping[str, Any] | None:
    """A container by keys; a list whose entries all have an id of their own goes by those."""
    if isinstance(value, Mapping):
        return {str(key): part for key, part in value.items()}
    if not isinstance(value, list):
        return None
    return dict(zip(_names(value), value, strict=True))


def _names(entries: Sequence[Any]) -> list[str]:
    ids = [entry.get("id") if isinstance(entry, Mapping) else None for entry in entries]
    if all(isinstance(id_, str) for id_ in ids) and len(set(ids)) == len(ids):
        return [str(id_) for id_ in ids]
    return [str(place) for place in range(len(entries))]


def apart(old: Any, new: Any) -> int:
    """How many changes lead from `old` to `new`."""
    return sum(1 for _ in changes_between(old, new))


def first_difference(old: Any, new: Any) -> str:
    """In words, for the end of a sentence: where two requests differ first, and what stands there. Of long texts a
    piece around the place."""
    change = next(changes_between(old, new), None)
    if change is None:
        return ", only fewer like it"
    where = f"; a recorded one differs in {change.path}" if change.path else "; the recorded one is another"
    if change.change != ChangeType.CHANGED:
        return f"{where}, which is {'new' if change.change == ChangeType.ADDED else 'gone'}"
    start = 0
    if isinstance(change.old, str) and isinstance(change.new, str):
        pairs = zip_longest(change.old, change.new)
        start = max(next(place for place, (a, b) in enumerate(pairs) if a != b) - _BEFORE_CHARS, 0)
    return f"{where}: {_piece(change.new, start)} instead of {_piece(change.old, start)}"


def _piece(value: Any, start: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    piece = text[start : start + _PIECE_CHARS]
    whole = f"{'…' if start else ''}{piece}{'…' if start + _PIECE_CHARS < len(text) else ''}"
    return json.dumps(whole, ensure_ascii=False) if isinstance(value, str) else whole
