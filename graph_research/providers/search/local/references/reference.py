"""What a bibliography says of a work."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.providers.search.support.doi import normal_doi
from graph_research.text.language.dates import WrittenDate, dates_in, iso_date, iso_from_parts
from graph_research.text.language.versions import is_marked_as_retracted

_PUBLISHERS = ("publisher", "institution", "school", "organization", "journal", "journaltitle")
_LICENCES = ("license", "rights", "copyright")
_MARKUP = re.compile(r"</?(?:i|b|sub|sup|sc|span)\b[^<>]*>")  # in titles of Zotero and CSL


class ReferenceInvalid(ValueError):
    """A reference that cannot be read; its message says where it stands."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A work; `files` are the last parts of the paths of its attachments. `is_trashed` where its owner threw it away,
    of which the files are left."""

    entry: CatalogEntry
    files: frozenset[str] = frozenset()
    is_trashed: bool = False


def make_reference(
    fields: Mapping[str, str], authors: Iterable[str] = (), files: frozenset[str] = frozenset()
) -> Reference:
    """The reference with these fields, named as BibTeX does, and the names of its authors as they are read. Raises
    `UnicodeEncodeError` for half a surrogate pair, which no file can hold.

    A work that was retracted is known to be wrong, so its tier is `FLAGGED`: its title says so, as Zotero, PubMed and
    publishers mark it, or its `status`, as CSL names it.
    """
    title = " ".join(_MARKUP.sub("", fields.get("title", "")).split())
    is_retracted = is_marked_as_retracted(title) or fields.get("status") == "retracted"
    entry = CatalogEntry(
        title=title or None,
        authors=tuple(filter(None, (" ".join(name.split()) for name in authors))),
        publisher=next(filter(None, (fields.get(name, "").strip() for name in _PUBLISHERS)), None),
        published_at=_published(fields),
        doi=normal_doi(fields.get("doi")),
        licence=next(filter(None, (fields.get(name, "").strip() for name in _LICENCES)), None),
        tier="FLAGGED" if is_retracted else None,
    )
    for text in (entry.title, entry.publisher, entry.licence, *entry.authors):
        (text or "").encode()
    return Reference(entry=entry, files=files)


def _published(fields: Mapping[str, str]) -> str | None:
    """The date as exact as it is given; one in words, such as `May 1999` or `5 March 2021`, is found in its text."""
    date, year, month = (fields.get(name, "") for name in ("date", "year", "month"))
    numbers = f"{year}-{month:0>2}" if month.isdecimal() else ""
    for written in (date, numbers, f"{month} {year}"):
        if read := iso_date(written) or next((_iso(found) for found in dates_in(written) if found.year), None):
            return read
    return iso_date(year)


def _iso(found: WrittenDate) -> str | None:
    return iso_from_parts(found.year, found.month, found.day)


def in_order(name: str) -> str:
    """`Writer, Ann` as `Ann Writer`, and `Writer, Ann, Jr.` as `Ann Writer Jr.`"""
    last, *others = (part.strip() for part in name.split(","))
    return " ".join(filter(None, (*others[:1], last, *others[1:])))


def path_ends(value: str) -> Iterator[str]:
    """The ends of the paths in a list of files, as JabRef (`name:path:type`), Zotero and RIS write it."""
    for path in re.split(r"(?<!\\)[;:]", value):
        clean = path.replace("\\:", ":").replace("\\;", ";").replace("\\", "/").strip()
        clean = unicodedata.normalize("NFC", unquote(clean) if "://" in value else clean)
        parts = PurePosixPath(clean).parts
        if parts and "." in parts[-1]:
            yield parts[-1]
            yield "/".join(parts[-2:])
