"""A research from question to report: how it ended, and `deep_research`, the one call for Python users."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from graph_research.app.application import Application
from graph_research.app.files import check_writable
from graph_research.app.request import RunRequest, request_for, rule_settings
from graph_research.app.runs.limits.budget import LimitReached
from graph_research.app.runs.report import NoReport
from graph_research.app.runs.run import new_run_id
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.errors import check_name
from graph_research.graph.statuses import Cause, RunStatus
from graph_research.research.evidence.cited import CitedBlock
from graph_research.research.hooks import Hooks
from graph_research.research.models.draft import BlockType


@dataclass(frozen=True, kw_only=True)
class ResearchResult:
    """How a research ended. `success` is whether it is completed with a written report; `error` is what went wrong,
    `cancelled` or `timeout` where nothing else did; `metadata` is that of the state: `cancelled`, `timeout` or `error`,
    `abort_phase`, `abort_iteration` and `abort_reason` of a run that was aborted. `parent` is the run that a fork comes
    from; `report` maps `md`, `html`, `json` to files, None where there is none; `confidence` is 0 to 1,
    `confidence_level` the word that the report has for it: high, medium, low or none; `waiting_for` is the question
    that it asks, `limit` the one that ended it, `saved` what was left out to keep within its limits, `summary` the
    short answer in plain text."""

    run_id: str
    question: str
    status: str
    success: bool
    parent: str | None = None
    cause: str | None = None
    error: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    waiting_for: str | None = None
    limit: LimitReached | None = None
    report: Mapping[str, str] | None = None
    confidence: float | None = None
    confidence_level: str = "none"
    iterations: int = 1
    statistics: Mapping[str, Any] = field(default_factory=dict)
    saved: Sequence[str] = ()
    summary: str = ""
    sources: int = 0
    citations: int = 0

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return asdict(self)


async def reported(app: Application, run_id: str, folder: Path) -> ResearchResult:
    """How a research stands; where it has something to report, its report is written into `folder`."""
    run = await app.status(run_id)
    result = ResearchResult(
        run_id=run_id,
        question=(await app.request(run_id)).question or "",
        status=run.status,
        success=run.status == RunStatus.COMPLETED and run.error is None,
        parent=run.parent,
        cause=run.cause,
        error=run.error or (run.cause if run.status == RunStatus.ABORTED else None),
        metadata=run.state.get("metadata") or {},
        limit=run.limit,
        waiting_for=run.waiting_for,
        iterations=run.state.get("iteration") or 1,
    )
    if run.status not in (RunStatus.COMPLETED, RunStatus.ABORTED) or run.cause == Cause.ERROR:
        return result
    try:
        built = await app.report(run_id, run.state)
    except NoReport:
        return result
    report = built.report
    return replace(
        result,
        report=await app.write_report(built, folder),
        confidence=report.confidence.value,
        confidence_level=report.confidence.level,
        iterations=report.iterations,
        statistics=report.statistics.to_json(),
        saved=tuple(built.saved),
        summary="\n".join(line for block in report.short_answer for line in _lines(block)),
        sources=len(report.sources),
        citations=len(report.citations),
    )


def _lines(block: CitedBlock) -> list[str]:
    """A block as plain text: a line for each sentence, or for each row of a table with the names of its columns."""
    if block.type is not BlockType.TABLE:
        return [row.text for row in block.statements()]
    return [
        "; ".join(f"{name}: {cell.text}" for name, cell in zip(block.header, row, strict=True)) for row in block.rows
    ]


def report_folder(workspace: Workspace, run_id: str, out: Path | None) -> Path:
    """Where a research writes its report: `out`, or `./research/RUN_ID/`. `OutputUnwritable` where that cannot be."""
    folder = workspace.folder / (Path("research") / check_name(run_id, "run id") if out is None else out)
    check_writable(folder)
    return folder


def _listed(given: str | Path | Sequence[str | Path] | None) -> list[str] | None:
    """One or several as a list of texts; None where nothing is given."""
    several = [given] if isinstance(given, (str, Path)) else given or ()
    return [str(each) for each in several] or None


async def deep_research(
    question: str,
    *,
    llm: str | Sequence[str] | None = None,
    roles: Mapping[str, str] | None = None,
    library: str | Path | Sequence[str | Path] = (),
    search: str | Sequence[str] | None = None,
    source_rules: Mapping[str, Any] | None = None,
    graph: str = "deep_research",
    max_iterations: int | None = None,
    max_sub_queries: int | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout_seconds: float | None = None,
    length: str | int | None = None,
    report_type: str | None = None,
    language: str | None = None,
    audience: str | None = None,
    system_prompt: str | None = None,
    run_id: str | None = None,
    now: str | None = None,
    out: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    hooks: Hooks | None = None,
) -> ResearchResult:
    """Research one question and write its report into `out` (default `./research/RUN_ID/`).

    `source_rules` are the settings of that kind, such as `{"allow_domains": ["who.int"], "published_from": "2020"}`.
    `length` is `brief`, `standard`, `long` or a number of words, `report_type` `report`, `comparison`, `timeline`,
    `survey` or `memo`, `language` a code such as `de` (None: the question's), `audience` who will read the report,
    `system_prompt` standing wishes, in the user's words.
    Models may cost `max_cost` USD and use `max_tokens`, input and output together, and the run may take
    `timeout_seconds`. Within these limits a report is made; `saved` says what was left out for them. `LimitTooSmall`
    where they hold no report at all. `hooks.on_think_pause(state, prompt)` is called after each phase; a text that it
    returns guides the next one, and a `HookDecision` takes the place of the supervisor's verdict.
    What is not given comes from the settings. A folder's own files are used only if its user agreed to them before;
    those beside a graph file that is named add names, and override none.
    The run is kept in the data home like one of the command line. Raises `UserMistake` for a request that cannot be
    started; a run that fails is a result with `status` and `cause`.
    """
    options = {
        "default_provider": _listed(llm),
        "search_providers": _listed(search),
        "library": _listed(library),
        "max_iterations": max_iterations,
        "max_sub_queries": max_sub_queries,
        "task_timeout": timeout_seconds,
        "length": length,
        "report_type": report_type,
        "language": language,
        "audience": audience,
        "system_prompt": system_prompt,
        **rule_settings(source_rules or {}),
    }
    workspace = await _workspace(options, os.environ if environ is None else environ)
    named = [f"{role}={spec}" for role, spec in (roles or {}).items()]
    request = request_for(
        workspace, question, graph=graph, roles=named, now=now, max_cost=max_cost, max_tokens=max_tokens
    )
    return await _driven(workspace, request, new_run_id() if run_id is None else run_id, out, hooks)


async def _workspace(options: Mapping[str, Any], environ: Mapping[str, str]) -> Workspace:
    """The workspace of the working directory; nobody is asked whether its own files may be used."""
    return await asyncio.to_thread(open_workspace, environ, Path.cwd(), may_use=lambda _: None, options=options)


async def _driven(
    workspace: Workspace, request: RunRequest, run_id: str, out: str | Path | None, hooks: Hooks | None
) -> ResearchResult:
    """How a new run ended, its report written into `out`."""
    folder = report_folder(workspace, run_id, Path(out) if out else None)
    async with Application(workspace) as app:
        await app.create(request, run_id=run_id)
        async with aclosing(app.drive(run_id, hooks=hooks)) as events:
            async for _ in events:
                pass
        return await reported(app, run_id, folder)
