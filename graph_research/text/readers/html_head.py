"""What a page says of itself in its head, in its data for search engines and at its foot: title, authors, date …"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from graph_research.text.canonical import canonical_text
from graph_research.text.language.dates import iso_date

_TITLES = ("citation_title", "dc.title", "dcterms.title", "og:title")
_AUTHORS = ("citation_author", "dc.creator", "dcterms.creator", "author", "article:author", "parsely-author")
_LICENCES = ("dcterms.license", "dc.rights.license", "dcterms.rights", "dc.rights", "copyright")
_PUBLISHED = (
    *("article:published_time", "datepublished", "citation_publication_date", "citation_date", "dc.date.issued"),
    *("dcterms.issued", "dcterms.created", "dc.date", "dcterms.date", "date", "pubdate"),
)
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified", "revised")
_PUBLISHERS = ("citation_publisher", "dc.publisher", "dcterms.publisher", "publisher", "og:site_name")
_NAMES = frozenset((*_TITLES, *_AUTHORS, *_PUBLISHERS, *_LICENCES, *_PUBLISHED, *_MODIFIED))
_KEYS = ("name", "property", "itemprop", "http-equiv")
_LINKED_DATE = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"]{4,40})"')
_ADDRESS = re.compile(r"\s*[<(](?:https?:|mailto:|[^\s<>()]+@)[^<>()]*[>)]")
_LINKED_DATA = "script[type='application/ld+json']"
_MAX_DATA_CHARS = 200_000
_MAX_NODES = 2_000
_MAX_AUTHORS = 50
_FACT_CHARS = 300
_FOOT = "footer, .footer, #footer, [role=contentinfo]"
_HELD = re.compile(r"(?:©|\(c\))\s*(?:copyright\s)?([^©|(.]{2,200})", re.IGNORECASE)
"""What stands behind the sign of a copyright: years and who holds it, perhaps several of both."""
_YEARS = re.compile(r"(?:^|,?\s)\d{4}(?:\s?[-–—]\s?(?:\d{2,4}|present))?,?(?=\s|$|,)", re.IGNORECASE)
_NO_NAME = re.compile(r"^\W*(?:by\s)?|\W*(?:\b(?:copyright|all rights)\b.*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class PageHead:
    """Empty where the page says nothing. A licence is its address where there is one, else its words. The date is, as
    ISO 8601, when the page was published, else when it was changed."""

    title: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    licence: str = ""
    date: str = ""


def page_head(parser: LexborHTMLParser) -> PageHead:
    """The facts of linked data (JSON-LD), Highwire tags, Dublin Core, Open Graph and plain meta tags; of several that
    say the same thing the first in this order counts."""
    metas: dict[str, list[str]] = {}
    for node in parser.css("meta[content]"):
        attributes = node.attributes
        name = next(filter(None, map(attributes.get, _KEYS)), "").lower()
        content = canonical_text(attributes.get("content") or "")[:_FACT_CHARS]
        if name in _NAMES and content:
            metas.setdefault(name, []).append(content)
    things = list(_things(parser))
    linked = [name for thing in things for name in _names(thing.get("author"))]
    named = next((metas[name] for name in _AUTHORS if name in metas), [])
    authors = [
        name
        for name in map(_without_address, linked or named)
        if name and not name.startswith(("http:", "https:", "@"))
    ]
    publishers = [
        *(_text(thing.get("publisher")) for thing in things),
        *(metas[name][0] for name in _PUBLISHERS if name in metas),
    ]
    link = parser.css_first("link[rel~=license], a[rel~=license]")
    licences = [
        link.attributes.get("href") if link is not None else None,
        *(_text(thing.get("license")) for thing in things),
        *(metas[name][0] for name in _LICENCES if name in metas),
    ]
    return PageHead(
        title=next((metas[name][0] for name in _TITLES if name in metas), ""),
        authors=tuple(dict.fromkeys(authors or _holders(parser)))[:_MAX_AUTHORS],
        publisher=next(filter(None, publishers), ""),
        licence=next((canonical_text(licence)[:_FACT_CHARS] for licence in licences if licence), ""),
        date=_date(metas, parser),
    )


def _date(metas: Mapping[str, Sequence[str]], parser: LexborHTMLParser) -> str:
    said: dict[str, list[str]] = {name: list(values) for name, values in metas.items()}
    for node in parser.css(_LINKED_DATA):
        for name, value in _LINKED_DATE.findall(node.text()):
            said.setdefault(name.lower(), []).append(value)
    dates = (date for name in (*_PUBLISHED, *_MODIFIED) for value in said.get(name, ()) if (date := iso_date(value)))
    return next(dates, "")


def _holders(parser: LexborHTMLParser) -> list[str]:
    """Who holds the copyright of a page, as its foot says: who answers for a page that names no author."""
    for foot in parser.css(_FOOT):
        if held := _HELD.search(canonical_text(foot.text(separator=" "))):
            parts = [_NO_NAME.sub("", part) for part in _YEARS.split(held[1])]
            return [name for name in map(str.strip, parts) if len(name) > 2 and not name.isdigit()]
    return []


def _things(parser: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """The objects of the page's linked data that say who wrote or published something, or under which licence."""
    for node in parser.css(_LINKED_DATA):
        text = node.text()
        try:
            data = json.loads(text) if len(text) <= _MAX_DATA_CHARS else None
        except (ValueError, RecursionError):
            continue
        pending, seen = [data], 0
        while pending and seen < _MAX_NODES:
            value = pending.pop(0)
            seen += 1
            if isinstance(value, list):
                pending.extend(value)
            elif isinstance(value, dict):
                pending.extend(value.get(key) for key in ("@graph", "mainEntity") if key in value)
                if not value.keys().isdisjoint(("author", "publisher", "license")):
                    yield value


def _names(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [name for one in values if (name := _text(one))]


def _without_address(author: str) -> str:
    """`Jo Ames <jo@example.org>` without the address."""
    name = _ADDRESS.sub("", author)
    return author if name == author else name.rstrip(" .,;")


def _text(value: Any) -> str:
    """A text, or the name or address of an object."""
    if isinstance(value, dict):
        value = value.get("name") or value.get("url") or value.get("@id")
    return canonical_text(value)[:_FACT_CHARS] if isinstance(value, str) else ""
