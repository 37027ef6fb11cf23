"""What stands inside a fence is ended from outside; nothing else is."""

from __future__ import annotations

import asyncio

import pytest

from graph_research.graph.execution.cancel_scope import Fence, Struck


def fence() -> Fence:
    task = asyncio.current_task()
    assert task is not None
    return Fence(task)


async def test_what_is_inside_is_ended_and_the_fence_can_be_entered_again() -> None:
    around = fence()
    for _ in range(2):
        asyncio.get_running_loop().call_soon(around.strike)
        with pytest.raises(Struck), around:
            await asyncio.Event().wait()


async def test_a_strike_while_nobody_is_inside_does_nothing() -> None:
    around = fence()
    around.strike()
    with around:
        await asyncio.sleep(0)


async def test_a_cancellation_from_elsewhere_passes_through_and_wins() -> None:
    inside = asyncio.Event()
    fences: list[Fence] = []

    async def work() -> None:
        fences.append(fence())
        with fences[0]:
            inside.set()
            await asyncio.Event().wait()

    for both in (False, True):
        fences.clear()
        inside.clear()
        task = asyncio.create_task(work())
        await inside.wait()
        if both:
            fences[0].strike()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_an_inner_fence_that_is_struck_leaves_the_outer_one_standing() -> None:
    outer, inner = fence(), fence()
    with outer:
        asyncio.get_running_loop().call_soon(inner.strike)
        with pytest.raises(Struck), inner:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
