"""Access to one SQLite file: small writes on the event loop, all else in one worker thread, with group commit.

A write takes one of four ways, and none overtakes another:

    write_inline(work) ── nothing waits ───────────────► 1  on the loop, now: one statement, or one transaction
          │ False: something waits, or SQLite is busy
          ▼
    run(brief=True) ── the thread has no writes ───────► 2  on the loop, at the end of its turn: one transaction
          │ the thread has writes, or 2 failed              for all brief writes of the turn
          ▼
    run(writes=True) ── queue ─► worker thread ────────► 3  in the thread: one transaction for up to 256 writes
                                      │ 3 failed             that are queued one behind the other
                                      └────────────────► 4  in the thread: each write of the group in its own

The future of a write is resolved after its commit. Reads (`run` without `writes`) take the queue as well, so that
they see every write that was asked for before them; brief ones are done on the loop where no write waits, since the
thread takes longer to wake up than they do. What the loop has committed to the write-ahead log goes into the
file in the thread (a checkpoint), since that waits for the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from graph_research.graph.checkpoint.uncancellable import UncancellableFuture
from graph_research.graph.errors import StoreDamaged, StoreUnreachable

T = TypeVar("T")
_MOST_IN_GROUP = 256
_MOST_UNCHECKED = 128
"""Transactions of the loop until the next checkpoint."""
_HELP = {
    "full": "free some space, then resume the run; nothing that was shown is lost",
    "disk I/O": "the disk failed or is full: make room or move the file, then resume the run",
    "readonly": "make the file and its folder writable",
    "unable to open": "the folder must exist and be writable",
    "not a database": "it is not a SQLite file: move it away or name another",
    "malformed": "restore it from a backup, or move it away and start anew",
    "locked": "another program holds it; try again when that has ended",
}

_PASSING = ("full", "disk I/O", "locked")
"""Words of errors after which the same file may be used again."""


class _Job(NamedTuple):
    work: Callable[[sqlite3.Connection], Any]
    writes: bool
    future: UncancellableFuture[Any]
    loop: asyncio.AbstractEventLoop


class SqliteWriter:
    """Runs work on connections to the SQLite file `path`, which `opened` opens. Errors of SQLite are raised as
    `StoreDamaged`, which says what is wrong with the file and what helps."""

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._opened = opened
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._submitted: set[asyncio.Future[Any]] = set()
        """The writes that the thread has not finished."""
        self._waiting: list[_Job] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop that may write by itself, on `_connection`."""
        self._connection: sqlite3.Connection | None = None
        self._unchecked = 0
        """The transactions of the loop since the last checkpoint."""

    async def run(self, work: Callable[[sqlite3.Connection], T], *, writes: bool = False, brief: bool = False) -> T:
        """`work` done after all that was asked before. With `writes` it is part of a transaction that is committed when
        this returns, together with other writes that were waiting; `brief` promises that it takes little time."""
        loop = asyncio.get_running_loop()
        if brief and not writes and self._may_go_now(loop) and self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # the thread tries again with patience, and says what fails
                return work(self._connection)
        future: UncancellableFuture[T] = UncancellableFuture(loop=loop)
        job = _Job(work, writes, future, loop)
        if brief and writes and self._owns(loop):
            if not self._waiting and not self._submitted:
                loop.call_soon(self._flush)
            self._waiting.append(job)
        else:
            self._flush()
            self._submit([job])
        try:
            return await future
        except sqlite3.Error as problem:
            raise _damaged(self._path, problem) from problem

    def write_inline(self, work: Callable[[sqlite3.Connection], Any], *, single_statement: bool) -> bool:
        """Do a brief write now, in its own transaction, which a single statement is by itself; False if it has to wait
        for others or fails."""
        if not self._may_go_now(asyncio.get_running_loop()):
            return False
        try:
            if single_statement:
                work(self._loop_connection())
            else:
                _in_transaction(self._loop_connection(), [work])
        except Exception:  # noqa: BLE001 -- the caller submits it to the thread, which says what fails
            return False
        self._count_transaction()
        return True

    def checkpoint(self) -> None:
        """Have the thread write what stands in the write-ahead log into the file; a failure leaves it in the log."""
        if (loop := self._loop) is None or loop.is_closed() or not self._unchecked:
            return
        self._unchecked = 0
        future: UncancellableFuture[Any] = UncancellableFuture(loop=loop)
        future.add_done_callback(lambda done: done.exception())
        self._submit([_Job(_checkpoint, writes=False, future=future, loop=loop)])

    def close(self) -> None:
        """Finish all work, and close the file."""
        self._close_loop_connection()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def __del__(self) -> None:
        self._close_loop_connection()
        if self._thread is not None:
            self._jobs.put(None)

    def _submit(self, jobs: Sequence[_Job]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_serve, args=(self._jobs, self._opened), daemon=True, name="store")
            self._thread.start()
        for job in jobs:
            if job.writes:
                self._submitted.add(job.future)
                job.future.add_done_callback(self._submitted_done)
            self._jobs.put(job)

    def _submitted_done(self, future: asyncio.Future[Any]) -> None:
        self._submitted.discard(future)
        if not self._submitted:
            self._flush()

    def _flush(self) -> None:
        """Do the brief writes of this turn, in the thread if it has others to do before."""
        turn, self._waiting = self._waiting, []
        if not turn:
            return
        if self._submitted:
            self._submit(turn)
            return
        try:
            results = _in_transaction(self._loop_connection(), [job.work for job in turn])
        except Exception:  # noqa: BLE001 -- the thread tries again with patience, one by one, and says what fails
            self._submit(turn)
        else:
            for job, result in zip(turn, results, strict=True):
                job.future.set_result(result)
            self._count_transaction()

    def _count_transaction(self) -> None:
        self._unchecked += 1
        if self._unchecked >= _MOST_UNCHECKED:
            self.checkpoint()

    def _loop_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._opened()
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA wal_autocheckpoint = 0")
        return self._connection

    def _may_go_now(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether the loop may use its connection now, and no write waits that was asked for before."""
        return not self._submitted and not self._waiting and self._owns(loop)

    def _owns(self, loop: asyncio.AbstractEventLoop) -> bool:
        if self._loop is not loop and (self._loop is None or self._loop.is_closed()):
            self._close_loop_connection()
            self._loop = loop
        return self._loop is loop

    def _close_loop_connection(self) -> None:
        own, self._connection, self._loop = self._connection, None, None
        if own is not None:
            own.close()


def _serve(jobs: queue.SimpleQueue[_Job | None], opened: Callable[[], sqlite3.Connection]) -> None:
    connection: sqlite3.Connection | None = None
    backlog: deque[_Job | None] = deque()
    while group := _next_group(jobs, backlog):
        try:
            if connection is None:
                connection = opened()
            results = (
                _in_transaction(connection, [job.work for job in group])
                if group[0].writes
                else [group[0].work(connection)]
            )
        except BaseException as problem:  # noqa: BLE001 -- it is raised again where the work was asked for
            if connection is not None and len(group) > 1:
                _one_by_one(connection, group)
            else:
                for job in group:
                    _resolve(job, None, problem)
        else:
            for job, result in zip(group, results, strict=True):
                _resolve(job, result, None)
    if connection is not None:
        connection.close()


def _next_group(jobs: queue.SimpleQueue[_Job | None], backlog: deque[_Job | None]) -> list[_Job]:
    """The next job, with the writes that wait right behind it if it is one; empty when the writer closes."""
    if not backlog:
        backlog.append(jobs.get())
    while len(backlog) < _MOST_IN_GROUP and not jobs.empty():
        backlog.append(jobs.get())
    first = backlog.popleft()
    group = [] if first is None else [first]
    while group and group[0].writes and backlog and (job := backlog[0]) is not None and job.writes:
        group.append(job)
        backlog.popleft()
    return group


def _in_transaction(connection: sqlite3.Connection, works: Sequence[Callable[[sqlite3.Connection], Any]]) -> list[Any]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [work(connection) for work in works]
        connection.execute("COMMIT")
    except BaseException:  # also an interruption: no transaction stays open
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return results


@contextlib.contextmanager
def read_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all statements of a read see the same state, whatever is written meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def _one_by_one(connection: sqlite3.Connection, group: list[_Job]) -> None:
    """A write that fails must not fail the others of its group."""
    for job in group:
        try:
            (result,) = _in_transaction(connection, [job.work])
        except BaseException as problem:  # noqa: BLE001 -- it is raised again where the work was asked for
            _resolve(job, None, problem)
        else:
            _resolve(job, result, None)


def _resolve(job: _Job, result: Any, problem: BaseException | None) -> None:
    def settle() -> None:
        if problem is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(problem)

    with contextlib.suppress(RuntimeError):  # the loop that asked is closed, and nothing waits for the result
        job.loop.call_soon_threadsafe(settle)


def _damaged(path: Path, problem: sqlite3.Error) -> StoreDamaged:
    message = str(problem)
    help = next((text for words, text in _HELP.items() if words in message), "see the message of SQLite")
    kind = StoreUnreachable if any(words in message for words in _PASSING) else StoreDamaged
    return kind(f"the store {path} cannot be used: {message}", help=help)


def connected(path: Path, **options: Any) -> tuple[sqlite3.Connection, bool]:
    """A connection to the file, which is made when it is missing, and whether it may be written."""
    if not path.exists() or all(os.access(place, os.W_OK) for place in (path, path.parent)):
        return sqlite3.connect(path, **options), True
    return sqlite3.connect(_read_only_uri(path), uri=True, **options), False


def _read_only_uri(path: Path) -> str:
    """What a killed process left in the `-wal` is read. Without one SQLite is told that the file does not change, since
    it would create one otherwise."""
    wal = path.with_name(f"{path.name}-wal")
    return f"{path.absolute().as_uri()}?{'mode=ro' if wal.exists() and wal.stat().st_size else 'immutable=1'}"
