"""Resume, replay and fork on constructs nested in each other, in memory and in files: nothing lost, nothing done twice.

Each run is cut, and forked, at several events and steps that are spread over it; fewer in files than in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from graph_research import MemoryCheckpointer, Runtime, SqliteCheckpointer
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import Event, ItemFinished, NodeFinished
from graph_research.graph.history.replay import replay
from tests.support.graph.scenarios import (
    RUN,
    TEXTS,
    LaterClock,
    Outside,
    begin,
    carry_on,
    construct,
    driver,
    end_of_run,
)

_PLACES = {"memory": 3, "sqlite": 1}
_EVERYWHERE = ("error edge out of an each", "error edge out of a subgraph that has run", "retry")
"""Cut after each event in memory: here a failure once counted for nothing after a crash."""
_TRIED_AGAIN = "each in a branch beside an error edge"
"""A branch that has failed is tried again when the process dies before the other branches of its step have ended."""


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Makes stores that are empty, and says at how many places a run is taken up in one of them."""

    folder: Path
    opened: list[Checkpointer]
    kind: str

    def new(self) -> Checkpointer:
        path = self.folder / f"{len(self.opened)}.db"
        store: Checkpointer = SqliteCheckpointer(path) if self.kind == "sqlite" else MemoryCheckpointer()
        self.opened.append(store)
        return store

    def thinned(self, places: Sequence[int], name: str = "") -> Sequence[int]:
        """So many of the places as there is time for, the last one among them."""
        if name in _EVERYWHERE and self.kind == "memory":
            return places
        return places[:: -max(1, len(places) // _PLACES[self.kind])]


@pytest.fixture(params=["memory", "sqlite"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    made = Stores(folder=tmp_path, opened=[], kind=request.param)
    yield made
    for store in made.opened:
        await store.close()


@pytest.mark.parametrize("name", TEXTS)
async def test_a_run_cut_anywhere_is_resumed_to_the_same_end(stores: Stores, name: str) -> None:
    whole, outside = Outside(), Outside()
    store = stores.new()
    events = await begin(driver(name, store, whole))
    end = await end_of_run(store)
    drive = driver(name, stores.new(), outside)
    for cut in stores.thinned(range(1, len(events)), name):
        outside.sent.clear()
        store = drive.checkpointer = stores.new()
        finished = _finished(await begin(drive, cut))
        outside.entered.clear()
        await carry_on(drive, RUN)
        assert await end_of_run(store) == end, f"after event {cut}"
        assert [path for path in outside.entered if path in finished] == [], f"again after event {cut}"
        assert whole.sent <= outside.sent, f"after event {cut}"
        lost = sum(call.status == "lost" for call in await store.calls(RUN))
        if name != _TRIED_AGAIN:
            assert (outside.sent - whole.sent).total() <= lost <= 2, f"after event {cut}: only what was in flight"


def _finished(events: Sequence[Event]) -> set[tuple[str, int]]:
    """The visits that were shown as finished, of nodes and of items."""
    nodes = {(event.path, event.visit) for event in events if isinstance(event, NodeFinished)}
    items = {(f"{event.path}[{event.item}]", event.visit) for event in events if isinstance(event, ItemFinished)}
    return nodes | items


@pytest.mark.parametrize("name", TEXTS)
async def test_a_whole_run_and_what_there_is_of_a_cut_one_are_replayed_alike(stores: Stores, name: str) -> None:
    store = stores.new()
    events = await begin(driver(name, store, Outside()))
    assert await _replays(store, name) == len(await store.steps(RUN))
    for cut in stores.thinned(range(3, len(events), 2), name):
        store = stores.new()
        drive = driver(name, store, Outside())
        await begin(drive, cut)
        assert await _replays(store, name) == len(await store.steps(RUN)), f"cut after event {cut}"
        await carry_on(drive, RUN)
        if name != _TRIED_AGAIN:
            assert await _replays(store, name) == len(await store.steps(RUN)), f"resumed after event {cut}"


async def _replays(store: Checkpointer, name: str, run_id: str = RUN) -> int:
    """How many steps came out the same, or were taken over; that is all of them, and the outside hears nothing."""
    silent = Outside()
    replayed = await replay(store, construct(name, silent), run_id, interactive=True, clock=LaterClock())
    assert replayed.first_difference is None
    assert silent.sent.total() == 0
    return replayed.steps + replayed.taken_over


@pytest.mark.parametrize("name", TEXTS)
async def test_a_fork_ends_as_the_run_did_and_makes_only_the_calls_that_an_edit_changed(
    stores: Stores, name: str
) -> None:
    store = stores.new()
    await begin(driver(name, store, Outside()))
    outside = Outside()
    drive = driver(name, store, outside, LaterClock())
    end = await end_of_run(store)
    recorded = {_named(call) for call in await store.calls(RUN)}
    for number in stores.thinned([0, *(step.step for step in await store.steps(RUN))]):
        fork = await _forked(drive, number, f"same-{number}")
        assert await end_of_run(store, fork) == end, f"step {number}"
        assert outside.sent.total() == 0 or name == _TRIED_AGAIN, f"step {number}"
        outside.sent.clear()
        fork = await _forked(drive, number, f"edited-{number}", word="edited")
        new = [call for call in await store.calls(fork) if _named(call) not in recorded]
        assert (await store.run(fork)).status == "completed", f"step {number}"
        assert outside.sent.total() == len(new) or name == _TRIED_AGAIN, f"step {number}"
        assert all("fixed" not in request for *_, request in outside.sent if name in ("ask", "each", "fork and join"))
        outside.sent.clear()
        if name != _TRIED_AGAIN:
            assert await _replays(store, name, fork) == len(await store.steps(fork)), f"step {number}"


def _named(call: CallRecord) -> tuple[object, ...]:
    return call.path, call.visit, call.item, call.attempt, call.request_hash


async def _forked(drive: Runtime, step: int, new_run_id: str, **values: str) -> str:
    fork = await drive.fork(RUN, step, values=values, new_run_id=new_run_id)
    await carry_on(drive, fork)
    return fork
