"""The log of a run that is replayed: which steps come next, what interrupted it, and where a replay differs from it."""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import orjson

from graph_research.graph.errors import StoreDamaged
from graph_research.graph.execution.node_result import Unrecorded
from graph_research.graph.state.address import Address
from graph_research.graph.state.position import ActiveNode, Position
from graph_research.graph.state.rows import StepRow
from graph_research.graph.statuses import FAILURES, Cause, RunStatus, StepStatus

_UNHANDLED = {StepStatus.TIMEOUT_UNHANDLED: Cause.TIMEOUT, StepStatus.CANCELLED_UNHANDLED: Cause.CANCELLED}
_ITEM_END = re.compile(r"\](?![^~/])")
"""In the key of an attempt, the end of the address of an item that it belongs to."""
_HANDLED = {StepStatus.TIMEOUT: Cause.TIMEOUT, StepStatus.CANCELLED: Cause.CANCELLED}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first difference between a replay and the recorded run. `node` is the path from the root; `call` is the kind
    of the call that the journal does not hold, None where a step differs."""

    node: str
    visit: int
    item: int | None
    call: str | None
    difference: str


class _Interruption(NamedTuple):
    """Where a graph run was interrupted: the step that says so, and the visits of nodes that this ended."""

    namespace: str
    step: int
    cause: Cause
    visits: Mapping[str, int]

    def ended(self, key: str) -> bool:
        """Whether the attempt with this key was part of what it ended."""
        if not key.startswith(self.namespace):
            return False
        node, visit = re.split(r"[:/\[~]", key[len(self.namespace) :], maxsplit=2)[:2]
        return self.visits.get(node) == int(visit)


class Differs(StoreDamaged):
    """The replay differs from the recorded run: it ends here."""


class RecordedRun:
    """The log of the run that is replayed (`execution.run_session.Replay`), with the steps that are still to come.

    What interrupted the run is read from it: an attempt that did not end before the next interruption of a graph around
    it is not made, and the graph is interrupted when all that was recorded before has come.
    """

    def __init__(self, log: Sequence[StepRow], status: str) -> None:
        self._died = status == RunStatus.RUNNING
        self._standing = None if status == RunStatus.COMPLETED else _standing(log)
        self._attempts: defaultdict[str, deque[StepRow]] = defaultdict(deque)
        """By attempt the rows that say how it ended, and ended again after the run was resumed."""
        self._interruptions: defaultdict[str, deque[_Interruption]] = defaultdict(deque)
        """By graph run."""
        self._expiring: dict[str, int] = {}
        """By subgraph run whose node runs out of time the step that says so."""
        self._within: defaultdict[str, list[deque[StepRow]]] = defaultdict(list)
        """By graph run the rows of its attempts and of those in its subgraphs."""
        for step in filter(_is_compared, log):
            if (key := step.address.key) not in self._attempts:
                for namespace in ("", *(step.scope[: slash.end()] for slash in re.finditer("/", step.scope))):
                    self._within[namespace].append(self._attempts[key])
            self._attempts[key].append(step)
        for interruption in _interruptions(log):
            self._interruptions[interruption.namespace].append(interruption)
        self.first: Difference | None = None
        self.matched = 0
        self._rows = 0

    @property
    def progress(self) -> tuple[int, int]:
        """Changes whenever the replay comes further."""
        return self._rows, sum(map(len, self._interruptions.values()))

    @property
    def left(self) -> Sequence[StepRow]:
        """The recorded steps of nodes that have not come yet, in their order."""
        rows = [step for rows in self._attempts.values() for step in rows if step.node]
        return sorted(rows, key=lambda step: step.step)

    def interruption(self, namespace: str, active: Sequence[ActiveNode]) -> Cause | None:
        waiting = self._interruptions[namespace]
        if not waiting or not self._has_come(namespace, waiting[0].step):
            return None
        if any(waiting[0].visits.get(node.node) != node.visit for node in active):
            return None
        return waiting.popleft().cause

    def begin_attempt(self, address: Address, *, nested: bool) -> bool:
        end, namespace = self._end(address.key), f"{address.key}/"
        self._expiring.pop(namespace, None)
        steps = [end.step] if end is not None else []
        if nested:
            steps += self._steps_in(namespace)
        self._check(address, min(steps, default=None))
        expired = end is not None and end.status in FAILURES and _event_of(end) == Cause.TIMEOUT
        if expired and nested and end is not None:
            self._expiring[namespace] = end.step
        return expired

    def check_end(self, address: Address) -> None:
        end = self._end(address.key)
        self._check(address, None if end is None else end.step)

    def _check(self, address: Address, step: int | None) -> None:
        """Raise `Unrecorded` if an interruption, or the failure of the fan-out that it is part of, came before the next
        recorded step of an attempt, or if there is none because the attempt was given up."""
        around = [waiting[0] for waiting in self._interruptions.values() if waiting]
        ending = [interruption.step for interruption in around if interruption.ended(address.key)]
        ending += [last for namespace, last in self._expiring.items() if address.namespace.startswith(namespace)]
        ends = (self._end(address.key[: item.start()]) for item in re.finditer(r"\[", address.key))
        ending += [end.step for end in ends if end is not None and end.status == StepStatus.FAILED]
        left = any(last < step for last in ending) if step is not None else bool(ending) or self._was_left(address)
        if left:
            raise Unrecorded(address.key)

    def in_order(self, items: Sequence[Address]) -> Sequence[Address]:
        steps: dict[str, int] = {}
        for key, rows in self._attempts.items():
            for end in _ITEM_END.finditer(key) if rows else ():
                item = key[: end.end()]
                steps[item] = min(steps.get(item, rows[0].step), rows[0].step)
        return sorted(items, key=lambda item: steps.get(item.key, math.inf))

    def first_failed(self, items: Sequence[Address]) -> Address:
        failed: dict[str, int] = {}
        for row in (row for rows in self._attempts.values() for row in rows):
            if row.item is not None and row.status == StepStatus.FAILED:
                failed.setdefault(row.address._replace(attempt=1).key, row.step)
        return min(items, key=lambda item: failed.get(item.key, math.inf))

    def ended(self, address: Address) -> bool:
        """Whether the recorded attempt came to an end, ever."""
        return address.key in self._attempts

    def compare(self, step: StepRow) -> None:
        """Compare a step of the replay with the recorded one. Raises `Differs`."""
        self._rows += bool(step.node) or step.status in (StepStatus.STARTED, StepStatus.PAUSED)
        if not _is_compared(step):
            return
        rows = self._attempts.get(step.address.key)
        if not rows or rows[0].status != step.status:
            instead = "did not" if self.ended(step.address) else "never ran"
            raise self.differ(step, f"it {step.status} here, in the recorded run it {instead}")
        expected = rows.popleft()
        if expected.hash != step.hash:
            hashes = f"{step.hash.hex()[:12]} instead of {expected.hash.hex()[:12]}"
            raise self.differ(step, f"its hash is {hashes}: it changed the state in another way")
        self.matched += bool(step.node)

    def differ(self, at: StepRow | Address, difference: str, call: str | None = None) -> Differs:
        """Note the first difference; the error ends the replay."""
        if self.first is None:
            address = at.address if isinstance(at, StepRow) else at
            node = address._replace(item=None).path or "the start"
            self.first = Difference(node=node, visit=at.visit, item=at.item, call=call, difference=difference)
        return Differs(difference)

    def _end(self, key: str) -> StepRow | None:
        """The row that says how the attempt ended next."""
        rows = self._attempts.get(key)
        return rows[0] if rows else None

    def _was_left(self, address: Address) -> bool:
        """Whether an attempt that did not end was given up: its process died, or the run stands there."""
        return self._died or (self._standing is not None and self._standing.ended(address.key))

    def _has_come(self, namespace: str, before: int) -> bool:
        """Whether all that is recorded of a graph run before a step has come."""
        return not any(rows[0].step < before for rows in self._within[namespace] if rows)

    def _steps_in(self, namespace: str) -> list[int]:
        """The next steps of a subgraph run: of its attempts and what interrupts it."""
        rows = [rows[0].step for rows in self._within[namespace] if rows]
        waiting = self._interruptions.items()
        return rows + [queue[0].step for key, queue in waiting if queue and key.startswith(namespace)]


def _standing(log: Sequence[StepRow]) -> _Interruption | None:
    """The nodes that a run which has not completed stands at, at the end of its log."""
    for step in reversed(log):
        if not step.scope and step.position is not None:
            active = Position.from_bytes(step.position, step.hash).active
            return _Interruption(
                "", step.step, Cause.ERROR, {node.node: node.visit for node in active if not node.done}
            )
    return None


def _interruptions(log: Sequence[StepRow]) -> Iterator[_Interruption]:
    """Where a graph run was cancelled or out of time."""
    for place, step in enumerate(log):
        if step.node or step.position is None:
            continue
        status, position = StepStatus(step.status), Position.from_bytes(step.position, step.hash)
        if status in _HANDLED:
            yield _Interruption(step.scope, step.step, _HANDLED[status], position.abandoned)
        elif status in _UNHANDLED and (not step.scope or _was_noticed(step.scope, islice(log, place + 1, None))):
            visits = {active.node: active.visit for active in position.active}
            yield _Interruption(step.scope, step.step, _UNHANDLED[status], visits)


def _was_noticed(namespace: str, later: Iterable[StepRow]) -> bool:
    """Whether the node of a subgraph run that was out of time has failed for it; else the run went on after a crash."""
    for step in later:
        if step.scope.startswith(namespace):
            return False
        if f"{step.address.key}/" == namespace:
            return True
    return False


def _is_compared(step: StepRow) -> bool:
    return bool(step.node) or step.status == StepStatus.STARTED


def _event_of(step: StepRow) -> str:
    return str(orjson.loads(step.delta or b"{}").get("event", Cause.ERROR))
