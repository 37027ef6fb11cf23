"""Other runs whose recorded answers a run uses: the parents of a fork, or the run that a replay follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.errors import UnknownRun
from graph_research.graph.state.address import Address
from graph_research.graph.state.rows import CallRow, RunRow
from graph_research.graph.statuses import CallStatus, Cause


class AnswerSource(Protocol):
    """Where an attempt finds answers that its own journal does not hold."""

    async def recorded(self, key: str) -> Sequence[CallRow]:
        """The journal entries of the attempt with this key (`Address.key`)."""
        ...

    async def refuse(self, address: Address, kind: str, request: Any, entry: CallRow | None) -> None:
        """Raise if a call may not be made; `entry` is its journal entry if it has one without an answer."""
        ...


class Replay(Protocol):
    """The recorded run that a replay follows: what interrupted it, where its attempts ended. No time passes."""

    def interruption(self, namespace: str) -> Cause | None:
        """What interrupted the graph run at the point that the replay has reached, each interruption once."""
        ...

    def begin_attempt(self, address: Address, *, nested: bool) -> bool:
        """An attempt begins, `nested` if it runs a subgraph. Returns whether the recorded one ran out of time. Raises
        `Unrecorded` if it did not end."""
        ...

    def check_end(self, address: Address) -> None:
        """A node is about to end. Raises `Unrecorded` if it did not."""
        ...

    def in_order(self, items: Sequence[Address]) -> Sequence[Address]:
        """The items of a fan-out in the order of their next recorded steps; last those that have none."""
        ...


class ParentJournals:
    """The answers that the parents of a fork recorded, the nearest first. Calls that they lack are made."""

    def __init__(self, store: Checkpointer, run_ids: Sequence[str]) -> None:
        self._store = store
        self._run_ids = run_ids

    async def recorded(self, key: str) -> Sequence[CallRow]:
        entries: dict[tuple[str, bytes, int], CallRow] = {}
        for run_id in self._run_ids:
            for row in await self._store.call_rows(run_id, key):
                if row.status == CallStatus.ANSWERED and row.kind != "note":
                    entries.setdefault((row.kind, row.request_hash, row.ordinal), row)
        return list(entries.values())

    async def refuse(self, address: Address, kind: str, request: Any, entry: CallRow | None) -> None:
        """Never refuses a call."""


async def ancestors(store: Checkpointer, row: RunRow) -> Mapping[str, RunRow]:
    """The stored parents of a fork, the nearest first; empty for a run that is not a fork."""
    found: dict[str, RunRow] = {}
    while row.seed != row.run_id and row.parent is not None and row.parent not in found:
        try:
            row = await store.run_row(row.parent)
        except UnknownRun:
            break
        found[row.run_id] = row
    return found
