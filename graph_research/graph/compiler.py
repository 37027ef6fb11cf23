"""A checked graph made ready to run: its definition with every expression, schema and subgraph compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_research.graph.contracts import Contract
from graph_research.graph.errors import Finding
from graph_research.graph.guards import Compiled
from graph_research.graph.registry import Registry
from graph_research.graph.spec import GraphSpec

__all__ = ["Graph", "NodeProgram"]


@dataclass(frozen=True, kw_only=True)
class NodeProgram:
    """The compiled expressions of one node; None or empty where the node has none.

    `fields` makes the handoff (the short form `input: NAME` is spelled out, with `optional` the fields that are left
    out when null), `into` the update of `output` (spelled out too, `short` telling that only what is present counts).
    """

    each: Compiled | None = None
    ask: Compiled | None = None
    default: Compiled | None = None
    fields: Mapping[str, Compiled] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    into: Mapping[str, Compiled] = field(default_factory=dict)
    short: bool = False
    assignments: Mapping[str, Compiled] = field(default_factory=dict)

    def handoff(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """What the node is given, from the channels (and the item) in `scope`. Raises `GuardFailed`."""
        values = {name: compiled.evaluate(scope) for name, compiled in self.fields.items()}
        return {name: value for name, value in values.items() if value is not None or name not in self.optional}

    def update(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """What goes into which channel; `scope` holds `output` (or `outputs` and `errors`). Raises `GuardFailed`."""
        present = scope.get("output")
        return {
            channel: compiled.evaluate(scope)
            for channel, compiled in self.into.items()
            if not self.short or (isinstance(present, Mapping) and channel in present)
        }

    def assign(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """The update of a `set` node: every expression sees the state before it. Raises `GuardFailed`."""
        return {channel: compiled.evaluate(scope) for channel, compiled in self.assignments.items()}


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A graph without errors. `hash` (SHA-256, hex) covers it, its subgraphs, schemas and prompts."""

    spec: GraphSpec
    registry: Registry
    hash: str
    warnings: tuple[Finding, ...] = ()
    programs: Mapping[str, NodeProgram]
    """By node."""
    guards: Mapping[int, Compiled]
    """`when` by the edge's index; an edge without one has no entry."""
    loops: Mapping[str, Compiled]
    """`while` by loop; a loop without one has no entry."""
    contracts: Mapping[str, Contract]
    """By schema name: every one that a node's input, output or answer names."""
    channels: Mapping[str, Contract]
    """By channel: what its value must fit."""
    subgraphs: Mapping[str, Graph]
    """By graph name, as `graph:` nodes name them."""
