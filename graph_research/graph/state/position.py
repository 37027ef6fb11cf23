"""Where a graph stands between two steps: active nodes, loop counters, arrivals at joins, the chain of hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from graph_research.graph.statuses import Cause

_NONE: Mapping[str, Any] = {}
_ONLY_TO_RUN = (False, False, None)


class ActiveNode(NamedTuple):
    """A node that waits to run, or has run (`done`) and no edge has left it yet.

    `entered` is the step that entered the node; all rows of the visit come after it. `passed` says that a pause before
    the node is over; `error` is the failure whose event edge led here.
    """

    node: str
    visit: int
    entered: int
    done: bool = False
    passed: bool = False
    error: Mapping[str, Any] | None = None

    def ended(self) -> ActiveNode:
        """The same node, done."""
        return ActiveNode(self.node, self.visit, self.entered, True, self.passed, self.error)

    def to_json(self) -> tuple[Any, ...]:
        """Its fields; the first three if the others are not set."""
        return self[:3] if self[3:] == _ONLY_TO_RUN else self[:]


class Interruption(NamedTuple):
    """The position that an event edge left. `resume` returns to it, with the state as it was at `step`."""

    cause: Cause
    step: int
    chain: str
    active: tuple[ActiveNode, ...]
    loops: Mapping[str, int]
    join_arrivals: Mapping[str, Sequence[str]]
    error: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "cause": self.cause,
            "step": self.step,
            "chain": self.chain,
            "active": [active.to_json() for active in self.active],
            "loops": self.loops,
            "arrived": self.join_arrivals,
            "error": self.error,
        }


class Position(NamedTuple):
    """`chain` is the hash (SHA-256) of everything that led here, apart from time.

    `applied` names the steps whose deltas were reduced on arriving here, in that order; None means the step's own.
    `abandoned` names the nodes that an event edge left before they had ended, with the latest such visit, which no row
    records.
    """

    active: tuple[ActiveNode, ...]
    chain: bytes
    loops: Mapping[str, int] = _NONE
    join_arrivals: Mapping[str, Sequence[str]] = _NONE
    interruption: Interruption | None = None
    applied: Sequence[int] | None = None
    abandoned: Mapping[str, int] = _NONE

    @property
    def standing(self) -> tuple[ActiveNode, ...]:
        """The active nodes, and those that `resume` may return to."""
        return self.active + (self.interruption.active if self.interruption else ())

    def before_pauses(self) -> Position:
        """The same, with no pause over."""
        back = self.interruption
        return self._replace(
            active=tuple(active._replace(passed=False) for active in self.active),
            interruption=back and back._replace(active=tuple(active._replace(passed=False) for active in back.active)),
        )

    def without(self, left: Iterable[ActiveNode]) -> Mapping[str, int]:
        """`abandoned` after an event edge has left these nodes."""
        return {**self.abandoned, **{active.node: active.visit for active in left if not active.done}}

    def to_bytes(self) -> bytes:
        """All but the chain, which is the hash of the row that holds the position."""
        active, _, loops, join_arrivals, interruption, applied, abandoned = self
        values: dict[str, Any] = {"active": list(map(ActiveNode.to_json, active))}
        if loops:
            values["loops"] = loops
        if join_arrivals:
            values["arrived"] = join_arrivals
        if interruption is not None:
            values["interruption"] = interruption.to_json()
        if applied is not None:
            values["applied"] = applied
        if abandoned:
            values["dropped"] = abandoned
        return orjson.dumps(values)

    @classmethod
    def from_bytes(cls, data: bytes, chain: bytes) -> Position:
        """The position that `to_bytes` wrote."""
        values = orjson.loads(data)
        interruption = values.get("interruption")
        return cls(
            active=_actives(values["active"]),
            chain=chain,
            loops=values.get("loops", {}),
            join_arrivals=values.get("arrived", {}),
            interruption=interruption and _interruption(interruption),
            applied=values.get("applied"),
            abandoned=values.get("dropped", {}),
        )


def _interruption(values: Mapping[str, Any]) -> Interruption:
    return Interruption(
        cause=Cause(values["cause"]),
        step=values["step"],
        chain=values["chain"],
        active=_actives(values["active"]),
        loops=values["loops"],
        join_arrivals=values["arrived"],
        error=values["error"],
    )


def _actives(values: list[list[Any]]) -> tuple[ActiveNode, ...]:
    return tuple(ActiveNode(*value) for value in values)


def digest(*parts: bytes) -> bytes:
    """SHA-256 of texts without NUL, such as JSON, and of other digests: all of one length, so no two lists of parts
    read the same."""
    return sha256(b"\0".join(parts)).digest()


def joined(chain: bytes, hashes: Sequence[bytes]) -> bytes:
    """The chain after the nodes with these hashes; that of one alone chains its predecessor itself."""
    if len(hashes) == 1:
        return hashes[0]
    return digest(chain, *hashes) if hashes else chain
