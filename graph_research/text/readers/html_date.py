"""The date that a page gives itself: in its head, in its data for search engines, or in a sentence of its own."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from graph_research.text.language.dates import dates_in, iso_date, iso_from_parts

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
_STATED = re.compile(
    r"\b(?:last\s+(?:modified|updated|changed|revised|edited|reviewed)|(?:page|document)\s+(?:updated|modified)"
    r"|updated\s+on|published(?=\s*:)|zuletzt\s+(?:geändert|aktualisiert|bearbeitet)"
    r"|dernière\s+(?:modification|mise\s+à\s+jour)|última\s+(?:modificación|actualización)|ultima\s+modifica"
    r"|laatst\s+(?:gewijzigd|bijgewerkt))\b[^\w\d]{0,4}(?:(?:on|at|am|le|el|il|op|de)\b[^\w\d]{0,3})?(?=.{0,12}\d)",
    re.IGNORECASE,
)
_SHARE_CHARS = 1_500
_AFTER_CHARS = 60


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


def stated_date(text: str) -> str:
    """The date in a sentence such as "This page last modified on 2022-06-15" near the end or the beginning of a text,
    as ISO 8601; empty without one."""
    for part in (text[-_SHARE_CHARS:], text[:_SHARE_CHARS]):
        for match in _STATED.finditer(part):
            date = next(dates_in(part[match.end() : match.end() + _AFTER_CHARS]), None)
            if date is not None and date.year and date.month:
                return iso_from_parts(date.year, date.month, date.day or None) or ""
    return ""
