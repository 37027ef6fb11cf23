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
        value, known = values[channel] or [], state.pieces.get(channel)
        if by_id and known is None and not _has_ids(value):
            continue
        if known is None or known.by_id != by_id or _outdated(known, state, channel):
            known = Pieces(by_id=by_id)
        rest = _rest(value, known, state, channel)
        data = encode(rest, texts).decode() if rest else ""
        if not known.names and len(data) < LARGE_CHARS:
            state.pieces.pop(channel, None)
            continue
        if rest:
            name = text_hash(data)
            texts[name] = data
            known = Pieces((*known.names, name), known.length + len(rest), by_id)
        state.pieces[channel] = known
        state.fresh.pop(channel, None)
        values[channel] = ChunkedList(known.names, known.length, by_id=by_id)
    return values


def _rest(value: Sequence[Any], known: Pieces, state: State, channel: str) -> Sequence[Any]:
    """The entries that the pieces do not hold as they are, in their order."""
    if not known.by_id or not known.names:
        return value[known.length :]
    return [value[place] for place in sorted(state.fresh.get(channel, ()))]


def _outdated(known: Pieces, state: State, channel: str) -> bool:
    """Whether too many entries of the pieces have been replaced."""
    if not known.by_id:
        return False
    entries = known.length + len(state.fresh.get(channel, ()))
    return entries - len(state.values[channel]) > _MOST_OUTDATED * entries


def _has_ids(value: Sequence[Any]) -> bool:
    """Whether each entry can be told from the others by its id."""
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("id"), (str, int)) for entry in value):
        return False
    return len({entry["id"] for entry in value}) == len(value)
