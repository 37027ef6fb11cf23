"""Lists that only grow, kept in pieces: a snapshot refers to the pieces of earlier ones instead of copying them."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any

from graph_research.graph.codec import LARGE_CHARS, Apart, encode, text_hash
from graph_research.graph.state import Pieces, State

__all__ = ["packed"]


def packed(state: State, growing: Iterable[str], texts: MutableMapping[str, str]) -> dict[str, Any]:
    """The values of `state` for a snapshot. Of each channel in `growing` what came since its last piece becomes one
    more, in `texts`, and `state` remembers it; short lists stay whole."""
    values = dict(state.values)
    for channel in growing:
        value, known = values[channel], state.pieces.get(channel, Pieces())
        rest = value[known.length :] if value else []
        data = encode(rest, texts).decode() if rest else ""
        if not known.names and len(data) < LARGE_CHARS:
            continue
        if rest:
            name = text_hash(data)
            texts[name] = data
            known = state.pieces[channel] = Pieces((*known.names, name), len(value))
        values[channel] = Apart(known.names)
    return values
