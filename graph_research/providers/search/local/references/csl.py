"""CSL-JSON files, as Zotero and pandoc exchange references."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graph_research.providers.search.local.references.reference import Reference, make_reference

_TYPE = re.compile(
    r"article|article-journal|article-magazine|article-newspaper|bill|book|broadcast|chapter|classic|collection"
    r"|dataset|document|entry|entry-dictionary|entry-encyclopedia|event|figure|graphic|hearing|interview"
    r"|legal_case|legislation|manuscript|map|motion_picture|musical_score|pamphlet|paper-conference|patent"
    r"|performance|periodical|personal_communication|post|post-weblog|regulation|report|review|review-book"
    r"|software|song|speech|standard|thesis|treaty|webpage"
)
_NAME_PARTS = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")


def csl_items(file: Path) -> Sequence[Mapping[str, Any]]:
    """The items of a CSL-JSON file; nothing for any other JSON. Raises `OSError`."""
    with file.open("rb") as stream:
        head = stream.read(4096)
        if not head.lstrip().startswith(b"[") or b'"type"' not in head:
            return []
        try:
            items = json.loads(head + stream.read())
        except (ValueError, RecursionError):
            return []
    return items if all(map(_is_item, items)) and any(map(_has_field, items)) else []


def _is_item(item: object) -> bool:
    if not isinstance(item, dict) or "title" not in item:
        return False
    return isinstance(item.get("type"), str) and _TYPE.fullmatch(item["type"]) is not None


def _has_field(item: Mapping[str, Any]) -> bool:
    """Whether the authors or the date are objects, as other lists of titled things seldom have them."""
    people = item.get("author")
    has_people = isinstance(people, list) and bool(people) and all(isinstance(person, dict) for person in people)
    return has_people or isinstance(item.get("issued"), dict)


def csl_reference(item: Mapping[str, Any]) -> Reference:
    """The reference in an item; raises `TypeError` or another error where a field has a value that it cannot have."""
    fields = {
        "title": _text(item, "title"),
        "publisher": _text(item, "publisher") or _text(item, "container-title"),
        "date": _date(item.get("issued")),
        "doi": _text(item, "DOI"),
        "license": _text(item, "license"),
        "status": _text(item, "status"),
    }
    people = item.get("author") or item.get("editor") or []
    return make_reference(fields, [_name(person) for person in people if isinstance(person, dict)])


def _name(person: Mapping[str, Any]) -> str:
    return " ".join(filter(None, (_text(person, part) for part in _NAME_PARTS))) or _text(person, "literal")


def _date(issued: object) -> str:
    """The first date of `issued` in numbers, else as it is written."""
    if not isinstance(issued, dict):
        return ""
    parts = (issued.get("date-parts") or [[]])[0]
    numbers = "-".join(f"{int(part):02}" for part in parts if str(part).isdecimal())
    return numbers or _text(issued, "raw") or _text(issued, "literal")


def _text(item: Mapping[str, Any], name: str) -> str:
    """A text or number of an item, empty where it has none; raises `TypeError` for a list or an object."""
    value = item.get(name)
    if value is not None and not isinstance(value, str | int | float):
        raise TypeError(f"`{name}` is not a text")
    return "" if value is None else str(value).strip()
