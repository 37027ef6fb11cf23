"""Bibliographic data beside the documents: BibTeX, RIS and CSL-JSON files, and the database of a Zotero library."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.providers.search.local.records import Failure
from graph_research.text.decoding import decode
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.language.versions import title_key

_ZOTERO = "zotero.sqlite"
_SUFFIXES = (".bib", ".ris")
_MAX_BYTES = 20_000_000
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, IndexError)
# Possessive quantifiers, so that a search never goes back over what it has read.
_ENTRY = re.compile(r"@(\w++)\s*+\{\s*+[^,\s{}]*+\s*+,")
_FIELD = re.compile(r"[\s,]*+([\w-]++)\s*+=\s*+")
_BARE = re.compile(r"[^,}\s]*+")
_SIGN = re.compile(r'[{}"]')
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
_CSL_TYPE = re.compile(
    r"article|article-journal|article-magazine|article-newspaper|bill|book|broadcast|chapter|classic|collection"
    r"|dataset|document|entry|entry-dictionary|entry-encyclopedia|event|figure|graphic|hearing|interview"
    r"|legal_case|legislation|manuscript|map|motion_picture|musical_score|pamphlet|paper-conference|patent"
    r"|performance|periodical|personal_communication|post|post-weblog|regulation|report|review|review-book"
    r"|software|song|speech|standard|thesis|treaty|webpage"
)
_MOST_ROWS = 500_000
_MOST_CHARS = 1_000_000  # of a value in a database
_STEPS_A_CHECK = 1_000_000
_MOST_CHECKS = 300
_ZOTERO_TABLES = ("items", "itemAttachments", "itemData", "itemDataValues", "fields", "creators", "itemCreators")
_ZOTERO_QUERY = """
SELECT attachment.key AS folder, itemAttachments.path AS path, fields.fieldName AS field,
       substr(itemDataValues.value, 1, 2000) AS value,
       (SELECT group_concat(name, ';') FROM (SELECT trim(coalesce(firstName, '') || ' ' || lastName) AS name
        FROM itemCreators JOIN creators USING (creatorID) WHERE itemCreators.itemID = parent.itemID
        ORDER BY orderIndex)) AS authors
FROM itemAttachments JOIN items AS attachment ON attachment.itemID = itemAttachments.itemID
JOIN items AS parent ON parent.itemID = itemAttachments.parentItemID
JOIN itemData ON itemData.itemID = parent.itemID JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)
WHERE itemAttachments.path IS NOT NULL
AND fields.fieldName IN ('title', 'date', 'DOI', 'publisher', 'institution', 'publicationTitle')
"""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a bibliography says of a work; `files` are the last parts of the paths of its attachments."""

    entry: CatalogEntry
    files: frozenset[str] = frozenset()


class Bibliography:
    """The references of a folder, found by the file that they name, else by the title."""

    def __init__(self, references: Iterable[Reference] = (), unread: Sequence[Failure] = ()) -> None:
        self.unread = unread
        self._by_file: dict[str, CatalogEntry] = {}
        self._by_title: dict[str, CatalogEntry] = {}
        for reference in references:
            for file in reference.files:
                self._by_file.setdefault(file, reference.entry)
            if key := title_key(reference.entry.title or ""):
                self._by_title.setdefault(key, reference.entry)

    @classmethod
    def read(cls, files: Sequence[Path]) -> Bibliography:
        """The references in these files; what of them cannot be read is left out and named in `unread`."""
        references: list[Reference] = []
        unread: list[Failure] = []
        for file in files:
            found, failures = _references(file)
            references += found
            unread += failures
        return cls(references, unread)

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


def _references(file: Path) -> tuple[Sequence[Reference], Sequence[Failure]]:
    """The references in a file, and what of it was not read."""
    references: list[Reference] = []
    failures: list[Failure] = []
    malformed = 0
    make, items = _items(file)
    try:
        for item in items:
            try:
                references.append(_encodable(make(item)))
            except _MALFORMED:
                malformed += 1
    except DocumentUnreadable as error:
        failures.append(Failure(path=str(file), reason=error.message, partly=bool(references)))
    if malformed:
        what = "1 reference is" if malformed == 1 else f"{malformed:,} references are"
        failures.append(Failure(path=str(file), reason=f"{what} malformed and left out", partly=True))
    return references, failures


def _items(file: Path) -> tuple[Callable[[Any], Reference], Iterable[Any]]:
    """The items of a file, and what makes a reference of each; reading them raises `DocumentUnreadable`."""
    if file.name == _ZOTERO:
        return _of_zotero, _zotero_items(file)
    match file.suffix.lower():
        case ".json":
            return _of_csl, _csl_items(file)
        case ".ris":
            return _reference, _ris_rows(file)
        case _:
            return _reference, _bibtex_rows(file)


def _text_of(file: Path) -> str:
    try:
        if (size := file.stat().st_size) > _MAX_BYTES:
            raise DocumentUnreadable(f"it has {size:,} bytes, more than {_MAX_BYTES:,}")
        return decode(file.read_bytes())
    except OSError as error:
        raise DocumentUnreadable((error.strerror or str(error)).lower()) from error


def _encodable(reference: Reference) -> Reference:
    """The reference; raises `UnicodeEncodeError` where it has half a surrogate pair, which no file can hold."""
    entry = reference.entry
    for text in (entry.title, entry.publisher, entry.doi, *entry.authors):
        (text or "").encode()
    return reference


def _reference(row: Mapping[str, str]) -> Reference:
    authors = re.split(r" and | ?; ?", " ".join(row.get("author", "").split()))
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
    if value.isdecimal():
        return f"{int(value[:2]):02}"
    return f"{months.index(value[:3].lower()) + 1:02}" if value[:3].lower() in months else ""


def _bibtex_rows(file: Path) -> Iterator[dict[str, str]]:
    """The entries up to the first value that has no end: where the next entry begins is unknown from there on."""
    text = _text_of(file)
    position = 0
    while entry := _ENTRY.search(text, position):
        position = entry.end()
        if entry[1].lower() in ("string", "comment", "preamble"):
            continue
        row: dict[str, str] = {}
        while field := _FIELD.match(text, position):
            end = _value_end(text, field.end())
            if end is None:
                line = text.count("\n", 0, field.start(1)) + 1
                raise DocumentUnreadable(f"a value on line {line:,} has no end, and nothing after it is read")
            value = text[field.end() : end]
            if value[:1] in ("{", '"'):
                value = value[1:-1]
            position = end
            name = field[1].lower()
            row.setdefault(name, value if name == "file" else _plain(value))
        yield row


def _value_end(text: str, start: int) -> int | None:
    """Where a value in braces, in quotes or bare ends; None where its brace or quote is never closed."""
    opening = text[start : start + 1]
    if opening not in ("{", '"'):
        bare = _BARE.match(text, start)
        return bare.end() if bare else start
    depth = 1 if opening == "{" else 0
    closing = "}" if opening == "{" else '"'
    for sign in _SIGN.finditer(text, start + 1):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth == 0 and sign[0] == closing:
            return sign.end()
    return None


def _plain(value: str) -> str:
    """A BibTeX value without LaTeX: accents as letters, no braces."""
    value = _COMMAND.sub(lambda match: (match[2] or match[3]) + _MARKS[match[1]], value)
    value = re.sub(r"\\(ss|ae|AE|aa|AA|oe|o|O|l|L)(?![A-Za-z])\s*", lambda match: _SIGNS[match[1]], value)
    value = re.sub(r"\\([&%$#_])", r"\1", value)
    return unicodedata.normalize("NFC", " ".join(re.sub(r"[{}]|\\[A-Za-z]+\s?", "", value).split()))


def _ris_rows(file: Path) -> Iterator[dict[str, str]]:
    names = {"TI": "title", "T1": "title", "PB": "publisher", "DO": "doi", "PY": "year", "Y1": "year", "DA": "date"}
    row: dict[str, str] = {}
    for tag, value in _RIS.findall(_text_of(file)):
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
    return items if all(map(_is_csl_item, items)) and any(map(_has_csl_field, items)) else []


def _is_csl_item(item: object) -> bool:
    if not isinstance(item, dict) or "title" not in item:
        return False
    return isinstance(item.get("type"), str) and _CSL_TYPE.fullmatch(item["type"]) is not None


def _has_csl_field(item: Mapping[str, Any]) -> bool:
    """Whether the authors or the date are objects, as other lists of titled things seldom have them."""
    people = item.get("author")
    has_people = isinstance(people, list) and bool(people) and all(isinstance(person, dict) for person in people)
    return has_people or isinstance(item.get("issued"), dict)


def _of_csl(item: Mapping[str, Any]) -> Reference:
    people = [person for person in item.get("author") or [] if isinstance(person, dict)]
    names = [
        " ".join(filter(None, (_csl_text(person, "given"), _csl_text(person, "family"))))
        or _csl_text(person, "literal")
        for person in people
    ]
    issued = item.get("issued")
    parts = (issued.get("date-parts") or [[]])[0] if isinstance(issued, dict) else []
    date = "-".join(f"{int(part):02}" for part in parts if isinstance(part, int | str) and str(part).isdecimal())
    entry = CatalogEntry(
        title=_csl_text(item, "title") or None,
        authors=tuple(name for name in names if name),
        publisher=_csl_text(item, "publisher") or _csl_text(item, "container-title") or None,
        published_at=iso_date(date),
        doi=_csl_text(item, "DOI") or None,
    )
    return Reference(entry=entry)


def _csl_text(item: Mapping[str, Any], name: str) -> str:
    """A text or number of an item, empty where it has none; raises `TypeError` for a list or an object."""
    value = item.get(name)
    if value is not None and not isinstance(value, str | int | float):
        raise TypeError(f"`{name}` is not a text")
    return "" if value is None else str(value).strip()


def _zotero_items(file: Path) -> Iterable[tuple[object, object, dict[str, str]]]:
    """The folder, path and data of each attachment."""
    works: dict[tuple[object, object], dict[str, str]] = {}
    rows = _zotero_rows(file)
    for folder, path, field, value, authors in rows:
        row = works.setdefault((folder, path), {"author": authors or ""})
        row[{"DOI": "doi", "publicationTitle": "journal"}.get(field, field)] = str(value)
    for (folder, path), row in works.items():
        yield folder, path, row
    if len(rows) == _MOST_ROWS:
        raise DocumentUnreadable(f"only its first {_MOST_ROWS:,} values are read")


def _zotero_rows(file: Path) -> Sequence[tuple[Any, ...]]:
    """What the query finds, within bounds of steps, rows and size; tables only, since a view may hold any query."""
    checks = iter(range(_MOST_CHECKS))
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_CHARS)
            connection.set_progress_handler(lambda: next(checks, None) is None, _STEPS_A_CHECK)
            real = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            if not {name for (name,) in connection.execute(real)}.issuperset(_ZOTERO_TABLES):
                raise DocumentUnreadable("it is not the database of a Zotero library")
            rows = connection.execute(_ZOTERO_QUERY).fetchmany(_MOST_ROWS)
    except sqlite3.Error as error:
        raise DocumentUnreadable(f"its database cannot be read: {error}") from error
    return rows


def _of_zotero(item: tuple[str, str, dict[str, str]]) -> Reference:
    folder, path, row = item
    if row.get("date"):  # Zotero writes `2021-05-00 May 2021`
        row["date"] = row["date"].split(" ")[0].replace("-00", "")
    return replace(_reference(row), files=frozenset((f"{folder}/{path.removeprefix('storage:')}",)))
