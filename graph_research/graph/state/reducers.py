"""The channels of a graph in motion, and how an update changes them: reducers, deltas and folding a log of deltas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from graph_research.errors import GraphResearchError
from graph_research.graph.definition.reduced_values import is_reducible, operand_misfit
from graph_research.graph.definition.spec import ChannelSpec
from graph_research.graph.messages import show_value

Delta = Mapping[str, Mapping[str, Any]]
"""Reducer to channel to operand, such as `{"append": {"seen": [3]}, "replace": {"n": 2}}`. It says itself how it is
applied, so that a stored log can be folded without the graph that wrote it."""


class DeltaRefused(GraphResearchError):
    """An update does not suit its channel's reducer."""

    code = "update-refused"


class Pieces(NamedTuple):
    """What is stored of a list: the texts with these hashes (hex), which hold `length` entries. They are the list's
    first ones, or with `by_id` all that it has had, where the last of an id counts."""

    names: tuple[str, ...] = ()
    length: int = 0
    by_id: bool = False


class State:
    """Channel values. They are never changed in place, so that a value which was read stays as it was.

    `pieces` tells of a channel what earlier snapshots hold of it, for as long as it has only been appended to, or
    only had entries put in by their id; `fresh` tells the places of such entries that no piece holds as they are.
    """

    def __init__(self, values: Mapping[str, Any], pieces: Mapping[str, Pieces] | None = None) -> None:
        self.values: dict[str, Any] = dict(values)
        self.pieces: dict[str, Pieces] = dict(pieces or {})
        self.fresh: dict[str, set[int]] = {}
        self._places: dict[str, dict[Any, int]] = {}

    def apply(self, delta: Delta) -> None:
        """Reduce every operand of `delta`, which fits (`make_delta` has looked)."""
        for reducer, operands in delta.items():
            if reducer == "replace" and not self.pieces and not self._places:
                self.values.update(operands)
                continue
            for channel, operand in operands.items():
                if channel in self.pieces and reducer != ("upsert" if self.pieces[channel].by_id else "append"):
                    del self.pieces[channel]
                if reducer == "upsert":
                    self.values[channel] = self._upserted(channel, operand or [])
                else:
                    self._places.pop(channel, None)
                    self.values[channel] = _REDUCERS[reducer](self.values.get(channel), operand)

    def _upserted(self, channel: str, operand: list[Any]) -> list[Any]:
        old = self.values.get(channel) or []
        places = self._places.get(channel)
        if places is None:
            places = self._places[channel] = _places_by_id(channel, old)
            self.fresh.pop(channel, None)
        fresh = self.fresh.setdefault(channel, set())
        new = list(old)
        for entry in operand:
            place = places.setdefault(entry["id"], len(new))
            fresh.add(place)
            if place == len(new):
                new.append(entry)
            else:
                new[place] = entry
        return new


def _places_by_id(channel: str, entries: list[Any]) -> dict[Any, int]:
    try:
        return {entry["id"]: place for place, entry in enumerate(entries)}
    except (KeyError, TypeError) as problem:
        raise DeltaRefused(
            f'channel "{channel}" holds an entry without an "id", which upsert cannot add to',
            help="fork the run from a step before it, and set the channel",
        ) from problem


def make_delta(channels: Mapping[str, ChannelSpec], update: Mapping[str, Any], values: Mapping[str, Any]) -> Delta:
    """Sort an update by its channels' reducers, refusing with `DeltaRefused` what they cannot take.

    An operand of null adds nothing under any reducer but `replace`.
    """
    delta: dict[str, dict[str, Any]] = {}
    for channel, operand in update.items():
        spec = channels.get(channel)
        if spec is None:
            raise DeltaRefused(f'there is no channel "{channel}"', help=f"channels are {', '.join(channels)}")
        if spec.reduce != "replace" and operand is not None:
            _check_operand(spec, operand, values.get(channel))
        delta.setdefault(spec.reduce, {})[channel] = operand
    return delta


def replaced(old: Mapping[str, Any], new: Mapping[str, Any]) -> Delta:
    """The delta that turns the values `old` into `new`."""
    return {"replace": {name: value for name, value in new.items() if name not in old or old[name] != value}}


def _check_operand(spec: ChannelSpec, operand: Any, value: Any) -> None:
    if misfit := operand_misfit(spec, operand):
        raise DeltaRefused(f'channel "{spec.name}": {misfit}')
    if not is_reducible(spec, value):
        raise DeltaRefused(f'channel "{spec.name}" holds {show_value(value)}, which {spec.reduce} cannot add to')


_REDUCERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "replace": lambda _old, operand: operand,
    "append": lambda old, operand: (old or []) + (operand or []),
    "merge": lambda old, operand: {**(old or {}), **(operand or {})},
    "add": lambda old, operand: (old or 0) + (operand or 0),
}
