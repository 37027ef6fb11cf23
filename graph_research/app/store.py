"""The checkpoint store of the data home, opened for one command."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph_research.app.request import GraphRequest, ResearchRequest
from graph_research.errors import check_name
from graph_research.graph.checkpoint.base import Checkpointer, RunRecord
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
from graph_research.graph.errors import UnknownRun
from graph_research.settings.home import Home

__all__ = [
    "Store",
    "asked_of",
    "checked_run_id",
    "graph_metadata_of",
    "graph_request_of",
    "metadata_of",
    "open_store",
    "request_of",
]

Store = Checkpointer

_REQUEST_KEY, _GRAPH_KEY = "research", "graph_run"


@asynccontextmanager
async def open_store(home: Home) -> AsyncIterator[Store]:
    """The store in `runs.db`, closed at the end; an empty one where there is none and none can be made, for who only
    reads. `StoreDamaged` where it cannot be read or written."""
    store: Store = SqliteCheckpointer(home.runs_db)
    if not home.runs_db.exists() and not os.access(home.path, os.W_OK):
        store = MemoryCheckpointer()
    try:
        yield store
    finally:
        await store.close()


def metadata_of(request: ResearchRequest) -> dict[str, object]:
    """What is kept with a run so that `resume` rebuilds it."""
    return {_REQUEST_KEY: request.to_json(), "question": request.question}


def request_of(record: RunRecord) -> ResearchRequest | None:
    """The request behind a run, None for one that `graph run` started."""
    data = record.metadata.get(_REQUEST_KEY)
    return ResearchRequest.from_json(data) if isinstance(data, dict) else None


def graph_metadata_of(request: GraphRequest) -> dict[str, object]:
    """The same for a run of any graph."""
    return {_GRAPH_KEY: request.to_json()}


def asked_of(record: RunRecord) -> ResearchRequest | GraphRequest | None:
    """The request behind a run of either kind, None for one that a program of its own started."""
    data = record.metadata.get(_GRAPH_KEY)
    return request_of(record) or (GraphRequest.from_json(data) if isinstance(data, dict) else None)


def graph_request_of(record: RunRecord) -> GraphRequest:
    """The request behind a run that is no research. `UnknownRun` for one that a program of its own started."""
    asked = asked_of(record)
    if not isinstance(asked, GraphRequest):
        raise UnknownRun(f"run {record.run_id} was not started by graph-research", help="use the program that made it")
    return asked


def checked_run_id(run_id: str) -> str:
    """The id, or `NameInvalid`."""
    return check_name(run_id, "run id")
