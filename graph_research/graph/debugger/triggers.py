"""What stops a run under the debugger: breakpoints, watched expressions and failures."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from graph_research.graph.debugger.breakpoints import Breakpoint, compile_for, line_breakpoint, parse_breakpoint
from graph_research.graph.debugger.inspector import Inspector
from graph_research.graph.debugger.stop_locations import BreakpointKind
from graph_research.graph.debugger.stops import NotPossible
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import ExpressionFailed
from graph_research.graph.events import Event, NodeFailed, NodeStarted, RunEnded

Counters = tuple[dict[int, int], dict[str, Any]]
"""By number of a breakpoint its hits, and by expression its last value."""


class FailureStop(StrEnum):
    """Which failures of nodes stop a run."""

    ALL = "all"
    FINAL = "final"
    """Those that are not tried again."""
    NONE = "none"


class Triggers:
    """The breakpoints and watches of `graph`. `failures` says which failures of nodes stop a run. Conditions
    are evaluated where `inspector` stands."""

    def __init__(self, graph: Graph, inspector: Inspector) -> None:
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[str] = []
        self.failures = FailureStop.FINAL
        self._graph = graph
        self._inspector = inspector
        self._number = 0
        self._hits: dict[int, int] = {}
        self._seen: dict[str, Any] = {}

    def add(self, text: str, *, hits: int = 1) -> Breakpoint:
        """Stop at `text` from now on (see `parse_breakpoint`), at the visit number `hits` that meets it and later."""
        self._number += 1
        self.breakpoints.append(parse_breakpoint(text, self._graph, self._number, hits=hits))
        return self.breakpoints[-1]

    def add_line(self, file: str, line: int, *, condition: str = "", hits: int = 1) -> Breakpoint:
        """Stop at a line of a graph's file, or at the next one that can be stopped at."""
        self._number += 1
        added = line_breakpoint(file, line, self._graph, self._number, condition=condition, hits=hits)
        self.breakpoints.append(added)
        return added

    def remove(self, number: int) -> None:
        """Forget a breakpoint, or all for number 0."""
        kept = [breakpoint for breakpoint in self.breakpoints if number and breakpoint.number != number]
        if number and len(kept) == len(self.breakpoints):
            raise NotPossible(f"there is no breakpoint {number}", help="`break` lists them")
        self.breakpoints = kept

    async def add_watch(self, text: str) -> None:
        """Show an expression at every stop, and stop where its value has changed."""
        compile_for(text, self._graph)
        self.watches.append(text)
        await self._changed_watches()

    def remove_watch(self, text: str) -> None:
        """Forget one, or all for an empty text."""
        if text and text not in self.watches:
            raise NotPossible(f"{text[:80]!r} is not watched", help="`watch` lists what is")
        self.watches = [watch for watch in self.watches if text and watch != text]

    @property
    def counters(self) -> Counters:
        """The hits and values so far."""
        return dict(self._hits), dict(self._seen)

    @counters.setter
    def counters(self, counters: Counters) -> None:
        self._hits, self._seen = counters

    def forget_hits(self) -> None:
        """Count hits anew."""
        self._hits.clear()

    def forget_conditions(self) -> None:
        """Count hits anew, and forget which conditions held; the values of watches stay."""
        self._hits, self._seen = {}, {text: self._seen[text] for text in self.watches if text in self._seen}

    async def met(self, event: Event) -> tuple[list[Breakpoint], str]:
        """The breakpoints and changed watches that stop the run at the present event, and a note on them."""
        hit, notes = await self.breakpoints_met(event)
        if self.watches and isinstance(event, (NodeStarted, RunEnded)):
            changed = await self._changed_watches()
            notes.extend(f"{text} has changed" for text in changed)
            hit.extend(Breakpoint(number=0, kind=BreakpointKind.CONDITION, path=f"watch {text}") for text in changed)
        return hit, "; ".join(notes)

    async def breakpoints_met(self, event: Event) -> tuple[list[Breakpoint], list[str]]:
        """The same for breakpoints alone."""
        hit, notes = list[Breakpoint](), list[str]()
        for breakpoint in self.breakpoints:
            if not breakpoint.matches(event, self._graph):
                continue
            holds, problem = await self._holds(breakpoint)
            if not holds:
                continue
            number = breakpoint.number
            self._hits[number] = self._hits.get(number, 0) + 1
            if self._hits[number] >= breakpoint.hits:
                hit.append(breakpoint)
                notes.extend([problem] if problem else [])
        return hit, notes

    def stops_at_failure(self, event: Event) -> bool:
        """Whether the event is a failure that stops the run."""
        if not isinstance(event, NodeFailed) or self.failures == FailureStop.NONE:
            return False
        return self.failures == FailureStop.ALL or not event.will_retry

    async def _holds(self, breakpoint: Breakpoint) -> tuple[bool, str]:
        """Whether the condition of a breakpoint is met, and the error if it fails."""
        condition = breakpoint.condition
        if condition is None:
            return True, ""
        levels = await self._inspector.levels()
        if not levels or not condition.names <= {*levels[0].scope, "error"}:
            return breakpoint.kind != BreakpointKind.CONDITION, "its condition names what this graph does not have"
        try:
            holds = bool(condition.evaluate({"error": None, **levels[0].scope}))
        except ExpressionFailed as failed:
            return True, f"its condition fails: {failed.message}"
        if breakpoint.kind != BreakpointKind.CONDITION:
            return holds, ""
        before, self._seen[str(breakpoint)] = self._seen.get(str(breakpoint), False), holds
        return holds and not before, ""

    async def _changed_watches(self) -> list[str]:
        """The watched expressions whose value changed; one that this graph cannot answer keeps its value."""
        changed = []
        levels = await self._inspector.levels()
        for text in self.watches:
            expression = compile_for(text, self._graph)
            if not levels or not expression.names <= levels[0].scope.keys():
                continue
            try:
                value = expression.evaluate(levels[0].scope)
            except ExpressionFailed as failed:
                value = failed.message
            if text in self._seen and self._seen[text] != value:
                changed.append(text)
            self._seen[text] = value
        return changed
