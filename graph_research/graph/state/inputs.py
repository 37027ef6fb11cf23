"""The input of a graph: checks of it, and the channels that a run begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.reduced_values import value_misfit
from graph_research.graph.errors import HandoffInvalid, InputInvalid
from graph_research.graph.values.codec import duplicate, unstorable

_OF_ITS_TYPE = "give a value of its type"


def first_values(graph: Graph, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every channel's value at the start: what is given, else its default. Raises `InputInvalid`.

    Where no channel is declared as input, each may be given: such a graph is tried out, not called by others.
    """
    channels = graph.spec.channels
    inputs = [name for name, channel in channels.items() if channel.input] or list(channels)
    for name in given:
        if name not in inputs:
            what = "is not an input" if name in channels else "does not exist"
            raise InputInvalid(
                f'channel "{name}" of graph "{graph.spec.name}" {what}',
                help=f"inputs are {', '.join(inputs)}",
            )
    for name in inputs:
        if channels[name].required and name not in given:
            raise InputInvalid(f'graph "{graph.spec.name}" needs "{name}"', help="give it as input")
    if graph.typed:
        given = duplicate(given)
    for name, value in given.items():
        if reasons := graph.channels[name].misfits(value) or value_misfit(channels[name], value):
            raise InputInvalid(f'input "{name}" of graph "{graph.spec.name}": {reasons}', help=_OF_ITS_TYPE)
    try:
        values = duplicate({name: given.get(name, channel.default) for name, channel in channels.items()})
        return dict(graph.to_stored(values, {}, graph.spec.start))
    except HandoffInvalid as problem:
        raise InputInvalid(f'input of graph "{graph.spec.name}": {problem.message}', help=_OF_ITS_TYPE) from problem


def refuse_unstorable(graph: Graph, given: Mapping[str, Any]) -> None:
    """Raise `InputInvalid` where an input holds what no store can keep, such as NaN."""
    for name, value in given.items():
        if found := unstorable(value):
            raise InputInvalid(
                f'input "{name}" of graph "{graph.spec.name}" holds {found}, which cannot be stored',
                help="give valid text or JSON",
            )
