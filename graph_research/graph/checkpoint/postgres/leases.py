"""Who may write a run: a row with a time by the clock of the server, renewed while its owner lives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import partial

from graph_research.errors import check_name
from graph_research.graph.checkpoint.postgres.connections import Connections
from graph_research.graph.checkpoint.postgres.pool import Connection
from graph_research.graph.checkpoint.postgres.statements import queries, rows_of
from graph_research.graph.errors import RunBusy, StoreDamaged


@dataclass(frozen=True)
class PostgresLease:
    """The lease of one run. `token` is higher than that of every earlier owner."""

    leases: Leases
    run_id: str
    token: int

    def release(self) -> None:
        """Let others drive the run, as soon as the database has heard of it."""
        self.leases.release(self)


class Leases:
    """The leases that one owner holds. They end `seconds` after the last renewal, which comes three times as often."""

    def __init__(self, connections: Connections, *, owner: str, seconds: float) -> None:
        self._connections = connections
        self.owner = owner
        self._seconds = seconds
        self._held: dict[str, int] = {}
        self._renewal: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def token(self, run_id: str) -> int | None:
        """The token with which a run is written, None where this owner does not hold it."""
        return self._held.get(run_id)

    async def take(self, run_id: str) -> PostgresLease:
        """Become the owner of a run. Raises `RunBusy`. Where the caller is cancelled meanwhile, the lease is given back
        in the background."""
        check_name(run_id, "run")
        await self.settled()
        taking = asyncio.create_task(self._taken(run_id))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            self._in_background(self._give_back(taking))
            raise

    async def _taken(self, run_id: str) -> PostgresLease:
        token = await self._connections.run(partial(self._take, run_id), again=partial(self._take, run_id, again=True))
        if token is None:
            raise RunBusy.by(run_id, await self.owner_of(run_id) or "unknown")
        self._held[run_id] = token
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew())
        return PostgresLease(self, run_id, token)

    async def owner_of(self, run_id: str) -> str | None:
        """Who holds the lease of a run now."""
        rows = await rows_of(self._connections, "live_lease", run_id=run_id)
        return str(rows[0][0]) if rows else None

    def release(self, lease: PostgresLease) -> None:
        """End a lease in the background; `settled` waits for it."""
        if self._held.get(lease.run_id) == lease.token:
            del self._held[lease.run_id]
            self._in_background(self._end(lease))

    async def settled(self) -> None:
        """Wait until the database knows of all releases."""
        while self._ending:
            await asyncio.wait(set(self._ending))

    async def close(self) -> None:
        """Stop renewing, and end what is still held."""
        for run_id, token in list(self._held.items()):
            self.release(PostgresLease(self, run_id, token))
        await self.settled()
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait([self._renewal])

    async def _take(self, run_id: str, connection: Connection, *, again: bool = False) -> int | None:
        """The token of a new lease, None where the run has one. `again`: it may be one that was taken here before the
        connection was lost."""
        lost = again and run_id not in self._held
        values = {"run_id": run_id, "owner": self.owner, "seconds": self._seconds, "lost": lost}
        row = await (await connection.execute(queries()["take_lease"], values)).fetchone()
        return None if row is None else int(row[0])

    def _in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _give_back(self, taking: asyncio.Task[PostgresLease]) -> None:
        with contextlib.suppress(RunBusy, StoreDamaged):  # then it was not taken
            self.release(await taking)

    async def _end(self, lease: PostgresLease) -> None:
        with contextlib.suppress(StoreDamaged):  # the lease runs out by itself
            await rows_of(self._connections, "end_lease", run_id=lease.run_id, owner=self.owner, token=lease.token)

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(self._seconds / 3)
            held = dict(self._held)
            values = {"run_ids": list(held), "tokens": list(held.values())}
            with contextlib.suppress(StoreDamaged):  # the next write says what is wrong
                await rows_of(self._connections, "renew_leases", owner=self.owner, seconds=self._seconds, **values)
