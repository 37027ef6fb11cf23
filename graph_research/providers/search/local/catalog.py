"""What is known of a document from outside: from the user's `library.toml`, and from where the file lies."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from graph_research.errors import UserMistake, why_unreachable

CATALOG_NAME = "library.toml"
_TIERS = ("PRIMARY_SOURCE", "AUTHORITATIVE", "SECONDARY", "UNVERIFIED", "FLAGGED")
_TEXT_KEYS = ("match", "tier", "publisher", "title", "doi", "licence")
_KEYS = (*_TEXT_KEYS, "date", "authors")
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_TOML_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_MAX_BYTES = 1_000_000
_SYSTEM_DOCS = "/usr/share/doc/"
_ANY_FOLDER = frozenset({"doc", "docs", "documentation", "html", "htdocs", "public", "site", "www"})


class CatalogInvalid(UserMistake):
    """A `library.toml` that cannot be understood; `file` and `line` say where."""

    code = "library-invalid"


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """One `[[document]]`: facts for the documents whose relative path matches the glob `match`."""

    match: str = "**"
    tier: str | None = None
    publisher: str | None = None
    published_at: str | None = None
    authors: Sequence[str] = ()
    title: str | None = None
    doi: str | None = None
    licence: str | None = None


class Catalog:
    """The entries of one folder's `library.toml`, in order."""

    def __init__(self, entries: Sequence[CatalogEntry] = ()) -> None:
        self._entries = [(_pattern(entry.match), entry) for entry in entries]

    @classmethod
    def read(cls, folder: Path) -> Catalog:
        """The catalog beside the documents; empty where there is none. Raises `CatalogInvalid`."""
        file = folder / CATALOG_NAME
        if why_unreachable(file) or not file.is_file():
            return cls()
        try:
            data = file.read_bytes()
            text = data[:_MAX_BYTES].decode()
            tables = tomllib.loads(text)
        except OSError as error:
            raise CatalogInvalid(f"cannot be read: {error.strerror}", file=str(file)) from error
        except UnicodeDecodeError as error:
            raise CatalogInvalid("is not UTF-8", help="save it as UTF-8", file=str(file)) from error
        except tomllib.TOMLDecodeError as error:
            raise _not_toml(error, file, text) from error
        return cls(_Reader(file, text).entries(tables))

    def entry(self, path: str) -> CatalogEntry:
        """What is said of the document at this relative path (with `/`): the first entry that matches, else nothing."""
        return next((entry for pattern, entry in self._entries if pattern.fullmatch(path)), CatalogEntry())


def installed_package(path: str) -> str:
    """The package to whose documentation a file belongs that the system's package manager has installed, such as
    `postgresql` of `/usr/share/doc/postgresql-doc-15/html/mvcc.html`; empty for any other file."""
    inside = path.removeprefix(_SYSTEM_DOCS)
    name = inside.partition("/")[0] if inside != path else ""
    return re.sub(r"(?:-(?:docs?|html|[\d.]+))+$", "", name)


def library_name(root: str, path: str) -> str:
    """The name of the added folder `root` that holds the file at `path`, with that of the one above it where it is
    called like any other (`larch-doc/html`); of a file that was added by itself, of the folder that it lies in. Empty
    where all are called so."""
    folder = root.rpartition("/")[0] if root == path else root
    parts = [part for part in folder.split("/") if part]
    telling = next((n for n in reversed(range(len(parts))) if parts[n].lower() not in _ANY_FOLDER), None)
    return "/".join(parts[telling:]) if telling is not None else ""


def _not_toml(error: tomllib.TOMLDecodeError, file: Path, text: str) -> CatalogInvalid:
    place = _TOML_PLACE.search(str(error))  # absent where the text ends too early
    return CatalogInvalid(
        f"is not valid TOML: {_TOML_PLACE.sub('', str(error)).strip()}",
        file=str(file),
        line=int(place[1]) if place else len(text.splitlines()),
        column=int(place[2]) if place else None,
    )


def _pattern(glob: str) -> re.Pattern[str]:
    """`*` and `?` stay within a folder, `**` goes through any number of them."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    signs = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts), re.DOTALL)


class _Reader:
    """Turns tables into entries and knows on which line each began."""

    def __init__(self, file: Path, text: str) -> None:
        self._file = file
        self._lines = text.splitlines()
        self._starts = [n for n, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*document\s*\]\]", line)]

    def entries(self, tables: dict[str, Any]) -> list[CatalogEntry]:
        for name in tables:
            if name != "document":
                raise self._invalid(f"unknown key {name!r}", self._line_of(name, 0), "write [[document]] tables")
        documents = tables.get("document", [])
        if not isinstance(documents, list) or not all(isinstance(table, dict) for table in documents):
            raise self._invalid("`document` must be a list of tables", 1, "write [[document]] above each entry")
        return [self._entry(number, table) for number, table in enumerate(documents)]

    def _entry(self, number: int, table: dict[str, Any]) -> CatalogEntry:
        start = self._starts[number] if number < len(self._starts) else 0
        for key, value in table.items():
            if problem := _problem(key, value):
                raise self._invalid(*problem[:1], self._line_of(key, start), problem[1])
        if "match" not in table:
            raise self._invalid("an entry has no `match`", start + 1, 'write for example match = "reports/**/*.pdf"')
        published = table.get("date")
        return CatalogEntry(
            match=table["match"],
            tier=table.get("tier"),
            publisher=table.get("publisher"),
            published_at=published.isoformat() if isinstance(published, date) else published,
            authors=tuple(table.get("authors", ())),
            title=table.get("title"),
            doi=table.get("doi"),
            licence=table.get("licence"),
        )

    def _line_of(self, key: str, start: int) -> int:
        pattern = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}\b")
        found = (n for n in range(start, len(self._lines)) if pattern.match(self._lines[n]))
        return next(found, start) + 1

    def _invalid(self, message: str, line: int, help: str) -> CatalogInvalid:
        return CatalogInvalid(message, help=help, file=str(self._file), line=line)


def _problem(key: str, value: object) -> tuple[str, str] | None:
    """What is wrong with one setting and how to fix it, or None."""
    if key not in _KEYS:
        return f"unknown key {key!r}", f"known are {', '.join(_KEYS)}"
    if key in _TEXT_KEYS and not (isinstance(value, str) and value.strip()):
        return f"`{key}` must be a non-empty string", f'write {key} = "…"'
    if key == "tier" and value not in _TIERS:
        return f"unknown tier {value!r}", f"known are {', '.join(_TIERS)}"
    if key == "authors" and not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        return "`authors` must be a list of names", 'write authors = ["A. Name", "B. Name"]'
    if key == "date" and not (
        isinstance(value, date | datetime) or (isinstance(value, str) and _DATE.fullmatch(value))
    ):
        return "`date` is not a valid date", "write date = 2021-06-30"
    return None
