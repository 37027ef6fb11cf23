"""Bibliographic data beside the documents: BibTeX, RIS and CSL-JSON files, and the database of a Zotero library."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.text.decoding import decode
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.language.versions import title_key

_ZOTERO = "zotero.sqlite"
_SUFFIXES = (".bib", ".ris")
_MAX_BYTES = 20_000_000
_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^,\s{}]*)\s*,")
_FIELD = re.compile(r"\s*,?\s*([\w-]+)\s*=\s*")
_RIS = re.compile(r"^([A-Z][A-Z0-9])  - ?(.*)$", re.MULTILINE)
_COMMAND = re.compile(r"\\([`'^\"~=.uvHcdbrk])\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))")
_MARKS = dict(
    zip(
        "`'^\"~=.uvHcdbrk",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u030a\u0328",
        strict=True,
    )
)
_SIGNS = {"ss": "ß", "o": "ø", "O": "Ø", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "oe": "œ"}
_ZOTERO_QUERY = """
SELECT attachment.key AS folder, itemAttachments.path AS path, fields.fieldName AS field, itemDataValues.value AS value,
       (SELECT group_concat(name, ';') FROM (SELECT trim(coalesce(firstName, '') || ' ' || lastName) AS name
        FROM itemCreators JOIN creators USING (creatorID) WHERE itemCreators.itemID = parent.itemID
        ORDER BY orderIndex)) AS authors
FROM itemAttachments JOIN items AS attachment ON attachment.itemID = itemAttachments.itemID
JOIN items AS parent ON parent.itemID = itemAttachments.parentItemID
JOIN itemData ON itemData.itemID = parent.itemID JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)
WHERE itemAttachments.path IS NOT NULL
"""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a bibliography says of a work; `files` are the last parts of the paths of its attachments."""

    entry: CatalogEntry
    files: frozenset[str] = frozenset()


class Bibliography:
    """The references of a folder, found by the file that they name, else by the title."""

    def __init__(self, references: Iterable[Reference] = ()) -> None:
        self._by_file: dict[str, CatalogEntry] = {}
        self._by_title: dict[str, CatalogEntry] = {}
        for reference in references:
            for file in reference.files:
                self._by_file.setdefault(file, reference.entry)
            if key := title_key(reference.entry.title or ""):
                self._by_title.setdefault(key, reference.entry)

    @classmethod
    def read(cls, files: Sequence[Path]) -> Bibliography:
        """The references in these files; what of them cannot be read is left out."""
        return cls(reference for file in files for reference in _references(file))

    def complete(self, entry: CatalogEntry, url: str, title: str) -> CatalogEntry:
        """`entry`, and where it says nothing what the bibliography says of the document."""
        path = PurePosixPath(url)
        found = self._by_file.get("/".join(path.parts[-2:])) or self._by_file.get(path.name)
        found = found or (self._by_title.get(title_key(title)) if title else None)
        if found is None:
            return entry
        names = ("publisher", "published_at", "authors", "title", "doi")
        return replace(entry, **{name: getattr(found, name) for name in names if not getattr(entry, name)})


def may_have_references(name: str) -> bool:
    """Whether a file of this name holds references and nothing else."""
    return name.lower().endswith(_SUFFIXES) or name == _ZOTERO


def is_bibliography(path: Path) -> bool:
    """Whether a file holds references and is therefore no document itself."""
    if may_have_references(path.name):
        return True
    return path.suffix.lower() == ".json" and bool(_csl_items(path))


def _references(file: Path) -> Iterator[Reference]:
    if file.name == _ZOTERO:
        yield from _zotero(file)
        return
    if file.suffix.lower() == ".json":
        yield from map(_of_csl, _csl_items(file))
        return
    try:
        if file.stat().st_size > _MAX_BYTES:
            return
        text = decode(file.read_bytes())
    except (OSError, DocumentUnreadable):
        return
    rows = _ris_rows(text) if file.suffix.lower() == ".ris" else _bibtex_rows(text)
    for row in rows:
        yield _reference(row)


def _reference(row: Mapping[str, str]) -> Reference:
    authors = re.split(r"\s+and\s+|\s*;\s*", row.get("author", "").strip())
    date = row.get("date") or "-".join(part for part in (row.get("year", ""), _month(row.get("month", ""))) if part)
    entry = CatalogEntry(
        title=row.get("title") or None,
        authors=tuple(_in_order(name) for name in authors if name),
        publisher=row.get("publisher") or row.get("institution") or row.get("journal") or None,
        published_at=iso_date(date) or iso_date(row.get("year", "")) or None,
        doi=row.get("doi", "").removeprefix("https://doi.org/") or None,
    )
    return Reference(entry=entry, files=frozenset(_attached(row.get("file", ""))))


def _attached(value: str) -> Iterator[str]:
    """The ends of the paths in a `file` field, as JabRef (`name:path:type`) and Zotero write it."""
    for path in re.split(r"(?<!\\)[;:]", value):
        clean = path.replace("\\:", ":").replace("\\;", ";").replace("\\", "/").strip()
        parts = PurePosixPath(clean).parts
        if parts and "." in parts[-1]:
            yield parts[-1]
            yield "/".join(parts[-2:])


def _in_order(name: str) -> str:
    """`Writer, Ann` as `Ann Writer`."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name.strip()


def _month(value: str) -> str:
    months = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
    if value.isdigit():
        return f"{int(value[:2]):02}"
    return f"{months.index(value[:3].lower()) + 1:02}" if value[:3].lower() in months else ""


def _bibtex_rows(text: str) -> Iterator[dict[str, str]]:
    for entry in _ENTRY.finditer(text):
        if entry[1].lower() in ("string", "comment", "preamble"):
            continue
        row: dict[str, str] = {}
        position = entry.end()
        while field := _FIELD.match(text, position):
            value, position = _bibtex_value(text, field.end())
            name = field[1].lower()
            row.setdefault(name, value if name == "file" else _plain(value))
        yield row


def _bibtex_value(text: str, start: int) -> tuple[str, int]:
    """A value in braces, in quotes or bare, and where it ends."""
    opening = text[start : start + 1]
    if opening not in ("{", '"'):
        match = re.compile(r"[^,}\s]*").match(text, start)
        return (match[0], match.end()) if match else ("", start)
    depth = 0
    for place in range(start, min(len(text), start + 100_000)):
        sign = text[place]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        if place > start and depth == 0 and sign == ("}" if opening == "{" else '"'):
            return text[start + 1 : place], place + 1
    return "", len(text)


def _plain(value: str) -> str:
    """A BibTeX value without LaTeX: accents as letters, no braces."""
    value = _COMMAND.sub(lambda match: (match[2] or match[3]) + _MARKS[match[1]], value)
    value = re.sub(r"\\(ss|ae|AE|aa|AA|oe|o|O|l|L)(?![A-Za-z])\s*", lambda match: _SIGNS[match[1]], value)
    value = re.sub(r"\\([&%$#_])", r"\1", value)
    return unicodedata.normalize("NFC", " ".join(re.sub(r"[{}]|\\[A-Za-z]+\s?", "", value).split()))


def _ris_rows(text: str) -> Iterator[dict[str, str]]:
    names = {"TI": "title", "T1": "title", "PB": "publisher", "DO": "doi", "PY": "year", "Y1": "year", "DA": "date"}
    row: dict[str, str] = {}
    for tag, value in _RIS.findall(text):
        value = value.strip()
        if tag in ("AU", "A1"):
            row["author"] = f"{row['author']};{value}" if "author" in row else value
        elif tag in ("L1", "L4"):
            row["file"] = f"{row.get('file', '')};{value}"
        elif tag == "ER":
            yield row
            row = {}
        elif tag in names:
            row.setdefault(names[tag], value.replace("/", "-").strip("-") if tag in ("PY", "Y1", "DA") else value)


def _csl_items(file: Path) -> Sequence[Mapping[str, Any]]:
    """The items of a CSL-JSON file; nothing for any other JSON."""
    try:
        if file.stat().st_size > _MAX_BYTES:
            return []
        with file.open("rb") as stream:
            head = stream.read(4096)
            if not head.lstrip().startswith(b"[") or b'"type"' not in head:
                return []
            items = json.loads(head + stream.read())
    except (OSError, ValueError, RecursionError):
        return []
    is_csl = items and all(isinstance(one, dict) and {"type", "title"} <= one.keys() for one in items)
    return items if is_csl and any({"author", "issued", "DOI"} & one.keys() for one in items) else []


def _of_csl(item: Mapping[str, Any]) -> Reference:
    people = [one for one in item.get("author") or [] if isinstance(one, dict)]
    names = [f"{one.get('given', '')} {one.get('family', '')}".strip() or str(one.get("literal", "")) for one in people]
    issued = item.get("issued")
    parts = (issued.get("date-parts") or [[]])[0] if isinstance(issued, dict) else []
    date = "-".join(f"{int(part):02}" for part in parts if str(part).isdigit())
    entry = CatalogEntry(
        title=str(item["title"]),
        authors=tuple(name for name in names if name),
        publisher=str(item.get("publisher") or item.get("container-title") or "") or None,
        published_at=iso_date(date),
        doi=str(item.get("DOI") or "") or None,
    )
    return Reference(entry=entry)


def _zotero(file: Path) -> Iterator[Reference]:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            rows = connection.execute(_ZOTERO_QUERY).fetchall()
    except sqlite3.Error:
        return
    works: dict[tuple[str, str], dict[str, str]] = {}
    for folder, path, field, value, authors in rows:
        row = works.setdefault((folder, path), {"author": authors or ""})
        row[{"DOI": "doi", "publicationTitle": "journal"}.get(field, field)] = str(value)
    for (folder, path), row in works.items():
        if row.get("date"):  # Zotero writes `2021-05-00 May 2021`
            row["date"] = row["date"].split(" ")[0].replace("-00", "")
        name = path.removeprefix("storage:")
        yield replace(_reference(row), files=frozenset((f"{folder}/{name}",)))
