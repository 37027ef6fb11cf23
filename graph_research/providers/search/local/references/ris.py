"""RIS files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import rispy

from graph_research.providers.search.local.references.reference import Reference, make_reference, path_ends

_TITLES = ("title", "primary_title")
_AUTHORS = ("authors", "first_authors")
_DATES = ("date", "year", "publication_year")
_FILES = ("file_attachments1", "file_attachments2", "figure")


def ris_items(text: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a file."""
    items: Sequence[Mapping[str, Any]] = rispy.loads(text)
    return items


def ris_reference(item: Mapping[str, Any]) -> Reference:
    """The reference in an entry."""
    fields = {
        "title": _first(item, _TITLES),
        "author": ";".join(name for key in _AUTHORS for name in item.get(key, [])),
        "publisher": item.get("publisher", ""),
        "date": _first(item, _DATES).replace("/", "-").strip("-"),
        "doi": item.get("doi", ""),
    }
    return make_reference(fields, frozenset(end for key in _FILES for end in path_ends(item.get(key, ""))))


def _first(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((item[name] for name in names if name in item), "")
