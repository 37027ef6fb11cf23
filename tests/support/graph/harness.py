"""Drives graphs in tests: one line to load, one to run, and the events as a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from textwrap import dedent
from typing import Any

from graph_research import Runtime, load_graph
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.events import Event, RunEnded
from graph_research.graph.registry import Registry


class StillClock:
    """Time does not pass, so that two runs give the same bytes."""

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


CLOCK = StillClock()


def graph_of(text: str, subgraphs: Mapping[str, str] | None = None, **registered: Any) -> Graph:
    """The graph of an indented YAML text; `registered` are its handlers."""
    graphs = Texts({name: dedent(text) for name, text in (subgraphs or {}).items()})
    registry = Registry(handlers=registered, graphs=graphs)
    return load_graph("test.yaml", text=dedent(text), registry=registry)


class Texts:
    """A resolver over a dictionary."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def find(self, name: str) -> tuple[str, str] | None:
        return (self._texts[name], f"{name}.yaml") if name in self._texts else None

    def names(self) -> list[str]:
        return sorted(self._texts)


def runtime(graph: Graph, store: Checkpointer, **options: Any) -> Runtime:
    return Runtime(graph, checkpointer=store, **{"clock": CLOCK, "poll_seconds": 0.01, **options})


async def collect(stream: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in stream]


async def until(stream: Any, kind: type[Event], path: str | None = None) -> Event:
    """Take events until one of `kind` (at `path`) comes, then leave the run."""
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, kind) and path in (None, event.path):
                return event
    raise AssertionError(f"no {kind.__name__} came")


def end_of(events: list[Event]) -> RunEnded:
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last
