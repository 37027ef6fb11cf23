"""RIS files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import rispy
from rispy.config import TAG_KEY_MAPPING
from rispy.parser import RisParser

from graph_research.providers.search.local.references.reference import (
    Reference,
    in_order,
    make_reference,
    path_ends,
)

_TITLES = ("title", "primary_title")
_AUTHORS = ("authors", "first_authors")
_EDITORS = ("editors", "secondary_authors")
_JOURNALS = ("journal_name", "secondary_title", "alternate_title3")
_FILES = ("file_attachments1", "file_attachments2", "figure")
_LIST_TAGS = [*RisParser.DEFAULT_LIST_TAGS, "ED", "L1", "L2", "L4"]
_KEYS = {**TAG_KEY_MAPPING, "ED": "editors"}  # as the first specification of RIS has it
_ENTRY = re.compile(r"^(?=TY\s*-)|^ER  -", re.MULTILINE)
_END = "\nER  - "


def ris_items(text: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a file. Each is read by itself, since the parser takes a line without a tag for more of the last
    tag, which may be of the entry before; an entry without its end ends where the next begins."""
    return [
        item for entry in _ENTRY.split(text) for item in rispy.loads(entry + _END, list_tags=_LIST_TAGS, mapping=_KEYS)
    ]


def ris_reference(item: Mapping[str, Any]) -> Reference:
    """The reference in an entry."""
    fields = {
        "title": _first(item, _TITLES),
        "publisher": item.get("publisher", ""),
        "journal": _first(item, _JOURNALS),
        "date": item.get("date", "").replace("/", "-").strip("-"),
        "year": _first(item, ("year", "publication_year")).replace("/", "-").strip("-"),
        "doi": item.get("doi", ""),
    }
    files = (file for key in _FILES for file in item.get(key, []))
    authors = next(filter(None, (_names(item, tags) for tags in (_AUTHORS, _EDITORS))), [])
    fields = {name: " ".join(value.split()) for name, value in fields.items()}
    return make_reference(fields, authors, frozenset(end for file in files for end in path_ends(file)))


def _names(item: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(in_order(name) for key in keys for name in item.get(key, [])))


def _first(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((item[name] for name in names if name in item), "")
