"""RIS files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import rispy
from rispy.parser import RisParser

from graph_research.providers.search.local.references.reference import Reference, make_reference, path_ends

_TITLES = ("title", "primary_title")
_AUTHORS = ("authors", "first_authors")
_DATES = ("date", "year", "publication_year")
_FILES = ("file_attachments1", "file_attachments2", "figure")
_FILE_TAGS = ("L1", "L2", "L4")
_ENTRY = re.compile(r"^(?=TY\s*-)|^ER  -", re.MULTILINE)
_END = "\nER  - "


def ris_items(text: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a file. Each is read by itself, since the parser takes a line without a tag for more of the last
    tag, which may be of the entry before; an entry without its end ends where the next begins."""
    tags = [*RisParser.DEFAULT_LIST_TAGS, *_FILE_TAGS]
    return [item for entry in _ENTRY.split(text) for item in rispy.loads(entry + _END, list_tags=tags)]


def ris_reference(item: Mapping[str, Any]) -> Reference:
    """The reference in an entry."""
    fields = {
        "title": _first(item, _TITLES),
        "author": ";".join(name for key in _AUTHORS for name in item.get(key, [])),
        "publisher": item.get("publisher", ""),
        "date": _first(item, _DATES).replace("/", "-").strip("-"),
        "doi": item.get("doi", ""),
    }
    files = (file for key in _FILES for file in item.get(key, []))
    fields = {name: " ".join(value.split()) for name, value in fields.items()}
    return make_reference(fields, frozenset(end for file in files for end in path_ends(file)))


def _first(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((item[name] for name in names if name in item), "")
