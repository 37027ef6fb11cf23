"""Changes of a finished report by the user: a source left out, a sentence or claim changed, the last one undone.

Nothing is asked of a model or a search: the report is built again from the state of the run and its revisions."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from graph_research.app.request import valid_text
from graph_research.app.runs.report import Built, build_from_store, build_revised
from graph_research.app.runs.revisions import add_revision, stored_revisions
from graph_research.app.store import Store, open_store
from graph_research.app.wiring.prices import prices_of
from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint, check_name
from graph_research.graph.context import Clock, SystemClock
from graph_research.graph.errors import InputInvalid, RunBusy
from graph_research.research.evidence.citations import without_markers
from graph_research.research.evidence.claim_support import Status
from graph_research.research.report.model import Report, ReportClaim, ReportSource
from graph_research.research.revision.difference import ReportDifference, difference
from graph_research.research.revision.model import Edit, Exclusion, Refresh, Revision, Undo, holding
from graph_research.research.revision.sentences import sentence_name
from graph_research.text.wording import shortened

_WHAT_CHARS = 100
_MOST_CHARS = 5_000
_LISTED = 8
_BUSY_SECONDS, _POLL_SECONDS = 15.0, 0.05


@dataclass(frozen=True, kw_only=True)
class Revised:
    """A new version of a report. `calls` counts the calls of models and searches that it took."""

    run_id: str
    version: int
    kind: str
    what: str
    difference: ReportDifference
    built: Built = field(repr=False)
    calls: int = 0

    def to_json(self) -> dict[str, Any]:
        """As plain JSON, without the report."""
        return {
            "run_id": self.run_id,
            "version": self.version,
            "kind": self.kind,
            "what": self.what,
            "calls": self.calls,
            **self.difference.to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of a report: the change that made it, and whether that still holds, as the run's own, version 1, and
    an undo do."""

    version: int
    kind: str
    what: str
    at: str
    holds: bool


async def exclude_source(workspace: Workspace, run_id: str, source: str, clock: Clock | None = None) -> Revised:
    """Make a version of the report without a source, named by its id, its number in the latest version, its URL, or its
    path or the end of that. `InputInvalid` where no source or several have that name."""
    async with open_store(workspace.home) as store:
        old = await latest(workspace, store, run_id)
        chosen = _source(old.report, source)
        revision = Exclusion(
            what=shortened(chosen.title or chosen.url or chosen.id, _WHAT_CHARS),
            at=timestamp(clock),
            source_id=chosen.id,
        )
        return await save_shortened(workspace, store, old, revision)


async def edit_claim(
    workspace: Workspace,
    run_id: str,
    claim: str,
    *,
    text: str | None = None,
    drop: bool = False,
    confidence: float | None = None,
    clock: Clock | None = None,
) -> Revised:
    """Make a version of the report in which a claim or sentence reads `text`, marked as the user's words, is dropped,
    or is given a `confidence` of 0 to 1. It is named by the id of a claim or sentence, or by a piece of its text that
    no other has. `InputInvalid` says what does not fit."""
    _check_edit(text, confidence, drop=drop)
    async with open_store(workspace.home) as store:
        old = await latest(workspace, store, run_id)
        sentence, claim_id = _claim(old.report, claim)
        place = next((row.place for row in old.report.statements() if row.id == claim), "")
        if confidence is not None and not claim_id:
            raise InputInvalid(
                "only a claim has a confidence, and this sentence is none", help="name a claim of report.json"
            )
        revision = Edit(
            what=shortened(sentence, _WHAT_CHARS),
            at=timestamp(clock),
            sentence=sentence,
            place=place,
            claim_id=claim_id,
            text=text.strip() if text else None,
            drop=drop,
            confidence=confidence,
        )
        return await save(workspace, store, old, revision)


async def undo_last(workspace: Workspace, run_id: str, clock: Clock | None = None) -> Revised:
    """Make a version of the report without the latest change that holds. `InputInvalid` where there is none."""
    async with open_store(workspace.home) as store:
        old = await latest(workspace, store, run_id)
        held = holding(await stored_revisions(store, run_id))
        if not held:
            raise InputInvalid(f"the report of run {run_id} is as the run wrote it; there is nothing to undo")
        return await save(workspace, store, old, Undo(what=held[-1].what, at=timestamp(clock)))


async def versions_of(workspace: Workspace, run_id: str) -> list[Version]:
    """Every version of a run's report, the first one first. `UnknownRun`, or `NoReport` where it has none yet."""
    async with open_store(workspace.home) as store:
        first = (await build_from_store(store, check_name(run_id, "run id"), version=1)).report
        revisions = await stored_revisions(store, run_id)
    held = {id(row) for row in revisions if isinstance(row, Undo)} | {id(row) for row in holding(revisions)}
    rows = [
        Version(version=number, kind=row.kind.value, what=row.what, at=row.at, holds=id(row) in held)
        for number, row in enumerate(revisions, start=2)
    ]
    return [Version(version=1, kind="run", what=first.question, at=first.finished_at or "", holds=True), *rows]


def _newly_unsupported(old: Report, new: Report) -> list[str]:
    """The names of sentences that are unsupported in the new version and were not in the old one."""
    before, after = (
        [sentence_name(row.text, row.place) for row in report.statements() if row.status is Status.UNSUPPORTED]
        for report in (old, new)
    )
    return [name for name in dict.fromkeys(after) if name not in before]


async def save_shortened(
    workspace: Workspace, store: Store, old: Built, revision: Exclusion | Refresh, calls: int = 0
) -> Revised:
    """`save` a revision that takes evidence away, and that leaves out what nothing supports without it."""
    bare = await preview(workspace, store, old.report.run_id, revision)
    left_out = _newly_unsupported(old.report, bare.report)
    return await save(workspace, store, old, revision.model_copy(update={"left_out": left_out}), calls)


async def save(workspace: Workspace, store: Store, old: Built, revision: Revision, calls: int = 0) -> Revised:
    """Store a revision of the report `old`, which is the latest version, and build the new one. Where another process
    saves one of the same report meanwhile, this one stands on top of it. `RunBusy` where that takes too long."""
    run_id = old.report.run_id
    async with _alone(store, run_id):
        built = await preview(workspace, store, run_id, revision)
        version = await add_revision(store, run_id, revision)
    return Revised(
        run_id=run_id,
        version=version,
        kind=revision.kind.value,
        what=revision.what,
        difference=difference(old.report, built.report),
        built=built,
        calls=calls,
    )


@asynccontextmanager
async def _alone(store: Store, run_id: str) -> AsyncIterator[None]:
    """While no other process changes the run."""
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            lease = await store.lease(run_id)
            break
        except RunBusy:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lease.release()


async def latest(workspace: Workspace, store: Store, run_id: str) -> Built:
    """The latest version of a run's report."""
    return await build_from_store(store, check_name(run_id, "run id"), prices_of(workspace.settings))


async def preview(workspace: Workspace, store: Store, run_id: str, revision: Revision) -> Built:
    """The version of a run's report that a further revision would make."""
    revisions = [*await stored_revisions(store, run_id), revision]
    return await build_revised(store, run_id, revisions, prices_of(workspace.settings))


def timestamp(clock: Clock | None) -> str:
    """The time as ISO 8601 in UTC."""
    return (clock or SystemClock()).now().isoformat()


def _source(report: Report, name: str) -> ReportSource:
    name = name.strip()
    number = re.fullmatch(r"\[?(\d{1,4})\]?", name)
    if number:
        matches = [row for row in report.sources if row.n == int(number[1])]
    else:
        matches = [row for row in report.sources if name in (row.id, row.url, row.doi)]
        matches = matches or [row for row in report.sources if _ends_with(row.url or "", name)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = ", ".join(f"{row.id} ({row.url})" for row in matches[:_LISTED])
        raise InputInvalid(f"{len(matches)} sources are named {name[:80]!r}", help=f"name one of {listed}")
    cited = [f"[{row.n}] {row.url or row.title}" for row in report.sources if row.n]
    listed = ", ".join([*cited[:_LISTED], *(["…"] if len(cited) > _LISTED else [])])
    raise InputInvalid(
        f"the report of run {report.run_id} has no source {name[:80]!r}",
        help=f"its cited sources are {listed}" if cited else "it cites none",
        hint=None if cited else Hint(Action.SHOW_STATUS, report.run_id),
    )


def _ends_with(url: str, name: str) -> bool:
    """Whether a path ends with the other, folder by folder, or the other, an absolute one, with the path."""
    path, other = url.removeprefix("file://").rstrip("/"), name.removeprefix("./").rstrip("/")
    return bool(other) and (f"/{path}".endswith(f"/{other}") or (bool(path) and other.endswith(f"/{path}")))


def _claim(report: Report, name: str) -> tuple[str, str]:
    """The text of a sentence or claim, and the id of the claim, empty where it is none."""
    claims = {claim.text: claim for claim in report.claims}
    texts = list(dict.fromkeys([*(row.text for row in report.statements()), *claims]))
    named = [row.text for row in report.statements() if row.id == name] or [
        claim.text for claim in report.claims if claim.id == name
    ]
    wanted = " ".join(name.split()).casefold()
    matches: Sequence[str] = (
        named
        or [text for text in texts if " ".join(text.split()).casefold() == wanted]
        or [text for text in texts if len(wanted) > 3 and wanted in " ".join(text.split()).casefold()]
    )
    if len(matches) == 1:
        return matches[0], _id_of(claims.get(matches[0]))
    if matches:
        listed = "; ".join(shortened(text, 60) for text in matches[:_LISTED])
        raise InputInvalid(f"{len(matches)} sentences hold {name[:80]!r}: {listed}", help="give more of the text")
    raise InputInvalid(
        f"the report of run {report.run_id} has no claim or sentence {name[:80]!r}",
        help="give at least 4 characters of its text, or an id of report.json such as s3",
    )


def _id_of(claim: ReportClaim | None) -> str:
    return claim.id if claim else ""


def _check_edit(text: str | None, confidence: float | None, *, drop: bool) -> None:
    if drop == (text is not None or confidence is not None):
        raise InputInvalid(
            "say what to change, and only that: another text or confidence, or that it is dropped",
            hint=Hint(Action.SET_OPTION, options={"text": ""}),
        )
    if text is not None and (not text.strip() or len(text) > _MOST_CHARS or not valid_text(text)):
        raise InputInvalid(f"the text has to have 1 to {_MOST_CHARS:,} characters")
    if text is not None and any(without_markers(text)[1:]):
        raise InputInvalid(
            "the text holds a citation mark such as [1], and what the user writes cites no source",
            help="give the text without it",
        )
    if confidence is not None and not 0 <= confidence <= 1:
        raise InputInvalid(f"the confidence {confidence} is not between 0 and 1", help="such as 0.4")
