"""Which rows of a table a question asks for by a value: the one with the largest or smallest in the column that it
names ("the most beds"), or those whose range holds a value that it names ("a group of 30": `26 to 50`); and which rows
are labelled otherwise than what it asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from math import isclose
from typing import NamedTuple

from graph_research.text.document import Document
from graph_research.text.language.dates import dates_in
from graph_research.text.language.opposites import is_absolute
from graph_research.text.language.quantities import Value, holds, period, values
from graph_research.text.language.superlatives import DATE, MONEY, Superlative, superlatives_in
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import held_share, held_weight, stem, terms, weights_of, words
from graph_research.text.relevance.query import ALL_COMMON, Query

_NAMED = 0.6
"""Of the question's weight, for a table and its row that it is about."""
_FEWEST = 2
_ABOUT_THE_TABLE = 0.5
"""Of the question's weight but for its value, for a table of ranges and its row that hold the value."""
_TOLD_BY = 40
"""Rows at the beginning of a table that tell whether a column has ranges: to read a long one whole takes seconds."""
_MOST_LABEL_WORDS = 3
_MOST_KEPT = 128  # documents whose labels are kept, as those of the ranking are
_DASH = re.compile(r"(?<=\d)\s?[-–—]\s?(?=\d)")
_UNIT = re.compile(r"[(\[]([^()\[\]]{1,20})[)\]]|,?\sin\s(\S{1,10})$")
_MINUS = re.compile(r"\s*[-−–]\s*(?=\d)")


def extreme_rows(document: Document, language: str, query: Query) -> dict[int, float]:
    """Where the rows of a document's tables start that have the largest or smallest value, as the query asks, of the
    column that it names; each with the weight of what the query says that the table and the row hold, the less the
    more else the column is about.

    Where the query has words that stand in some rows only, the others are left out, and so is a row of totals.
    """
    found: dict[int, float] = {}
    for meaning in superlatives_in(query.own, query.language):
        for table in document.tables:
            if not found.keys() & set(table):
                found |= _extremes(document, table, language, query, meaning)
    return found


def rows_holding(document: Document, language: str, query: Query) -> dict[int, float]:
    """Where the rows of a document's tables start that have a range which holds a value that the query names; each with
    the weight of what else the query says that the table and the row hold."""
    found: dict[int, float] = {}
    for value in values(query.own):
        for table in document.tables:
            found |= _holding(document, table, language, query, value)
    return found


def _holding(document: Document, table: Sequence[int], language: str, query: Query, value: Value) -> dict[int, float]:
    header, *rows = table
    named = {
        word.term for word in words(query.own, query.language) if value.start <= word.start < value.end
    }  # the value itself, which no range says
    asked = {term: weight for term, weight in query.weights(language).items() if term not in named}
    names = document.header_at(header)
    context = _terms(" ".join([document.title, *document.path_at(header), *names]), language)
    found: dict[int, float] = {}
    for column, name in enumerate(names):
        first = [_ranges(document.rows[row][column], name) for row in rows[:_TOLD_BY]]
        if sum(any(one.low < one.high for one in some) for some in first) < max(_FEWEST, len(first) / 2):
            continue
        ranges = {row: _ranges(document.rows[row][column], name) for row in rows}
        for row, some in ranges.items():
            cells = _terms(" ".join(document.rows[row]), language)
            is_named = value.unit or asked.keys() & {*_terms(f"{name} {document.rows[row][column]}", language)}
            is_held = is_named and any(holds(one, value) for one in some)
            if is_held and held_share(asked, {*context, *cells}) >= _ABOUT_THE_TABLE:
                found[row] = held_weight(asked, {*context, *cells})
    return found


def _ranges(cell: str, header: str) -> list[Value]:
    """What the first value of a cell may be: as it is written, and in the unit that the header names; of dates the time
    from the first to the last."""
    if (time := period(cell)) is not None:
        return [time]
    found = [first for first in values(_DASH.sub(" – ", cell))[:1] if first.kind == "number"]
    units = [unit for match in _UNIT.finditer(header) for unit in values(f"1 {match[1] or match[2]}")[:1]]
    return [*found, *(_in_unit(one, unit) for one in found for unit in units if not one.unit)]


def _in_unit(value: Value, unit: Value) -> Value:
    """A bare number as one of units of which `unit` is one."""
    return replace(value, unit=unit.unit, per=unit.per, low=value.low * unit.factor, high=value.high * unit.factor)


def _extremes(
    document: Document, table: Sequence[int], language: str, query: Query, meaning: Superlative
) -> dict[int, float]:
    header, *rows = table
    asked = _asked(query, language, meaning)
    names = document.header_at(header)
    columns = [frozenset(_terms(name, language)) for name in names]
    context = frozenset().union(*columns, _terms(" ".join([document.title, *document.path_at(header)]), language))
    kept = _about(document, rows, frozenset(asked.keys() - context), language)
    cells = [[document.rows[row][n] for row in kept] for n in range(len(columns))]
    dated = [n for n, some in enumerate(cells) if _dates(some, not columns[n].isdisjoint(asked))]
    priced = [n for n, some in enumerate(cells) if _are_money(some)]
    for column in _named_columns(columns, asked, meaning, {DATE: dated, MONEY: priced}):
        amounts = _without_total(_amounts({row: document.rows[row][column] for row in kept}))
        if amounts:
            name = weights_of(words(names[column], language))
            share = held_share(name, {*asked, *meaning.measures}) or 1.0
            end = (max if meaning.largest else min)(amounts.values())
            held = {row: {*context, *_terms(" ".join(document.rows[row]), language)} for row in amounts}
            return {
                row: share * held_weight(asked, held[row])
                for row, amount in amounts.items()
                if amount == end and held_share(asked, held[row]) >= _NAMED
            }
    return {}


def _named_columns(
    columns: Sequence[frozenset[str]], asked: Mapping[str, float], meaning: Superlative, of: Mapping[str, Sequence[int]]
) -> list[int]:
    """The columns of what the superlative measures by itself, else those that the query names; those with more of the
    query first. `of` has the columns of dates and of money."""
    measures = meaning.measures or asked.keys()
    found = [n for n, named in enumerate(columns) if not named.isdisjoint(measures)]
    found += [n for kind in of if kind in meaning.measures for n in of[kind] if n not in found]
    return sorted(found, key=lambda n: -held_weight(asked, columns[n]))


def _asked(query: Query, language: str, meaning: Superlative) -> dict[str, float]:
    """The terms of the query but for the superlative. Where nothing but the superlative weighs anything, other words
    count that are no stop words, such as `well`."""
    weights = query.weights(language)
    others = [word for word in query.own_words if not meaning.start <= word.start < meaning.end]
    said = [word for word in others if word.weight > 0.0]
    named = said or [word for word in others if query.own[word.start : word.end].lower() not in STOP_WORDS]
    terms = [
        word.term if language == query.language else stem(query.own[word.start : word.end], language) for word in named
    ]
    return {term: weights.get(term, ALL_COMMON) for term in terms if term in weights or not said}


def _terms(text: str, language: str) -> set[str]:
    return {word.term for word in words(text, language)}


def _about(document: Document, rows: Sequence[int], telling: frozenset[str], language: str) -> list[int]:
    """The rows that hold most of the terms that tell rows apart."""
    held = {row: len(telling & _terms(" ".join(document.rows[row]), language)) for row in rows}
    most = max(held.values(), default=0)
    return [row for row, count in held.items() if count == most]


def _amounts(cells: Mapping[int, str]) -> dict[int, float]:
    """The values of the cells of one column in one dimension, none where less than half of them have one."""
    found = {row: amount for row, cell in cells.items() if (amount := _amount(cell))}
    [(usual, count)] = Counter(kind for kind, _ in found.values()).most_common(1) or [("", 0)]
    if count < _FEWEST or count * 2 < len(list(filter(None, cells.values()))):
        return {}
    return {row: value for row, (kind, value) in found.items() if kind == usual}


def _amount(cell: str) -> tuple[str, float] | None:
    """The dimension of the first value in a cell, and the value; 1688 in a cell of its own is a number, no year."""
    negative = _MINUS.match(cell)
    written = cell[negative.end() :] if negative else cell
    found = [("", float(written))] if written.isdecimal() else [(value.unit, value.low) for value in values(written)]
    return next(((unit, -low if negative else low) for unit, low in found), None)


def _dates(cells: Sequence[str], asked: bool) -> bool:
    """Whether all cells of a column that are not empty are dates; of years alone only where the query asks for the
    column, since other numbers look like them."""
    filled = list(filter(None, cells))
    found = [next(dates_in(cell), None) for cell in filled]
    return len(filled) >= _FEWEST and all(one and one.year and (one.month or asked) for one in found)


def _are_money(cells: Sequence[str]) -> bool:
    """Whether all cells of a column that are not empty are amounts of money."""
    amounts = [_amount(cell) for cell in cells if cell]
    return len(amounts) >= _FEWEST and all(amount and amount[0].startswith("money") for amount in amounts)


def _without_total(amounts: Mapping[int, float]) -> dict[int, float]:
    """The amounts without the row that is the sum of the others; where that is so of several, such as two of 5 beside
    one of 0, none is a total."""
    whole = sum(amounts.values())
    totals = [row for row, amount in amounts.items() if isclose(amount, whole - amount, rel_tol=1e-6)]
    is_total = len(amounts) > _FEWEST and len(totals) == 1
    return {row: amount for row, amount in amounts.items() if not is_total or row not in totals}


class _LabelledRow(NamedTuple):
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


def _others(rows: Sequence[_LabelledRow], language: str, asked: Set[str], *, lacking: bool) -> Iterator[int]:
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
def _labelled(document: Document, language: str) -> tuple[tuple[_LabelledRow, ...], ...]:
    """The rows of each table that has a column of labels."""
    return tuple(rows for _, *starts in document.tables if (rows := _labelled_rows(document, starts, language)))


def _labelled_rows(document: Document, starts: Sequence[int], language: str) -> tuple[_LabelledRow, ...]:
    columns = list(zip(*(document.rows[start] for start in starts), strict=True))
    labels = [n for n, column in enumerate(columns) if _are_labels(list(filter(None, column)))]
    keys = [n for n, column in enumerate(columns) if len(set(column)) == len(column)]
    if not labels:
        return ()
    read = [[frozenset(terms(cell, language)) for cell in document.rows[start]] for start in starts]
    return tuple(
        _LabelledRow(
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
