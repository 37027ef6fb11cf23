"""The debugger: holds a run before each node, walks its stored history, and goes on from any of its steps as a fork."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from graph_research.graph.checkpoint.base import CallRecord, Checkpointer
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.debugger.breakpoints import Breakpoint, compiled, line_breakpoint, parse_breakpoint
from graph_research.graph.debugger.call_stack import EdgeView, Level, Viewer, Work, edges_of, work_of
from graph_research.graph.debugger.dry_run import DryRun, dry_run, handoff_of
from graph_research.graph.debugger.follower import Allowance, Following
from graph_research.graph.debugger.stop import (
    NotPossible,
    Reason,
    Stop,
    frame_of,
    is_around,
    standing,
    stops_always,
    watching,
)
from graph_research.graph.debugger.stop_locations import plain_path
from graph_research.graph.debugger.untimed import untimed
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GuardFailed
from graph_research.graph.events import (
    Event,
    InputRequested,
    ItemFinished,
    NodeFailed,
    NodeFinished,
    NodeStarted,
    RunEnded,
    RunPaused,
)
from graph_research.graph.history.fork import fork
from graph_research.graph.runtime import NO_ANSWER, Runtime

__all__ = ["Debugged", "Debugger", "NotPossible", "Stop"]

Goal = Callable[[Event], bool]
Failures = Literal["all", "final", "none"]


@dataclass(frozen=True, kw_only=True)
class Debugged:
    """A debugger with a run that is ready: `start` begins it or takes it up. Breakpoints may be set before. `said` is
    what whoever debugs is told first, line by line."""

    debugger: Debugger
    start: Callable[[], Awaitable[Stop]]
    said: Sequence[str] = ()


class Debugger:
    """One run under control: a new one (`begin`), or a stored one (`attach`).

    Moving on from an earlier moment reads the stored history and runs nothing again; at its end the run itself goes on,
    held by not taking its next event. `fork` and `assign` go on from anywhere as a new run, of which `run_id` is the id
    then. `told` and whoever joins `listeners` get every new event; `cost` gives the price of a recorded answer in USD,
    None where it has none. `timeout_seconds` bounds how long runs go on for; to hold them costs nothing of it.
    """

    def __init__(
        self,
        graph: Graph,
        store: Checkpointer,
        *,
        clock: Clock | None = None,
        interactive: bool = True,
        told: Callable[[Event], None] = lambda _: None,
        cost: Callable[[Any], float | None] = lambda _: None,
        new_run_id: Callable[[], str] = lambda: f"run-{secrets.token_hex(6)}",
        timeout_seconds: float | None = None,
    ) -> None:
        self.graph = untimed(graph)
        self.store = store
        self.cost = cost
        self.run_id = ""
        self.breakpoints: list[Breakpoint] = []
        self.watches: list[str] = []
        self.failures: Failures = "final"
        self.stop: Stop | None = None
        self._clock = clock or SystemClock()
        self._interactive = interactive
        self._runtime = Runtime(self.graph, checkpointer=store, clock=self._clock, interactive=interactive)
        self.listeners = [told]
        self._new_run_id = new_run_id
        self._following: Following | None = None
        self._allowance = Allowance(timeout_seconds)
        self._log: list[Event] = []
        self._at = -1
        self._viewer = Viewer(store, "", self.graph)
        self._shown: tuple[str, int] = ("", 0)
        self._earlier: tuple[str, int] | None = None
        self._number = 0
        self._hits: dict[int, int] = {}
        self._seen: dict[str, Any] = {}
        self._pausing = False

    # A run to debug

    async def begin(
        self, input: Mapping[str, Any], *, run_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Stop:
        """Start a run and hold it before its first node. Raises `InputInvalid`, `RunExists`."""
        self._take_over(run_id or self._new_run_id(), [])
        self._following = Following(self._runtime.stream(input, run_id=self.run_id, metadata=metadata))
        return await self._run(lambda event: isinstance(event, NodeStarted), "entry")

    async def attach(self, run_id: str) -> Stop:
        """Look at a stored run, a completed one from its first node on, any other where it stands.

        Raises `UnknownRun`.
        """
        record = await self.store.run(run_id)
        self._take_over(run_id, await self.store.events(run_id))
        self._at = 0 if record.status == "completed" else len(self._log) - 1
        if record.status == "completed":
            return await self._run(lambda event: isinstance(event, NodeStarted), "entry")
        if record.status == "running":
            await self._stand()
        return await self._held("entry", note=standing(record))

    async def close(self) -> None:
        """Let go: a run that is held can be resumed."""
        following, self._following = self._following, None
        if following is not None:
            await following.close()

    # Moving

    async def step(self, count: int = 1) -> Stop:
        """On to the next moment, before a node or behind one; `count` times unless something else stops the run."""
        return await self._run(_nth(lambda event: isinstance(event, (NodeStarted, NodeFinished, NodeFailed)), count))

    async def into(self, count: int = 1) -> Stop:
        """On to the next node, whatever graph it is in; `count` times unless something else stops the run."""
        return await self._run(_nth(lambda event: isinstance(event, NodeStarted), count))

    async def next(self, count: int = 1) -> Stop:
        """On to the next node of this graph or of one around it, while subgraphs run through; `count` times unless
        something else stops the run."""
        frame = frame_of(self._now().path)

        def reached(event: Event) -> bool:
            return isinstance(event, NodeStarted) and is_around(frame_of(event.path), frame)

        return await self._run(_nth(reached, count))

    async def out(self) -> Stop:
        """On until the subgraph has ended that the run is in; in the root graph to the end of the run."""
        frame = frame_of(self._now().path)

        def left(event: Event) -> bool:
            if isinstance(event, ItemFinished):
                return frame == f"{event.path}[{event.item}]"
            if isinstance(event, (NodeFinished, NodeFailed)):
                return event.path in (frame, plain_path(frame))
            return isinstance(event, NodeStarted) and is_around(frame_of(event.path), frame_of(frame))

        return await self._run(left if frame else lambda _: False)

    async def proceed(self) -> Stop:
        """On to the next breakpoint, or the end."""
        return await self._run(lambda _: False)

    async def until(self, where: str) -> Stop:
        """On to a place, written like a breakpoint, or to one that comes before it."""
        once = parse_breakpoint(where, self.graph, 0)
        self.breakpoints.append(once)
        try:
            return await self.proceed()
        finally:
            self.breakpoints.remove(once)

    async def back(self, count: int = 1) -> Stop:
        """To the node before, in the stored history; `count` nodes back. Raises `NotPossible` where there are fewer."""
        places = self._begun()
        if count > len(places):
            raise NotPossible(f"the history has only {len(places)} nodes before this one", help="`history` lists them")
        self._at = places[-count]
        return await self._held("step")

    async def reverse(self) -> Stop:
        """Back to where a way here from the start would have been stopped at a breakpoint last, or to the start."""
        first, here = self._begun()[0], self._at
        watched = {text: self._seen[text] for text in self.watches if text in self._seen}
        self._hits, self._seen = {}, dict(watched)
        place, hit = first, list[Breakpoint]()
        counted: tuple[dict[int, int], dict[str, Any]] = {}, watched
        for self._at in range(here):
            met, _ = await self._met_breakpoints(self._log[self._at])
            if met or self._at == first:
                place, hit, counted = self._at, met, (dict(self._hits), dict(self._seen))
        self._at, (self._hits, self._seen) = place, counted
        return await self._held("breakpoint" if hit else "step", hit=hit)

    async def goto(self, step: int) -> Stop:
        """To a step of the history: before the node that it led to, or at the end."""
        moments = [
            place
            for place, event in enumerate(self._log)
            if isinstance(event, (NodeStarted, RunEnded)) and event.step is not None and event.step <= step
        ]
        last = max((event.step for event in self._log if event.step is not None), default=0)
        if not moments or step > last:
            raise NotPossible(f"there is no step {step}", help=f"the last so far is {last}; `history` lists them")
        self._at = moments[-1]
        return await self._held("goto")

    def pause(self, *, at_once: bool = False) -> None:
        """Hold the run at its next event; `at_once` already where it is, in the midst of `work`, which is not broken
        off: it goes on to its next event and waits there."""
        self._pausing = True
        if at_once and self._following is not None and self._log:
            self._following.call_away()

    async def answer(self, value: Any) -> Stop:
        """Answer what the run asks, and go on to the next node. Raises `InputInvalid` for one that does not fit."""
        await self._to_the_end()
        return await self._resumed(value)

    async def resume(self) -> Stop:
        """Go on with a run that was paused, cut or has failed, and hold it at the next node."""
        await self._to_the_end()
        return await self._resumed(NO_ANSWER)

    async def fork(self, step: int | None = None, values: Mapping[str, Any] | None = None) -> Stop:
        """A new run that begins as this one up to `step` (None: where it is held), with `values` for channels of the
        root graph. The edges out of the node of that step are tried again, so that they see the values."""
        at = step if step is not None else self._now().step
        record = await self.store.run(self.run_id)
        name = self._new_run_id()
        await self.close()
        now = self._clock.now().timestamp()
        await fork(self.store, self.graph, record.run_id, at or 0, run_id=name, now=now, values=values)
        self._take_over(name, await self.store.events(name))
        for event in self._log:
            self._tell(event)
        self._at = len(self._log) - 1
        if await self._stand():
            return await self._held("step", note=f"forked from {record.run_id} at step {at}")
        stop = await self._resumed(NO_ANSWER)
        self.stop = replace(stop, note=f"forked from {record.run_id} at step {at}")
        return self.stop

    async def assign(self, channel: str, text: str) -> Stop:
        """Give a channel of the root graph the value of an expression, in a fork of the run where it is held."""
        value = (await self.evaluate(text)) if text.strip() else None
        return await self.fork(values={channel: value})

    async def restart(self) -> Stop:
        """A new run with the same input."""
        record = await self.store.run(self.run_id)
        await self.close()
        return await self.begin(record.input, metadata=record.metadata)

    # Breakpoints

    def add_breakpoint(self, text: str, *, hits: int = 1) -> Breakpoint:
        """Stop at `text` from now on (see `parse_breakpoint`), at the visit number `hits` that meets it and later."""
        self._number += 1
        self.breakpoints.append(parse_breakpoint(text, self.graph, self._number, hits=hits))
        return self.breakpoints[-1]

    def break_at(self, file: str, line: int, *, condition: str = "", hits: int = 1) -> Breakpoint:
        """The same on a line of a graph's file, or at what comes next in it."""
        self._number += 1
        added = line_breakpoint(file, line, self.graph, self._number, condition=condition, hits=hits)
        self.breakpoints.append(added)
        return added

    def remove_breakpoint(self, number: int) -> None:
        """Forget one, or all for number 0."""
        kept = [one for one in self.breakpoints if number and one.number != number]
        if number and len(kept) == len(self.breakpoints):
            raise NotPossible(f"there is no breakpoint {number}", help="`break` lists them")
        self.breakpoints = kept

    async def add_watch(self, text: str) -> None:
        """Show an expression at every stop, and stop where its value has changed."""
        compiled(text, self.graph)
        self.watches.append(text)
        await self._watched()

    def remove_watch(self, text: str) -> None:
        """Forget one, or all for an empty text."""
        if text and text not in self.watches:
            raise NotPossible(f"{text[:80]!r} is not watched", help="`watch` lists what is")
        self.watches = [one for one in self.watches if text and one != text]

    # Looking

    async def levels(self) -> list[Level]:
        """The stack where the run is held, the innermost graph first; empty before anything ran."""
        return await self._viewer.levels(self._now())

    async def level(self, number: int = 0) -> Level:
        """One level of the stack, 0 the innermost."""
        levels = await self.levels()
        if not 0 <= number < len(levels):
            raise NotPossible(f"the stack has no level {number}", help=f"it has {len(levels)}, counted from 0")
        return levels[number]

    async def evaluate(self, text: str, number: int = 0) -> Any:
        """The value of an expression of the graph language where the run is held."""
        level = await self.level(number)
        return compiled(text, self.graph, level.scope).evaluate(level.scope)

    async def changes(self) -> dict[str, tuple[Any, Any]]:
        """Channels of the innermost graph that differ from where the run was held before: old and new value."""
        level = await self.level()
        run_id, step = self._earlier or (self.run_id, -1)
        viewer = self._viewer if run_id == self.run_id else Viewer(self.store, run_id, self.graph)
        old, new = await viewer.state(level.key, step), level.state
        return {name: (old.get(name), value) for name, value in new.items() if old.get(name) != value}

    async def edges(self, number: int = 0) -> list[EdgeView]:
        """The edges of the current node in the order they are tried, judged by the state as it is shown."""
        return edges_of(await self.level(number))

    async def dry_run(self, item: int = 0) -> DryRun:
        """The handoff of the current node and the first call it would make; nothing is sent and nothing stored."""
        return await dry_run(
            await self.level(), self.store, self.run_id, clock=self._clock, interactive=self._interactive, item=item
        )

    async def handoff(self, level: Level) -> dict[str, Any]:
        """What the node of `level` would be given now. Raises `GuardFailed`, `HandoffInvalid`, `NodeFailed`."""
        return await handoff_of(level, self.store, self.run_id, clock=self._clock)

    async def calls(self, *, here: bool = False) -> list[CallRecord]:
        """The recorded outside calls of the run, or only of the current node's visit."""
        records = await self.store.calls(self.run_id)
        if not here:
            return records
        level = await self.level()
        return [
            call for call in records if plain_path(call.path) == plain_path(level.path) and call.visit == level.visit
        ]

    async def work(self) -> list[Work]:
        """What the run is doing: the nodes that have begun and not ended, with the calls that each waits for."""
        return await work_of(self._log, self.store, self.run_id, self._clock.now())

    def history(self) -> list[Event]:
        """The moments so far: nodes that started, finished and failed, and the end; `stop.event` is the present."""
        return [event for event in self._log if isinstance(event, (NodeStarted, NodeFinished, NodeFailed, RunEnded))]

    @property
    def live(self) -> bool:
        """Whether the run is held at the latest that happened, and not in its history."""
        return self._at == len(self._log) - 1

    # Inside

    def _take_over(self, run_id: str, log: Sequence[Event]) -> None:
        if self.run_id and self.stop is not None:
            self._shown = (self.run_id, self.stop.event.step or 0)
        self.run_id = run_id
        self._log = list(log)
        self._at = -1
        self._hits.clear()
        self._viewer = Viewer(self.store, run_id, self.graph)

    async def _stand(self) -> bool:
        """Stand before the node that the run is to go on with, if its start is not told any more."""
        step = (await self.store.run(self.run_id)).step
        if not any(not one.done for one in await self._viewer.active(step)):
            return False
        last = self._log[-1]
        level = (await self._viewer.levels(replace(last, path="", step=step)))[0]
        start = NodeStarted(
            run_id=self.run_id,
            seq=last.seq,
            at=last.at,
            path=level.path,
            visit=level.visit,
            step=step,
            node=level.node,
        )
        told = isinstance(last, NodeStarted) and (last.path, last.visit) == (start.path, start.visit)
        self._log[len(self._log) - told :] = [start]
        self._at = len(self._log) - 1
        return True

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)

    def _now(self) -> Event:
        if not self._log:
            raise NotPossible("nothing has run yet", help="`restart` begins a run")
        return self._log[self._at]

    async def _run(self, goal: Goal, reason: Reason = "step") -> Stop:
        """Take events until one has to be stopped at."""
        while (event := await self._event()) is not None:
            hit, note = await self._met(event)
            why = stops_always(event) or ("breakpoint" if hit else None) or self._failure(event)
            if why is None and self._pausing and event.path:
                why = "pause"
            if why is None and goal(event):
                why = reason
            if why is not None:
                return await self._held(why, hit=hit, note=note)
        if self._following is not None:
            return await self._held("pause", note="; ".join(str(one) for one in await self.work()))
        return await self._held("end", note=standing(await self.store.run(self.run_id)))

    async def _event(self) -> Event | None:
        """The next of the history, or of the run itself; None where it goes no further, or a pause called away."""
        if not self.live:
            self._at += 1
            return self._log[self._at]
        if self._following is None:
            record = await self.store.run(self.run_id)
            if record.status not in {"running", "paused"}:
                return None
            self._following = Following(self._runtime.resume(self.run_id))
        while (event := await self._next(self._following)) is not None:
            self._tell(event)
            if event.seq is None:
                continue
            self._log.append(event)
            self._at = len(self._log) - 1
            if stops_always(event):
                await self._let_end(self._following)
            return event
        if self._following.over:
            self._following = None
        return None

    async def _next(self, following: Following) -> Event | None:
        stop = self._allowance.begin(lambda: self._runtime.time_out(self.run_id))
        try:
            return await following.next()
        finally:
            stop()

    async def _let_end(self, following: Following) -> None:
        """Let a run go that has ended or waits for somebody."""
        self._following = None
        while (event := await following.next()) is not None:
            self._tell(event)

    async def _met(self, event: Event) -> tuple[list[Breakpoint], str]:
        """The breakpoints that count here, with changed watches, and what there is to say of them."""
        hit, notes = await self._met_breakpoints(event)
        if self.watches and isinstance(event, (NodeStarted, RunEnded)):
            changed = await self._watched()
            notes.extend(f"{text} has changed" for text in changed)
            hit.extend(watching(text) for text in changed)
        return hit, "; ".join(notes)

    async def _met_breakpoints(self, event: Event) -> tuple[list[Breakpoint], list[str]]:
        hit, notes = list[Breakpoint](), list[str]()
        for one in self.breakpoints:
            if not one.meets(event, self.graph):
                continue
            holds, problem = await self._holds(one)
            if not holds:
                continue
            self._hits[one.number] = self._hits.get(one.number, 0) + 1
            if self._hits[one.number] >= one.hits:
                hit.append(one)
                notes.extend([problem] if problem else [])
        return hit, notes

    async def _holds(self, one: Breakpoint) -> tuple[bool, str]:
        if one.condition is None:
            return True, ""
        levels = await self.levels()
        if not levels or not one.condition.names <= {*levels[0].scope, "error"}:
            return one.kind != "condition", "its condition names what this graph has not"
        try:
            holds = bool(one.condition.evaluate({"error": None, **levels[0].scope}))
        except GuardFailed as failed:
            return True, f"its condition fails: {failed.message}"
        if one.kind != "condition":
            return holds, ""
        before, self._seen[str(one)] = self._seen.get(str(one), False), holds
        return holds and not before, ""

    async def _watched(self) -> list[str]:
        """What changed of the watched expressions; one that this graph cannot answer keeps its value."""
        changed = []
        levels = await self.levels()
        for text in self.watches:
            expression = compiled(text, self.graph)
            if not levels or not expression.names <= levels[0].scope.keys():
                continue
            try:
                value = expression.evaluate(levels[0].scope)
            except GuardFailed as failed:
                value = failed.message
            if text in self._seen and self._seen[text] != value:
                changed.append(text)
            self._seen[text] = value
        return changed

    def _failure(self, event: Event) -> Reason | None:
        if not isinstance(event, NodeFailed) or self.failures == "none":
            return None
        return "failure" if self.failures == "all" or not event.will_retry else None

    async def _held(self, reason: Reason, *, hit: Sequence[Breakpoint] = (), note: str = "") -> Stop:
        self._pausing = False
        if self._following is not None:
            self._following.come_back()
        event = self._now()
        self._earlier, self._shown = (self._shown if self._shown[0] else None), (self.run_id, event.step or 0)
        self.stop = Stop(reason=reason, event=event, hit=tuple(hit), note=note, live=self.live)
        return self.stop

    def _begun(self) -> list[int]:
        """The places in the history before this one where a node began."""
        places = [place for place in range(self._at) if isinstance(self._log[place], NodeStarted)]
        if not places:
            raise NotPossible("this is where the history begins", help="go on with `step`")
        return places

    async def _to_the_end(self) -> None:
        if (
            self._following is not None
            and self.live
            and not isinstance(self._now(), (InputRequested, RunPaused, RunEnded))
        ):
            raise NotPossible("the run is going on already", help="use `step`, `next` or `continue`")
        self._at = len(self._log) - 1

    async def _resumed(self, answer: Any) -> Stop:
        await self.close()
        self._following = Following(self._runtime.resume(self.run_id, answer=answer))
        return await self._run(lambda event: isinstance(event, NodeStarted), "step")


def _nth(goal: Goal, count: int) -> Goal:
    """The goal that is reached when `goal` has been reached `count` times."""
    reached = 0

    def nth(event: Event) -> bool:
        nonlocal reached
        reached += goal(event)
        return reached == count

    return nth
