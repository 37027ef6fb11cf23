"""Live progress on standard error: a table that renews itself on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graph_research.cli.display.output import in_line, say, visible
from graph_research.graph.events import Event, ItemFinished, NodeFinished, NodeStarted, Note
from graph_research.providers.http.telemetry import RETRIED_NOTE
from graph_research.text.wording import counted

if TYPE_CHECKING:
    from rich.table import Table

    from graph_research.graph.context import Clock
    from graph_research.providers.search.local.records import Failure

_OF_SUPERVISOR = ("dispatch_", "review_")
"""How the names of the supervisor's nodes begin; they take no time worth showing."""

_WORTH_SAYING_SECONDS = 3.0
"""Failed requests that cost less time, with the wait for the next, are forgotten before they are read."""

_INDEXED_A_LINE = 100
_UNREADABLE_SHOWN = 5
_CANNOT_REDRAW = ("dumb", "unknown")
"""Terminals by `TERM` that cannot move the cursor up."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What is known of a run right now. `done` of `planned` sub-queries are researched; `waiting` says for which server
    the run waits, empty where for none."""

    phase: str = "starting"
    iteration: int = 1
    done: int = 0
    planned: int = 0
    sources: int = 0
    findings: int = 0
    waiting: str = ""

    def with_state(self, state: Mapping[str, Any]) -> Snapshot:
        """The counts of a committed state; channels it lacks, or that hold something else, count as empty."""
        from graph_research.research.models.plan import SubQueryStatus

        sub_queries = _rows(state, "sub_queries")
        iteration = state.get("iteration")
        return replace(
            self,
            iteration=iteration if isinstance(iteration, int) and iteration else 1,
            done=sum(query.get("status") != SubQueryStatus.PENDING for query in sub_queries),
            planned=len(sub_queries),
            sources=len(_rows(state, "sources")),
            findings=len(_rows(state, "findings")),
        )

    def facts(self) -> str:
        """The counts in words, those that are zero left out."""
        parts = [
            f"{self.done}/{self.planned} sub-queries" if self.planned else "",
            f"{counted(self.sources, 'source')} found" if self.sources else "",
            counted(self.findings, "finding") if self.findings else "",
            self.waiting,
        ]
        return ", ".join(part for part in parts if part)


class Progress:
    """Turns a run's events into snapshots, and gives each new one to `show`."""

    def __init__(self, show: Callable[[Snapshot], None]) -> None:
        self._show = show
        self.snapshot = Snapshot()

    def go_on(self, node: str, state: Mapping[str, Any]) -> None:
        """Begin where a stored run stands, at `node` (empty: nowhere any more)."""
        self._set(replace(self.snapshot.with_state(state), phase=node or "ended"))

    def saw(self, event: Event) -> bool:
        """Take an event in; True where the root's state has changed and `read` is worth calling."""
        if event.seq is None:
            return False
        self.snapshot = replace(self.snapshot, waiting="")
        if isinstance(event, Note):
            self._set(replace(self.snapshot, waiting=_waiting(event)))
            return False
        if not event.path or "/" in event.path:
            return False
        if isinstance(event, NodeStarted) and not event.node.startswith(_OF_SUPERVISOR):
            self._set(replace(self.snapshot, phase=event.node))
        elif isinstance(event, ItemFinished):
            self._set(replace(self.snapshot, done=min(self.snapshot.done + 1, self.snapshot.planned)))
        return isinstance(event, NodeFinished)

    def read(self, state: Mapping[str, Any]) -> None:
        """Take the counts of a committed state over."""
        self._set(self.snapshot.with_state(state))

    def _set(self, snapshot: Snapshot) -> None:
        if snapshot != self.snapshot:
            self.snapshot = snapshot
            self._show(snapshot)


def _rows(state: Mapping[str, Any], channel: str) -> list[Mapping[str, Any]]:
    value = state.get(channel)
    return value if isinstance(value, list) and all(isinstance(row, Mapping) for row in value) else []


def _waiting(note: Note) -> str:
    """What a retry is worth telling while it lasts; empty where it costs little time and for other notes."""
    data = note.data  # that of a worker of an older version lacks `took_seconds`
    if note.name != RETRIED_NOTE or data.get("took_seconds", 0.0) + data["wait_seconds"] < _WORTH_SAYING_SECONDS:
        return ""
    when = f" in {data['wait_seconds']:.0f} s" if data["wait_seconds"] >= _WORTH_SAYING_SECONDS else ""
    return f"{in_line(str(data['reason']))[:120]}, attempt {data['attempt'] + 1} follows{when}"


class LineView:
    """One line a change, for logs and pipes."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, snapshot: Snapshot) -> None:
        facts = snapshot.facts()
        line = f"[{snapshot.iteration}] {snapshot.phase}" + (f": {facts}" if facts else "")
        if line != self._last:
            self._last = line
            say(line)


class TableView:
    """A small table with the seconds since the start."""

    def __init__(self, question: str, clock: Clock) -> None:
        self._question = " ".join(visible(question).split())[:200]
        self._clock = clock
        self._started = clock.monotonic()
        self._snapshot = Snapshot()

    def show(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        snapshot = self._snapshot
        table = Table(show_header=False, box=None, pad_edge=False)
        elapsed = self._clock.monotonic() - self._started
        for name, value in (
            ("question", self._question),
            ("phase", f"{snapshot.phase} (iteration {snapshot.iteration})"),
            ("sub-queries", f"{snapshot.done}/{snapshot.planned}" if snapshot.planned else "-"),
            ("sources", str(snapshot.sources)),
            ("findings", str(snapshot.findings)),
            *([("waiting", snapshot.waiting)] if snapshot.waiting else []),
            ("elapsed", f"{elapsed:.0f} s"),
        ):
            table.add_row(Text(name, style="dim"), Text(value))
        return table


class IndexingLines:
    """Says how far the indexing of documents is, now and then; a few files are not worth a word."""

    def __call__(self, done: int, total: int, path: str) -> None:  # noqa: ARG002 -- the callback's arguments
        if done and done % _INDEXED_A_LINE == 0:
            say(f"indexed {done} of {total} documents")

    def unreadable(self, failures: Sequence[Failure]) -> None:
        """Name the first files that a run has to do without, and how to see the others; those of types that are not
        read are only counted."""
        named = [failure for failure in failures if not failure.unsupported][:_UNREADABLE_SHOWN]
        for failure in named:
            say(f"not indexed: {in_line(failure.path)}: {failure.reason}")
        if rest := len(failures) - len(named):
            others = counted(rest, "more file" if named else "file")
            say(f"not indexed: {others}; `graph-research library list --unread` names all")


@contextmanager
def open_view(question: str, clock: Clock) -> Iterator[Callable[[Snapshot], None]]:
    """Shows snapshots: in a table renewed 4 times a second where standard error is a terminal that can redraw it, else
    in lines."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in _CANNOT_REDRAW:
        yield LineView().show
        return
    from rich.console import Console
    from rich.live import Live

    view = TableView(question, clock)
    with Live(get_renderable=view.table, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield view.show
