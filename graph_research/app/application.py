"""The long-lived object behind every front end: runs are created, driven, watched, cancelled and read through it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from graph_research.app.files import OutputUnwritable
from graph_research.app.graphs.catalog import graph_file
from graph_research.app.library import Indexing, require_folders
from graph_research.app.read_ahead import read_ahead
from graph_research.app.request import (
    NO_LIMITS,
    RequestLimits,
    RunRequest,
    changed_request,
    with_limits,
    with_settings_of,
)
from graph_research.app.runs.archive import archive_ended
from graph_research.app.runs.imported import inherited, is_foreign, refuse_foreign, without_pages
from graph_research.app.runs.indexing import index_library
from graph_research.app.runs.limits.budget import LimitReached
from graph_research.app.runs.plan import Plan
from graph_research.app.runs.report import Built, build_from_store, write_report
from graph_research.app.runs.run import Run, RunResult, assemble, new_run_id, planned_within_limits
from graph_research.app.runs.state_edits import edited
from graph_research.app.runs.status import (
    RunSummary,
    goes_on,
    is_driven,
    limit_of,
    run_error,
    status_of,
    waiting_for,
    waits_with_plan,
)
from graph_research.app.runs.steering import (
    PlannedRun,
    change_plan,
    guide,
    inherit_wishes,
    planned_run,
)
from graph_research.app.store import Store, metadata_of, open_store, request_of
from graph_research.app.telemetry.sending import send_traces
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.prices import prices_of
from graph_research.app.wiring.search import require_kinds, with_searches
from graph_research.app.workspace import Workspace
from graph_research.audit_log import AuditLog
from graph_research.errors import Action, GraphResearchError, Hint, UserMistake, check_name
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.context import SystemClock
from graph_research.graph.errors import RunBusy, RunExists, UnknownRun
from graph_research.graph.events import Event, NodeStarted, RunStarted
from graph_research.graph.history.stored_definition import stored_spec
from graph_research.graph.runtime import NO_ANSWER
from graph_research.graph.state.position import Position
from graph_research.graph.statuses import RunStatus
from graph_research.providers.clients import Clients
from graph_research.research.digest.cache import DigestCaches
from graph_research.research.hooks import Hooks
from graph_research.settings.groups import SOURCE_RULES

if TYPE_CHECKING:
    from graph_research.app.metrics import RunMetrics

_POLL_SECONDS = 0.1
_CANCEL_SECONDS = 15.0


class Application:
    """The runs of one data home. All that are driven here share one HTTP client with its rate limits and circuit
    breakers, and those of one user the digests that they make. An async context manager."""

    def __init__(self, workspace: Workspace, *, metrics: RunMetrics | None = None) -> None:
        """`metrics` counts the events of the runs that are driven here."""
        self.workspace = workspace
        self._metrics = metrics
        self.prices = prices_of(workspace.settings)
        self.store: Store
        self._clients: Clients
        self._closing = AsyncExitStack()
        self._digests = DigestCaches()
        self._limits: dict[str, LimitReached] = {}
        """The budgets that ended runs here; calls whose answer was withheld count too, and are not in the store."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self.store = await stack.enter_async_context(open_store(self.workspace.home))
            self._clients = await stack.enter_async_context(open_clients(self.workspace))
            self._closing = stack.pop_all()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._closing.aclose()

    async def create(
        self, request: RunRequest, *, run_id: str | None = None, created_at: datetime | None = None
    ) -> str:
        """Store a run that stands at its start, and return its id; nothing is asked, searched or indexed yet.
        `created_at` is when it was submitted, None: now.

        Raises a `UserMistake` for what can be checked now: models, searches, folders, the graph, its input, the id.
        """
        async with self.prepared(request, run_id=run_id) as run:
            await run.runtime().create(
                run.input(), run_id=run.run_id, metadata=metadata_of(run.request), created_at=created_at
            )
            return run.run_id

    async def fork(
        self,
        parent: str,
        step: int | None,
        *,
        assignments: Sequence[str] = (),
        graph: str | None = None,
        definition: str | None = None,
        roles: Sequence[str] = (),
        run_id: str | None = None,
        accept_changes: bool = False,
        created_at: datetime | None = None,
    ) -> str:
        """Store a run that begins where `parent` stood after `step` (None: where it was stopped), with `PATH=JSON`
        edits of its state, another graph or other models, and return its id. What the parent recorded is used again
        where the request is unchanged. `accept_changes` agrees to what a run that came in a bundle asks, `created_at`
        is as for `create`."""
        record = await self.store.run(check_name(parent, "run id"))
        request = request_of(record)
        if not accept_changes:
            refuse_foreign(record, request)
        chosen = await self._free_id(run_id)
        changed = changed_request(self.workspace, request, graph=graph, definition=definition, roles=roles)
        async with self._assembled(chosen, changed, agreed=accept_changes or not is_foreign(record)) as (run, _):
            state = await self.store.state(parent, step)
            values = edited(state, assignments)
            metadata = {**metadata_of(changed), **inherited(record)}
            await run.runtime().fork(
                parent, step, values=values, new_run_id=chosen, metadata=metadata, created_at=created_at
            )
        await inherit_wishes(self.store, parent, chosen, {**state, **values})
        return chosen

    async def drive(
        self,
        run_id: str,
        *,
        answer: str | None = None,
        accept_changes: bool = False,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        timeout_seconds: float | None = None,
        steps: bool | None = None,
        offline: bool = False,
        retry: bool = True,
        hooks: Hooks | None = None,
        on_index: Indexing | None = None,
        user: str | None = "",
    ) -> AsyncGenerator[Event, None]:
        """Drive a stored run until it ends or waits, and yield its events, each after it was stored and audited.

        The folders of a new run's library are indexed first, until it is cancelled; a new run that has nothing to
        search is removed, and `LibraryEmpty` raised. A limit given here replaces the run's own for good, and so does
        `steps`: whether it pauses before every node. An `offline` run is only to end, without models and searches.
        Without `retry` a run that has ended meanwhile stays as it is. It uses the digests of earlier runs of its
        `user`; None: of none.
        """
        limits = (max_cost, max_tokens, timeout_seconds)
        try:
            async with self.reopened(
                run_id,
                accept_changes=accept_changes,
                limits=limits,
                steps=steps,
                offline=offline,
                hooks=hooks,
                user=user,
            ) as (run, metadata):
                new = await self._is_new(run_id)
                searches = new and run.may_search and not await self.store.cancel_requested(run_id)
                if searches and not await index_library(run, self.workspace, self.store, on_index):
                    return
                given = NO_ANSWER if answer is None else answer.strip()
                run.budget.start()
                stream = run.runtime().resume(
                    run_id, answer=given, accept_changes=accept_changes, metadata=metadata, retry=retry
                )
                async with (
                    read_ahead(run.request.question, self.workspace.definitions.prompts, run.answers),
                    aclosing(self._audited(run_id, stream, new=new)) as events,
                ):
                    async for event in events:
                        yield event
                if (limit := run.budget.spent()) is not None:
                    self._limits[run_id] = limit
                await self._archive(run_id)
                await send_traces(self.workspace, self.store, run_id, self.prices)
        except Exception as error:  # a bug too is kept, for the crash report of the run
            if not isinstance(error, GraphResearchError):
                self.workspace.home.write_crash(run_id, error)
            raise

    async def events(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """The events of a run behind number `after`: those that are stored, then those that follow, whichever process
        drives the run, until it ends or waits."""
        while True:
            status = (await self.store.run_row(check_name(run_id, "run id"))).status
            for event in await self.store.events(run_id, after=after):
                after = event.seq or after
                yield event
            if status != RunStatus.RUNNING:
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def request(self, run_id: str) -> RunRequest:
        """What the run was asked for."""
        return request_of(await self.store.run(check_name(run_id, "run id")))

    async def waiting_for(self, run_id: str) -> str | None:
        """The question that a run asks, None where it waits for no answer."""
        return await waiting_for(self.store, await self.store.run(run_id))

    async def node(self, run_id: str) -> str:
        """The node that a stored run goes on with, empty where there is none. Where an event has led the run to its
        end, the node that it led away from."""
        record = await self.store.run(run_id)
        stored = await self.store.last_position(run_id)
        position = Position.from_bytes(stored.position, stored.hash) if stored and stored.position else None
        has_failed = record.status in (RunStatus.ABORTED, RunStatus.FAILED)
        if has_failed and position is not None and position.interruption is not None:
            return position.interruption.active[0].node
        return record.nodes[0] if record.nodes else ""

    async def result(self, run_id: str) -> RunResult:
        """How a run stands, with what its graph puts out."""
        result = await self.status(run_id)
        spec = await stored_spec(self.store, await self.store.run(run_id))
        channels = spec.channels if spec is not None else {}
        return replace(result, outputs=tuple(name for name, channel in channels.items() if channel.output))

    async def status(self, run_id: str) -> RunResult:
        """How a run stands, without the names of its outputs, for which its graph has to be read."""
        record = await self.store.run(check_name(run_id, "run id"))
        limit = await limit_of(self.store, record, self.prices, spent=self._limits.get(run_id))
        state = await self.store.state(run_id)
        return RunResult(
            run_id=run_id,
            status=record.status,
            cause=record.cause,
            error=run_error(record, limit, state),
            limit=limit,
            waiting_for=await waiting_for(self.store, record),
            state=state,
            parent=record.parent,
        )

    async def report(self, run_id: str, state: Mapping[str, Any] | None = None, *, version: int | None = None) -> Built:
        """The report of a research by its latest state, which is `state` where it was read already; the latest version
        where no `version` is given. `NoReport` says why there is none."""
        return await build_from_store(self.store, run_id, self.prices, version, state)

    async def write_report(self, built: Built, folder: Path) -> Mapping[str, str]:
        """Write a report into a folder in every format; `{format: path}`."""
        try:
            return await asyncio.to_thread(write_report, self.workspace, built, folder)
        except OutputUnwritable as error:
            raise OutputUnwritable(
                error.message,
                help="the run is kept; write its report elsewhere",
                hint=Hint(Action.RESUME_RUN, built.report.run_id, {"out": ""}),
            ) from error

    async def planned(self, run_id: str) -> PlannedRun | None:
        """The plan that a run waits with, None where it does not wait with one."""
        if not waits_with_plan(await self.store.run(check_name(run_id, "run id"))):
            return None
        return await planned_run(self.store, run_id, self.prices)

    async def change_plan(self, run_id: str, plan: Plan) -> None:
        """Put a plan in the place of the one that a run waits with. `InputInvalid` where it does not wait with one."""
        await change_plan(self.store, run_id, plan)

    async def guide(self, run_id: str, wish: str) -> list[str]:
        """Add a wish for the next phase of a run, whichever process drives it; all wishes of the run so far.
        `InputInvalid` for a run that is completed or takes no wishes."""
        return await guide(self.store, run_id, wish)

    async def cancel(self, run_id: str) -> RunSummary:
        """End a run over its `cancelled` edges: the process that drives it does that, or this one if none does.

        A run that has ended already is left as it is. Returns where it stands then, after some seconds at the latest.
        """
        record = await self.store.run(check_name(run_id, "run id"))
        if goes_on(record):
            await self.store.request_cancel(run_id)
        end = time.monotonic() + _CANCEL_SECONDS
        while await is_driven(self.store, run_id) and time.monotonic() < end:  # noqa: ASYNC110 -- another process ends it
            await asyncio.sleep(_POLL_SECONDS)
        if goes_on(await self.store.run(run_id)) and not await is_driven(self.store, run_id):
            with suppress(RunBusy):  # whoever has begun to drive it meanwhile sees the request
                await self._end_abandoned(record)
        return await status_of(self.store, run_id, self.prices)

    @asynccontextmanager
    async def prepared(self, request: RunRequest, *, run_id: str | None = None) -> AsyncIterator[Run]:
        """A new run, checked and not stored yet."""
        chosen = await self._free_id(run_id)
        if request.definition is None:
            graph_file(self.workspace, request.graph)
        request = await with_searches(self.workspace, request)
        async with self._assembled(chosen, request) as (run, _):
            run = planned_within_limits(run)
            if run.may_search and run.searches is not None:
                require_kinds(with_settings_of(self.workspace, request, SOURCE_RULES), run.request.search)
                await run.searches.prepare(self.workspace, index=False)
                require_folders(self.workspace, run.searches.folders)
                yield run
            else:
                yield replace(run, request=replace(request, skipped=()))

    @asynccontextmanager
    async def reopened(
        self,
        run_id: str,
        *,
        accept_changes: bool = False,
        limits: RequestLimits = NO_LIMITS,
        steps: bool | None = None,
        offline: bool = False,
        hooks: Hooks | None = None,
        user: str | None = None,
    ) -> AsyncIterator[tuple[Run, dict[str, Any] | None]]:
        """A stored run with the models and searches that it was created with, and its new metadata where `limits`
        (`max_cost`, `max_tokens`, `timeout_seconds`) or `steps` change its request."""
        record = await self.store.run(check_name(run_id, "run id"))
        stored = request_of(record)
        if not accept_changes and record.status != RunStatus.COMPLETED:
            refuse_foreign(record, stored)
        request = replace(with_limits(stored, *limits), steps=stored.steps if steps is None else steps)
        agreed = accept_changes or not is_foreign(record)
        async with self._assembled(run_id, request, offline=offline, hooks=hooks, agreed=agreed, user=user) as (
            run,
            clients,
        ):
            calls = await self.store.calls(run_id)
            run.budget.count_recorded(calls)
            clients.pages.keep_recorded(calls)
            yield run, None if request == stored else {**record.metadata, **metadata_of(request)}

    @asynccontextmanager
    async def _assembled(
        self,
        run_id: str,
        request: RunRequest,
        *,
        offline: bool = False,
        hooks: Hooks | None = None,
        agreed: bool = True,
        user: str | None = None,
    ) -> AsyncIterator[tuple[Run, Clients]]:
        async with self._clients.of_run() as clients:
            allowed = clients if agreed else without_pages(clients)
            run = assemble(
                self.workspace,
                self.store,
                allowed,
                run_id,
                request,
                offline=offline,
                hooks=hooks,
                digests=None if user is None else self._digests.of(user),
            )
            yield run, allowed

    async def _audited(
        self, run_id: str, stream: AsyncGenerator[Event, None], *, new: bool
    ) -> AsyncGenerator[Event, None]:
        """The stream, each event after it was written to the audit log; that of a `new` run from its start on."""
        with AuditLog(self.workspace.home.audit_file(run_id)) as log:
            for missed in await self.store.events(run_id, after=log.last_seq):
                log.write(missed.to_json())
                if new:
                    yield missed
            async with aclosing(stream):
                async for event in stream:
                    if event.seq is not None:
                        log.write(event.to_json())
                    if self._metrics is not None:
                        self._metrics.observe(event)
                    yield event

    async def _archive(self, run_id: str) -> None:
        if not goes_on(await self.store.run_row(run_id)):
            await archive_ended(self.workspace, self.store, run_id, SystemClock().now())

    async def _is_new(self, run_id: str) -> bool:
        """Whether a run was created and never driven."""
        row = await self.store.last_step(run_id)
        if row is None or row.step > 0:
            return False
        return all(isinstance(event, RunStarted | NodeStarted) for event in await self.store.events(run_id))

    async def _free_id(self, run_id: str | None) -> str:
        """The id, or a random one. `RunExists` where it is taken."""
        chosen = new_run_id() if run_id is None else check_name(run_id, "run id")
        try:
            await self.store.run_row(chosen)
        except UnknownRun:
            return chosen
        raise RunExists(
            f"a run {chosen} exists", help="choose another id, or go on with it", hint=Hint(Action.RESUME_RUN, chosen)
        )

    async def _end_abandoned(self, record: RunRecord) -> None:
        """Drive a run whose cancellation was asked for; it goes straight over its `cancelled` edges.

        Without the models and searches it began with where the run is imported, since the user has not agreed to them,
        or where a key or another thing they need is gone."""
        try:
            await self._drain(record.run_id, offline=is_foreign(record))
        except RunBusy:
            raise
        except UserMistake:
            await self._drain(record.run_id, offline=True)

    async def _drain(self, run_id: str, *, offline: bool) -> None:
        async with aclosing(self.drive(run_id, accept_changes=True, offline=offline, retry=False)) as events:
            async for _ in events:
                pass
