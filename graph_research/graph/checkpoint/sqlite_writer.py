"""Where a process touches its SQLite file: brief writes at once, the rest in one thread, what waits in one commit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from graph_research.graph.errors import StoreDamaged

__all__ = ["Desk", "connected"]

T = TypeVar("T")
_MOST_TOGETHER = 256
_HELP = {
    "full": "free some space, then resume the run; nothing that was shown is lost",
    "disk I/O": "the disk failed or is full: make room or move the file, then resume the run",
    "readonly": "make the file and its folder writable",
    "unable to open": "the folder must exist and be writable",
    "not a database": "it is no SQLite file: move it away or name another",
    "malformed": "restore it from a backup, or move it away and start anew",
    "locked": "another program holds it; try again when that has ended",
}


class _Settled(asyncio.Future[T]):
    """Waits to its end even when its waiter is cancelled; the cancellation then comes through."""

    def cancel(self, msg: Any | None = None) -> bool:  # noqa: ARG002 -- asyncio's signature
        return False


class _Job(NamedTuple):
    work: Callable[[sqlite3.Connection], Any]
    writes: bool
    future: _Settled[Any]
    loop: asyncio.AbstractEventLoop


class Desk:
    """Runs work on connections to the SQLite file `path`, which `opened` opens.

    One thread does whatever may take long. Brief writes are done where they are asked for, without a change of threads:
    those of one turn of the event loop in one transaction at its end. They wait while the thread has others to write,
    so that writes keep their order, and go to it as well when another process holds the file. Errors of SQLite come
    out as `StoreDamaged`, saying what is wrong with `path` and what helps.
    """

    def __init__(self, path: Path, opened: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._opened = opened
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._handed_over: set[asyncio.Future[Any]] = set()
        """The writes that the thread has still to do."""
        self._turn: list[_Job] = []
        self._home: asyncio.AbstractEventLoop | None = None
        """The loop that may write by itself, on `_own`."""
        self._own: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T], *, writes: bool = False, brief: bool = False) -> T:
        """`work` done after all that was asked before. With `writes` it is part of a transaction that is committed when
        this returns, together with other writes that were waiting; `brief` promises that it takes no long."""
        loop = asyncio.get_running_loop()
        future: _Settled[T] = _Settled(loop=loop)
        job = _Job(work, writes, future, loop)
        if brief and self._at_home(loop):
            if not self._turn and not self._handed_over:
                loop.call_soon(self._end_turn)
            self._turn.append(job)
        else:
            self._end_turn()
            self._hand_over([job])
        try:
            return await future
        except sqlite3.Error as problem:
            raise _damaged(self._path, problem) from problem

    def at_once(self, work: Callable[[sqlite3.Connection], Any], *, whole: bool) -> bool:
        """Do a brief write now, in a transaction of its own, which a single statement (`whole`) is by itself; False if
        it has to wait for others or fails."""
        if self._handed_over or self._turn or not self._at_home(asyncio.get_running_loop()):
            return False
        try:
            if whole:
                work(self._opened_own())
            else:
                _together(self._opened_own(), [work])
        except Exception:  # noqa: BLE001 -- whoever asked has it done by the thread, which says what fails
            return False
        return True

    def close(self) -> None:
        """Do what was asked before, and let go of the file."""
        self._leave_home()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def __del__(self) -> None:
        self._leave_home()
        if self._thread is not None:
            self._jobs.put(None)

    def _hand_over(self, jobs: Sequence[_Job]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_serve, args=(self._jobs, self._opened), daemon=True, name="store")
            self._thread.start()
        for job in jobs:
            if job.writes:
                self._handed_over.add(job.future)
                job.future.add_done_callback(self._written)
            self._jobs.put(job)

    def _written(self, future: asyncio.Future[Any]) -> None:
        self._handed_over.discard(future)
        if not self._handed_over:
            self._end_turn()

    def _end_turn(self) -> None:
        """Do the brief writes that wait; by the thread, if it has others to do before."""
        turn, self._turn = self._turn, []
        if not turn:
            return
        if self._handed_over:
            self._hand_over(turn)
            return
        try:
            results = _together(self._opened_own(), [job.work for job in turn])
        except Exception:  # noqa: BLE001 -- the thread tries again with patience, one by one, and says what fails
            self._hand_over(turn)
        else:
            for job, result in zip(turn, results, strict=True):
                job.future.set_result(result)

    def _opened_own(self) -> sqlite3.Connection:
        if self._own is None:
            self._own = self._opened()
            self._own.execute("PRAGMA busy_timeout = 0")
        return self._own

    def _at_home(self, loop: asyncio.AbstractEventLoop) -> bool:
        if self._home is not loop and (self._home is None or self._home.is_closed()):
            self._leave_home()
            self._home = loop
        return self._home is loop

    def _leave_home(self) -> None:
        own, self._own, self._home = self._own, None, None
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
                _together(connection, [job.work for job in group]) if group[0].writes else [group[0].work(connection)]
            )
        except BaseException as problem:  # noqa: BLE001 -- it is raised again where the work was asked for
            if connection is not None and len(group) > 1:
                _separately(connection, group)
            else:
                for job in group:
                    _resolve(job, None, problem)
        else:
            for job, result in zip(group, results, strict=True):
                _resolve(job, result, None)
    if connection is not None:
        connection.close()


def _next_group(jobs: queue.SimpleQueue[_Job | None], backlog: deque[_Job | None]) -> list[_Job]:
    """The next job, with the writes that wait right behind it if it is one; empty when the desk is to close."""
    if not backlog:
        backlog.append(jobs.get())
    while len(backlog) < _MOST_TOGETHER and not jobs.empty():
        backlog.append(jobs.get())
    first = backlog.popleft()
    group = [] if first is None else [first]
    while group and group[0].writes and backlog and (job := backlog[0]) is not None and job.writes:
        group.append(job)
        backlog.popleft()
    return group


def _together(connection: sqlite3.Connection, works: Sequence[Callable[[sqlite3.Connection], Any]]) -> list[Any]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        results = [work(connection) for work in works]
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return results


def _separately(connection: sqlite3.Connection, group: list[_Job]) -> None:
    """One bad write must not take its neighbours with it."""
    for job in group:
        try:
            (result,) = _together(connection, [job.work])
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

    with contextlib.suppress(RuntimeError):  # the loop that asked is gone, and so is whoever waited
        job.loop.call_soon_threadsafe(settle)


def _damaged(path: Path, problem: sqlite3.Error) -> StoreDamaged:
    message = str(problem)
    help = next((text for words, text in _HELP.items() if words in message), "see the message of SQLite")
    return StoreDamaged(f"the store {path} cannot be used: {message}", help=help)


def connected(path: Path, **options: Any) -> tuple[sqlite3.Connection, bool]:
    """A connection to the file, which is made when it is missing, and whether it may be written."""
    if not path.exists() or all(os.access(place, os.W_OK) for place in (path, path.parent)):
        return sqlite3.connect(path, **options), True
    return sqlite3.connect(_to_be_read(path), uri=True, **options), False


def _to_be_read(path: Path) -> str:
    """What a killed process left in the `-wal` counts; without one SQLite is told that nobody writes, for it would
    want to make one."""
    wal = path.with_name(f"{path.name}-wal")
    return f"{path.absolute().as_uri()}?{'mode=ro' if wal.exists() and wal.stat().st_size else 'immutable=1'}"
