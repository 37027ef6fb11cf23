"""The engine's work done by LangGraph and Burr."""

from __future__ import annotations

import asyncio
import operator
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

from burr.core import ApplicationBuilder, State, action, expr
from burr.core.persistence import SQLitePersister
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from workload import SYNCHRONOUS, Cost, Durability, added, metered, written

Make = Callable[[Any], Any]
"""A compiled LangGraph graph for a checkpoint saver."""


class Looping(TypedDict):
    n: int
    most: int
    text: str


class Growing(TypedDict):
    n: int
    most: int
    texts: Annotated[list[str], operator.add]


class Squares(TypedDict):
    numbers: list[int]
    squares: Annotated[list[dict[str, int]], operator.add]
    total: int


def langgraph_loop(saver: Any) -> Any:
    def work(state: Looping) -> dict[str, Any]:
        n = state["n"] + 1
        return {"n": n, "text": written(n)}

    return _looped(Looping, work, saver)


def langgraph_growth(chars: int) -> Make:
    def make(saver: Any) -> Any:
        def add(state: Growing) -> dict[str, Any]:
            n = state["n"] + 1
            return {"n": n, "texts": [added(n, chars)]}

        return _looped(Growing, add, saver)

    return make


def langgraph_fan_out(saver: Any) -> Any:
    def square(number: int) -> dict[str, Any]:
        return {"squares": [{"square": number**2}]}

    builder = StateGraph(Squares)
    builder.add_node("square", _of_kind(square, saver))
    builder.add_node("join", _of_kind(lambda state: {"total": len(state["squares"])}, saver))
    builder.add_conditional_edges(START, lambda state: [Send("square", n) for n in state["numbers"]], ["square"])
    builder.add_edge("square", "join")
    builder.add_edge("join", END)
    return builder.compile(checkpointer=saver)


def _looped(state: type, work: Callable[[Any], dict[str, Any]], saver: Any) -> Any:
    builder = StateGraph(state)
    builder.add_node("work", _of_kind(work, saver))
    builder.add_edge(START, "work")
    builder.add_conditional_edges("work", lambda state: "work" if state["n"] < state["most"] else END, ["work", END])
    return builder.compile(checkpointer=saver)


def _of_kind(function: Callable[[Any], dict[str, Any]], saver: Any) -> Callable[[Any], Any]:
    """As a coroutine where the saver is asynchronous: LangGraph would hand a plain function to a thread."""
    if isinstance(saver, SqliteSaver):
        return function

    async def later(state: Any) -> dict[str, Any]:
        return function(state)

    return later


def langgraph_sync(make: Make, given: Mapping[str, Any], folder: Path, durability: Durability) -> Cost:
    with closing(sqlite3.connect(folder / "langgraph.db", check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        saver.setup()
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
        graph = make(saver)
        with metered() as meter:
            graph.invoke(dict(given), _config(), durability="sync")
        return meter.cost


def langgraph_async(make: Make, given: Mapping[str, Any], folder: Path, durability: Durability) -> Cost:
    async def whole() -> Cost:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
            await saver.setup()
            await saver.conn.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
            graph = make(saver)
            with metered() as meter:
                await graph.ainvoke(dict(given), _config(), durability="sync")
            return meter.cost

    return asyncio.run(whole())


def langgraph_in_memory(make: Make, given: Mapping[str, Any]) -> Cost:
    async def whole() -> Cost:
        graph = make(InMemorySaver())
        with metered() as meter:
            await graph.ainvoke(dict(given), _config(), durability="sync")
        return meter.cost

    return asyncio.run(whole())


def _config() -> Any:
    return {"configurable": {"thread_id": "r"}, "recursion_limit": 1_000_000}


def burr_loop(given: Mapping[str, Any], folder: Path, durability: Durability) -> Cost:
    @action(reads=["n"], writes=["n", "text"])
    def work(state: State) -> State:
        n = state["n"] + 1
        return state.update(n=n, text=written(n))

    @action(reads=["n"], writes=[])
    def done(state: State) -> State:
        return state

    persister = SQLitePersister(str(folder / "burr.db"))
    persister.initialize()
    persister.connection.execute("PRAGMA journal_mode = WAL")
    persister.connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS[durability]}")
    application = (
        ApplicationBuilder()
        .with_actions(work=work, done=done)
        .with_transitions(("work", "work", expr("n < most")), ("work", "done"))
        .with_state(n=0, text="", **given)
        .with_entrypoint("work")
        .with_state_persister(persister)
        .with_identifiers(app_id="r")
        .build()
    )
    with metered() as meter:
        application.run(halt_after=["done"])
    persister.connection.close()
    return meter.cost
