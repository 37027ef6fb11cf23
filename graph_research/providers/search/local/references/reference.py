"""What a bibliography says of a work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.text.language.dates import iso_date


class ReferenceInvalid(ValueError):
    """A reference that cannot be read; its message says where it stands."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A work; `files` are the last parts of the paths of its attachments."""

    entry: CatalogEntry
    files: frozenset[str] = frozenset()


def make_reference(fields: Mapping[str, str], files: frozenset[str] = frozenset()) -> Reference:
    """The reference with these fields, named as BibTeX does. Raises `UnicodeEncodeError` for half a surrogate pair,
    which no file can hold."""
    authors = re.split(r" and | ?; ?", " ".join(fields.get("author", "").split()))
    year, month = fields.get("year", ""), fields.get("month", "")
    dates = (fields.get("date", ""), f"{year}-{month:0>2}", year)
    entry = CatalogEntry(
        title=fields.get("title") or None,
        authors=tuple(_in_order(name) for name in authors if name),
        publisher=fields.get("publisher") or fields.get("institution") or fields.get("journal") or None,
        published_at=next(filter(None, map(iso_date, dates)), None),
        doi=fields.get("doi", "").removeprefix("https://doi.org/") or None,
    )
    for text in (entry.title, entry.publisher, entry.doi, *entry.authors):
        (text or "").encode()
    return Reference(entry=entry, files=files)


def _in_order(name: str) -> str:
    """`Writer, Ann` as `Ann Writer`."""
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and first.strip() else name.strip()


def path_ends(value: str) -> Iterator[str]:
    """The ends of the paths in a list of files, as JabRef (`name:path:type`), Zotero and RIS write it."""
    for path in re.split(r"(?<!\\)[;:]", value):
        clean = path.replace("\\:", ":").replace("\\;", ";").replace("\\", "/").strip()
        parts = PurePosixPath(clean).parts
        if parts and "." in parts[-1]:
            yield parts[-1]
            yield "/".join(parts[-2:])
