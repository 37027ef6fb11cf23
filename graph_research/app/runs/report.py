"""A run's report from its store: built, rendered in every format, verified, and written into a folder."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from graph_research.app.files import write_atomically
from graph_research.app.graphs.run_trace import Trace, trace_of
from graph_research.app.request import RunRequest
from graph_research.app.runs.archive import archive_error
from graph_research.app.runs.limits.budget import LimitReached
from graph_research.app.runs.research_state import MISSHAPEN, research_state
from graph_research.app.runs.revisions import stored_revisions, up_to
from graph_research.app.runs.status import error_text, goes_on, is_driven, limit_of, run_error
from graph_research.app.store import Store, open_store, request_of
from graph_research.app.wiring.prices import prices_of
from graph_research.app.workspace import Workspace, with_neighbours
from graph_research.errors import Action, Hint, UserMistake, check_name
from graph_research.graph.checkpoint.ports import missing_text
from graph_research.graph.checkpoint.records import CallRecord, RunRecord
from graph_research.graph.errors import StoreDamaged
from graph_research.graph.events import Event, driven_seconds
from graph_research.graph.statuses import CallStatus, Cause, RunStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.llm.model_data import Prices
from graph_research.research.models.phase import PHASES
from graph_research.research.report.build import archived, build_report, cited_texts
from graph_research.research.report.formats import REPORT_FORMATS, ProvedReport
from graph_research.research.report.model import Report
from graph_research.research.report.run_metadata import RunFacts, retries_of, roles_served, savings_of, usage_of
from graph_research.research.revision.model import Revision, holding, shown
from graph_research.research.revision.revise import revised, with_added
from graph_research.settings.config import ROLES

if TYPE_CHECKING:
    from graph_research.graph.definition.compiler import Graph

_WRITTEN = ("md", "html", "json")
"""The formats in which a run writes its report at its end."""

_DOCUMENT_CALLS = (CallKind.SEARCH, CallKind.FETCH)
"""Their answers hold whole documents, of which a report needs none."""

_HOW_IT_STOPPED: Mapping[str, str] = {
    Cause.CANCELLED: "was cancelled",
    Cause.TIMEOUT: "timed out",
    Cause.ERROR: "failed",
    RunStatus.AWAITING_INPUT: "waits for an answer",
    RunStatus.PAUSED: "is paused",
    RunStatus.RUNNING: "was interrupted",
}
"""By the cause of a run's end, or by its status where it has not ended."""


class NoReport(UserMistake):
    """The run has no report (yet)."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """A report with the archived texts that prove it; both maps go by archive hash."""

    report: Report
    texts: Mapping[str, str]
    layouts: Mapping[str, Mapping[str, Any]]
    graph: str
    definition: str | None
    trace: Trace
    saved: Sequence[str] = ()
    """What was left out to keep within the limits of the run, in words."""

    def render(self, workspace: Workspace, format: str, graph: Graph | None = None) -> bytes:
        """The report in one of `REPORT_FORMATS`. Its picture is that of `graph`, or of the run's own graph by name."""

        def graph_svg() -> str:
            # loaded where a picture is drawn: the handlers of a graph are most of the program
            from graph_research.app.graphs.catalog import load
            from graph_research.app.wiring.services import definition_registry
            from graph_research.graph.export import picture_of, render_svg

            registry = definition_registry(with_neighbours(workspace, self.graph))
            drawn = graph or load(workspace, self.graph, registry, self.definition)
            return render_svg(picture_of(drawn, overlay=self.trace.timeless(drawn)))

        proved = ProvedReport(report=self.report, texts=self.texts, layouts=self.layouts, graph_svg=graph_svg)
        return REPORT_FORMATS[format].render(proved)


async def render_report(workspace: Workspace, run_id: str, format: str, version: int | None = None) -> bytes:
    """The report of a stored run, its latest `version` where none is given, in one of `REPORT_FORMATS`. `UnknownRun`,
    or `NoReport` where it has none yet."""
    async with open_store(workspace.home) as store:
        built = await build_from_store(store, check_name(run_id, "run id"), prices_of(workspace.settings), version)
    return built.render(workspace, format)


def write_report(workspace: Workspace, built: Built, folder: Path, graph: Graph | None = None) -> dict[str, str]:
    """Write `report.md`, `report.html` and `report.json`; `{format: path}`."""
    paths = {}
    for format in _WRITTEN:
        path = folder / f"report{REPORT_FORMATS[format].suffix}"
        write_atomically(path, built.render(workspace, format, graph))
        paths[format] = str(path)
    return paths


async def build_from_store(
    store: Store,
    run_id: str,
    prices: Prices | None = None,
    version: int | None = None,
    state: Mapping[str, Any] | None = None,
    *,
    allows_damage: bool = False,
) -> Built:
    """The report as the run's latest committed state and the revisions up to a `version` have it, of the latest where
    none is given; its costs by `prices`. `state` is that state where it was read already. Cited texts that the store
    cannot give are `StoreDamaged`, or left out where it `allows_damage`. `NoReport` where nothing was written yet says
    why; of a run that completed although its report could not be written, the report lists what was collected."""
    revisions = await stored_revisions(store, run_id)
    held = up_to(revisions, version, run_id)
    return await build_revised(store, run_id, held, prices, state, allows_damage=allows_damage)


async def build_revised(
    store: Store,
    run_id: str,
    revisions: Sequence[Revision],
    prices: Prices | None = None,
    state: Mapping[str, Any] | None = None,
    *,
    allows_damage: bool = False,
) -> Built:
    """The report with these `revisions`, stored or not."""
    prices = prices or Prices()
    record = await store.run(run_id)
    state = research_state(await store.state(run_id) if state is None else state)
    request = request_of(record)
    limit = await limit_of(store, record, prices)
    if "draft" not in state or "question" not in record.input:
        raise NoReport(
            f"run {run_id} is one of the graph {record.graph}, and only a research has a report",
            hint=Hint(Action.SHOW_STEPS, run_id),
        )
    error = run_error(record, limit, state)
    if not state.get("draft") and (record.status != RunStatus.COMPLETED or error is None):
        driven = record.status == RunStatus.RUNNING and await is_driven(store, run_id)
        raise _no_report(record, state.get("phase"), limit, driven=driven)
    held = holding(revisions)
    texts, layouts = await _archive(store, run_id, with_added(state, held), allows_damage=allows_damage)
    calls, events = await store.calls(run_id, bare=_DOCUMENT_CALLS), await store.events(run_id)
    facts = replace(
        _facts(record, calls, events, request, prices, error), archive_error=await archive_error(store, run_id)
    )
    try:
        report = build_report(
            revised(state, held, texts),
            texts=texts,
            layouts=layouts,
            run=facts,
            version=len(revisions) + 1,
            revisions=list(map(shown, held)),
        )
    except MISSHAPEN as problem:
        if not request.has_own_graph:
            raise
        raise NoReport(
            f"the state of run {run_id} is not that of a research: {type(problem).__name__}: {problem}"[:300],
            hint=Hint(Action.SHOW_STEPS, run_id),
        ) from problem
    trace = await trace_of(store, run_id, calls, events)
    return Built(
        report=report,
        texts=texts,
        layouts=layouts,
        graph=request.graph,
        definition=request.definition,
        trace=trace,
        saved=facts.saved,
    )


def _no_report(record: RunRecord, phase: str | None, limit: LimitReached | None, *, driven: bool) -> NoReport:
    """Why a research has no report, and what to do about it."""
    run_id = record.run_id
    where = f" in the phase “{phase}”" if phase else ""
    how = _HOW_IT_STOPPED.get(record.cause or record.status, f"ended {record.status}")
    options: Mapping[str, str | float] = {}
    if driven:
        return NoReport(
            f"run {run_id} is running{where} and has no report yet",
            help="wait for its end",
            hint=Hint(Action.SHOW_STATUS, run_id),
        )
    if record.status == RunStatus.COMPLETED or (record.cause is None and not goes_on(record)):
        return NoReport(
            f"run {run_id} ended {record.status}, as its graph decided, without having written a report",
            hint=Hint(Action.SHOW_STEPS, run_id),
        )
    if record.status == RunStatus.AWAITING_INPUT:
        options = {"answer": ""}
    elif limit is not None:
        how, options = f"{how} ({limit.words})", limit.options
    elif why := error_text(record):
        how = f"{how} ({why})"
    return NoReport(
        f"run {run_id} {how}{where}, before it had anything to report",
        help="it is kept; resume it",
        hint=Hint(Action.RESUME_RUN, run_id, options),
    )


async def _archive(
    store: Store, run_id: str, state: Mapping[str, Any], *, allows_damage: bool
) -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
    """The archived texts of the state and their layouts, by archive hash."""
    hashes = archived(state)
    cited = () if allows_damage else cited_texts(state)
    kept = await _texts(store, run_id, [*hashes, *filter(None, hashes.values())], cited)
    texts = {name: kept[name] for name in hashes if name in kept}
    return texts, {name: orjson.loads(kept[layout]) for name, layout in hashes.items() if layout in kept}


async def _texts(store: Store, run_id: str, names: Sequence[str], cited: Collection[str]) -> dict[str, str]:
    """Texts of the run's archive, without those that are not cited and that `prune` has removed. `StoreDamaged` for a
    cited one that is not the run's, although the store may have it."""
    own = await store.text_hashes(run_id)
    hashes = {name: name.removeprefix("sha256:") for name in names}
    if foreign := [name for name in cited if name.removeprefix("sha256:") not in own]:
        raise missing_text(foreign[0].removeprefix("sha256:"))
    try:
        kept = await store.texts(hash for hash in hashes.values() if hash in own)
        return {name: kept[hash] for name, hash in hashes.items() if hash in kept}
    except StoreDamaged:
        found = {name: await _text(store, name, cited) for name, hash in hashes.items() if hash in own}
        return {name: text for name, text in found.items() if text is not None}


async def _text(store: Store, name: str, cited: Collection[str]) -> str | None:
    try:
        return await store.text(name)
    except StoreDamaged:
        if name in cited:
            raise
        return None


def _facts(
    record: RunRecord,
    calls: Sequence[CallRecord],
    events: Sequence[Event],
    request: RunRequest,
    prices: Prices,
    error: str | None,
) -> RunFacts:
    answered = [call for call in calls if call.status == CallStatus.ANSWERED]
    started = events[0].at if events and record.parent is None else record.created_at  # a fork has events of its parent
    finished = record.updated_at
    return RunFacts(
        run_id=record.run_id,
        question=request.question or str(record.input["question"]),
        graph=record.graph,
        graph_hash=record.graph_hash,
        status=record.status,
        cause=record.cause,
        error=error,
        models={
            role: ", ".join(request.roles.get(role) or request.models)
            for role in (*ROLES, *(phase for phase in PHASES if request.roles.get(phase)))
        },
        search=request.search,
        skipped_searches=request.skipped,
        saved=list(dict.fromkeys([*request.economies, *savings_of(calls)])),
        started_at=started.isoformat(),
        finished_at=finished.isoformat(),
        wall_seconds=driven_seconds(events),
        searches=sum(call.kind == CallKind.SEARCH for call in answered),
        usage=usage_of(answered, prices),
        model_roles=roles_served(calls, prices),
        retries=retries_of(events),
        possibly_paid_twice=sum(call.status == CallStatus.LOST for call in calls),
    )
