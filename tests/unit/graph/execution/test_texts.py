"""A run reads the texts that it has just written from memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from tests.support.graph.harness import graph_of, runtime

GRAPH = """
    graph: reading
    version: "1"
    state: {name: {type: string}}
    start: write
    nodes:
      write: {run: write, output: {into: {name: output}}}
      read: {run: read, input: {with: {name: name}}}
      again: {run: read, input: {with: {name: name}}}
      done: {end: completed}
    edges: [{from: write, to: read}, {from: read, to: again}, {from: again, to: done}]
"""


class _CountingStore(MemoryCheckpointer):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def texts(self, hashes: Iterable[str]) -> dict[str, str]:
        names = list(hashes)
        self.read += names
        return await super().texts(names)


async def test_a_text_that_a_run_has_just_written_is_not_read_back_for_each_node() -> None:
    store = _CountingStore()
    read_texts: list[str] = []

    async def write(handoff: Mapping[str, Any], ctx: Context) -> str:
        return ctx.put_text("a long page")

    async def read(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        read_texts.append(await ctx.get_text(handoff["name"]))
        return {}

    result = await runtime(graph_of(GRAPH, write=write, read=read), store).run({}, run_id="r")
    assert (result.status, read_texts) == ("completed", ["a long page"] * 2)
    assert store.read == []
