"""Work that takes seconds: in turns, beside the requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from graph_research.service.turns import Turns


class Gate:
    """Work that ends when it is let through, and says that it has begun."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    async def work(self) -> str:
        self.begun.set()
        await asyncio.to_thread(self.may_end.wait, 10)
        return "done"


async def test_the_work_of_one_user_keeps_no_other_waiting() -> None:
    turns, first, others = Turns(), Gate(), [Gate() for _ in range(3)]
    other = Gate()
    async with asyncio.TaskGroup() as group:
        group.create_task(turns.work("ada", first.work))
        for gate in others:
            group.create_task(turns.work("ada", gate.work))
        bert = group.create_task(turns.work("bert", other.work))
        assert await asyncio.to_thread(other.begun.wait, 10), "a place is left for him"
        assert await asyncio.to_thread(first.begun.wait, 10)
        assert not any(gate.begun.is_set() for gate in others)
        other.may_end.set()
        assert await bert == "done"
        for gate in (first, *others):
            gate.may_end.set()


async def test_requests_are_answered_while_the_processor_is_busy() -> None:
    answered = threading.Event()

    async def busy() -> bool:
        return answered.wait(10)  # holds its own event loop up, as what computes does

    async with asyncio.TaskGroup() as group:
        task = group.create_task(Turns().work("ada", busy))
        await asyncio.sleep(0)
        answered.set()
    assert task.result()


async def test_work_whose_request_is_given_up_ends() -> None:
    turns, begun, ended = Turns(), threading.Event(), threading.Event()

    async def endless() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(turns.work("ada", endless))
    assert await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 10)


async def test_work_that_is_given_up_while_it_begins_is_not_done_and_the_next_waits_for_its_end() -> None:
    turns, gate, begins, may_go_on = Turns(), Gate(), threading.Event(), threading.Event()
    order: list[str] = []

    def begin() -> Coroutine[Any, Any, str]:
        begins.set()
        may_go_on.wait(10)
        order.append("first")
        return gate.work()

    async def follow() -> None:
        order.append("second")

    first = asyncio.create_task(turns.work("ada", begin))
    assert await asyncio.to_thread(begins.wait, 10)
    first.cancel()
    second = asyncio.create_task(turns.work("ada", follow))
    await asyncio.wait({second}, timeout=0.1)
    may_go_on.set()
    await second
    assert first.cancelled()
    assert order == ["first", "second"]
    assert not gate.begun.is_set()


async def test_an_error_is_that_of_the_work() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Turns().work("ada", fails)
