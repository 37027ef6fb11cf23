"""The attempts of a node or of one of its items: handler, prompt or subgraph, with a time limit and retries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any

from graph_research.graph.definition.spec import RetrySpec
from graph_research.graph.errors import ENDS_THE_DRIVE, GraphTimeout, NodeFailed
from graph_research.graph.execution.cancel_scope import cancel_requested
from graph_research.graph.execution.journal import JournalContext
from graph_research.graph.execution.node_result import Suspended, Unrecorded, failure_of
from graph_research.graph.execution.node_visit import GaveUp, NodeVisit
from graph_research.graph.execution.run_session import Replay
from graph_research.graph.messages import type_name
from graph_research.graph.statuses import Cause, StepStatus

_log = logging.getLogger(__name__)

_LONGEST_WAIT_SECONDS = 300.0
"""The longest wait that an error may ask for (`retry_after_seconds`)."""


class _Expired(TimeoutError):
    """In a replay: the recorded attempt ran out of time."""


async def run_attempts(
    visit: NodeVisit,
    item: int | None,
    scope: Mapping[str, Any],
    began: float,
    use: Callable[[Any], Any] | None = None,
) -> tuple[Any, JournalContext]:
    """The output of the first attempt that succeeds, or what `use` makes of it, and the context of that attempt. The
    first attempt began at `began`; one in which `use` fails has failed. Raises `GaveUp`."""
    retry, session = visit.spec.retry, visit.session
    clock, replay = session.clock, session.replay
    attempt, used = next_attempt(visit, item) if visit.earlier else (1, 0)
    while True:
        context = JournalContext(session, visit.address(item, attempt), visit.spec.role)
        if session.earlier_call_keys or session.inherited is not None:
            await context.recall()
        seconds = visit.spec.timeout_seconds
        timeout = None if seconds is None or replay is not None else asyncio.timeout(seconds)
        try:
            handoff = visit.handoff(scope)
            if replay is not None:
                output = await _replay(visit, replay, handoff, context)
            elif timeout is None:
                output = await call_node(visit, handoff, context)
            else:
                async with timeout:
                    output = await call_node(visit, handoff, context)
            output = visit.accepted(output, scope)
            return output if use is None else use(output), context
        except (Suspended, *ENDS_THE_DRIVE, Unrecorded):
            raise
        except (Exception, asyncio.CancelledError) as problem:  # whatever a node fails with is recorded
            if cancel_requested(problem):
                raise
            expired = isinstance(problem, TimeoutError) and (
                isinstance(problem, _Expired) or (timeout is not None and timeout.expired())
            )
            event = Cause.TIMEOUT if expired or isinstance(problem, GraphTimeout) else Cause.ERROR
            failure = failure_of(visit.active, event, _shown(problem, expired=expired), attempt)
            _log.debug("node %s failed in attempt %d", visit.spec.name, attempt, exc_info=problem)
            if used + 1 >= retry.attempts or not _is_retried(retry, problem, event):
                raise GaveUp(failure, context) from problem
            await visit.record_retry(context, failure, clock.monotonic() - began)
            wait = _seconds_until_next(retry, used, problem)
        if replay is None:
            await asyncio.sleep(wait)
        attempt, used, began = attempt + 1, used + 1, clock.monotonic()


def _shown(problem: BaseException, *, expired: bool) -> BaseException:
    """The exception that tells what happened in an attempt."""
    if expired:
        return TimeoutError("it took longer than its timeout_seconds")
    if isinstance(problem, asyncio.CancelledError):
        return asyncio.CancelledError("a task that it awaits was cancelled, but not the run")
    return problem


async def _replay(visit: NodeVisit, replay: Replay, handoff: Mapping[str, Any], context: JournalContext) -> Any:
    """Make the attempt as the recorded run did: one that ran out of time does so after all that its subgraph had
    recorded by then."""
    nested = visit.spec.kind == "graph"
    expired = replay.begin_attempt(context.address, nested=nested)
    if expired and not nested:
        raise _Expired
    try:
        output = await call_node(visit, handoff, context)
    except (NodeFailed, Unrecorded):
        if not expired:
            raise
    if expired:
        raise _Expired
    return output


def call_node(visit: NodeVisit, handoff: Mapping[str, Any], context: JournalContext) -> Awaitable[Any]:
    """Call the node's handler, prompt or subgraph."""
    graph, spec = visit.graph_run.graph, visit.spec
    if spec.kind == "run":
        if visit.program.typed:
            handoff = visit.program.from_stored(handoff, spec.name)
        output: Any = graph.registry.handlers[spec.target or ""](handoff, context)
        if not isawaitable(output):
            message = f'handler "{spec.target}" returned {type_name(output)}, which cannot be awaited'
            raise NodeFailed(message, help="declare it with `async def`")
        return output
    if spec.kind == "graph":
        return _call_subgraph(visit, handoff, context)
    if graph.registry.prompter is None:
        raise NodeFailed(f'node "{spec.name}": no prompter is registered', help="register a prompter")
    schema = spec.output.schema if spec.output else None
    contract = graph.contracts[schema].schema if schema else None
    return graph.registry.prompter(spec.target or "", spec.role or "", handoff, contract, context)


def next_attempt(visit: NodeVisit, item: int | None) -> tuple[int, int]:
    """The number of the next attempt, and how many of the allowed attempts are used up.

    A node that gave up is allowed all of them again; a subgraph goes on where it failed, in the same attempt.
    """
    statuses = [row.status for row in visit.earlier if row.item == item]
    retried, failed = statuses.count(StepStatus.RETRIED), statuses.count(StepStatus.FAILED)
    used = list(reversed(statuses)).index(StepStatus.FAILED) if failed else retried
    return 1 + retried + (failed if visit.spec.kind != "graph" else 0), used


async def _call_subgraph(visit: NodeVisit, handoff: Mapping[str, Any], context: JournalContext) -> Any:
    output, visit.chains[context.item] = await visit.child(visit.spec.target or "", handoff, context.address)
    return output


def first_of(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of what parallel work raised: what ends the drive first, then the first failure."""
    flat = [problem for problem in several.exceptions if not isinstance(problem, asyncio.CancelledError)]
    return next((problem for problem in flat if isinstance(problem, ENDS_THE_DRIVE)), flat[0])


def _is_retried(retry: RetrySpec, problem: BaseException, event: Cause) -> bool:
    names = {kind.__name__ for kind in type(problem).__mro__} | {event.value}
    return not retry.on or not names.isdisjoint(retry.on)


def _seconds_until_next(retry: RetrySpec, used: int, problem: BaseException) -> float:
    """Seconds until the next attempt: the backoff, or longer where the error says `retry_after_seconds`."""
    requested = getattr(problem, "retry_after_seconds", None)
    least = min(requested, _LONGEST_WAIT_SECONDS) if isinstance(requested, int | float) else 0.0
    try:
        backoff = min(retry.initial_seconds * retry.factor**used, retry.most_seconds)
    except OverflowError:
        backoff = retry.most_seconds if retry.initial_seconds else 0.0
    return max(backoff, least)
