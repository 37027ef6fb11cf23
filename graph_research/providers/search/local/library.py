"""The library: folders of local documents, indexed incrementally and searched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import orjson

from graph_research.errors import why_unreachable
from graph_research.providers.search.local.adding import Adding, OnProgress, find_root
from graph_research.providers.search.local.catalog import CatalogEntry, installed_package, library_name
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.ranking import rank
from graph_research.providers.search.local.records import (
    Counts,
    DocumentFacts,
    Failure,
    FolderRecord,
    FoundDocument,
    IndexedFile,
    PassageHit,
)
from graph_research.text.document import Document
from graph_research.text.locators import make_locator
from graph_research.text.places import in_words, places_of
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.limits import Limits
from graph_research.text.relevance.embedding import Embedder

_T = TypeVar("_T")
_PASSAGES_A_DOCUMENT = 6
_HITS_A_DOCUMENT = 3


class Library:
    """The index at `path`, made when the first folder is added. Any number of processes may use it at once. With an
    `embedder` searches rank by meaning too."""

    def __init__(self, path: Path, *, limits: Limits | None = None, embedder: Embedder | None = None) -> None:
        self._path = path
        self._limits = limits
        self._embedder = embedder

    async def add(self, paths: Sequence[str | Path], on_progress: OnProgress | None = None) -> Counts:
        """Index folders (with what is below them) and files, or what changed in them; forget what is gone.

        A file that cannot be read is counted as failed, with the reason, and the rest goes on. Raises `CatalogInvalid`
        for a `library.toml` that cannot be understood, `ProviderError` where the index cannot be written.
        """
        roots = [await asyncio.to_thread(find_root, Path(path)) for path in paths]
        counts = Counts()
        with Index(self._path) as index:
            async with LimitedReader(self._limits) as reader:
                for path, root in zip(paths, roots, strict=True):
                    if root is None:
                        reason = why_unreachable(Path(path)) or "no such file or folder"
                        missing = Failure(path=str(path), reason=reason)
                        counts = _sum(counts, Counts(failed=[missing]))
                    else:
                        counts = _sum(counts, await Adding(index, reader, root, on_progress).run())
        return counts

    async def list(self) -> Sequence[FolderRecord]:
        """The added folders and files, by path."""
        rows = await self._read(lambda index: index.rows("folders"))
        return [FolderRecord(**row) for row in rows or []]

    async def omissions(self) -> Mapping[str, Sequence[Failure]]:
        """By added folder, the files that the last indexing did not read, or only in part."""
        found: dict[str, list[Failure]] = {}
        for row in await self._read(lambda index: index.rows("omissions")) or []:
            failure = Failure(path=row["path"], reason=row["reason"], partly=bool(row["partly"]))
            found.setdefault(row["folder"], []).append(failure)
        return found

    async def documents(self, root: Path | None = None) -> Sequence[DocumentFacts]:
        """Every indexed document, or those below `root` or at it, by folder and path."""
        rows = await self._read(lambda index: index.rows("documents")) or []
        return [_facts(row) for row in rows if root is None or Path(row["path"]).is_relative_to(root)]

    async def files(self, url: str) -> Sequence[IndexedFile]:
        """The files of indexed documents whose path below their folder is `url`."""

        def find(index: Index) -> list[IndexedFile]:
            return [_indexed_file(row) for row in index.rows("documents") if row["url"] == url]

        return await self._read(find) or []

    async def document(self, folder: Path, url: str) -> Document | None:
        """The document at `url` below an added folder or of an added file, None where it is not indexed or has no
        text."""

        def find(index: Index) -> Document | None:
            with index.snapshot():
                numbers = [row["id"] for row in index.rows("readable_at_url", folder=str(folder.resolve()), url=url)]
                return index.document(numbers[0]) if numbers else None

        return await self._read(find)

    async def read(self, source_id: str) -> tuple[DocumentFacts, Document] | None:
        """What is known of the indexed document with this id, and the document; None where there is none."""

        def find(index: Index) -> tuple[DocumentFacts, Document] | None:
            with index.snapshot():
                row = next((row for row in index.rows("documents") if row["source_id"] == source_id), None)
                return None if row is None else (_facts(row), index.document(row["id"]))

        return await self._read(find)

    async def remove(self, path: str | Path) -> int:
        """Forget an added folder or file, or a single document; how many documents were forgotten."""
        return await self._read(lambda index: _remove(index, Path(path).expanduser())) or 0

    async def find(
        self, text: str, *, folders: Sequence[str | Path] = (), limit: int = 5, language: str = ""
    ) -> Sequence[FoundDocument]:
        """The documents that answer best, best first; `folders` confines the search to these added folders. Pages in
        several languages are given in `language` (empty: that of `text`), else in English."""

        def find(index: Index) -> list[FoundDocument]:
            with index.snapshot():
                return _find(index, text, folders, limit, language, self._embedder)

        return await self._read(find) or []

    async def search(self, text: str, *, folders: Sequence[str | Path] = (), limit: int = 10) -> Sequence[PassageHit]:
        """The passages that answer best, best first, at most three of a document."""
        found = await self.find(text, folders=folders, limit=limit)
        hits = [hit for document in found for hit in _hits(document)]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    async def _read(self, read: Callable[[Index], _T]) -> _T | None:
        """Run in a thread, since SQLite blocks; None where nothing was ever added."""

        def work() -> _T | None:
            if not self._path.exists():
                return None
            with Index(self._path) as index:
                return read(index)

        return await asyncio.to_thread(work)


def _sum(left: Counts, right: Counts) -> Counts:
    return Counts(
        added=left.added + right.added,
        updated=left.updated + right.updated,
        unchanged=left.unchanged + right.unchanged,
        removed=left.removed + right.removed,
        failed=(*left.failed, *right.failed),
        partly=(*left.partly, *right.partly),
    )


def _remove(index: Index, path: Path) -> int:
    names = {str(path.resolve()), str(path.absolute()), str(path)}
    removed = 0
    for name in sorted(names):
        for row in index.rows("folder", path=name):
            removed += next((one["documents"] for one in index.rows("folders") if one["path"] == name), 0)
            index.remove_folder(row["id"])
        numbers = [row["id"] for row in index.rows("ids_at_path", path=name)]
        index.remove(numbers)
        removed += len(numbers)
    return removed


def _find(
    index: Index,
    text: str,
    folders: Sequence[str | Path],
    limit: int,
    language: str,
    embedder: Embedder | None,
) -> list[FoundDocument]:
    numbers = [
        row["id"] for folder in folders for row in index.rows("folder", path=str(Path(folder).expanduser().resolve()))
    ]
    ranked = rank(
        index,
        text,
        folders=numbers if folders else None,
        most=limit,
        most_passages=_PASSAGES_A_DOCUMENT,
        language=language,
        embedder=embedder,
    )
    return [
        FoundDocument(
            facts=_facts(found.row),
            document=index.document(found.row["document"]),
            relevance=round(found.passages[0].score, 4),
            passages=found.passages,
            translations=found.translations,
        )
        for found in ranked
    ]


def _facts(row: Mapping[str, Any]) -> DocumentFacts:
    entry = CatalogEntry(**orjson.loads(row["entry"]))
    package = installed_package(row["path"])
    return DocumentFacts(
        source_id=row["source_id"],
        url=row["url"],
        title=entry.title or _title(row["own_title"], row["url"]),
        content_type=row["content_type"],
        tier=entry.tier or ("AUTHORITATIVE" if package else None),
        publisher=entry.publisher or package or None,
        authors=tuple(entry.authors),
        published_at=entry.published_at,
        doi=entry.doi,
        licence=entry.licence,
        library=library_name(row["root"], row["path"]),
        superseded=row["superseded"],
        page=row["page"],
        bytes_hash=row["bytes_hash"],
    )


def _title(own: str, url: str) -> str:
    """What a document without an entry in a catalog is called: its path where it has no title, and with its file's name
    where that is a lone heading in capitals of which the name says nothing, such as `OVERVIEW`."""
    stem = PurePosixPath(url).stem
    is_heading = own.isupper() and own.isalpha() and own.casefold() not in stem.casefold()
    return f"{stem}: {own}" if is_heading else own or url


def _indexed_file(row: Row) -> IndexedFile:
    path, root = Path(row["path"]), Path(row["root"])
    base = root.parent if root == path else root
    steps = row["url"].split("/")
    inside = (n for n in range(1, len(steps)) if base.joinpath(*steps[:n]).resolve() == path)
    member = "/".join(steps[next(inside, len(steps)) :])
    return IndexedFile(source_id=row["source_id"], root=root, path=path, member=member)


def _hits(found: FoundDocument) -> list[PassageHit]:
    return [
        PassageHit(
            source_id=found.facts.source_id,
            title=found.facts.title,
            path=found.facts.url,
            locator=make_locator(found.document, passage.start, passage.end),
            text=found.document.text[passage.start : passage.end],
            score=round(passage.score, 4),
            place=_place(found.document, passage.start, passage.end),
            superseded=found.facts.superseded,
            translations=found.translations,
        )
        for passage in found.passages[:_HITS_A_DOCUMENT]
    ]


def _place(document: Document, start: int, end: int) -> str:
    return "; ".join(map(in_words, places_of(document.places, start, end)))
