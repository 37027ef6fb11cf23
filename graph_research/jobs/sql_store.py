"""What the stores of jobs in SQL databases share: the statements of `sql/`, in transactions that a subclass opens."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

import orjson

from graph_research.errors import check_name
from graph_research.jobs.errors import (
    ClaimLost,
    JobExists,
    JobNotEnded,
    JobNotWaiting,
    TooManySubmissions,
    UnknownJob,
)
from graph_research.jobs.job import (
    Claim,
    Job,
    JobStatus,
    NewJob,
    Outcome,
    ResultRow,
    SourceRow,
    SubmissionLimit,
)
from graph_research.jobs.rows import Row, job_of, moment, place_of, result_columns, result_of, source_of
from graph_research.jobs.store import MOST_LOST_CLAIMS, TTL_SECONDS, WORKER_LOST, JobStore
from graph_research.sql_files import migrations_of, statements_of

T = TypeVar("T")


class Transaction(ABC):
    """Statements that take effect together. `now` is its time, in microseconds since 1970."""

    def __init__(self, now: int) -> None:
        self.now = now

    @abstractmethod
    async def execute(self, statement: str, values: Mapping[str, Any]) -> tuple[list[Row], int]:
        """The rows that a statement returns, and how many it changed. Its parameters are `:name`."""

    @abstractmethod
    async def take_turn(self, purpose: str) -> None:
        """Wait until no other transaction has taken this turn, and let none do so until the end of this one."""

    async def rows(self, name: str, **values: Any) -> list[Row]:
        """What the statement `name` returns. `:now` is the time of the transaction."""
        return (await self.execute(_statements()[name], {"now": self.now, **values}))[0]

    async def change(self, name: str, **values: Any) -> int:
        """How many rows the statement `name` changes."""
        return (await self.execute(_statements()[name], {"now": self.now, **values}))[1]


Work = Callable[[Transaction], Awaitable[T]]
TookEffect = Callable[[Transaction, T], Awaitable[bool]]
"""Whether the transaction in which the work returned this took effect."""


class SqlJobStore(JobStore, ABC):
    """A store of jobs in the tables that the scripts of `migrations` make."""

    @abstractmethod
    async def _read(self, work: Work[T]) -> T:
        """What the work returns, which changes nothing; its statements need not see the same state."""

    @abstractmethod
    async def _write(self, work: Work[T], took_effect: TookEffect[T] | None = None) -> T:
        """What the work returns, in a transaction that has ended when this returns, also where the caller is cancelled
        meanwhile. Where the connection is lost at its end, it is done again unless it `took_effect`; work without that
        may be done twice."""

    async def now(self) -> datetime:
        async def read(transaction: Transaction) -> datetime:
            return moment(transaction.now)

        return await self._read(read)

    async def submit(self, new: NewJob, *, limit: SubmissionLimit | None = None) -> tuple[Job, bool]:
        check_name(new.id, "job id")
        row = {
            "id": new.id,
            "owner": new.user,
            "question": new.question,
            "request": orjson.dumps(new.request).decode(),
            "idempotency_key": new.idempotency_key,
            "keeps_run": int(new.keeps_run),
        }

        async def insert(transaction: Transaction) -> tuple[Job, bool]:
            if limit is not None:
                await transaction.take_turn(_submissions_of(new.user))
                known = await transaction.rows("submitted_before", owner=new.user, idempotency_key=new.idempotency_key)
                if known:
                    return job_of(known[0]), False
                await _check_limit(transaction, new.user, limit)
            expires_at = transaction.now + _microseconds(TTL_SECONDS)
            rows = await transaction.rows("submit", **row, expires_at=expires_at)
            if rows:
                return job_of(rows[0]), True
            rows = await transaction.rows("submitted_before", owner=new.user, idempotency_key=new.idempotency_key)
            if not rows:
                raise JobExists(f"there is a job {new.id} already", help="choose another id")
            return job_of(rows[0]), False

        async def is_stored(transaction: Transaction, made: tuple[Job, bool]) -> bool:
            job = await _found(transaction, new.id)
            return job is not None and job.created_at == made[0].created_at

        return await self._write(insert, is_stored)

    async def submitted_with(self, user: str, idempotency_key: str) -> Job | None:
        values = {"owner": user, "idempotency_key": idempotency_key}
        rows = await self._read(lambda transaction: transaction.rows("submitted_before", **values))
        return job_of(rows[0]) if rows else None

    async def get(self, user: str, job_id: str) -> Job:
        return await self._read(lambda transaction: _owned(transaction, user, job_id))

    async def find(self, job_id: str) -> Job | None:
        return await self._read(lambda transaction: _found(transaction, job_id))

    async def jobs(self, user: str, *, before: str | None = None, limit: int = 50) -> list[Job]:
        async def page(transaction: Transaction) -> list[Row]:
            if before is None:
                return await transaction.rows("first_jobs", owner=user, limit=limit)
            return await transaction.rows("next_jobs", owner=user, limit=limit, **place_of(before))

        return list(map(job_of, await self._read(page)))

    async def submitted_within(self, user: str, seconds: float) -> list[float]:
        return await self._read(lambda transaction: _submission_ages(transaction, user, seconds))

    async def count_submission(self, user: str, *, limit: SubmissionLimit | None = None) -> None:
        async def put(transaction: Transaction) -> None:
            if limit is not None:
                await transaction.take_turn(_submissions_of(user))
                await _check_limit(transaction, user, limit)
            await transaction.change("count_submission", owner=user)
            await _forget_submissions(transaction)

        await self._write(put)

    async def counts(self, user: str | None = None) -> Mapping[JobStatus, int]:
        async def count(transaction: Transaction) -> list[Row]:
            if user is None:
                return await transaction.rows("counts")
            return await transaction.rows("counts_of_owner", owner=user)

        rows = await self._read(count)
        return dict.fromkeys(JobStatus, 0) | {JobStatus(row["status"]): row["jobs"] for row in rows}

    async def result(self, user: str, job_id: str) -> ResultRow | None:
        rows = await self._of_job(user, job_id, "result")
        return result_of(rows[0]) if rows else None

    async def sources(self, user: str, job_id: str) -> list[SourceRow]:
        rows = await self._of_job(user, job_id, "sources")
        return [source_of(row) for row in rows]

    async def answer(self, user: str, job_id: str, text: str) -> Job:
        async def put(transaction: Transaction) -> Job:
            status = (await _owned(transaction, user, job_id)).status
            rows = await transaction.rows("answer", id=job_id, owner=user, answer=text)
            if not rows:
                raise JobNotWaiting(f"job {job_id} is {status} and waits for no answer; nothing was done")
            return job_of(rows[0])

        async def is_put(transaction: Transaction, answered: Job) -> bool:
            job = await _found(transaction, job_id)
            return job is not None and (job.updated_at == answered.updated_at or job.attempt > answered.attempt)

        return await self._write(put, is_put)

    async def cancel(self, user: str, job_id: str) -> Job:
        async def put(transaction: Transaction) -> Job:
            for name in ("cancel", "request_cancel"):
                await transaction.change(name, id=job_id, owner=user)
            return await _owned(transaction, user, job_id)

        return await self._write(put)

    async def remove(self, user: str, job_id: str) -> None:
        async def take_out(transaction: Transaction) -> None:
            job = await _owned(transaction, user, job_id)
            if not job.is_over:
                raise JobNotEnded(f"job {job_id} is {job.status} and has not ended; nothing was removed")
            await transaction.change("keep_submission", id=job_id)
            await _delete(transaction, job_id)
            await _forget_submissions(transaction)

        async def is_out(transaction: Transaction, _: None) -> bool:
            return await _found(transaction, job_id) is None

        await self._write(take_out, is_out)

    async def withdraw(self, job_id: str) -> bool:
        async def remove(transaction: Transaction) -> bool:
            if not await transaction.change("withdraw", id=job_id):
                return False
            await transaction.change("delete_sources", id=job_id)
            return True

        async def is_removed(transaction: Transaction, was_there: bool) -> bool:
            return was_there and await _found(transaction, job_id) is None

        return await self._write(remove, is_removed)

    async def claim(self, worker: str, *, lease_seconds: float, at_most: int) -> Claim | None:
        message = f"{MOST_LOST_CLAIMS} workers in turn ended or were cut off while they worked at it"

        async def take(transaction: Transaction) -> Claim | None:
            await transaction.take_turn("claims")
            await transaction.change("fail_lost", most_lost=MOST_LOST_CLAIMS, code=WORKER_LOST, message=message)
            lease_until = transaction.now + _microseconds(lease_seconds)
            rows = await transaction.rows("claim", lease_until=lease_until, worker=worker, at_most=at_most)
            return Claim(job=job_of(rows[0])) if rows else None

        async def is_taken(transaction: Transaction, claim: Claim | None) -> bool:
            job = None if claim is None else await _found(transaction, claim.job.id)
            return job is not None and claim is not None and (job.attempt, job.worker) == (claim.token, worker)

        return await self._write(take, is_taken)

    async def heartbeat(self, claim: Claim, *, lease_seconds: float) -> bool:
        async def renew(transaction: Transaction) -> bool:
            lease_until = transaction.now + _microseconds(lease_seconds)
            return await _is_cancelled_after(transaction, "heartbeat", claim, lease_until=lease_until)

        return await self._write(renew)

    async def progress(self, claim: Claim, stage: str, fraction: float) -> bool:
        values = {"stage": stage, "fraction": fraction}
        return await self._write(lambda transaction: _is_cancelled_after(transaction, "progress", claim, **values))

    async def put_sources(self, claim: Claim, sources: Sequence[SourceRow]) -> None:
        async def put(transaction: Transaction) -> None:
            if not await transaction.rows("hold", **_held(claim)):
                raise _lost(claim)
            await transaction.change("delete_sources", id=claim.job.id)
            for source in sources:
                await transaction.change("insert_source", id=claim.job.id, **asdict(source))

        await self._write(put)

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        values = {
            "status": outcome.status.value,
            "waiting_for": outcome.waiting_for,
            "error_code": outcome.error and outcome.error.code,
            "error_message": outcome.error and outcome.error.message,
        }

        async def put(transaction: Transaction) -> None:
            if not await transaction.change("finish", **_held(claim), **values):
                raise _lost(claim)
            if outcome.result is not None:
                await transaction.change("put_result", id=claim.job.id, **result_columns(outcome.result))

        await self._write(put, _has_ended(claim))

    async def release(self, claim: Claim) -> None:
        async def put(transaction: Transaction) -> None:
            if not await transaction.change("release", **_held(claim)):
                raise _lost(claim)

        await self._write(put, _has_ended(claim))

    async def expire(self) -> list[Job]:
        async def put(transaction: Transaction) -> list[Job]:
            return list(map(job_of, await transaction.rows("expire")))

        async def is_put(transaction: Transaction, expired: list[Job]) -> bool:
            return bool(expired) and await _found(transaction, expired[0].id) == expired[0]

        return await self._write(put, is_put)

    async def outdated(self) -> list[Job]:
        async def read(transaction: Transaction) -> list[Row]:
            return await transaction.rows("outdated", ended_by=transaction.now - _microseconds(TTL_SECONDS))

        return list(map(job_of, await self._read(read)))

    async def needed_runs(self) -> set[str]:
        return {row["id"] for row in await self._read(lambda transaction: transaction.rows("needed_runs"))}

    async def delete(self, job_id: str) -> None:
        await self._write(lambda transaction: _delete(transaction, job_id))

    async def _of_job(self, user: str, job_id: str, name: str) -> list[Row]:
        async def read(transaction: Transaction) -> list[Row]:
            await _owned(transaction, user, job_id)
            return await transaction.rows(name, id=job_id)

        return await self._read(read)


async def uncancelled(work: Coroutine[Any, Any, T]) -> T:
    """What the work returns. It goes on to its end where its caller is cancelled, who learns of that afterwards."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({working})
        working.exception()  # nobody is left to be told
        raise


async def _found(transaction: Transaction, job_id: str) -> Job | None:
    rows = await transaction.rows("job_of_anyone", id=job_id)
    return job_of(rows[0]) if rows else None


async def _delete(transaction: Transaction, job_id: str) -> None:
    for name in ("delete_sources", "delete_result", "delete_job"):
        await transaction.change(name, id=job_id)


async def _forget_submissions(transaction: Transaction) -> None:
    await transaction.change("forget_submissions", submitted_by=transaction.now - _microseconds(TTL_SECONDS))


async def _submission_ages(transaction: Transaction, user: str, seconds: float) -> list[float]:
    rows = await transaction.rows("submitted_since", owner=user, since=transaction.now - _microseconds(seconds))
    return [(transaction.now - row["created_at"]) / 1_000_000 for row in rows]


async def _check_limit(transaction: Transaction, user: str, limit: SubmissionLimit) -> None:
    if len(await _submission_ages(transaction, user, limit.window_seconds)) >= limit.most:
        raise TooManySubmissions(f"{limit.most} submissions are allowed in {limit.window_seconds:g} seconds")


def _submissions_of(user: str) -> str:
    return f"submissions of {user}"


async def _owned(transaction: Transaction, user: str, job_id: str) -> Job:
    rows = await transaction.rows("job", id=job_id, owner=user)
    if not rows:
        raise UnknownJob(f"there is no job {job_id[:80]!r}")
    return job_of(rows[0])


def _has_ended(claim: Claim) -> TookEffect[None]:
    """Whether a write that ended the claim took effect."""

    async def has_ended(transaction: Transaction, _: None) -> bool:
        job = await _found(transaction, claim.job.id)
        return job is None or job.attempt > claim.token or job.status != JobStatus.PROCESSING

    return has_ended


async def _is_cancelled_after(transaction: Transaction, name: str, claim: Claim, **values: Any) -> bool:
    """Whether the cancellation of a held job was requested, after the statement `name` was executed."""
    rows = await transaction.rows(name, **_held(claim), **values)
    if not rows:
        raise _lost(claim)
    return bool(rows[0]["cancel_requested"])


def _held(claim: Claim) -> dict[str, Any]:
    return {"id": claim.job.id, "token": claim.token}


def _lost(claim: Claim) -> ClaimLost:
    return ClaimLost(f"claim {claim.token} of job {claim.job.id} no longer holds")


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


@cache
def _statements() -> Mapping[str, str]:
    return statements_of(__package__)


@cache
def migrations() -> Mapping[int, str]:
    """The scripts by the number of the format that they lead to, in their order."""
    return migrations_of(__package__)
