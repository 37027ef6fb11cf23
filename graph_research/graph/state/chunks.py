"""Lists that grow, kept in pieces: a snapshot refers to the pieces of earlier ones instead of copying them."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from graph_research.graph.state.reducers import Pieces, State
from graph_research.graph.values.codec import LARGE_CHARS, ChunkedList, encode, text_hash

_MOST_OUTDATED = 0.5
"""Of the entries in the pieces of a list with ids, this part may have been replaced since; then it is written anew."""


def packed(state: State, growing: Mapping[str, bool], texts: MutableMapping[str, str]) -> dict[str, Any]:
    """The values of `state` for a snapshot. Of each channel in `growing` (which tells whether its entries go by their
    ids) what came since its last piece becomes one more, in `texts`, and `state` remembers it; short lists stay
    whole."""
    values = dict(state.values)
    for channel, by_id in growing.items():
        value, pieces = values[channel] or [], state.pieces.get(channel)
        if by_id and pieces is None and not _has_ids(value):
            continue
        if pieces is None or pieces.by_id != by_id or _outdated(pieces, state, channel):
            pieces = Pieces(by_id=by_id)
        rest = _rest(value, pieces, state, channel)
        data = encode(rest, texts).decode() if rest else ""
        if not pieces.names and len(data) < LARGE_CHARS:
            state.pieces.pop(channel, None)
            continue
        if rest:
            name = text_hash(data)
            texts[name] = data
            pieces = Pieces((*pieces.names, name), pieces.length + len(rest), by_id)
        state.pieces[channel] = pieces
        state.fresh.pop(channel, None)
        values[channel] = ChunkedList(pieces.names, pieces.length, by_id=by_id)
    return values


def _rest(value: Sequence[Any], pieces: Pieces, state: State, channel: str) -> Sequence[Any]:
    """The entries that the pieces do not hold as they are, in their order."""
    if not pieces.by_id or not pieces.names:
        return value[pieces.length :]
    return [value[place] for place in sorted(state.fresh.get(channel, ()))]


def _outdated(pieces: Pieces, state: State, channel: str) -> bool:
    """Whether too many entries of the pieces have been replaced."""
    if not pieces.by_id:
        return False
    entries = pieces.length + len(state.fresh.get(channel, ()))
    return entries - len(state.values[channel]) > _MOST_OUTDATED * entries


def _has_ids(value: Sequence[Any]) -> bool:
    """Whether each entry can be told from the others by its id."""
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("id"), (str, int)) for entry in value):
        return False
    return len({entry["id"] for entry in value}) == len(value)
