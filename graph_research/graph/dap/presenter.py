"""A held run as the protocol describes it: stack frames, scopes with their variables, the reason of the stop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_research.errors import GraphResearchError
from graph_research.graph.dap.variables import Node, Variables, one_line
from graph_research.graph.debugger.call_stack import Level, edges_of
from graph_research.graph.debugger.stepper import Debugger
from graph_research.graph.debugger.stop_locations import edge_between
from graph_research.graph.debugger.stops import NotPossible, Stop, StopReason
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.spec import CALLING_KINDS
from graph_research.graph.events import EdgeTaken, Event, EventType, InputRequested, NodeFailed, RunEnded
from graph_research.graph.statuses import RunStatus

QUESTION = ("?",)
"""The path of the scope that holds the question of a run, which no channel has."""

_REASONS: Mapping[str, str] = {
    StopReason.FAILURE: "exception",
    StopReason.QUESTION: "pause",
    StopReason.PAUSED: "pause",
    StopReason.END: "exit",
}


class _Lazy:
    """Stands for the parts of a scope that are looked up only when it is opened."""

    def __init__(self, what: str, level: int) -> None:
        self.what = what
        self.level = level

    def __len__(self) -> int:
        return 1


class Presenter:
    """Shows where `debugger` holds its run; what has parts is numbered in `variables`."""

    def __init__(self, debugger: Debugger, variables: Variables) -> None:
        self._debugger = debugger
        self._variables = variables

    async def frames(self) -> list[dict[str, Any]]:
        """The stack, the innermost graph first; ids count from 1."""
        graphs = {graph.spec.name: number for number, graph in enumerate(self._debugger.graph.walk(), start=1)}
        levels = await self._debugger.inspector.levels()
        stop = self._debugger.stop
        return [
            {
                "id": number,
                "name": f"{level.path}:{level.visit}",
                "source": source_of(level.graph, graphs[level.graph.spec.name]),
                "line": _line_of(level, stop.event if stop and number == 1 else None),
                "column": 1,
            }
            for number, level in enumerate(levels, start=1)
        ]

    async def scopes(self, number: int) -> list[dict[str, Any]]:
        """State, handoff, edges, loops, calls, and the question that waits for an answer."""
        level = await self._debugger.inspector.level(number)
        root = not level.namespace
        state = Node(value=level.state, level=number if root else None)
        loops = Node(value=dict(level.scope["loops"]))
        scopes = [
            _scope("State", self._variables.number(state), named=len(level.state)),
            *[
                _scope(name, self._variables.later(_Lazy(name, number)), expensive=True)
                for name in ("Node handoff", "Edges", "Calls")
            ],
            _scope("Loops", self._variables.number(loops), named=len(loops.value)),
        ]
        stop = self._debugger.stop
        if stop is not None and isinstance(stop.event, InputRequested) and number == 0:
            question = Node(value={"question": stop.event.question, "answer": None}, level=number, path=QUESTION)
            scopes.append(_scope("Question", self._variables.number(question), named=2))
        return scopes

    async def filled(self, node: Node) -> Node:
        """The node with the parts that were left out until now."""
        if not isinstance(node.value, _Lazy):
            return node
        level = await self._debugger.inspector.level(node.value.level)
        if node.value.what == "Node handoff":
            return Node(value=await self._handoff(level))
        if node.value.what == "Edges":
            return Node(value={f"{view.edge.source} -> {view.edge.target}": _edge(view) for view in edges_of(level)})
        return Node(value=await self._calls())

    async def assign(self, node: Node, name: str, value: Any) -> Stop:
        """Set a part of the state of the root graph, in a fork of the run."""
        path = [*node.path, int(name[1:-1]) if isinstance(node.value, list) else name]
        channel = str(path[0])
        state = (await self._debugger.inspector.levels())[-1].state
        if channel not in state:
            raise NotPossible(f'the root graph has no channel "{channel}"')
        return await self._debugger.fork(values={channel: _with(state[channel], path[1:], value)})

    async def _handoff(self, level: Level) -> dict[str, Any]:
        if level.graph.spec.nodes[level.node].kind not in CALLING_KINDS:
            return {}
        try:
            return await self._debugger.inspector.handoff(level)
        except GraphResearchError as failed:
            return {"error": failed.message}

    async def _calls(self) -> dict[str, Any]:
        calls = await self._debugger.inspector.calls()
        return {
            f"{call.seq} {call.path}:{call.visit}": {
                "kind": call.kind,
                "status": call.status,
                "seconds": call.seconds,
                "cost": self._debugger.cost(call.answer),
                "request": call.request,
                "answer": call.answer,
            }
            for call in calls
        }


def source_of(graph: Graph, number: int) -> dict[str, Any]:
    """Where the editor finds a graph's text: in its file, or by asking for `number`."""
    path = Path(graph.spec.file).resolve()
    where: dict[str, Any] = {"path": str(path)} if path.is_file() else {"sourceReference": number}
    return {"name": path.name, **where}


def stop_fields(stop: Stop, lines: set[int]) -> dict[str, Any]:
    """Reason, description and breakpoints of a `stopped` event; `lines` are the numbers of those on lines."""
    reason = _REASONS.get(stop.reason, stop.reason)
    numbers = [breakpoint.number for breakpoint in stop.hit if breakpoint.number]
    if stop.reason == StopReason.BREAKPOINT and not numbers:
        reason = "data breakpoint" if stop.hit else "step"
    elif stop.reason == StopReason.BREAKPOINT and not lines & set(numbers):
        reason = "function breakpoint"
    fields: dict[str, Any] = {"reason": reason, "description": event_line(stop.event)}
    if isinstance(stop.event, NodeFailed):
        fields["text"] = one_line(str(stop.event.error.get("message")))
    return {**fields, **({"hitBreakpointIds": numbers} if numbers else {})}


def event_line(event: Event) -> str:
    """An event in one line."""
    place = f"{event.path}:{event.visit}" if event.path else ""
    words = {
        EventType.NODE_STARTED: f"before {place}",
        EventType.NODE_FINISHED: f"after {place}",
        EventType.INPUT_REQUESTED: f"{place} asks: {getattr(event, 'question', '')}",
    }
    if isinstance(event, NodeFailed):
        text = f"{place} failed: {event.error.get('type')}: {event.error.get('message')}"
    elif isinstance(event, EdgeTaken):
        text = f"{event.source} -> {event.target}"
    elif isinstance(event, RunEnded):
        text = f"the run ended {event.status}" + (f" ({event.cause})" if event.cause else "")
    else:
        text = words.get(event.type, f"{event.type.replace('_', ' ')} {place}".strip())
    return one_line(text)


def exit_code(event: Event) -> int:
    """0 for a run that has completed, 1 for any other."""
    return 0 if isinstance(event, RunEnded) and event.status == RunStatus.COMPLETED else 1


def _line_of(level: Level, event: Event | None) -> int:
    if isinstance(event, EdgeTaken) and (edge := edge_between(level.graph, event.source, event.target)):
        return edge.place.line
    return level.graph.spec.nodes[level.node].place.line


def _scope(name: str, number: int, *, named: int = 0, expensive: bool = False) -> dict[str, Any]:
    counted = {} if expensive else {"namedVariables": named}
    return {"name": name, "variablesReference": number, "expensive": expensive, **counted}


def _edge(view: Any) -> dict[str, Any]:
    return {"holds": view.holds, "taken": view.taken, "why": view.why, "values": dict(view.values)}


def _with(value: Any, path: list[str | int], new: Any) -> Any:
    """A copy of a value with `new` at `path`."""
    if not path:
        return new
    first, *rest = path
    copied: Any = list(value) if isinstance(value, list) else dict(value)
    copied[first] = _with(copied[first], rest, new)
    return copied
