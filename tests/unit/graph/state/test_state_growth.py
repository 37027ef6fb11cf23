"""A store grows with what is new, and a state is read from one snapshot and a bounded tail."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research import SqliteCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.state.chunks import packed
from graph_research.graph.state.reducers import State
from graph_research.graph.state.state_at import fold
from graph_research.graph.values.codec import decode, encode
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.harness import collect, graph_of, runtime

ADDING = """
    graph: adding
    version: "1"
    state: {texts: {type: array, reduce: append, default: []}}
    start: add
    loops: {more: {most: 99}}
    nodes:
      add: {run: add, output: {into: {texts: "[output.text]"}}}
      done: {end: completed}
    edges:
      - {from: add, to: add, loop: more}
      - {from: add, to: done}
"""


async def test_a_hundred_steps_that_each_add_50_kb_take_little_more_than_that(tmp_path: Path) -> None:
    source = random.Random(1)

    async def add(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"text": source.randbytes(25_000).hex()}

    store = SqliteCheckpointer(tmp_path / "runs.db")
    await runtime(graph_of(ADDING, add=add), store).run({}, run_id="r")
    assert len((await store.state("r"))["texts"]) == 100
    await store.close()
    assert (tmp_path / "runs.db").stat().st_size < 1.1 * 100 * 50_000


async def test_a_text_that_comes_again_is_stored_once(tmp_path: Path) -> None:
    text = random.Random(1).randbytes(50_000).hex()

    async def add(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"text": await ctx.call("ask", {"again": text}, answer)}

    async def answer() -> str:
        return text

    store = SqliteCheckpointer(tmp_path / "runs.db")
    await runtime(graph_of(ADDING, add=add), store).run({}, run_id="r")
    assert set((await store.state("r"))["texts"]) == {text}
    await store.close()
    assert (tmp_path / "runs.db").stat().st_size < 1_000_000


async def test_the_tail_behind_the_last_snapshot_stays_bounded_and_snapshots_do_not_outgrow_the_log(
    tmp_path: Path,
) -> None:
    store = SqliteCheckpointer(tmp_path / "runs.db")
    graph = graph_of(COUNTDOWN.replace("most: 10", "most: 2000"))
    await runtime(graph, store).run({"n": 1500}, run_id="r")
    folded = await fold(store, "r", "")
    assert folded is not None
    assert folded.tail_bytes <= max(folded.snapshot_bytes, 131_072)
    assert (await store.state("r"))["seen"] == list(range(1500, 0, -1))
    assert (await store.state("r", step=700))["seen"] == list(range(1500, 800, -1))
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        (taken,) = connection.execute("SELECT sum(length(content)) FROM snapshots").fetchone()
        (logged,) = connection.execute("SELECT sum(length(delta)) FROM steps").fetchone()
    assert taken < logged


GROWING = """
    graph: growing
    version: "1"
    state:
      n: {type: integer, default: 0}
      lines: {type: array, reduce: append, default: []}
    start: add
    loops: {more: {while: n < 600, most: 1000}}
    nodes:
      add: {run: add, input: {with: {n: n}}, output: {into: {n: output.n, lines: "[output.line, output]"}}}
      done: {end: completed}
    edges:
      - {from: add, to: add, loop: more}
      - {from: add, to: done}
"""


def line(n: int) -> str:
    return f"{n} " + ("large " * 400 if n % 50 == 0 else "small " * 40)


async def add_line(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    n = handoff["n"] + 1
    return {"n": n, "line": line(n)}


def lines_until(n: int) -> list[Any]:
    return [entry for n in range(1, n + 1) for entry in (line(n), {"n": n, "line": line(n)})]


async def test_a_list_that_only_grows_is_not_copied_into_every_snapshot(tmp_path: Path) -> None:
    store = SqliteCheckpointer(tmp_path / "runs.db")
    await runtime(graph_of(GROWING, add=add_line), store).run({}, run_id="r")
    assert (await store.state("r"))["lines"] == lines_until(600)
    for step in (1, 77, 300, 599):
        assert (await store.state("r", step=step))["lines"] == lines_until(step)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        taken, count = connection.execute("SELECT sum(length(content)), count(*) FROM snapshots").fetchone()
        (logged,) = connection.execute("SELECT sum(length(delta)) FROM steps").fetchone()
    assert count >= 2
    assert taken < logged / 20


async def test_a_resumed_run_goes_on_with_the_pieces_of_its_snapshots(tmp_path: Path) -> None:
    store = SqliteCheckpointer(tmp_path / "runs.db")
    graph = graph_of(GROWING, add=add_line)
    async with aclosing(runtime(graph, store).stream({}, run_id="r")) as events:
        async for event in events:
            if event.visit == 300:
                break
    await collect(runtime(graph, store).resume("r"))
    folded = await fold(store, "r", "")
    assert folded is not None
    assert folded.state.values["lines"] == lines_until(600)
    assert folded.state.pieces["lines"].length > 0
    await store.close()


def _upserting(ids: str) -> str:
    text = GROWING.replace("reduce: append", "reduce: upsert").replace("n < 600", "n < 900")
    return text.replace('lines: "[output.line, output]"', f"lines: \"[{{'id': {ids}, 'line': output.line}}]\"")


def upserted_until(n: int, ids: int) -> list[Any]:
    latest = {number % ids: line(number) for number in range(1, n + 1)}
    return [{"id": key, "line": latest[key]} for key in dict.fromkeys(number % ids for number in range(1, n + 1))]


@pytest.mark.parametrize("ids", [1000, 40, 3])
async def test_a_list_whose_entries_go_by_id_is_not_copied_into_every_snapshot(tmp_path: Path, ids: int) -> None:
    store = SqliteCheckpointer(tmp_path / "runs.db")
    graph = graph_of(_upserting(f"output.n % {ids}"), add=add_line)
    async with aclosing(runtime(graph, store).stream({}, run_id="r")) as events:
        async for event in events:
            if event.visit == 450:
                break
    await collect(runtime(graph, store).resume("r"))
    for step in (1, 77, 449, 470, 899):
        assert (await store.state("r", step=step))["lines"] == upserted_until(step, ids), step
    await store.close()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as connection:
        taken, count = connection.execute("SELECT sum(length(content)), count(*) FROM snapshots").fetchone()
        (logged,) = connection.execute("SELECT sum(length(delta)) FROM steps").fetchone()
    assert count >= 2
    assert taken < logged / 10


entries = st.lists(
    st.builds(lambda id, text: {"id": id, "text": text * 300}, st.integers(0, 9), st.sampled_from("ab")), max_size=4
)


@given(st.lists(st.tuples(st.booleans(), entries), max_size=20))
def test_pieces_by_id_give_the_list_back_whenever_they_are_taken(steps: list[tuple[bool, list[Any]]]) -> None:
    texts: dict[str, str] = {}
    state = State({"a": []})
    for taken, operand in steps:
        state.apply({"upsert": {"a": operand}})
        if taken:
            stored = encode(packed(state, {"a": True}, texts), texts)
            assert decode(stored, texts) == state.values


def test_a_list_without_ids_stays_whole_where_ids_were_expected() -> None:
    state = State({"a": [{"id": 1, "text": "x" * 3000}, {"id": 1, "text": "y"}]})
    assert packed(state, {"a": True}, {}) == state.values


def test_what_replaces_a_list_parts_it_from_its_pieces() -> None:
    texts: dict[str, str] = {}
    state = State({"a": ["x" * 100] * 30, "b": ["y" * 100] * 30})
    packed(state, {"a": False, "b": False}, texts)
    state.apply({"replace": {"a": ["z"]}, "append": {"b": ["w"]}})
    values = packed(state, {"a": False, "b": False}, texts)
    assert values["a"] == ["z"]
    assert len(values["b"].names) == 2
    assert decode(encode(values, texts), texts) == {"a": ["z"], "b": [*["y" * 100] * 30, "w"]}
