"""What is filled in the form of a PDF: its text fields and choices, which are no text of the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pypdf import PdfReader

_PASSWORD = 1 << 13
"""The flag of a field whose text is not shown, see ISO 32000-1, table 228."""


def filled_fields(reader: PdfReader, pages: int, most_chars: int) -> list[list[str]]:
    """For each of the first `pages`, its filled fields as `name: value`, by the name that is shown to who fills it in,
    up to `most_chars` in all. A field that stands in several places is that of the first. A damaged form gives what
    was read of it."""
    found: list[list[str]] = [[] for _ in range(pages)]
    seen: set[int] = set()
    with suppress(Exception):  # whatever pypdf raises on a damaged form: the pages are read without it
        for number in range(pages):
            for field in _fields(reader.pages[number]):
                text = _text(field)
                if text and id(field[-1]) not in seen and len(text) <= most_chars:
                    seen.add(id(field[-1]))
                    most_chars -= len(text)
                    found[number].append(text)
    return found


def _fields(page: Any) -> Iterator[Sequence[Any]]:
    """The fields of a page, each as a widget and what it inherits from, up to the one that has the name."""
    for annotation in page.get("/Annots") or ():
        element = annotation.get_object()
        if element.get("/Subtype") != "/Widget":
            continue
        chain = [element]
        while "/T" not in chain[-1] and "/Parent" in chain[-1]:
            chain.append(chain[-1]["/Parent"])
        yield chain


def _text(field: Sequence[Any]) -> str:
    kind, value, name = (_inherited(field, key) for key in ("/FT", "/V", "/TU"))
    if kind not in ("/Tx", "/Ch") or int(_inherited(field, "/Ff") or 0) & _PASSWORD:
        return ""
    said = ", ".join(map(str, value)) if isinstance(value, list) else value
    named = name or _inherited(field, "/T")
    return f"{named}: {said}" if isinstance(said, str) and said.strip() and named else ""


def _inherited(field: Sequence[Any], key: str) -> Any:
    return next((element[key] for element in field if key in element), None)
