"""The audit of a report that anyone wrote, against a library folder."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from graph_research.app.check_by_model import checked_by_model, verifying_models
from graph_research.app.library import open_library, require_documents, require_folders
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake, why_unreachable
from graph_research.providers.search.local import Library
from graph_research.providers.search.local.adding import OnProgress
from graph_research.providers.search.local.records import DocumentFacts
from graph_research.research.audit.judge import LibraryDocument, judged
from graph_research.research.audit.links import with_marks, with_targets
from graph_research.research.audit.model import Audit, AuditedSentence, counts_of
from graph_research.research.audit.statements import ReportSentence, cited_entries, sentences_of
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.formats import HTML, MARKDOWN, media_type_of
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_html

_NEAREST = 6
"""Documents of the library that a sentence is compared with, beside those it cites."""
_LEAST_TITLE_CHARS = 8

OnSentence = Callable[[int, int], None]
"""Called before each sentence, with its number from 0 and how many there are."""


class ReportUnreadable(UserMistake):
    """The file of a report that is to be audited is not there or gives no text."""


@dataclass(frozen=True)
class _Shelf:
    """The documents of the library folders `roots`, by what a report may call them; `folders` are theirs, by source
    id."""

    library: Library
    roots: Sequence[Path]
    facts: Sequence[DocumentFacts]
    folders: Mapping[str, Path]

    @classmethod
    async def of(cls, library: Library, roots: Sequence[Path]) -> _Shelf:
        held = [(root, facts) for root in roots for facts in await library.documents(root)]
        return cls(library, roots, [facts for _, facts in held], {facts.source_id: root for root, facts in held})

    async def document(self, facts: DocumentFacts) -> LibraryDocument | None:
        document = await self.library.document(self.folders[facts.source_id], facts.url)
        return None if document is None else _named(facts, document)

    async def quoted(self, audit: Audit) -> dict[str, LibraryDocument]:
        """The documents whose passages the audit shows, by source id."""
        named = {quote.source_id for row in audit.sentences for quote in row.passages}
        found = [await self.document(facts) for facts in self.facts if facts.source_id in named]
        return {row.source_id: row for row in found if row is not None}

    def named_in(self, entry: str) -> list[DocumentFacts]:
        """The documents whose path, DOI, file name or title an entry of a list of sources or the target of a link has,
        those by path first, of several folders those of the one that it names."""
        text = " ".join(unquote(entry).casefold().replace("\\", "").split())
        by_path = [row for row in self.facts if row.url.casefold() in text]
        by_path = [row for row in by_path if f"{row.library}/{row.url}".casefold() in text] or by_path
        by_name = [row for row in self.facts if row.url.rsplit("/", 1)[-1].casefold() in text]
        by_title = [row for row in self.facts if len(row.title) >= _LEAST_TITLE_CHARS and row.title.casefold() in text]
        by_doi = [row for row in self.facts if row.doi and row.doi.casefold() in text]
        return by_path or by_doi or by_name or by_title


async def check_report(
    workspace: Workspace,
    file: Path,
    folders: Sequence[Path],
    *,
    on_index: OnProgress | None = None,
    on_sentence: OnSentence | None = None,
    roles: Sequence[str] = (),
) -> Audit:
    """Compare each sentence of a report with the documents of folders, which are indexed first. The documents that a
    sentence cites are asked before the others. Where a model serves the role `verification`, by the settings or `roles`
    (`ROLE=SPEC`), it judges what code found. `ReportUnreadable`, `LibraryMissing`, `LibraryEmpty`."""
    path = _resolved(workspace, file)
    report = await _read_report(path, file)
    require_folders(workspace, folders)
    roots = [_resolved(workspace, folder) for folder in dict.fromkeys(folders)]
    library = open_library(workspace)
    counts = await library.add(roots, on_index)
    await require_documents(library, roots)
    shelf = await _Shelf.of(library, roots)
    marked, targets = await asyncio.to_thread(_with_links, path, report)
    sentences = sentences_of(marked)
    named = {**{name: with_targets(entry, targets) for name, entry in cited_entries(marked).items()}, **targets}
    entries = {name: shelf.named_in(entry) for name, entry in named.items()}
    audited: list[AuditedSentence] = []
    for n, sentence in enumerate(sentences, start=1):
        if on_sentence:
            on_sentence(n - 1, len(sentences))
        row = await _audited(n, sentence, shelf, entries, report)
        shown = {name: [targets.get(mark, mark) for mark in getattr(row, name)] for name in ("citations", "unfollowed")}
        audited.append(row.model_copy(update=shown))
    audit = Audit(
        file=str(file),
        title=report.title or path.stem,
        documents=len(shelf.facts),
        counts=counts_of(audited),
        sentences=audited,
        unread=[f"{failure.path}: {failure.reason}" for failure in counts.failed],
    )
    if not verifying_models(workspace, roles):
        return audit
    written = dict(enumerate(sentences, start=1))
    return await checked_by_model(workspace, audit, written, await shelf.quoted(audit), roles)


async def _read_report(path: Path, named: Path) -> Document:
    """The report by the readers that libraries have, in an index of its own, which is thrown away."""
    if reason := await asyncio.to_thread(why_unreachable, path):
        raise ReportUnreadable(f"{str(named)[:200]} cannot be read: {reason}", help="name a file that you may read")
    if not await asyncio.to_thread(path.is_file):
        raise ReportUnreadable(f"there is no file {named}", help="name a report as .md, .docx, .html, .pdf or .txt")
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder, "report.db"))
        counts = await library.add([path])
        facts = await library.documents()
        document = await library.document(path, facts[0].url) if facts else None
    if document is None:
        reason = counts.failed[0].reason if counts.failed else "it has no text"
        raise ReportUnreadable(f"{named} cannot be read: {reason}")
    return document


def _with_links(path: Path, report: Document) -> tuple[Document, Mapping[str, str]]:
    """The report with the marks of its notes and a mark behind each link, and the targets by mark, where its format
    has links that are read."""
    media_type = media_type_of(path.name)
    if media_type not in (MARKDOWN, HTML):
        return report, {}
    try:
        source = decode(path.read_bytes())
        html, targets = with_marks(markdown_html(source) if media_type == MARKDOWN else source)
        marked = html_document(html, note_marks=True)
        return (marked, targets) if targets or len(marked.text) > len(report.text) else (report, {})
    except (OSError, DocumentUnreadable):
        return report, {}


async def _audited(
    n: int,
    sentence: ReportSentence,
    shelf: _Shelf,
    entries: Mapping[str, Sequence[DocumentFacts]],
    report: Document,
) -> AuditedSentence:
    facts = [row for mark in sentence.marks for row in entries.get(mark, ())]
    cited = [document for row in facts if (document := await shelf.document(row)) is not None]
    found = await shelf.library.find(sentence.text, folders=shelf.roots, limit=_NEAREST)
    near = [_named(row.facts, row.document) for row in found if row.document.hash != report.hash]
    unfollowed = [mark for mark in sentence.marks if not entries.get(mark)]
    return await asyncio.to_thread(judged, n, sentence, near, cited, unfollowed)


def _named(facts: DocumentFacts, document: Document) -> LibraryDocument:
    return LibraryDocument(
        source_id=facts.source_id,
        title=facts.title,
        path=facts.url,
        document=document,
        superseded=facts.superseded,
        authors=facts.authors,
        publisher=facts.publisher or document.publisher,
    )


def _resolved(workspace: Workspace, path: Path) -> Path:
    return (workspace.folder / path.expanduser()).resolve()
