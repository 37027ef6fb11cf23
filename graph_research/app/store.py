"""The checkpoint store of the data home, opened for one command."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from graph_research.app.request import RunRequest
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
from graph_research.graph.errors import UnknownRun
from graph_research.settings.home import Home

if TYPE_CHECKING:
    from graph_research.graph.checkpoint.postgres.connections import Connections

Store = Checkpointer


class DatabaseUnusable(UserMistake):
    """The database that the home names cannot be used on this machine."""


_KEY = "request"
_OLD_RESEARCH, _OLD_GRAPH = "research", "graph_run"
"""The keys of earlier versions, one for researches and one for other runs."""


@asynccontextmanager
async def open_store(home: Home) -> AsyncIterator[Store]:
    """The store in the database of the home or in its `runs.db`, closed at the end; an empty one where there is no
    file and none can be made, for a command that only reads. `StoreDamaged` where it cannot be read or written."""
    store: Store = (
        SqliteCheckpointer(home.runs_db)
        if home.database is None
        else _in_postgresql(home.database, home.patience_seconds)
    )
    if home.database is None and not home.runs_db.exists() and not os.access(home.path, os.W_OK):
        store = MemoryCheckpointer()
    try:
        yield store
    finally:
        await store.close()


def connections_to(home: Home, *, part: str, migrations: Mapping[int, str], most: int = 4) -> Connections | None:
    """Connections to the database of the home for tables beside those of runs, None where it has none."""
    if home.database is None:
        return None
    try:
        from graph_research.graph.checkpoint.postgres.connections import Connections
    except ImportError as error:
        raise _extra_missing() from error
    return Connections(
        home.database, part=part, migrations=migrations, most=most, patience_seconds=home.patience_seconds
    )


def _in_postgresql(url: str, patience_seconds: float) -> Store:
    try:
        from graph_research.graph.checkpoint.postgres import PostgresCheckpointer
    except ImportError as error:
        raise _extra_missing() from error
    return PostgresCheckpointer(url, patience_seconds=patience_seconds)


def _extra_missing() -> DatabaseUnusable:
    return DatabaseUnusable("a database needs the extra `postgres`", help="pip install 'graph-research[postgres]'")


def metadata_of(request: RunRequest) -> dict[str, object]:
    """What is kept with a run so that `request_of` gives its request back; the input of a graph is kept as such."""
    return {_KEY: (request if request.question is not None else replace(request, inputs={})).to_json()}


def request_of(record: RunRecord) -> RunRequest:
    """The request behind a run. `UnknownRun` for one that another program started."""
    metadata = record.metadata
    if isinstance(data := metadata.get(_KEY, metadata.get(_OLD_RESEARCH)), Mapping):
        return RunRequest.from_json(data)
    if isinstance(data := metadata.get(_OLD_GRAPH), Mapping):
        return RunRequest.from_json({"interactive": True, **data, "graph": data["name"]})
    raise UnknownRun(
        f"run {record.run_id} was not started by graph-research",
        run_id=record.run_id,
        help="use the program that made it",
    )


def question_of(record: RunRecord) -> str | None:
    """The question of a research, None for any other run."""
    try:
        return request_of(record).question
    except UnknownRun:
        return None
