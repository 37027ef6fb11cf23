"""The stores that the runtime is tested on, of which every test runs on each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph_research import MemoryCheckpointer, SqliteCheckpointer
from graph_research.graph.checkpoint.base import Checkpointer


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Checkpointer]:
    made: Checkpointer = MemoryCheckpointer() if request.param == "memory" else SqliteCheckpointer(tmp_path / "runs.db")
    yield made
    await made.close()
