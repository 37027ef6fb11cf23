"""Indexing the library of a new run, which is over when the run is cancelled."""

from __future__ import annotations

import asyncio

from graph_research.app.library import Indexing
from graph_research.app.runs.run import Run
from graph_research.app.store import Store
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake

_POLL_SECONDS = 0.1


async def index_library(run: Run, workspace: Workspace, store: Store, on_index: Indexing | None) -> bool:
    """Index the library of a run; false where it is cancelled meanwhile and so led to its end by who cancels it: what
    was indexed until then stays. A run that has nothing to search is removed, and the error raised."""
    assert run.searches is not None, "a run that may search has searches"
    before = (await store.run_row(run.run_id)).status
    indexing = asyncio.create_task(run.searches.prepare(workspace, index=True, on_index=on_index))
    try:
        while not (await asyncio.wait([indexing], timeout=_POLL_SECONDS))[0]:
            if (await store.run_row(run.run_id)).status != before:
                return False
        await indexing
        return True
    except UserMistake:
        await store.delete(run.run_id)
        raise
    finally:
        indexing.cancel()
        await asyncio.wait([indexing])
