"""The events of a run so far, and the one at which the debugger stands."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.graph.debugger.stops import NotPossible
from graph_research.graph.events import Event, NodeFailed, NodeFinished, NodeStarted, RunEnded


class Timeline:
    """The history of `run_id`; `index` is the present event. Moving in it runs nothing."""

    def __init__(self) -> None:
        self.run_id = ""
        self.events: list[Event] = []
        self.index = -1
        self.previous: tuple[str, int] | None = None
        """Run and step at which the debugger was held before."""
        self._held: tuple[str, int] | None = None

    def open(self, run_id: str, events: Sequence[Event]) -> None:
        """Begin with the events of another run, before the first of them."""
        self.run_id, self.events, self.index = run_id, list(events), -1

    def append(self, event: Event) -> None:
        """Go on to a new event."""
        self.events.append(event)
        self.to_end()

    def to_end(self) -> None:
        """Go to the latest event."""
        self.index = len(self.events) - 1

    @property
    def now(self) -> Event:
        """The present event. Raises `NotPossible` before the first."""
        if not self.events:
            raise NotPossible("nothing has run yet", help="`restart` begins a run")
        return self.events[self.index]

    @property
    def live(self) -> bool:
        """Whether the present event is the latest."""
        return self.index == len(self.events) - 1

    def hold(self) -> Event:
        """Remember that the debugger is held at the present event."""
        event = self.now
        self.previous, self._held = self._held, (self.run_id, event.step or 0)
        return event

    def moments(self) -> list[Event]:
        """Where nodes started, finished and failed, and the end."""
        return [event for event in self.events if isinstance(event, (NodeStarted, NodeFinished, NodeFailed, RunEnded))]

    def node_starts(self) -> list[int]:
        """The indexes before the present one at which a node started. Raises `NotPossible` if there is none."""
        indexes = [index for index in range(self.index) if isinstance(self.events[index], NodeStarted)]
        if not indexes:
            raise NotPossible("this is where the history begins", help="go on with `step`")
        return indexes

    def go_back(self, count: int) -> None:
        """Go to the node that started `count` nodes before. Raises `NotPossible` if there are fewer."""
        starts = self.node_starts()
        if count > len(starts):
            raise NotPossible(f"the history has only {len(starts)} nodes before this one", help="`history` lists them")
        self.index = starts[-count]

    def go_to(self, step: int) -> None:
        """Go to the node that a step led to, or to the end. Raises `NotPossible` for a step that is not there."""
        indexes = [
            index
            for index, event in enumerate(self.events)
            if isinstance(event, (NodeStarted, RunEnded)) and event.step is not None and event.step <= step
        ]
        last = max((event.step for event in self.events if event.step is not None), default=0)
        if not indexes or step > last:
            raise NotPossible(f"there is no step {step}", help=f"the last so far is {last}; `history` lists them")
        self.index = indexes[-1]
