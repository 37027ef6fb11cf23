"""Indexing of one added folder: what changed is read, and written to the index many documents at a time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import orjson

from graph_research.providers.search.local.bibliography import Bibliography
from graph_research.providers.search.local.catalog import Catalog, CatalogEntry
from graph_research.providers.search.local.files import FoundFile, find_files, read_bytes, read_document
from graph_research.providers.search.local.index import Index, IndexEntry, Row, document_entry, failure_entry
from graph_research.providers.search.local.records import Counts, Failure
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers import READERS
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.formats import ZIP, type_of_bytes
from graph_research.text.readers.limits import FilePart

OnProgress = Callable[[int, int, str], None]
"""Called before a file is read, for small ones a few files early: with its number from 0, the number of all files, and
its path; at the end with the number of all twice and no path."""

_T = TypeVar("_T")
_MOST_IN_GROUP = 16
_GROUP_BYTES = 100_000
_TRASHED = "it lies in Zotero's trash"
_PASSAGES_A_WRITE = 500  # other processes may write in between


@dataclass(frozen=True)
class Root:
    """A folder (or single file) to add: absolute, without symbolic links, with what its user says of it."""

    path: Path
    catalog: Catalog


def find_root(path: Path) -> Root | None:
    """The folder or file at `path`, None where there is none. Raises `CatalogInvalid`."""
    try:
        resolved = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return Root(resolved, Catalog.read(resolved if resolved.is_dir() else resolved.parent))


@dataclass(frozen=True)
class _Unread:
    """A file of a foreign format that is to be read: its rows in the index, its new columns, its bytes."""

    file: FoundFile
    known: Sequence[Row]
    values: Row
    data: bytes


class Adding:
    """One folder being indexed: files are read one by one, and written to the index many at a time."""

    def __init__(self, index: Index, reader: LimitedReader, root: Root, on_progress: OnProgress | None) -> None:
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
        files = await asyncio.to_thread(self._documents)
        known = {row["url"]: row for row in self._index.rows("known", folder=folder)}
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
        await _to_its_end(self._index.relate, folder)
        there = [row["url"] for row in self._index.rows("known", folder=folder)]
        self._partly += self._bibliography.without_files([*there, *(failure.path for failure in self._failed)])
        omissions = [*self._failed, *self._partly]
        await _to_its_end(self._index.note_omissions, folder, map(asdict, omissions))
        if self._is_unread_file():
            await _to_its_end(self._index.remove_folder, folder)
        return Counts(**self._counts, failed=self._failed, partly=self._partly)

    def _documents(self) -> list[FoundFile]:
        """The documents of the folder; its references and what cannot be read are taken note of."""
        found = list(find_files(self._root))
        files = [file for file in found if isinstance(file, FoundFile)]
        self._bibliography = Bibliography.read([file.references for file in files if file.references])
        failures = [*(failure for failure in found if isinstance(failure, Failure)), *self._bibliography.unread]
        self._failed += [failure for failure in failures if not failure.partly]
        self._partly += [failure for failure in failures if failure.partly]
        trashed = [file for file in files if self._bibliography.is_trashed(file.url)]
        self._failed += [Failure(path=str(file.path), reason=_TRASHED) for file in trashed]
        return [file for file in files if not file.references and not self._bibliography.is_trashed(file.url)]

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
