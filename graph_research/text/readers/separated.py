"""Tables as text (CSV, TSV) become a document: a row a block, the first one their header."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

from graph_research.text.canonical import MAX_BLOCKS, DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable

_SAMPLE_CHARS = 64_000
_CELL_CHARS = 10 * 1024 * 1024
_DELIMITERS = ",;\t|"


def separated_document(source: str) -> Document:
    """The rows of a table; each stands at the line where it begins. The delimiter is the one that the first lines have
    most evenly. Where a row cannot be read, or there are more than a document holds, those before it are kept, and a
    warning says so."""
    csv.field_size_limit(_CELL_CHARS)
    rows = csv.reader(StringIO(source, newline=""), delimiter=_delimiter(source[:_SAMPLE_CHARS]))
    builder = DocumentBuilder()
    line = 1
    try:
        for number, row in enumerate(rows):
            if number == MAX_BLOCKS:
                warning = f"read the first {MAX_BLOCKS:,} rows; those from line {line:,} on are not read"
                return replace(builder.document(), warnings=(warning,))
            builder.place("line", line)
            builder.add_row(row)
            line = rows.line_num + 1
    except csv.Error as error:
        problem = f"line {line:,} is not a row of a table: {error}"
        if line == 1:
            raise DocumentUnreadable(problem) from error
        return replace(builder.document(), warnings=(f"{problem}; the rows before it are read",))
    return builder.document()


def _delimiter(sample: str) -> str:
    lines = [line for line in sample.splitlines() if line.strip()][:50]

    def evenness(sign: str) -> tuple[int, int]:
        counts = [line.count(sign) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count)) if counts else 0
        return (counts.count(usual) if usual else 0, usual)

    return max(_DELIMITERS, key=evenness)
