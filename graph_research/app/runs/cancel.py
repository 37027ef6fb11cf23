"""Ending a run from outside."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing

from graph_research.app.runs.graph_run import GraphRun, reopen_graph_run
from graph_research.app.runs.imported import is_foreign
from graph_research.app.runs.research import Research, reopen_research
from graph_research.app.runs.status import RunStatus, goes_on, is_driven, run_status
from graph_research.app.store import checked_run_id, open_store, request_of
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake

__all__ = ["cancel_run"]

_CANCEL_SECONDS = 15.0
_POLL_SECONDS = 0.1


async def cancel_run(workspace: Workspace, run_id: str) -> RunStatus:
    """End a run over its `cancelled` edges: the process that drives it does that, or this one if nobody does.

    A run that has ended already is left as it is. Returns where it stands then, after some seconds at the latest.
    """
    checked_run_id(run_id)
    async with open_store(workspace.home) as store:
        record = await store.run(run_id)
        if goes_on(record):
            await store.request_cancel(run_id)
        end = time.monotonic() + _CANCEL_SECONDS
        while await is_driven(store, run_id) and time.monotonic() < end:  # noqa: ASYNC110 -- another process ends it
            await asyncio.sleep(_POLL_SECONDS)
        abandoned = goes_on(await store.run(run_id)) and not await is_driven(store, run_id)
    if abandoned:
        await _lead_to_its_end(workspace, run_id, research=request_of(record) is not None, foreign=is_foreign(record))
    return await run_status(workspace, run_id)


async def _lead_to_its_end(workspace: Workspace, run_id: str, *, research: bool, foreign: bool) -> None:
    """Drive a run whose cancellation was asked for; it goes straight over its `cancelled` edges.

    Without the models and searches it began with, where a key or another thing they need is gone, or where the run is
    `foreign`, so that nobody agreed to them: hardly a graph asks any behind such an edge."""
    async with AsyncExitStack() as stack:
        try:
            run = await stack.enter_async_context(_reopened(workspace, run_id, research=research, offline=foreign))
        except UserMistake:
            run = await stack.enter_async_context(_reopened(workspace, run_id, research=research, offline=True))
        async for _ in await stack.enter_async_context(aclosing(run.events())):
            pass


def _reopened(
    workspace: Workspace, run_id: str, *, research: bool, offline: bool = False
) -> AbstractAsyncContextManager[Research | GraphRun]:
    if research:
        return reopen_research(workspace, run_id, accept_changes=True, offline=offline)
    return reopen_graph_run(workspace, run_id, accept_changes=True, offline=offline)
