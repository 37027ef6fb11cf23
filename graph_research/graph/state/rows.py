"""What a run leaves in a store, row by row: the run, the update log, the journal, snapshots; and one write of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graph_research.graph.state.address import Address
from graph_research.graph.state.position import Position
from graph_research.graph.statuses import FAILURES


class RunRow(NamedTuple):
    """A run as stored; texts are JSON, times are seconds since 1970, `waiting` the key of the node that asks."""

    run_id: str
    graph: str
    graph_hash: str
    definition: bytes
    status: str
    cause: str | None
    error: bytes | None
    metadata: bytes
    input: bytes
    waiting: str | None
    created_at: float
    updated_at: float
    parent: str | None
    seed: str
    """What ids and random numbers derive from: the run's own id, or that of the run a fork goes back to."""


class StepRow(NamedTuple):
    """One entry of the update log. `node` is empty for a start, a move or a rewinding. `delta` of an item is its
    output, that of what failed or is tried again its error; `position` is set where a step of the graph is complete."""

    step: int
    scope: str
    node: str
    visit: int
    item: int | None
    attempt: int
    status: str
    started_at: float
    seconds: float
    hash: bytes
    delta: bytes | None
    position: bytes | None

    @classmethod
    def of_graph(
        cls, step: int, scope: str, status: str, started_at: float, position: Position, delta: bytes | None
    ) -> StepRow:
        """A row of the graph itself, which stands at `position` then."""
        return cls(step, scope, "", 0, None, 1, status, started_at, 0.0, position.chain, delta, position.to_bytes())

    @property
    def address(self) -> Address:
        """The attempt that the row belongs to."""
        return Address(self.scope, self.node, self.visit, self.item, self.attempt)

    @property
    def updates(self) -> bool:
        """Whether `delta` changes the state."""
        return self.item is None and self.delta is not None and self.status not in FAILURES


class CallRow(NamedTuple):
    """One journal entry; `key` is the attempt's (`Address.key`), `ordinal` how many equal ones came before in it."""

    seq: int
    key: str
    path: str
    visit: int
    item: int | None
    attempt: int
    kind: str
    request_hash: bytes
    ordinal: int
    status: str
    started_at: float
    seconds: float
    request: bytes | None
    answer: bytes | None


class Snapshot(NamedTuple):
    """All channels of one scope at a step, and that step's hash and position."""

    scope: str
    step: int
    values: bytes
    hash: bytes
    position: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class RunPatch:
    """A change of a run's row. None leaves `graph_hash`, `definition` and `metadata` as they are; the rest is set."""

    status: str
    updated_at: float
    cause: str | None = None
    error: bytes | None = None
    waiting: str | None = None
    cancel_done: bool = False
    """A request to cancel has been followed."""
    graph_hash: str | None = None
    definition: bytes | None = None
    metadata: bytes | None = None


class Instruction(NamedTuple):
    """What a user told a run while it was under way. A handler that asks for them journals the answer."""

    kind: str
    content: str


class Write(NamedTuple):
    """What one transaction writes. A call row replaces the one with its number. `events` is what `packed_events` makes,
    and ends with event `last_seq`; `texts` maps SHA-256 (hex) to text. The numbers of steps and events rise
    from write to write."""

    run_id: str
    steps: Sequence[StepRow] = ()
    calls: Sequence[CallRow] = ()
    last_seq: int = 0
    events: bytes | None = None
    texts: Mapping[str, str] = {}
    snapshot: Snapshot | None = None
    run: RunPatch | None = None
    alone: bool = False
    """Nothing else of the run is active, so that the write need not wait for others to share its transaction."""
    shares: str | None = None
    """A run whose texts this one keeps too, whatever becomes of it."""
