"""What every store of runs must pass. Inherit from `CheckpointerConformance` in a test file and give it a fixture
`store` that makes an empty store; pytest with pytest-asyncio in its mode `auto` does the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import orjson

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.errors import RunBusy, RunExists, StoreDamaged, UnknownRun
from graph_research.graph.state.position import ActiveNode, Position
from graph_research.graph.state.rows import CallRow, Instruction, RunPatch, RunRow, Snapshot, StepRow, Write
from graph_research.graph.values.codec import encode, text_hash


class CheckpointerConformance:
    """One test a promise of `Checkpointer`."""

    async def test_a_run_is_read_as_it_was_created(self, store: Checkpointer) -> None:
        await store.create(run_row("a", metadata={"question": "why", "big": "word " * 1000}), first("a", {"n": 1}))
        run = await store.run("a")
        assert (run.run_id, run.graph, run.graph_hash, run.status) == ("a", "g", "hash", "running")
        assert run.metadata == {"question": "why", "big": "word " * 1000}
        assert (run.nodes, run.step, run.parent, run.error) == (("tick",), 0, None, None)
        assert await store.state("a") == {"n": 1}

    async def test_an_id_is_used_once(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"n": 1}))
        await raises(RunExists, store.create(run_row("a"), first("a", {"n": 2})))
        assert await store.state("a") == {"n": 1}

    async def test_an_unknown_run_is_unknown_to_every_reader(self, store: Checkpointer) -> None:
        for reader in (store.run, store.state, store.steps, store.events, store.calls, store.delete):
            await raises(UnknownRun, reader("nobody"))
        await raises(UnknownRun, store.request_cancel("nobody"))
        await raises(UnknownRun, store.instruct("nobody", Instruction("guidance", "x")))
        await raises(UnknownRun, store.instructions("nobody"))

    async def test_a_run_forgets_texts_and_those_that_another_keeps_stay(self, store: Checkpointer) -> None:
        for run_id in ("a", "b"):
            kept = ["shared " * 500, f"{run_id} alone " * 500]
            await store.create(run_row(run_id), first(run_id, {"n": 1}, texts=kept))
        names = [text_hash("shared " * 500), text_hash("a alone " * 500), "0" * 64]
        assert await store.forget_texts("a", names) == 1
        assert await store.text(names[0]) == "shared " * 500
        await raises(StoreDamaged, store.text(names[1]))
        assert await store.forget_texts("b", names) == 1
        assert await store.state("a") == await store.state("b") == {"n": 1}

    async def test_a_store_gets_smaller_by_what_is_deleted(self, store: Checkpointer) -> None:
        sizes = []
        for run_id in ("a", "b"):
            text = f"{run_id} {list(range(5000))}"
            await store.create(run_row(run_id), first(run_id, {"text": text}))
            sizes.append(await store.size())
        await store.delete("b")
        assert sizes[0] < sizes[1] > await store.size() > 0

    async def test_shared_texts_stay_when_their_first_owner_goes(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}, texts=["shared " * 1000]))
        await store.create(run_row("b"), first("b", {})._replace(shares="a"))
        name = text_hash("shared " * 1000)
        assert name in await store.text_hashes("b")
        await store.delete("a")
        await store.compact()
        assert await store.text(name) == "shared " * 1000
        await store.delete("b")
        await raises(StoreDamaged, store.text(name))

    async def test_runs_are_listed_newest_first(self, store: Checkpointer) -> None:
        for number, name in enumerate(("a", "b", "c")):
            await store.create(run_row(name, created_at=float(number)), first(name, {}))
        assert [run.run_id for run in await store.runs()] == ["c", "b", "a"]
        assert [run.run_id for run in await store.runs(limit=2)] == ["c", "b"]

    async def test_the_state_after_any_step_is_folded_from_the_log(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"n": 0, "seen": []}))
        for step in range(1, 6):
            await store.write(
                Write(run_id="a", steps=[row(step, {"replace": {"n": step}, "append": {"seen": [step]}})])
            )
        assert await store.state("a") == {"n": 5, "seen": [1, 2, 3, 4, 5]}
        assert await store.state("a", step=2) == {"n": 2, "seen": [1, 2]}
        assert [step.step for step in await store.steps("a")] == [1, 2, 3, 4, 5]
        assert (await store.run("a")).step == 5

    async def test_a_snapshot_stands_for_the_deltas_before_it(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"n": 0}))
        taken = Snapshot("", 1, orjson.dumps({"n": 10}), hash=bytes(32), position=position().to_bytes())
        await store.write(Write(run_id="a", steps=[row(1, {"add": {"n": 1}})], snapshot=taken))
        await store.write(Write(run_id="a", steps=[row(2, {"add": {"n": 1}})]))
        assert await store.state("a") == {"n": 11}
        assert await store.state("a", step=0) == {"n": 0}

    async def test_deltas_of_side_by_side_nodes_count_when_the_step_is_complete(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"seen": []}))
        parts = [row(step, {"append": {"seen": [step]}}, placed=False) for step in (1, 2)]
        await store.write(Write(run_id="a", steps=parts))
        assert await store.state("a") == {"seen": []}
        end = row(3, None)._replace(node="", position=position(applied=(2, 1)).to_bytes())
        await store.write(Write(run_id="a", steps=[end]))
        assert await store.state("a") == {"seen": [2, 1]}

    async def test_scopes_and_items_are_apart(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"n": 0}))
        item = row(1, None, placed=False)._replace(item=4, delta=b'{"x":1}')
        child = row(2, {"replace": {"m": 7}})._replace(scope="gather:1[4]/")
        await store.write(Write(run_id="a", steps=[item, child]))
        assert await store.state("a") == {"n": 0}
        assert await store.state("a", scope="gather:1[4]/") == {"m": 7}
        assert [(step.path, step.item) for step in await store.steps("a")] == [("tick", 4), ("gather[4]/tick", None)]
        assert await store.step_rows("a", "gather:1[4]/") == [child]
        assert await store.step_rows("a", "", after=0) == [item]

    async def test_events_are_read_from_where_one_stopped(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}))
        for last in (2, 4):
            batch = [stored_event(seq) for seq in (last - 1, last)]
            await store.write(Write(run_id="a", last_seq=last, events=orjson.dumps(batch)))
        assert [event.seq for event in await store.events("a")] == [1, 2, 3, 4]
        assert [event.seq for event in await store.events("a", after=3)] == [4]
        assert await store.last_seq("a") == 4

    async def test_events_of_steps_and_others_are_read_in_the_order_of_their_numbers(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}))
        for seq, steps in (
            (1, [row(1, {})]),
            (2, []),
            (3, [row(2, {})]),
            (4, [row(3, {}), row(4, {})]),
            (5, [row(5, {})]),
        ):
            batch = orjson.dumps([stored_event(seq)])
            await store.write(Write(run_id="a", steps=steps, last_seq=seq, events=batch))
        assert [event.seq for event in await store.events("a")] == [1, 2, 3, 4, 5]
        assert [event.seq for event in await store.events("a", after=3)] == [4, 5]
        assert await store.last_seq("a") == 5
        assert [step.step for step in await store.steps("a")] == [1, 2, 3, 4, 5]

    async def test_calls_are_replaced_by_number_and_lost_when_nobody_answered(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}))
        sent = [call_row(1, "work:1"), call_row(2, "work:1"), call_row(3, "work:1~2")]
        await store.write(Write(run_id="a", calls=sent))
        await store.write(Write(run_id="a", calls=[sent[0]._replace(status="answered", answer=b'"yes"')]))
        assert await store.lose_calls("a") == 2
        assert [(call.seq, call.status) for call in await store.calls("a")] == [
            (1, "answered"),
            (2, "lost"),
            (3, "lost"),
        ]
        assert [call.answer for call in await store.calls("a")] == ["yes", None, None]
        assert [call.answer for call in await store.calls("a", bare=[sent[0].kind])] == [None, None, None]
        assert [call.seq for call in await store.call_rows("a", "work:1")] == [1, 2]
        assert await store.call_keys("a") == ({"work:1", "work:1~2"}, 3)

    async def test_texts_are_kept_as_long_as_a_run_refers_to_them(self, store: Checkpointer) -> None:
        shared, own = "shared " * 500, "own"
        names = {text: text_hash(text) for text in (shared, own)}
        await store.create(run_row("a"), first("a", {}, texts=[shared, own]))
        await store.create(run_row("b"), first("b", {}, texts=[shared]))
        assert await store.text(f"sha256:{names[shared]}") == shared
        await store.delete("a")
        assert await store.text(names[shared]) == shared
        await raises(StoreDamaged, store.text(names[own]))
        await store.delete("b")
        await raises(StoreDamaged, store.text(names[shared]))
        assert await store.runs() == []

    async def test_a_deleted_run_leaves_nothing_to_one_of_the_same_id(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {"n": 1}))
        await store.write(Write(run_id="a", steps=[row(1, {"replace": {"n": 2}})], calls=[call_row(1, "x")]))
        await store.delete("a")
        await store.create(run_row("a"), first("a", {"n": 3}))
        assert await store.state("a") == {"n": 3}
        assert await store.calls("a") == []
        assert await store.steps("a") == []

    async def test_a_request_to_cancel_stays_until_it_is_followed(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}))
        assert not await store.cancel_requested("a")
        await store.request_cancel("a")
        await store.write(Write(run_id="a", run=RunPatch(status="running", updated_at=1.0)))
        assert await store.cancel_requested("a")
        patch = RunPatch(status="aborted", updated_at=2.0, cause="cancelled", error=b'{"type":"X"}', cancel_done=True)
        await store.write(Write(run_id="a", run=patch))
        await store.request_cancel("a")
        assert not await store.cancel_requested("a"), "who resumes a run that has ended wants it to go on"
        run = await store.run("a")
        assert (run.status, run.cause, run.error) == ("aborted", "cancelled", {"type": "X"})

    async def test_instructions_are_read_in_their_order_and_go_with_their_run(self, store: Checkpointer) -> None:
        for run_id in ("a", "b"):
            await store.create(run_row(run_id), first(run_id, {}))
        told = [Instruction("guidance", "Look at prices."), Instruction("plan", "{}"), Instruction("guidance", "é")]
        for instruction in told:
            await store.instruct("a", instruction)
        assert await store.instructions("a") == told
        assert await store.instructions("b") == []
        await store.delete("a")
        await store.create(run_row("a"), first("a", {}))
        assert await store.instructions("a") == []

    async def test_what_is_kept_with_a_run_stays_until_it_is_replaced(self, store: Checkpointer) -> None:
        await store.create(run_row("a", {"limit": 1}), first("a", {}))
        await store.write(Write(run_id="a", run=RunPatch(status="aborted", updated_at=1.0)))
        assert (await store.run("a")).metadata == {"limit": 1}
        await store.write(Write(run_id="a", run=RunPatch(status="running", updated_at=2.0, metadata=b'{"limit":2}')))
        assert (await store.run("a")).metadata == {"limit": 2}

    async def test_one_at_a_time_holds_the_lease(self, store: Checkpointer) -> None:
        await store.create(run_row("a"), first("a", {}))
        lease = await store.lease("a")
        await raises(RunBusy, store.lease("a"))
        await raises(RunBusy, store.delete("a"))
        other = await store.lease("b")
        other.release()
        lease.release()
        (await store.lease("a")).release()


async def raises(kind: type[Exception], work: Awaitable[Any]) -> None:
    """Assert that `work` raises `kind`."""
    try:
        await work
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def run_row(run_id: str, metadata: Any = None, created_at: float = 0.0) -> RunRow:
    """A run that has just been created."""
    return RunRow(
        run_id=run_id,
        graph="g",
        graph_hash="hash",
        definition=b"{}",
        status="running",
        cause=None,
        error=None,
        metadata=encode(metadata or {}, _LARGE),
        input=b"{}",
        waiting=None,
        created_at=created_at,
        updated_at=created_at,
        parent=None,
        seed=run_id,
    )


def first(run_id: str, values: dict[str, Any], texts: Sequence[str] = ()) -> Write:
    """The first write of a run: its channels' first values."""
    start = row(0, {"replace": values})._replace(node="", status="started")
    return Write(run_id=run_id, steps=[start], texts={**_LARGE, **{text_hash(text): text for text in texts}})


def row(step: int, delta: Any, *, placed: bool = True) -> StepRow:
    """A finished visit of the node `tick`."""
    return StepRow(
        step=step,
        scope="",
        node="tick",
        visit=max(step, 1),
        item=None,
        attempt=1,
        status="finished",
        started_at=float(step),
        seconds=0.5,
        hash=bytes(32),
        delta=None if delta is None else orjson.dumps(delta),
        position=position().to_bytes() if placed else None,
    )


def position(applied: Sequence[int] | None = None) -> Position:
    """Standing on the node `tick`."""
    return Position(active=(ActiveNode(node="tick", visit=1, entered=0),), chain=bytes(32), applied=applied)


def call_row(seq: int, key: str) -> CallRow:
    """A call that was sent."""
    return CallRow(
        seq=seq,
        key=key,
        path="work",
        visit=1,
        item=None,
        attempt=1,
        kind="ask",
        request_hash=bytes(32),
        ordinal=0,
        status="sent",
        started_at=0.0,
        seconds=0.0,
        request=b"{}",
        answer=None,
    )


def stored_event(seq: int) -> dict[str, Any]:
    """An event as it stands in a batch."""
    return {
        "type": "note",
        "seq": seq,
        "at": "2026-01-02T03:04:05+00:00",
        "path": "",
        "visit": 0,
        "name": "n",
        "data": {},
    }


_LARGE = {text_hash("word " * 1000): "word " * 1000}
