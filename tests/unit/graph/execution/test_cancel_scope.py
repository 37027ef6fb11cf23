"""A cancel scope ends what runs inside it and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from graph_research.graph.execution.cancel_scope import CancelScope, ScopeCancelled


def make_scope() -> CancelScope:
    task = asyncio.current_task()
    assert task is not None
    return CancelScope(task)


async def test_cancel_ends_what_runs_inside_and_the_scope_can_be_entered_again() -> None:
    scope = make_scope()
    for _ in range(2):
        asyncio.get_running_loop().call_soon(scope.cancel)
        with pytest.raises(ScopeCancelled), scope:
            await asyncio.Event().wait()


async def test_cancel_does_nothing_while_the_scope_is_not_entered() -> None:
    scope = make_scope()
    scope.cancel()
    with scope:
        await asyncio.sleep(0)


async def test_a_cancellation_from_outside_passes_through_and_takes_precedence() -> None:
    inside = asyncio.Event()
    scopes: list[CancelScope] = []

    async def work() -> None:
        scopes.append(make_scope())
        with scopes[0]:
            inside.set()
            await asyncio.Event().wait()

    for both in (False, True):
        scopes.clear()
        inside.clear()
        task = asyncio.create_task(work())
        await inside.wait()
        if both:
            scopes[0].cancel()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_cancelling_an_inner_scope_leaves_the_outer_one_alone() -> None:
    outer, inner = make_scope(), make_scope()
    with outer:
        asyncio.get_running_loop().call_soon(inner.cancel)
        with pytest.raises(ScopeCancelled), inner:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
