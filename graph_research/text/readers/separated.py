"""Tables as text (CSV, TSV, lists of objects in JSON) become a document: a row a block, the first one their header."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

from graph_research.text.canonical import MAX_BLOCKS, DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable

_SAMPLE_CHARS = 64_000
_CELL_CHARS = 10 * 1024 * 1024
_DELIMITERS = ",;\t|"
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,:]*")
_FEWEST_RECORDS = 2
_MOST_KEYS = 50
_VALUE_CHARS = 200  # a longer value is a text of its own, and no cell


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


def records_document(source: str) -> Document | None:
    """The lists of objects in a JSON text, or its lines that are objects, as tables whose header are the keys; each row
    stands at the line where its object begins. What else the text has at its top level is an item each. None for any
    other text, and where a value holds objects or a long text."""
    try:
        parts = list(_parts(source))
    except (ValueError, IndexError, RecursionError):
        return None
    sizes = [len(value) for _, value in parts if isinstance(value, list)]
    if not sizes or min(sizes) < _FEWEST_RECORDS or len(parts) + sum(sizes) > MAX_BLOCKS:
        return None
    builder = DocumentBuilder()
    line, at = 1, 0
    for key, value in parts:
        if not isinstance(value, list):
            builder.add("item", f"{key}: {value}")
            continue
        keys = list(dict.fromkeys(name for _, record in value for name in record))
        builder.add("heading", key, level=1)
        for place, cells in [(value[0][0], keys), *((at, [record.get(k, "") for k in keys]) for at, record in value)]:
            line, at = line + source.count("\n", at, place), place
            builder.place("line", line)
            builder.add_row(cells)
    return builder.document()


_Records = list[tuple[int, Mapping[str, str]]]
"""Objects with the places where they begin."""


def _parts(source: str) -> Iterator[tuple[str, str | _Records]]:
    """What stands at the top level of a JSON text: a key and its value, which is a list of objects or a text. Raises
    `ValueError` or `IndexError` for anything else."""
    at = _next(source, 0)
    if source[at] != "{":
        rows, at = _records(source, at + source.startswith("[", at))
        if _next(source, at) < len(source):
            raise ValueError("more than a list")
        yield "", rows
        return
    end = _DECODER.raw_decode(source, at)[1]
    if _next(source, end) < len(source):
        yield "", _records(source, at)[0]
        return
    at = _next(source, at + 1)
    while source[at] != "}":
        key, at = _DECODER.raw_decode(source, at)
        at = _next(source, at)
        if source[at] == "[" and source[_next(source, at + 1)] == "{":
            rows, at = _records(source, at + 1)
            yield key, rows
        else:
            value, at = _DECODER.raw_decode(source, at)
            yield key, _cell(value)
        at = _next(source, at)


def _records(source: str, at: int) -> tuple[_Records, int]:
    """The objects from a place on up to the end of their list, or of the text, with their places, and where that is."""
    found: _Records = []
    while (at := _next(source, at)) < len(source) and source[at] != "]":
        record, end = _DECODER.raw_decode(source, at)
        if not isinstance(record, dict) or not 0 < len(record) <= _MOST_KEYS:
            raise ValueError("not a record")
        found.append((at, {key: _cell(value) for key, value in record.items()}))
        at = end
    return found, at + 1


def _cell(value: Any) -> str:
    """A value as the text of a cell."""
    several = value if isinstance(value, list) else [value]
    written = ", ".join(_written(one) for one in several)
    if any(isinstance(one, list | dict) for one in several) or len(written) > _VALUE_CHARS:
        raise ValueError("not a cell")
    return written


def _written(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _next(source: str, at: int) -> int:
    """Where the next value begins."""
    between = _BETWEEN.match(source, at)
    return between.end() if between else at
