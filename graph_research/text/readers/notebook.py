"""Jupyter notebooks become a document: text cells as Markdown, code cells as code, what they printed below them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.markdown import markdown_document

_OUTPUT_CHARS = 10_000


def notebook_document(source: str) -> Document:
    """The cells, counted from 1, of a notebook of format 4, or of those before it, which have worksheets. Pictures are
    left out, and of a long output what follows 10,000 characters, with a warning."""
    try:
        notebook = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise DocumentUnreadable("it is damaged: it is not JSON") from error
    cells = _cells(notebook) if isinstance(notebook, dict) else None
    if cells is None:
        raise DocumentUnreadable("it is not a notebook with cells")
    builder = DocumentBuilder()
    cut = 0
    for number, cell in enumerate(cells, start=1):
        if not isinstance(cell, dict):
            continue
        builder.place("notebook_cell", number)
        text = _joined(cell.get("source", cell.get("input")))
        level = cell.get("level")
        if cell.get("cell_type") == "heading":
            builder.add("heading", text, level=min(6, level) if isinstance(level, int) and level > 0 else 1)
        elif cell.get("cell_type") == "markdown":
            builder.add_document(replace(markdown_document(text), places=()))
        else:
            builder.add("code", text)
            for output in _outputs(cell.get("outputs")):
                builder.add("code", output[:_OUTPUT_CHARS])
                cut += len(output) > _OUTPUT_CHARS
    warnings = (f"of {cut:,} outputs only the first {_OUTPUT_CHARS:,} characters are read",) if cut else ()
    return replace(builder.document(_title(notebook.get("metadata"))), warnings=warnings)


def _cells(notebook: dict[str, Any]) -> list[Any] | None:
    sheets = notebook.get("worksheets", [notebook])
    held = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
    cells = [row for row in held if isinstance(row, list)]
    return list(chain.from_iterable(cells)) if cells else None


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _outputs(outputs: Any) -> Iterator[str]:
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        shown = data.get("text/plain") if isinstance(data, dict) else output.get("text")
        yield _joined(shown)


def _title(metadata: Any) -> str:
    title = metadata.get("title") if isinstance(metadata, dict) else None
    return title if isinstance(title, str) else ""
