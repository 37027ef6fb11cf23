"""The library: folders of local documents, indexed incrementally and searched."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import orjson

from graph_research.providers.search.local.bibliography import Bibliography
from graph_research.providers.search.local.catalog import Catalog, CatalogEntry, installed_package, library_name
from graph_research.providers.search.local.files import FoundFile, find_files, read_bytes, read_document
from graph_research.providers.search.local.index import Index, IndexEntry, Row, document_entry, failure_entry
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
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.locators import make_locator
from graph_research.text.places import in_words, place_of
from graph_research.text.readers import READERS
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.formats import ZIP, type_of_bytes
from graph_research.text.readers.limits import FilePart, Limits
from graph_research.text.relevance.embedding import Embedder

OnProgress = Callable[[int, int, str], None]
"""Called before a file is read, for small ones a few files early: with its number from 0, the number of all files, and
its path; at the end with the number of all twice and no path."""

_T = TypeVar("_T")
_PASSAGES_A_DOCUMENT = 6
_HITS_A_DOCUMENT = 3
_MOST_IN_GROUP = 16
_GROUP_BYTES = 100_000
_PASSAGES_A_WRITE = 500  # other processes may write in between


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
        roots = [await asyncio.to_thread(_root, Path(path)) for path in paths]
        counts = Counts()
        with Index(self._path) as index:
            async with LimitedReader(self._limits) as reader:
                for path, root in zip(paths, roots, strict=True):
                    if root is None:
                        missing = Failure(path=str(path), reason="no such file or folder")
                        counts = _sum(counts, Counts(failed=[missing]))
                    else:
                        counts = _sum(counts, await _Adding(index, reader, root, on_progress).run())
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
            numbers = [row["id"] for row in index.rows("readable_at_url", folder=str(folder.resolve()), url=url)]
            return index.document(numbers[0]) if numbers else None

        return await self._read(find)

    async def remove(self, path: str | Path) -> int:
        """Forget an added folder or file, or a single document; how many documents were forgotten."""
        return await self._read(lambda index: _remove(index, Path(path).expanduser())) or 0

    async def find(self, text: str, *, folders: Sequence[str | Path] = (), limit: int = 5) -> Sequence[FoundDocument]:
        """The documents that answer best, best first; `folders` confines the search to these added folders."""
        return await self._read(lambda index: _find(index, text, folders, limit, self._embedder)) or []

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


@dataclass(frozen=True)
class _Root:
    """A folder (or single file) to add: absolute, without symbolic links, with what its user says of it."""

    path: Path
    catalog: Catalog


def _root(path: Path) -> _Root | None:
    try:
        resolved = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return _Root(resolved, Catalog.read(resolved if resolved.is_dir() else resolved.parent))


@dataclass(frozen=True)
class _Unread:
    """A file of a foreign format that is to be read: its rows in the index, its new columns, its bytes."""

    file: FoundFile
    known: Sequence[Row]
    values: Row
    data: bytes


class _Adding:
    """One folder being indexed: files are read one by one, and written to the index many at a time."""

    def __init__(self, index: Index, reader: LimitedReader, root: _Root, on_progress: OnProgress | None) -> None:
        self._index = index
        self._reader = reader
        self._root = root.path
        self._catalog = root.catalog
        self._bibliography = Bibliography()
        self._on_progress = on_progress
        self._counts = {"added": 0, "updated": 0, "unchanged": 0, "removed": 0}
        self._failed: list[Failure] = []
        self._partly: list[Failure] = []
        self._unwritten: list[IndexEntry] = []
        self._unwritten_passages = 0

    async def run(self) -> Counts:
        folder = self._index.folder(str(self._root))
        found = await asyncio.to_thread(lambda: list(find_files(self._root)))
        known = {row["url"]: row for row in self._index.rows("known", folder=folder)}
        files = [file for file in found if isinstance(file, FoundFile) and not file.is_bibliography]
        references = [file.path for file in found if isinstance(file, FoundFile) and file.is_bibliography]
        self._bibliography = await asyncio.to_thread(Bibliography.read, references)
        failures = [*(failure for failure in found if isinstance(failure, Failure)), *self._bibliography.unread]
        self._failed += [failure for failure in failures if not failure.partly]
        self._partly += [failure for failure in failures if failure.partly]
        done = 0
        try:
            for group in _groups(files):
                for number, file in enumerate(group, start=done):
                    self._tell(number, len(files), file.url)
                done += len(group)
                for unread in await _to_its_end(self._read_group, folder, group, known):
                    await self._add_foreign(unread)
        finally:
            await _to_its_end(self._write)
        self._tell(len(files), len(files), "")
        self._remove(list(known.values()))
        await _to_its_end(self._index.supersede, folder)
        omissions = [*self._failed, *self._partly]
        await _to_its_end(self._index.note_omissions, folder, map(asdict, omissions))
        if self._is_unread_file():
            await _to_its_end(self._index.remove_folder, folder)
        return Counts(**self._counts, failed=self._failed, partly=self._partly)

    def _is_unread_file(self) -> bool:
        """Whether a single file was added that gave no document."""
        read = sum(number for name, number in self._counts.items() if name != "removed")
        return not read and not self._root.is_dir()

    def _read_group(self, folder: int, files: Sequence[FoundFile], known: dict[str, Row]) -> list[_Unread]:
        """Take in what changed of these files; those of foreign formats among it are returned unread."""
        results = (self._read(folder, file, _pop_rows(file, known)) for file in files)
        return [unread for unread in results if unread is not None]

    def _read(self, folder: int, file: FoundFile, known: Sequence[Row]) -> _Unread | None:
        stamp = (file.mtime_ns, file.size, str(file.path))
        if known and all((row["mtime_ns"], row["size"], row["path"]) == stamp for row in known):
            self._keep(file, known)
            return None
        try:
            data = read_bytes(file)
        except DocumentUnreadable as error:
            self._fail(file, error.message)
            self._index.remove([row["id"] for row in known])
            return None
        digest = hashlib.sha256(data).hexdigest()
        if known and all(row["bytes_hash"] == digest for row in known):
            for row in known:
                self._index.touch(row["id"], path=str(file.path), mtime_ns=file.mtime_ns, size=file.size)
            self._keep(file, known)
            return None
        content_type = type_of_bytes(data, file.content_type)
        values = {
            "folder": folder,
            "path": str(file.path),
            "mtime_ns": file.mtime_ns,
            "size": file.size,
            "bytes_hash": digest,
            "content_type": content_type,
        }
        if content_type not in READERS:
            return _Unread(file, known, values, data)
        try:
            part = FilePart(document=read_document(data, content_type))
        except DocumentUnreadable as error:
            part = FilePart(error=error.message)
        self._take(file, known, values, [part])
        return None

    async def _add_foreign(self, unread: _Unread) -> None:
        parts = await self._reader.parts(unread.data, unread.values["content_type"], unread.file.path.name)
        await _to_its_end(self._take, unread.file, unread.known, unread.values, parts)
        await _to_its_end(self._write)

    def _take(self, file: FoundFile, known: Sequence[Row], values: Row, parts: Sequence[FilePart]) -> None:
        """Take in the documents of a file in the place of its `known` rows."""
        before = {row["url"]: row for row in known}
        for part in parts:
            url = f"{file.url}/{part.name}" if part.name else file.url
            columns = {
                **values,
                "url": url,
                "content_type": part.media_type or values["content_type"],
                "entry": self._entry(url, part.document.title if part.document else ""),
            }
            row = before.pop(url, None)
            if part.document is None:
                self._unwritten.append(failure_entry(columns, part.error))
                self._fail(file, part.error, part.name, is_read=any(other.document for other in parts))
                continue
            entry = document_entry(columns, part.document)
            self._unwritten.append(entry)
            self._unwritten_passages += len(entry.passages)
            self._counts["updated" if row and row["reason"] is None else "added"] += 1
            self._warn(file, part.document.warnings, part.name)
            if self._unwritten_passages >= _PASSAGES_A_WRITE:
                self._write()
        self._remove(list(before.values()))

    def _write(self) -> None:
        entries, self._unwritten, self._unwritten_passages = self._unwritten, [], 0
        self._index.store(entries)

    def _remove(self, rows: Sequence[Row]) -> None:
        self._index.remove([row["id"] for row in rows])
        self._counts["removed"] += sum(row["reason"] is None for row in rows)

    def _keep(self, file: FoundFile, known: Sequence[Row]) -> None:
        """The bytes are as before; what `library.toml` says of them may be new."""
        for row in known:
            name = row["url"].removeprefix(file.url).lstrip("/")
            entry = self._entry(row["url"], row["own_title"] or "")
            if row["reason"] is not None:
                self._fail(file, row["reason"], name, is_read=any(other["reason"] is None for other in known))
                continue
            self._warn(file, orjson.loads(row["warnings"]), name)
            if row["entry"] != entry:
                self._index.describe(row["id"], entry)
            self._counts["unchanged" if row["entry"] == entry else "updated"] += 1

    def _entry(self, url: str, title: str) -> str:
        """What `library.toml` says of a document, and what a bibliography adds."""
        return _as_json(self._bibliography.complete(self._catalog.entry(url), url, title))

    def _tell(self, done: int, total: int, path: str) -> None:
        if self._on_progress is not None:
            self._on_progress(done, total, path)

    def _fail(self, file: FoundFile, reason: str, name: str = "", *, is_read: bool = False) -> None:
        """Note that a file, or the document `name` in it, gave no text; where `is_read`, other documents in it did, so
        that the file itself counts as read in part."""
        if is_read and not name:
            self._warn(file, [reason], name)
        else:
            self._failed.append(Failure(path=_path_of(file, name), reason=reason))

    def _warn(self, file: FoundFile, warnings: Sequence[str], name: str) -> None:
        path = _path_of(file, name)
        self._partly += [Failure(path=path, reason=warning, partly=True) for warning in warnings]


def _path_of(file: FoundFile, name: str) -> str:
    """The path of a file, or of the document `name` in it."""
    return f"{file.path}/{name}" if name else str(file.path)


def _pop_rows(file: FoundFile, known: dict[str, Row]) -> list[Row]:
    """Take the rows of a file, or of the documents in an archive, out of `known`."""
    inside = f"{file.url}/"
    urls = [url for url in known if url.startswith(inside)] if file.content_type == ZIP else []
    return [known.pop(url) for url in [file.url, *urls] if url in known]


async def _to_its_end(function: Callable[..., _T], *arguments: Any) -> _T:
    """Run in a thread; when cancelled, wait for it, since the connection is closed next."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await work
        raise


def _groups(files: Sequence[FoundFile]) -> Iterator[list[FoundFile]]:
    """Files to read in one go: some small ones, or one that takes longer."""
    group: list[FoundFile] = []
    for file in files:
        if group and (len(group) == _MOST_IN_GROUP or sum(other.size for other in [*group, file]) > _GROUP_BYTES):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


@cache
def _as_json(entry: CatalogEntry) -> str:
    return orjson.dumps(asdict(entry)).decode()


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
    index: Index, text: str, folders: Sequence[str | Path], limit: int, embedder: Embedder | None
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
        embedder=embedder,
    )
    return [
        FoundDocument(
            facts=_facts(found.row),
            document=index.document(found.row["document"]),
            relevance=round(found.passages[0].score, 4),
            passages=found.passages,
        )
        for found in ranked
    ]


def _facts(row: Mapping[str, Any]) -> DocumentFacts:
    entry = CatalogEntry(**orjson.loads(row["entry"]))
    package = installed_package(row["path"])
    return DocumentFacts(
        source_id=row["source_id"],
        url=row["url"],
        title=entry.title or row["own_title"] or row["url"],
        content_type=row["content_type"],
        tier=entry.tier or ("AUTHORITATIVE" if package else None),
        publisher=entry.publisher or package or None,
        authors=tuple(entry.authors),
        published_at=entry.published_at,
        doi=entry.doi,
        library=library_name(row["path"], row["url"]),
        superseded=row["superseded"],
    )


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
        )
        for passage in found.passages[:_HITS_A_DOCUMENT]
    ]


def _place(document: Document, start: int, end: int) -> str:
    place = place_of(document.places, start, end)
    return in_words(place) if place else ""
