"""The sources of a report fetched again: local files read anew, pages by the fetcher that trusts nobody."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_research.app.library import open_library
from graph_research.app.request import RunRequest, changed_request
from graph_research.app.revisions.changes import Revised, latest, save_shortened, timestamp
from graph_research.app.revisions.mend_by_model import WRITING, mended_by_model, mending_models, require_models
from graph_research.app.runs.imported import is_foreign, without_pages
from graph_research.app.runs.report import Built
from graph_research.app.runs.revisions import all_sources, revised_state
from graph_research.app.store import Store, open_store, request_of
from graph_research.app.wiring.clients import open_clients
from graph_research.app.workspace import Workspace
from graph_research.errors import why_unreachable
from graph_research.graph.context import Clock
from graph_research.graph.state.rows import Write
from graph_research.providers.errors import PageGone, PageUnchanged, ProviderError
from graph_research.providers.search.base import LOCAL, Extent
from graph_research.providers.search.local import Library
from graph_research.providers.search.local.records import IndexedFile
from graph_research.providers.web.fetcher import Validators
from graph_research.providers.web.page_reader import PageReader
from graph_research.research.evidence.archive import Archive
from graph_research.research.models.draft import stored_draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.source import Source
from graph_research.research.report.model import Report
from graph_research.research.revision.mending import Mending, disagreements_now, quoted_anew
from graph_research.research.revision.model import Refresh
from graph_research.research.revision.refreshed import Freshness, Reread, freshness
from graph_research.research.revision.revise import State
from graph_research.text.document import Document

_AT_ONCE = 3
_PART = "only a search result was archived of it"
_UNKNOWN = "no added folder has it"
_REMOVED = "its folder has it no longer"
_SEVERAL = "several added folders have a file of its name"
_NOT_IN_ARCHIVE = "its archive has it no longer"


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """What became of the sources, and the new version of the report where it was mended."""

    run_id: str
    freshness: Freshness
    fetched: int
    revised: Revised | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON; `fetched` counts the pages that were asked for."""
        revised = self.revised.to_json() if self.revised else None
        return {"run_id": self.run_id, "fetched": self.fetched, **self.freshness.to_json(), "revised": revised}


async def refresh_run(
    workspace: Workspace,
    run_id: str,
    *,
    rewrite: bool = False,
    writer: str | None = None,
    accept_changes: bool = False,
    may_read: Sequence[Path] | None = None,
    clock: Clock | None = None,
) -> Refreshed:
    """Compare the cited sources of a report with what stands there now. With `rewrite` a version of the report is made
    in which the sentences that this touches are quoted anew, where the source still says something of the same, or left
    out. The model of the role `report` writes the sentences, where the run has one, or the `writer` that is named.
    `accept_changes` agrees to read the pages and to ask the models that a run names that came in a bundle; without it
    neither is done, but that a `writer` is asked. Of the library only what is in the folders `may_read` is read, where
    they are given.

    Raises `WriterMissing`, before anything is read, where the model cannot be used, and after it, with no version made,
    where it answered nothing.
    """
    async with open_store(workspace.home) as store:
        old = await latest(workspace, store, run_id)
        sources = await _cited_sources(store, old.report)
        local = {row.id: row for row in sources if row.provider == LOCAL}
        web = {row.id: row for row in sources if row.provider != LOCAL}
        record = await store.run(run_id)
        agreed = accept_changes or not is_foreign(record)
        request = request_of(record)
        if writer:
            request = changed_request(workspace, request, roles=[f"{WRITING}={writer}"])
        by_model = rewrite and (agreed or bool(writer)) and bool(mending_models(request))
        if by_model:
            await require_models(workspace, request)
        folders = () if is_foreign(record) else request.library
        found = {
            **await _from_files(workspace, local, folders, may_read),
            **await _from_pages(workspace, web, agreed=agreed),
        }
        now = await asyncio.to_thread(freshness, old.report, found, Archive(old.texts, old.layouts))
        revised = None
        if rewrite and now.touched_evidence():
            revised = await _rewritten(workspace, store, old, now, found, request if by_model else None, clock)
    return Refreshed(run_id=run_id, freshness=now, fetched=sum(map(_is_page, web.values())), revised=revised)


async def _rewritten(
    workspace: Workspace,
    store: Store,
    old: Built,
    now: Freshness,
    found: Mapping[str, Reread],
    asked: RunRequest | None,
    clock: Clock | None,
) -> Revised:
    """The version without the quotes that the sources lack `now`, its sentences quoted anew from what was `found`, or
    written by the models of the request that is `asked`."""
    run_id, gone = old.report.run_id, now.touched_evidence()
    state = await revised_state(store, run_id, old.report.version)
    draft = stored_draft(state.get("draft") or {})
    mending, calls = await asyncio.to_thread(quoted_anew, draft, now, found, for_a_model=asked is not None), 0
    if mending.sentences and asked is not None:
        mending, calls = await mended_by_model(workspace, run_id, asked, state, draft, mending, found)
    contradictions = await asyncio.to_thread(_disagreements, state, mending, found, old)
    texts = {name.removeprefix("sha256:"): text for name, text in mending.texts.items()}
    await store.write(Write(run_id=run_id, texts=texts))
    titles = [row.title for row in now.sources if any(quote.evidence_id in gone for quote in row.quotes)]
    revision = Refresh(
        what="; ".join(titles)[:200],
        at=timestamp(clock),
        evidence_ids=gone,
        source_ids=now.other_sources(),
        evidence=_cited(mending, contradictions),
        sentences=mending.sentences,
        rows=mending.rows,
        contradictions=contradictions,
    )
    return await save_shortened(workspace, store, old, revision, calls)


def _disagreements(state: State, mending: Mending, found: Mapping[str, Reread], old: Built) -> list[Contradiction]:
    sources = {row["id"]: Source.model_validate(row) for row in state.get("sources") or []}
    documents = {
        name: Document.from_layout(old.texts[row.archive_hash], old.layouts[row.archive_hash])
        for name, row in sources.items()
        if row.archive_hash in old.texts and row.archive_hash in old.layouts
    }
    documents |= {name: row.document for name, row in found.items() if row.document is not None}
    evidence = {row["id"]: Evidence.model_validate(row) for row in state.get("evidence") or []}
    contradictions = [Contradiction.model_validate(row) for row in state.get("contradictions") or []]
    return disagreements_now(contradictions, mending, evidence, sources, documents)


def _cited(mending: Mending, contradictions: Sequence[Contradiction]) -> list[Evidence]:
    """The new evidence that the sentences and the contradictions rest on."""
    named = {name for row in contradictions for side in row.sides for name in side.evidence_ids}
    beside = [row for row in mending.passages.values() if row.id in named]
    return list({row.id: row for row in [*mending.evidence, *beside]}.values())


async def _cited_sources(store: Store, report: Report) -> list[Source]:
    cited = {source.id for source in report.sources if source.n}
    state = await all_sources(store, report.run_id, await store.state(report.run_id))
    return [Source.model_validate(row) for row in state.get("sources") or [] if row["id"] in cited]


async def _from_files(
    workspace: Workspace, sources: Mapping[str, Source], folders: Sequence[str], may_read: Sequence[Path] | None
) -> dict[str, Reread]:
    """Local files as they are now, those only that the library has indexed, in `folders` where there are any, and in
    none but `may_read` where that is given."""
    library = open_library(workspace)
    wanted = await asyncio.to_thread(lambda: {Path(folder).resolve() for folder in folders})
    allowed = None if may_read is None else await asyncio.to_thread(lambda: {folder.resolve() for folder in may_read})
    indexed = [path for row in await library.list() if (path := Path(row.path)) in wanted or not wanted]
    roots = {path for path in indexed if allowed is None or path in allowed}
    named = {name: source.folder or "" for name, source in sources.items()}
    files = {
        name: [file for file in await library.files(source.url or "") if file.root in roots]
        for name, source in sources.items()
    }
    chosen = {name: _of_library(found, named[name], name) for name, found in files.items()}
    parts = {part for root in roots for part in root.parts}
    with tempfile.TemporaryDirectory() as folder:
        reader = Library(Path(folder, "sources.db"))
        paths = {file.path for file in chosen.values() if file is not None}
        existing = [path for path in sorted(paths) if await asyncio.to_thread(_may_be_there, path)]
        counts = await reader.add(existing)
        reasons = {failure.path: failure.reason for failure in counts.failed}
        return {
            name: Reread(reason=_SEVERAL)
            if file is None and len(files[name]) > 1
            else await _from_file(reader, file, existing, reasons, in_index=named[name] in parts)
            for name, file in chosen.items()
        }


def _may_be_there(path: Path) -> bool:
    return why_unreachable(path) is not None or path.is_file()


def _of_library(files: Sequence[IndexedFile], library: str, source_id: str) -> IndexedFile | None:
    """Of files with the source's path the one in a folder with the name of the source's library, of several the one
    with its text; None where that leaves it open."""
    files = [file for file in files if library in file.path.parts] or files
    same = [file for file in files if file.source_id == source_id]
    return next(iter(same), None) or (files[0] if len(files) == 1 else None)


async def _from_file(
    reader: Library, file: IndexedFile | None, existing: Sequence[Path], reasons: Mapping[str, str], *, in_index: bool
) -> Reread:
    """`in_index` says whether the folder of the file is indexed, so that a file without a row was removed."""
    if file is None:
        return Reread(is_gone=in_index, reason=_REMOVED if in_index else _UNKNOWN)
    if file.path not in existing:
        return Reread(is_gone=True, reason=f"there is no file {file.path}")
    if document := await reader.document(file.path, file.url):
        return Reread(document=document)
    reason = reasons.get(f"{file.path}/{file.member}") or reasons.get(str(file.path))
    if file.member and reason is None:
        return Reread(is_gone=True, reason=_NOT_IN_ARCHIVE)
    return Reread(reason=reason or "it has no text")


async def _from_pages(workspace: Workspace, sources: Mapping[str, Source], *, agreed: bool) -> dict[str, Reread]:
    slots = asyncio.Semaphore(_AT_ONCE)
    known = {_address(row): Validators.of(row.metadata.get("validators") or {}) for row in sources.values()}
    async with open_clients(workspace, known) as opened, opened.of_run() as clients:
        pages = clients.pages if agreed else without_pages(clients).pages
        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(_from_page(pages, row, slots)) for name, row in sources.items()}
    return {name: task.result() for name, task in tasks.items()}


def _is_page(source: Source) -> bool:
    """Whether the whole of a page of the web was archived."""
    is_web = (source.url or "").startswith(("http://", "https://"))
    return is_web and source.metadata.get("extent", Extent.FULL) == Extent.FULL


async def _from_page(pages: PageReader, source: Source, slots: asyncio.Semaphore) -> Reread:
    if not _is_page(source):
        return Reread(reason=_PART)
    async with slots:
        try:
            page = await pages.read(_address(source))
        except PageUnchanged:
            return Reread(is_unchanged=True)
        except PageGone as error:
            return Reread(is_gone=True, reason=error.message)
        except ProviderError as error:
            return Reread(reason=error.message)
    return Reread(document=page.document, address=page.moved_to)


def _address(source: Source) -> str:
    """Where the source was read."""
    return str(source.metadata.get("read_at") or source.url)
