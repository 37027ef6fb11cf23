"""The date that a page gives itself in its head or in its data for search engines."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from graph_research.text.language.dates import iso_date

_PUBLISHED = (
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.created",
    "dc.date",
    "dcterms.date",
    "date",
    "pubdate",
)
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified", "revised")
_DATES = {name: rank for rank, name in enumerate((*_PUBLISHED, *_MODIFIED))}
_LINKED_DATA = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"]{4,40})"')


def head_date(parser: LexborHTMLParser) -> str:
    """The date of a page's head or linked data, as ISO 8601: when it was published, else when it was changed."""
    found: dict[int, str] = {}
    for node in parser.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        rank = _DATES.get((name or attributes.get("http-equiv") or "").lower())
        if rank is not None and rank not in found and (date := iso_date(attributes.get("content"))):
            found[rank] = date
    for node in parser.css("script[type='application/ld+json']"):
        for name, value in _LINKED_DATA.findall(node.text()):
            if date := iso_date(value):
                found.setdefault(_DATES[name.lower()], date)
    return found[min(found)] if found else ""
