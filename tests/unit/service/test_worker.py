"""How a worker is made of the settings of a user."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from graph_research.app.workspace import open_workspace
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.service.worker import open_worker
from tests.support.cli.cli_process import User


async def test_an_older_worker_is_refused_where_a_newer_version_has_changed_the_jobs(user: User) -> None:
    workspace = open_workspace(user.environment(), user.folder, may_use=lambda _: None)
    async with open_worker(workspace) as (worker, _):
        await worker.run(until_idle=True)
    with closing(sqlite3.connect(workspace.home.runs_db)) as newer:
        newer.execute("INSERT INTO jobs_format VALUES (999)")
        newer.commit()
    with pytest.raises(JobStoreUnusable, match="by a newer version"):
        async with open_worker(workspace):
            pass
