"""Rows of tables that tell of another thing than a question asks, told by the labels of the rows beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from graph_research.text.document import Document
from graph_research.text.language.opposites import is_absolute
from graph_research.text.language.words import terms

_MOST_LABEL_WORDS = 3
_MOST_KEPT = 128  # documents whose labels are kept, as those of the ranking are


class _Row(NamedTuple):
    """Where a row starts, its terms, those of its cells that no other row has in the same column, and its labels: of
    each column of labels the cell and its terms."""

    start: int
    terms: frozenset[str]
    own: frozenset[str]
    labels: tuple[tuple[str, frozenset[str]], ...]


def other_rows(document: Document, language: str, asked: Set[str], *, lacking: bool) -> frozenset[int]:
    """Where the rows of a document's tables start that are labelled otherwise than a question asks, whose terms are
    `asked`: a column of labels has some of these in other rows, and the row has them nowhere, as the row "vaccination,
    dog" for a question about the vaccination of a cat. Where a word of the question is `lacking` in all documents, such
    as "horse", it may be the label that would tell apart several rows that hold the same of the question: then these
    are of other things too.

    A row that the question names in a column in which all cells differ is what it asks for. Columns of labels have
    short cells without digits, of which some are repeated; a label for all things ("any") names nothing else, nor does
    an empty cell.
    """
    tables = _labelled(document, language)
    return frozenset(start for rows in tables for start in _others(rows, language, asked, lacking=lacking))


def _others(rows: Sequence[_Row], language: str, asked: Set[str], *, lacking: bool) -> Iterator[int]:
    unnamed = [row for row in rows if asked.isdisjoint(row.own)]
    most = max(len(asked & row.terms) for row in rows)
    best = [row for row in unnamed if most and len(asked & row.terms) == most]
    for column in range(len(rows[0].labels)):
        wanted = frozenset().union(*(asked & row.labels[column][1] for row in rows))
        others = [row for row in unnamed if wanted.isdisjoint(row.terms)] if wanted else []
        if lacking and not wanted and len({row.labels[column] for row in best}) > 1:
            others = best
        yield from (row.start for row in others if _names_something(row.labels[column][0], language))


def _names_something(label: str, language: str) -> bool:
    return bool(label) and not is_absolute(label, language)


@lru_cache(maxsize=_MOST_KEPT)
def _labelled(document: Document, language: str) -> tuple[tuple[_Row, ...], ...]:
    """The rows of each table that has a column of labels."""
    return tuple(rows for _, *starts in document.tables if (rows := _rows(document, starts, language)))


def _rows(document: Document, starts: Sequence[int], language: str) -> tuple[_Row, ...]:
    columns = list(zip(*(document.rows[start] for start in starts), strict=True))
    labels = [n for n, column in enumerate(columns) if _are_labels(list(filter(None, column)))]
    keys = [n for n, column in enumerate(columns) if len(set(column)) == len(column)]
    if not labels:
        return ()
    read = [[frozenset(terms(cell, language)) for cell in document.rows[start]] for start in starts]
    return tuple(
        _Row(
            start,
            frozenset().union(*cells),
            frozenset().union(*(cells[n] for n in keys)),
            tuple((document.rows[start][n], cells[n]) for n in labels),
        )
        for start, cells in zip(starts, read, strict=True)
    )


def _are_labels(cells: Sequence[str]) -> bool:
    is_label = (len(cell.split()) <= _MOST_LABEL_WORDS and not any(map(str.isdigit, cell)) for cell in cells)
    return bool(cells) and all(is_label) and max(Counter(cells).values()) > 1
