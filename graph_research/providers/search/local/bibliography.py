"""Bibliographic data beside the documents: BibTeX, RIS and CSL-JSON files, and the database of a Zotero library."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.providers.search.local.records import Failure
from graph_research.providers.search.local.references.csl import csl_items, csl_reference
from graph_research.providers.search.local.references.reference import Reference, ReferenceInvalid
from graph_research.providers.search.local.references.zotero import zotero_items, zotero_reference
from graph_research.text.decoding import decode
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.versions import title_key

ZOTERO = "zotero.sqlite"
_SUFFIXES = (".bib", ".ris")
_MAX_BYTES = 20_000_000
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


@dataclass(frozen=True, kw_only=True)
class ReferenceFile:
    """A file that holds references. The items of CSL-JSON, which only its content tells from other JSON, come along."""

    path: Path
    csl_items: Sequence[Mapping[str, Any]] = ()


class Bibliography:
    """The references of a folder, found by the file that they name, else by the title of the document, else by the name
    of its file."""

    def __init__(
        self, by_path: Mapping[str, Sequence[Reference]] = MappingProxyType({}), unread: Sequence[Failure] = ()
    ) -> None:
        self.unread = unread
        self._by_path = by_path
        self._by_file: dict[str, CatalogEntry | None] = {}  # none for a name that files of several works have
        self._by_title: dict[str, CatalogEntry] = {}
        references = list(chain.from_iterable(by_path.values()))
        self._trashed = frozenset(file for row in references if row.is_trashed for file in row.files)
        for reference in references:
            key = title_key(reference.entry.title or "")
            for file in reference.files:
                other = self._by_file.setdefault(file, reference.entry)
                if other is not None and title_key(other.title or "") != key:
                    self._by_file[file] = None
            if key:
                self._by_title.setdefault(key, reference.entry)

    @classmethod
    def read(cls, files: Sequence[ReferenceFile]) -> Bibliography:
        """The references in these files; what of them cannot be read is left out and named in `unread`."""
        by_path: dict[str, Sequence[Reference]] = {}
        unread: list[Failure] = []
        for file in files:
            by_path[str(file.path)], failures = _references(file)
            unread += failures
        return cls(by_path, unread)

    def is_trashed(self, path: str) -> bool:
        """Whether the file at a path is an attachment that its owner threw away."""
        return _ends(path)[0] in self._trashed

    def without_files(self, paths: Iterable[str]) -> list[Failure]:
        """The files of references, of which some name an attachment that is at none of these paths."""
        there = {end for path in paths for end in _ends(path)}
        failures: list[Failure] = []
        for path, references in self._by_path.items():
            absent = [
                min(row.files, key=len)
                for row in references
                if row.files and not row.is_trashed and there.isdisjoint(row.files)
            ]
            if absent:
                what = (
                    "1 reference names a file that is"
                    if len(absent) == 1
                    else f"{len(absent):,} references name files that are"
                )
                failures.append(Failure(path=path, reason=f"{what} not there, such as {absent[0]}", partly=True))
        return failures

    def complete(self, entry: CatalogEntry, url: str, title: str) -> CatalogEntry:
        """`entry`, and where it says nothing what the bibliography says of the document."""
        found = next(filter(None, map(self._by_file.get, _ends(url))), None)
        found = found or self._by_title.get(title_key(title or PurePosixPath(url).stem))
        if found is None:
            return entry
        names = ("tier", "publisher", "published_at", "authors", "title", "doi", "licence")
        return replace(entry, **{name: getattr(found, name) for name in names if not getattr(entry, name)})


def _ends(path: str) -> tuple[str, str]:
    """By what a reference may name the file at a path: its folder and name, or its name."""
    parts = PurePosixPath(unicodedata.normalize("NFC", path)).parts
    return "/".join(parts[-2:]), parts[-1]


def may_have_references(name: str) -> bool:
    """Whether a file of this name holds references and nothing else."""
    return name.lower().endswith(_SUFFIXES) or name == ZOTERO


def reference_file(path: Path) -> ReferenceFile | None:
    """The file where it holds references and is therefore no document itself, else None."""
    if may_have_references(path.name):
        return ReferenceFile(path=path)
    items = _csl_items(path) if path.suffix.lower() == ".json" else ()
    return ReferenceFile(path=path, csl_items=items) if items else None


def _references(file: ReferenceFile) -> tuple[Sequence[Reference], Sequence[Failure]]:
    """The references in a file, and what of it was not read."""
    references: list[Reference] = []
    failures: list[Failure] = []
    malformed = 0
    places: list[str] = []
    try:
        make, items = _items(file)
        for item in items:
            try:
                references.append(make(item))
            except _MALFORMED as error:
                malformed += 1
                places += [str(error)] if isinstance(error, ReferenceInvalid) else []
    except DocumentUnreadable as error:
        failures.append(Failure(path=str(file.path), reason=error.message, partly=bool(references)))
    if malformed:
        what = "1 reference is" if malformed == 1 else f"{malformed:,} references are"
        reason = " at ".join([f"{what} malformed and left out", *places[:1]])
        failures.append(Failure(path=str(file.path), reason=reason, partly=True))
    return references, failures


def _items(file: ReferenceFile) -> tuple[Callable[[Any], Reference], Iterable[Any]]:
    """What makes a reference of an item, and the items; this, or the next item, raises `DocumentUnreadable`.
    Libraries are imported where they are needed, since importing them takes longer than a command's other work."""
    path = file.path
    if file.csl_items:
        return csl_reference, file.csl_items
    if path.name == ZOTERO:
        return zotero_reference, zotero_items(path)
    if path.suffix.lower() == ".ris":
        from graph_research.providers.search.local.references.ris import ris_items, ris_reference

        return ris_reference, ris_items(_text_of(path))
    from graph_research.providers.search.local.references.bibtex import bibtex_items, bibtex_reference

    return bibtex_reference, bibtex_items(_text_of(path))


def _csl_items(file: Path) -> Sequence[Mapping[str, Any]]:
    """The items of a CSL-JSON file; nothing for any other JSON, or where it cannot be read."""
    try:
        return csl_items(file) if file.stat().st_size <= _MAX_BYTES else ()
    except OSError:
        return ()


def _text_of(file: Path) -> str:
    try:
        if (size := file.stat().st_size) > _MAX_BYTES:
            raise DocumentUnreadable(f"it has {size:,} bytes, more than {_MAX_BYTES:,}")
        return decode(file.read_bytes())
    except OSError as error:
        raise DocumentUnreadable((error.strerror or str(error)).lower()) from error
