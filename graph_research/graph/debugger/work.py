"""What a run is doing right now: the nodes that have begun and not ended, and the outside calls they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.debugger.targets import plain_path
from graph_research.graph.events import Event, NodeFailed, NodeFinished, NodeStarted, RunEnded

__all__ = ["Work", "work_of"]

_CALLS_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Work:
    """A node at work for so many `seconds`; `calls` are the kinds of the calls under way and their seconds."""

    path: str
    visit: int
    seconds: float
    calls: Sequence[tuple[str, float]] = ()

    def __str__(self) -> str:
        told = [f"a {kind} call is under way for {seconds:.1f} s" for kind, seconds in self.calls[:_CALLS_TOLD]]
        more = len(self.calls) - _CALLS_TOLD
        rest = [f"{more} more"] if more > 0 else []
        return ", ".join([f"{self.path}:{self.visit} is at work for {self.seconds:.1f} s", *told, *rest])


async def work_of(log: Sequence[Event], store: Checkpointer, run_id: str, now: datetime) -> list[Work]:
    """The nodes at work after the events of `log`, the one that began last first; those that hold others are left
    out."""
    begun: dict[tuple[str, int], datetime] = {}
    for event in log:
        if isinstance(event, NodeStarted):
            begun[event.path, event.visit] = event.at
        elif isinstance(event, NodeFinished) or (
            isinstance(event, NodeFailed) and event.item is None and not event.will_retry
        ):
            begun.pop((event.path, event.visit), None)
        elif isinstance(event, RunEnded):
            begun.clear()
    sent = [call for call in await store.calls(run_id) if call.status == "sent"] if begun else []
    return [
        Work(
            path=path,
            visit=visit,
            seconds=max(0.0, (now - at).total_seconds()),
            calls=[
                (call.kind, max(0.0, (now - call.started_at).total_seconds()))
                for call in sent
                if call.visit == visit and plain_path(call.path) == plain_path(path)
            ],
        )
        for (path, visit), at in sorted(begun.items(), key=lambda one: one[1], reverse=True)
        if not any(_inside(other, path) for other, _ in begun)
    ]


def _inside(inner: str, outer: str) -> bool:
    """Whether a node stands in the subgraph of another, or of one of its items."""
    return inner.startswith((f"{outer}/", f"{outer}["))
