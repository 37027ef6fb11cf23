"""The library's index: one SQLite file that several processes may read and write at once."""

from __future__ import annotations

import re
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from graph_research.graph.checkpoint.sqlite_writer import connected
from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.search.base import LOCAL
from graph_research.providers.search.local.passage_ids import first_id, next_id
from graph_research.providers.search.local.query import without_accents
from graph_research.providers.search.local.sets import shared
from graph_research.providers.search.local.translations import pages
from graph_research.providers.search.local.versions import superseded
from graph_research.text.document import Block, Document, source_id
from graph_research.text.language.versions import is_marked_as_retracted, says_it_is_superseded
from graph_research.text.language.words import index_text, language_of
from graph_research.text.passages import PassageSpan, passages

_VERSION = 41  # raise it with every change of the schema or of what is indexed: an older index is made anew
_BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.05
_MOST_OF_FURNITURE = 200  # characters of a passage that may stand on each page of a set

Row = dict[str, Any]


@dataclass(frozen=True)
class IndexEntry:
    """The columns of a row of `documents`, and of each passage its place, its length, its row of `words`, and its text
    if it is short."""

    columns: Mapping[str, Any]
    passages: Sequence[tuple[PassageSpan, int, Mapping[str, str], str]] = ()


def document_entry(values: Mapping[str, Any], document: Document) -> IndexEntry:
    """What the index keeps of a document; `values` are its columns but for those that its text gives."""
    language = language_of(document.text)
    path = " ".join(re.findall(r"[^\W_]+", values["url"].rpartition(".")[0]))

    def terms(text: str) -> str:
        return without_accents(index_text(text, language))

    title = terms(document.title or path)
    paragraphs = (document.text[block.start : block.end] for block in document.blocks)
    spans = []
    for span in passages(document):
        body = document.text[span.start : span.end]
        row = {"title": title, "heading": terms(f"{path} {span.heading}"), "body": terms(body)}
        length = 1 + sum(column.count(" ") + 1 for column in row.values() if column)  # an average of 0 would divide
        spans.append((span, length, row, body if len(body) <= _MOST_OF_FURNITURE else ""))
    columns = {
        **values,
        "reason": None,
        "source_id": source_id(values["url"], document.text),
        "own_title": document.title,
        "text_hash": document.hash,
        "passages": len(spans),
        "length": sum(length for _, length, *_ in spans),
        "language": language,
        "text": zlib.compress(document.text.encode()),
        "layout": zlib.compress(orjson.dumps(document.layout())),
        "warnings": orjson.dumps(document.warnings).decode(),
        "own_date": document.date,
        "says_superseded": is_marked_as_retracted(document.title) or says_it_is_superseded(document.text, paragraphs),
    }
    return IndexEntry(columns, spans)


def failure_entry(values: Mapping[str, Any], reason: str) -> IndexEntry:
    """Remembers that a file gave no text."""
    own = (
        "source_id",
        "own_title",
        "own_date",
        "text_hash",
        "language",
        "text",
        "layout",
        "says_superseded",
    )
    nothing = {**dict.fromkeys(own), "passages": 0, "length": 0}
    return IndexEntry({**values, **nothing, "reason": reason, "warnings": "[]"})


class Index:
    """A connection to the index at `path`, for reading only where it may not be written; a context manager. Use one
    object in one thread at a time.

    Its methods raise `ProviderUnavailable` where the file is locked, full or out of reach, `ProviderRefused` where
    the file is not an index.
    """

    def __init__(self, path: Path, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._path = path
        with self._named_errors():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._connection, writable = connected(
                path, isolation_level=None, timeout=_BUSY_SECONDS, check_same_thread=False
            )
            self._connection.row_factory = _row
            try:
                if writable or self._version() != _VERSION:
                    self._prepare(wait)
            except BaseException:  # also an interruption: `__exit__` is not called
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def rows(self, query: str, **values: Any) -> list[Row]:
        """The rows of a named query."""
        with self._named_errors():
            return self._connection.execute(_queries()[query], values).fetchall()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read meanwhile is one state of the index, whatever other processes write to it."""
        with self._named_errors():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    def folder(self, path: str) -> int:
        """The id of an added folder, added now if it is new."""
        with self._transaction():
            self._run("add_folder", path=path)
            return int(self._one("folder", path=path)["id"])

    def store(self, entries: Iterable[IndexEntry]) -> None:
        """Put each document or failure in the place of what is at its folder and URL, all in one transaction."""
        with self._transaction():
            for entry in entries:
                columns = entry.columns
                for row in self.rows("at_url", folder=columns["folder"], url=columns["url"]):
                    self._delete(row["id"])
                number = self._run("insert_document", **columns)
                first, before = first_id(columns["folder"]), first_id(columns["folder"] + 1)
                passage = max(first, self._one("last_passage", before=before)["id"])
                for span, length, terms, said in entry.passages:
                    passage = next_id(passage, length)
                    place = {"document": number, "start": span.start, "end": span.end}
                    self._run("insert_passage", id=passage, **place, said=said)
                    self._run("insert_words", id=passage, **terms)

    def touch(self, number: int, *, path: str, mtime_ns: int, size: int) -> None:
        """A file was written again, or moved with its folder, and its bytes are the same."""
        with self._transaction():
            self._run("touch", id=number, path=path, mtime_ns=mtime_ns, size=size)

    def describe(self, number: int, entry: str) -> None:
        """Keep what `library.toml` now says of a document."""
        with self._transaction():
            self._run("describe", id=number, entry=entry)

    def note_omissions(self, folder: int, omissions: Iterable[Mapping[str, Any]]) -> None:
        """Keep what the last indexing of a folder left out, in the place of what was noted before."""
        with self._transaction():
            self._run("delete_omissions", folder=folder)
            for omission in omissions:
                self._run("insert_omission", folder=folder, **omission)

    def relate(self, folder: int) -> None:
        """Find anew the old versions in a folder, its pages in several languages or formats, the passages that stand on
        most pages of a set, which no search finds from then on, and in all folders which dates are those of sets."""
        with self.snapshot():
            rows = self.rows("relations", folder=folder)
            found, paged = superseded(rows, self.text), pages(rows, self.text)
            short = self.rows("short_passages", folder=folder)
            repeated = shared((row["id"], row["url"], row["said"]) for row in short)
            dated = self.rows("dates")
            of_sets = shared((row["id"], f"{row['root']}/{row['url']}", row["own_date"]) for row in dated)
        with self._transaction():
            for row in rows:
                now = {"superseded": found.get(row["id"]), "page": paged.get(row["id"])}
                if any(row[name] != value for name, value in now.items()):
                    self._run("relate", id=row["id"], **now)
            for number in (row["id"] for row in short if row["id"] in repeated and not row["furniture"]):
                self._run("mark_furniture", id=number)
                self._run("delete_words_of", id=number)
            for row in dated:
                if row["date_of_set"] != (row["id"] in of_sets):
                    self._run("date", id=row["id"], date_of_set=int(row["id"] in of_sets))

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget these documents."""
        if numbers:  # most files were not there before
            with self._transaction():
                for number in numbers:
                    self._delete(number)

    def remove_folder(self, number: int) -> None:
        """Forget a folder and its documents."""
        with self._transaction():
            for row in self.rows("ids_in_folder", folder=number):
                self._delete(row["id"])
            self._run("delete_omissions", folder=number)
            self._run("delete_folder", folder=number)

    def document(self, number: int) -> Document:
        """The stored document, without the date where that is of a set of documents; what stands on most pages of a set
        is boilerplate."""
        row = self._one("layout", id=number)
        document = Document.from_layout(self.text(number), orjson.loads(zlib.decompress(row["layout"])))
        if row["date_of_set"]:
            document = replace(document, date="")
        furniture = self.rows("furniture", document=number)
        return replace(document, blocks=tuple(_marked(document.blocks, furniture))) if furniture else document

    def text(self, number: int) -> str:
        """The text of the stored document."""
        return zlib.decompress(self._one("text", id=number)["text"]).decode()

    def _delete(self, number: int) -> None:
        for query in ("delete_words", "delete_passages", "delete_document"):
            self._run(query, document=number)

    def _run(self, query: str, **values: Any) -> int:
        return int(self._connection.execute(_queries()[query], values).lastrowid or 0)

    def _one(self, query: str, **values: Any) -> Row:
        [row] = self.rows(query, **values)
        return row

    def _prepare(self, wait: Callable[[float], None]) -> None:
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # The change to WAL does not wait for another process that makes it at the same moment.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                wait(_RETRY_SECONDS)
        self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            if self._version() != _VERSION:
                self._make_anew()

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()["user_version"])

    def _make_anew(self) -> None:
        """The tables without a row but those of the added folders, which are to be indexed again."""
        is_old = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'folders'").fetchone()
        folders = self._connection.execute("SELECT path FROM folders").fetchall() if is_old else []
        for table in ("terms", "words", "passages", "documents", "omissions", "folders"):
            self._connection.execute(f"DROP TABLE IF EXISTS {table}")
        schema = (files(__package__) / "sql" / "schema.sql").read_text()
        for statement in schema.split(";\n"):
            self._connection.execute(statement)
        self._connection.executemany("INSERT INTO folders (path) VALUES (:path)", folders)
        self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._named_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:  # also an interruption: no transaction stays open
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._unavailable(error.strerror or str(error)) from error
        except sqlite3.OperationalError as error:
            raise self._unavailable(str(error)) from error
        except sqlite3.DatabaseError as error:
            raise ProviderRefused(
                f"{self._shown} is not a usable index: {error}",
                provider=LOCAL,
                help="delete it from the data home and add the folders again; the documents themselves are not in it",
            ) from error

    @property
    def _shown(self) -> str:
        """The file without where its folder stands: reports show why a search failed, also to users of a service."""
        return f"{self._path.parent.name}/{self._path.name}"

    def _unavailable(self, reason: str) -> ProviderError:
        return ProviderUnavailable(
            f"the index {self._shown} cannot be used: {reason}",
            provider=LOCAL,
            help="see that its folder exists, is writable and has space",
        )


def _marked(blocks: Iterable[Block], furniture: Sequence[Row]) -> Iterator[Block]:
    for block in blocks:
        is_within = any(row["start"] <= block.start and block.end <= row["end"] for row in furniture)
        yield block._replace(kind="boilerplate") if is_within else block


def _row(cursor: sqlite3.Cursor, values: Sequence[Any]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}


@cache
def _queries() -> Mapping[str, str]:
    text = (files(__package__) / "sql" / "queries.sql").read_text()
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (query.strip() for query in parts[1::2]), strict=True))
