"""Jobs, claims and stores for tests of what every store of jobs promises."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, TypeVar

from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.jobs.job import Claim, JobStatus, NewJob, Outcome, ResultRow, SourceRow
from graph_research.jobs.sql_store import migrations
from graph_research.jobs.store import JobStore
from tests.support.jobs.hand_clock import HandClock

T = TypeVar("T")
LEASE = 30.0
TABLES = ("research_jobs", "research_results", "research_sources", "research_removed")
RESULT = ResultRow(
    markdown="# A report",
    citations=[{"n": 1, "quote": "so it is"}],
    claims=[{"text": "it is so", "confidence": 0.5}],
    tokens={"input_tokens": 10, "output_tokens": 2, "cost_usd": None},
    confidence=0.75,
    claim_count=1,
    source_count=2,
    has_contradictions=True,
)


def make_runs_db(folder: Path) -> Path:
    """A file as the store of runs leaves it, as far as a store of jobs looks at it."""
    path = folder / "runs.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 1")
    connection.close()
    return path


def job_connections(url: str, schema: str) -> Connections:
    """Connections to a schema of its own."""
    return Connections(url, schema=schema, part="jobs", migrations=migrations(), most=4)


def new_job(job_id: str, user: str = "ann", **fields: Any) -> NewJob:
    return NewJob(id=job_id, user=user, question=f"what is {job_id}?", request={"graph": "deep_research"}, **fields)


def source_row(source_id: str, composite: float = 0.5) -> SourceRow:
    return SourceRow(
        source_id=source_id,
        title="A title",
        url=None,
        published_at="2025-01-01",
        provider="local",
        retrieval_method="rag",
        tier="SECONDARY",
        authority=65.0,
        recency=0.4,
        relevance=0.3,
        credibility=0.65,
        composite=composite,
    )


async def submit(store: JobStore, clock: HandClock, *ids: str, user: str = "ann", **fields: Any) -> None:
    """Submit jobs, a second after each other."""
    for job_id in ids:
        await store.submit(new_job(job_id, user, **fields))
        clock.advance(1)


async def claim(store: JobStore, worker: str = "w", at_most: int = 99) -> Claim:
    claimed = await store.claim(worker, lease_seconds=LEASE, at_most=at_most)
    assert claimed is not None
    return claimed


async def claimed_ids(store: JobStore, at_most: int = 99) -> list[str]:
    """The jobs that are claimed one after the other until none is left."""
    ids = []
    while (claimed := await store.claim("w", lease_seconds=LEASE, at_most=at_most)) is not None:
        ids.append(claimed.job.id)
    return ids


async def drained(store: JobStore, at_once: int, *, count: int = 1000) -> list[str]:
    """The users of the next `count` jobs in the order in which they begin, `at_once` in process; the job that began
    first ends first."""
    begun, in_process = list[str](), list[Claim]()
    while len(begun) < count:
        claimed = await store.claim("w", lease_seconds=LEASE, at_most=99) if len(in_process) < at_once else None
        if claimed is not None:
            begun.append(claimed.job.user)
            in_process.append(claimed)
        elif in_process:
            await store.finish(in_process.pop(0), Outcome(status=JobStatus.COMPLETED))
        else:
            break
    for claimed in in_process:
        await store.finish(claimed, Outcome(status=JobStatus.COMPLETED))
    return begun
