"""What a node would do first: its handoff, and the call it would make, without anything being sent or stored."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Clock
from graph_research.graph.debugger.call_stack import Level
from graph_research.graph.errors import GuardFailed
from graph_research.graph.values.codec import duplicate, text_hash

__all__ = ["Rehearsal", "handoff_of", "rehearse"]


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """The first outside call of a node: its kind and request; `kind` is None where it makes none, and `why` says so or
    tells the error."""

    handoff: Mapping[str, Any] | None
    kind: str | None = None
    request: Any = None
    why: str = ""


def handoff_of(level: Level, item: int = 0) -> dict[str, Any]:
    """What the node of `level` would be given now; under `each` for the item with this index. Raises `GuardFailed`."""
    program, spec = level.graph.programs[level.node], level.graph.spec.nodes[level.node]
    scope: Mapping[str, Any] = level.scope
    if program.each is not None:
        items = program.each.evaluate(scope)
        if not isinstance(items, list) or not 0 <= item < len(items):
            raise GuardFailed(f'node "{level.node}" has no item {item}: `each` gives {len(items or ())} of them')
        scope = {**scope, spec.item_name: items[item], "index": item}
    return dict(duplicate(program.handoff(scope)))


async def rehearse(level: Level, store: Checkpointer, run_id: str, clock: Clock, item: int = 0) -> Rehearsal:
    """Let the node's handler or prompt go as far as its first call and no further."""
    spec = level.graph.spec.nodes[level.node]
    if spec.kind not in {"run", "prompt"}:
        handoff = handoff_of(level, item) if spec.kind == "graph" else None
        return Rehearsal(handoff=handoff, why=f"a `{spec.kind}` node asks nothing outside itself")
    handoff = handoff_of(level, item)
    context = _Rehearsed(level, store, run_id, clock, item if spec.each else None)
    why = "the node makes no outside call"
    try:
        await _started(level, handoff, context)
    except _Stopped:
        pass
    except BaseExceptionGroup as several:
        _, other = several.split(_Stopped)
        if other is not None and not isinstance(other, ExceptionGroup):
            raise
        why = str(other)
    except Exception as problem:  # noqa: BLE001 -- whatever the node fails with is what is shown
        why = f"it fails: {type(problem).__name__}: {problem}"
    if context.asked is None:
        return Rehearsal(handoff=handoff, why=why)
    kind, request = context.asked
    return Rehearsal(handoff=handoff, kind=kind, request=request)


async def _started(level: Level, handoff: Mapping[str, Any], context: _Rehearsed) -> None:
    spec, registry = level.graph.spec.nodes[level.node], level.graph.registry
    if spec.kind == "run":
        await registry.handlers[spec.target or ""](handoff, context)
    elif registry.prompter is not None:
        schema = spec.output.schema if spec.output else None
        contract = level.graph.contracts[schema].schema if schema else None
        await registry.prompter(spec.target or "", spec.role or "", handoff, contract, context)


class _Stopped(BaseException):
    """The first call was asked for; no handler catches it."""


class _Rehearsed:
    """A `Context` that sends nothing and stores nothing."""

    def __init__(self, level: Level, store: Checkpointer, run_id: str, clock: Clock, item: int | None) -> None:
        self.run_id = run_id
        self.node = level.node
        self.path = level.path if item is None else f"{level.path}[{item}]"
        self.visit = level.visit
        self.item = item
        self.attempt = 1
        self.interactive = False
        self.role = level.graph.spec.nodes[level.node].role
        self.random = random.Random(f"{run_id}/{self.path}")  # noqa: S311 -- repeatable, not secret
        self.asked: tuple[str, Any] | None = None
        self._store = store
        self._clock = clock
        self._texts: dict[str, str] = {}
        self._ids = 0

    async def call(self, kind: str, request: Any, fn: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ARG002 -- not sent
        if self.asked is None:
            self.asked = (kind, duplicate(request))
        raise _Stopped

    def now(self) -> datetime:
        return self._clock.now()

    def new_id(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}-{hashlib.sha256(f'{self.path}/{self._ids}'.encode()).hexdigest()[:10]}"

    def put_text(self, text: str) -> str:
        name = text_hash(text)
        self._texts[name] = text
        return f"sha256:{name}"

    async def get_text(self, text_hash: str) -> str:
        name = text_hash.removeprefix("sha256:")
        return self._texts[name] if name in self._texts else await self._store.text(name)

    def emit(self, name: str, **data: Any) -> None:
        """Nobody is told."""

    def progress(self, name: str, **data: Any) -> None:
        """Nobody is told."""
