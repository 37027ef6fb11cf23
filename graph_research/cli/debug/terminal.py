"""The debugger in the terminal: reads commands from the keyboard or a script, and prints their results."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from graph_research.cli.debug import render
from graph_research.cli.display.output import say, show, show_lines
from graph_research.cli.errors import DONE, INVALID
from graph_research.errors import GraphResearchError, UserMistake
from graph_research.graph.debugger.stepper import Debugger
from graph_research.graph.debugger.stops import Stop
from graph_research.graph.debugger.triggers import FailureStop
from graph_research.graph.errors import ExpressionFailed
from graph_research.graph.messages import show_value

_PROMPT = "(debug) "
_HISTORY_LINES = 1_000
_SOURCE_LINES = 10


class UnknownCommand(UserMistake):
    """A line is not a command of the debugger."""


_Run = Callable[[str], Awaitable[Stop | None]]
"""Runs a command with the rest of its line; a stop that it comes to is shown."""


@dataclass(frozen=True, kw_only=True)
class _Command:
    short: str
    usage: str
    does: str
    run: _Run


class Terminal:
    """The commands of one debugger. `history` is the file that typed lines are kept in."""

    def __init__(self, debugger: Debugger, *, history: Path) -> None:
        self._debugger = debugger
        self._history = history
        self._level = 0
        self._last = ""
        self._over = False
        self._commands = self._table()

    async def interact(self) -> int:
        """Read commands from the keyboard until `quit` or the end of the input; the exit code."""
        with _line_history(self._history):
            while (line := _read_line()) is not None:
                try:
                    if not await self.execute(line or self._last):
                        return DONE
                except GraphResearchError as error:
                    show(f"! {error}")
                self._last = line or self._last
        return DONE

    async def run_script(self, script: Path, text: str) -> int:
        """Run the lines of a script; a line that cannot be executed ends it with `FILE:LINE` and exit code 2."""
        for number, line in enumerate(text.splitlines(), start=1):
            command = line.strip()
            if not command or command.startswith("#"):
                continue
            show(f"{_PROMPT}{command}")
            try:
                if not await self.execute(command):
                    return DONE
            except (UserMistake, ExpressionFailed) as error:
                say(f"graph-research: {script}:{number}: {error}")
                return INVALID
        return DONE

    async def execute(self, line: str) -> bool:
        """Run one command; false for `quit`. Raises `UnknownCommand`."""
        name, _, rest = line.strip().partition(" ")
        if not name:
            return True
        command = self._command(name)
        if rest.strip() and not self._commands[command].usage:
            raise UnknownCommand(f"`{command}` takes no argument, not {rest.strip()[:40]!r}", help="leave it out")
        async with self._interruptible():
            stop = await self._commands[command].run(rest.strip())
            if stop is not None:
                await self.show_stop(stop)
        return not self._over

    async def show_stop(self, stop: Stop) -> None:
        """Where the run is held now, and what is watched."""
        self._level = 0
        show_lines(render.stopped(stop, await self._debugger.inspector.levels(), self._debugger.run_id))
        for text in self._debugger.triggers.watches:
            show(f"  {text} = {await self._value(text)}")

    def _command(self, name: str) -> str:
        exact = [command for command, entry in self._commands.items() if name in (command, entry.short)]
        matches = exact or [command for command in self._commands if command.startswith(name)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UnknownCommand(f"{name!r} is short for several", help=f"write one of {', '.join(matches)}")
        raise UnknownCommand(f"no command {name[:40]!r}", help="`help` lists them")

    def _table(self) -> Mapping[str, _Command]:
        debugger = self._debugger

        def moving(move: Callable[[], Awaitable[Stop]]) -> _Run:
            return lambda _: move()

        def counted(move: Callable[[int], Awaitable[Stop]]) -> _Run:
            return lambda rest: move(_count(rest))

        rows: list[tuple[str, str, str, str, _Run]] = [
            ("step", "s", "[COUNT]", "to the next moment: before a node or behind it", counted(debugger.step)),
            ("next", "n", "[COUNT]", "to the next node of this graph; subgraphs run through", counted(debugger.next)),
            ("into", "i", "[COUNT]", "to the next node, into subgraphs too", counted(debugger.into)),
            ("out", "o", "", "until this subgraph has ended", moving(debugger.out)),
            ("continue", "c", "", "to the next breakpoint, failure or question", moving(debugger.proceed)),
            ("until", "u", "WHERE", "to a place, written as for `break`", debugger.until),
            ("back", "b", "[COUNT]", "to the node before, in the history", counted(debugger.back)),
            ("reverse", "rc", "", "back to the breakpoint before, or to the start", moving(debugger.reverse)),
            ("goto", "g", "STEP", "to a step of the history", self._goto),
            ("break", "br", "[WHERE] [if EXPR]", "NODE[:VISIT], edge A -> B, guard A -> B, FILE:LINE", self._break),
            ("delete", "del", "[NUMBER]", "forget a breakpoint, or all", self._delete),
            ("catch", "", "all|final|none", "which failures of nodes are stopped at", self._catch),
            ("watch", "w", "[EXPR]", "show a value at each stop, stop where it changes", self._watch),
            ("unwatch", "", "[EXPR]", "forget one, or all", self._unwatch),
            ("print", "p", "EXPR", "the value of an expression of the graph language", self._print),
            ("state", "st", "[CHANNEL]", "the channels here", self._state),
            ("diff", "d", "", "what changed since the stop before", self._diff),
            ("set", "", "CHANNEL = VALUE", "give a channel a value (JSON or EXPR), in a fork of the run", self._set),
            ("edges", "e", "", "the edges of this node, and why each holds or not", self._edges),
            ("guards", "", "", "the same with the values of their names", partial(self._edges, values=True)),
            ("prompt", "pr", "[ITEM]", "the call this node will make, or made", self._prompt),
            ("calls", "ca", "[here]", "the recorded calls with tokens, cost and time", self._calls),
            ("history", "h", "", "the moments so far", self._show_history),
            ("where", "bt", "", "the stack of graphs", self._where),
            ("up", "", "", "look from the graph around this one", partial(self._look_from, up=1)),
            ("down", "", "", "look from the graph inside again", partial(self._look_from, up=-1)),
            ("list", "l", "", "the lines of the graph around this node", self._list),
            ("answer", "a", "VALUE", "answer what the run asks; JSON, or plain text", self._answer),
            ("fork", "f", "[STEP]", "go on as a new run from here, or from a step", self._fork),
            ("resume", "", "", "go on with a run that was stopped or has failed", moving(debugger.resume)),
            ("restart", "", "", "a new run with the same input", moving(debugger.restart)),
            ("help", "?", "[COMMAND]", "this list, or the line of one command", self._help),
            ("quit", "q", "", "leave; the run is kept and can be resumed", self._quit),
        ]
        return {name: _Command(short=short, usage=usage, does=does, run=run) for name, short, usage, does, run in rows}

    # Moving

    async def _goto(self, rest: str) -> Stop:
        return await self._debugger.goto(_number(rest))

    async def _answer(self, rest: str) -> Stop:
        try:
            value = orjson.loads(rest)
        except orjson.JSONDecodeError:
            value = rest
        return await self._debugger.answer(value)

    async def _fork(self, rest: str) -> Stop:
        return await self._debugger.fork(_number(rest) if rest else None)

    async def _set(self, rest: str) -> Stop:
        channel, equals, text = rest.partition("=")
        if not equals:
            raise UserMistake("`set` takes CHANNEL = VALUE", help="such as: set n = n + 1")
        return await self._debugger.assign(channel.strip(), text.strip())

    # Where to stop

    async def _break(self, rest: str) -> None:
        if rest:
            added = self._debugger.triggers.add(rest)
            show(f"breakpoint {added.number}: {added}")
            return
        for breakpoint in self._debugger.triggers.breakpoints:
            show(f"{breakpoint.number}: {breakpoint}")
        if not self._debugger.triggers.breakpoints:
            show("no breakpoints")

    async def _delete(self, rest: str) -> None:
        self._debugger.triggers.remove(_number(rest) if rest else 0)

    async def _catch(self, rest: str) -> None:
        if rest not in tuple(FailureStop):
            raise UserMistake("`catch` takes all, final or none", help="final: failures that are not tried again")
        self._debugger.triggers.failures = FailureStop(rest)

    async def _watch(self, rest: str) -> None:
        if rest:
            await self._debugger.triggers.add_watch(rest)
        for text in self._debugger.triggers.watches:
            show(f"  {text} = {await self._value(text)}")

    async def _unwatch(self, rest: str) -> None:
        self._debugger.triggers.remove_watch(rest)

    # Looking

    async def _print(self, rest: str) -> None:
        show(render.full(await self._debugger.inspector.evaluate(rest, self._level)))

    async def _state(self, rest: str) -> None:
        if rest:
            await self._print(rest)
            return
        level = await self._debugger.inspector.level(self._level)
        for name, value in {**level.state, "loops": level.scope["loops"]}.items():
            show(f"{name} = {show_value(value)}")

    async def _diff(self, _: str) -> None:
        changes = await self._debugger.inspector.changes()
        for name, (old, new) in changes.items():
            show(render.changed(name, old, new))
        if not changes:
            show("nothing has changed since the stop before")

    async def _edges(self, _: str, *, values: bool = False) -> None:
        show_lines(render.edge_lines(await self._debugger.inspector.edges(self._level), values=values))

    async def _prompt(self, rest: str) -> None:
        made = [] if rest else await self._debugger.inspector.calls(here=True)
        for call in made:
            show(f"call {call.seq}, {call.kind}, {call.status}, as it was sent:")
            show_lines(render.request_lines(call.request))
        if not made:
            show_lines(render.dry_run_lines(await self._debugger.inspector.dry_run(_number(rest) if rest else 0)))

    async def _calls(self, rest: str) -> None:
        records = await self._debugger.inspector.calls(here=rest == "here")
        show_lines(render.calls(records, [self._debugger.cost(record.answer) for record in records]))

    async def _show_history(self, _: str) -> None:
        if self._debugger.stop is not None:
            show_lines(render.history(self._debugger.timeline.moments(), self._debugger.stop.event))

    async def _where(self, _: str) -> None:
        for number, level in enumerate(await self._debugger.inspector.levels()):
            mark = "->" if number == self._level else "  "
            place = level.graph.spec.nodes[level.node].place
            show(f"{mark} {number}  {level.path}:{level.visit} in {level.graph.spec.name} ({place.file}:{place.line})")

    async def _look_from(self, _: str, *, up: int) -> None:
        await self._debugger.inspector.level(self._level + up)
        self._level += up
        await self._where("")

    async def _list(self, _: str) -> None:
        level = await self._debugger.inspector.level(self._level)
        if self._debugger.stop is not None:
            show_lines(render.source(level, self._debugger.stop.event, _SOURCE_LINES))

    async def _help(self, rest: str) -> None:
        names = [self._command(rest)] if rest else self._commands
        for name in names:
            command = self._commands[name]
            left = f"{name} {command.usage}".strip()
            show(f"{left:32} {command.short:4} {command.does}")
        show("An empty line repeats the last command; a unique beginning of a command is enough.")

    async def _quit(self, _: str) -> None:
        self._over = True

    async def _value(self, text: str) -> str:
        try:
            return show_value(await self._debugger.inspector.evaluate(text, self._level))
        except (UserMistake, ExpressionFailed) as problem:
            return f"({problem.message})"

    @contextlib.asynccontextmanager
    async def _interruptible(self) -> AsyncIterator[None]:
        """While a command runs the first SIGINT tells what the run is doing and holds it at its next event, a second
        one cancels the task."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None, "executed inside a task"
        telling: list[asyncio.Task[None]] = []

        def interrupt() -> None:
            if telling:
                task.cancel()
            else:
                self._debugger.pause()
                telling.append(loop.create_task(self._tell_work()))

        before = signal.getsignal(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)
            if telling:
                await asyncio.wait(telling)

    async def _tell_work(self) -> None:
        for work in await self._debugger.inspector.work():
            say(f"  {work}")
        say("it is held at its next event; Ctrl-C again leaves the debugger, and the run can be resumed")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UserMistake(f"{text[:40]!r} is not a number", help="give a whole number") from None


def _count(text: str) -> int:
    count = _number(text) if text else 1
    if count < 1:
        raise UserMistake(f"{count} is not a count", help="give a whole number from 1 on")
    return count


def _read_line() -> str | None:
    """A line from the keyboard, None at the end of the input; Ctrl-C at the prompt drops what was typed."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        while True:
            try:
                return input(_PROMPT).strip()
            except KeyboardInterrupt:
                show("")
    except EOFError:
        show("")
        return None
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _line_history(file: Path) -> Iterator[None]:
    """Line editing, with the lines of earlier sessions; they are kept for their owner only."""
    import readline

    with contextlib.suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_HISTORY_LINES)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.touch(mode=0o600)
            readline.write_history_file(file)
