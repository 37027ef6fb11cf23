"""Breakpoints: the places where a run stops, and their conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph_research.errors import UserMistake
from graph_research.graph.debugger.stop_locations import (
    BreakpointKind,
    StopLocation,
    edge_between,
    edge_location,
    graph_at,
    location_at,
    plain_path,
)
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GraphInvalid
from graph_research.graph.events import EdgeTaken, Event, NodeFinished, NodeStarted
from graph_research.graph.expressions.compiled import Compiled, compile_expression
from graph_research.graph.messages import did_you_mean, unknown_name_help
from graph_research.graph.source import Expression, Place

_EDGE = re.compile(r"(?P<kind>edge|guard)\s+(?P<source>\S+)\s*->\s*(?P<target>\S+)$")
_LINE = re.compile(r"(?P<file>[^\s:]*):(?P<line>\d+)$")
_NODE = re.compile(r"(?P<path>[^\s:]+)(?::(?P<visit>[1-9]\d*))?$")
_ALWAYS_KNOWN = frozenset({"loops", "error"})


class BreakpointInvalid(UserMistake):
    """A breakpoint or an expression that nothing in the graph answers to."""


@dataclass(frozen=True, kw_only=True)
class Breakpoint:
    """Stops before a node, when an edge is taken, when a guard is tried, or where a condition becomes true.

    `path` is a node's path or the end of one, with or without the numbers of items; `visit` None means every visit.
    `hits` is the stop that counts: 3 lets two pass. `line` is where it stands in `file`.
    """

    number: int
    kind: BreakpointKind
    path: str = ""
    to: str = ""
    visit: int | None = None
    condition: Compiled | None = None
    hits: int = 1
    graph: str | None = None
    """The graph that an edge or a line belongs to; None: any."""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        what = self.path + (f":{self.visit}" if self.visit else "")
        if self.kind in (BreakpointKind.EDGE, BreakpointKind.GUARD):
            what = f"{self.kind} {self.path} -> {self.to}"
        condition = f"if {self.condition.expression.text}" if self.condition else ""
        place = f"({self.file}:{self.line})" if self.line else ""
        return " ".join(part for part in (what, condition, place) if part)

    def matches(self, event: Event, root: Graph) -> bool:
        """Whether it is about this event; its condition is not looked at."""
        if self.kind == BreakpointKind.CONDITION:
            return isinstance(event, NodeStarted)
        if not event.path or (self.graph is not None and graph_at(root, event.path).spec.name != self.graph):
            return False
        if self.kind == BreakpointKind.EDGE:
            return isinstance(event, EdgeTaken) and event.target == self.to and self._leaves(event)
        if self.kind == BreakpointKind.GUARD:
            return isinstance(event, NodeFinished) and event.node == self.path
        return (
            isinstance(event, NodeStarted) and self.visit in (None, event.visit) and _ends_with(event.path, self.path)
        )

    def _leaves(self, event: EdgeTaken) -> bool:
        return event.source == self.path or (self.path == "*" and event.on is not None)


def parse_breakpoint(text: str, root: Graph, number: int, *, hits: int = 1) -> Breakpoint:
    """`NODE[:VISIT]`, `PATH/NODE`, `edge A -> B`, `guard A -> B`, `FILE:LINE` or `:LINE`, each with ` if EXPR`, or
    `if EXPR` alone. Raises `BreakpointInvalid`."""
    where, has_condition, expression = f" {text.strip()}".partition(" if ")
    where = where.strip()
    condition = compile_for(expression.strip(), root) if has_condition else None
    if not where:
        if condition is None:
            raise BreakpointInvalid("an empty breakpoint", help="name a node, an edge, a line, or `if EXPRESSION`")
        return Breakpoint(number=number, kind=BreakpointKind.CONDITION, condition=condition, hits=hits)
    line = _line_of(where, root)
    if line is not None:
        return line_breakpoint(*line, root, number, condition=expression.strip(), hits=hits)
    edge = _edge_of(where, root)
    if edge is not None:
        return _at_location(edge, number, condition, hits)
    node = _NODE.match(where)
    if node is None:
        raise BreakpointInvalid(
            f"no breakpoint {where[:80]!r}", help="write NODE, NODE:VISIT, FILE:LINE or edge A -> B"
        )
    _check_node(node["path"], root)
    visit = int(node["visit"]) if node["visit"] else None
    return Breakpoint(
        number=number, kind=BreakpointKind.NODE, path=node["path"], visit=visit, condition=condition, hits=hits
    )


def line_breakpoint(
    file: str, line: int, root: Graph, number: int, *, condition: str = "", hits: int = 1
) -> Breakpoint:
    """A breakpoint on a line of a graph's file, at what stands there or next. Raises `BreakpointInvalid`."""
    location = location_at(root, file, line)
    if location is None:
        files = ", ".join(graph.spec.file for graph in root.walk())
        raise BreakpointInvalid(f"nothing to stop at from {file}:{line} on", help=f"files are {files}")
    return _at_location(location, number, compile_for(condition, root) if condition else None, hits)


def _at_location(location: StopLocation, number: int, condition: Compiled | None, hits: int) -> Breakpoint:
    return Breakpoint(
        number=number,
        kind=location.kind,
        path=location.node,
        to=location.to,
        condition=condition,
        hits=hits,
        graph=location.graph,
        file=location.file,
        line=location.line,
    )


def compile_for(text: str, root: Graph, scope: Mapping[str, Any] | None = None) -> Compiled:
    """An expression of the graph language whose names are known: in `scope`, or in any of the graphs."""
    try:
        expression = compile_expression(Expression(text, Place("expression", 1, 1)), root.registry.functions)
    except GraphInvalid as invalid:
        raise BreakpointInvalid(f"{text[:80]!r}: {invalid.message}", help=invalid.help) from invalid
    names = set(scope) if scope is not None else {name for graph in root.walk() for name in graph.spec.channels}
    unknown = sorted(expression.names - names - _ALWAYS_KNOWN)
    if unknown:
        hint = unknown_name_help(unknown[0], names | _ALWAYS_KNOWN)
        raise BreakpointInvalid(f'{text[:80]!r}: there is no name "{unknown[0]}"', help=hint)
    return expression


def _edge_of(where: str, root: Graph) -> StopLocation | None:
    match = _EDGE.match(where)
    if match is None:
        return None
    for graph in root.walk():
        edge = edge_between(graph, match["source"], match["target"])
        if edge is not None:
            if match["kind"] == "guard":
                return edge_location(graph, edge, BreakpointKind.GUARD, (edge.when or edge).place.line)
            return edge_location(graph, edge, BreakpointKind.EDGE, edge.place.line)
    raise BreakpointInvalid(
        f"no edge {match['source']} -> {match['target']}", help="`list` shows the edges around the current node"
    )


def _line_of(where: str, root: Graph) -> tuple[str, int] | None:
    """File and line of `FILE:LINE`, where FILE is not a node with a visit."""
    match = _LINE.match(where)
    names = {node for graph in root.walk() for node in graph.spec.nodes}
    if match is None or plain_path(match["file"]).rpartition("/")[2] in names:
        return None
    return match["file"] or root.spec.file, int(match["line"])


def _check_node(path: str, root: Graph) -> None:
    name = plain_path(path).rpartition("/")[2]
    names = sorted({node for graph in root.walk() for node in graph.spec.nodes})
    if name not in names:
        hint = did_you_mean(name, names)
        raise BreakpointInvalid(f'no node "{name}" in {root.spec.file}', help=hint)


def _ends_with(path: str, end: str) -> bool:
    """Whether `path` is `end` or stands under something and ends with it; numbers of items count where both have
    them."""
    if "[" not in end:
        path = plain_path(path)
    return path == end or path.endswith(f"/{end}")
