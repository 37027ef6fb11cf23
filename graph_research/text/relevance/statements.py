"""What a sentence states: each of its values with the words around it, so that two statements can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise, takewhile

from graph_research.text.document import Document
from graph_research.text.language.opposites import CAPITALISED_NOUNS, NEGATIONS, SCOPES, is_no
from graph_research.text.language.quantities import Value, agree, values
from graph_research.text.language.tables import any_of
from graph_research.text.language.units import SCALES
from graph_research.text.language.words import Word, read_sentence, weights_of, words


@dataclass(frozen=True, kw_only=True)
class SourceSentence:
    """A sentence of a source: `document.text[start:end] == text`.

    `title` is the document's, `heading` the nearest one above the sentence. Of a row of a table `cells` are the header
    and the text of each cell (`Document.columns_at`).
    """

    source_id: str
    text: str
    start: int
    end: int
    title: str = ""
    heading: str = ""
    cells: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_text(cls, text: str, source_id: str = "") -> SourceSentence:
        """A text that stands alone, such as a claim."""
        return cls(source_id=source_id, text=text, start=0, end=len(text))

    @classmethod
    def at(cls, source_id: str, document: Document, start: int, end: int, subject: str | None = None) -> SourceSentence:
        """The stretch of a document from `start` to `end`, with what stands above it. What is no row of a table has the
        `subject`, if one is given, as its title."""
        cells = document.columns_at(start)
        return cls(
            source_id=source_id,
            text=document.text[start:end],
            start=start,
            end=end,
            title=document.title if cells or subject is None else subject,
            heading="".join(document.path_at(start)[-1:]),
            cells=cells,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Statement:
    """One value of a sentence, or of a cell of a table's row, with the words that say what it is a value of.

    `text` is the sentence; of a row the cell behind what names its row and column. `written` is the value with what it
    counts. `near` holds the terms around it, weighted by rarity and by nearness, `said` the same by rarity alone,
    `clause` those of the value's own clause that are no names. `names` are the terms around it that are written with a
    capital, `behind_names` those directly behind one, such as a noun that belongs to the name; `scope` are words that
    bind the value to a part, a rate, a plan or a denial. `others` are the sentence's other values.

    `title` and `context` hold the terms of the document's title, and of title and heading, `titled` those of the title
    that name a thing. `leans` says that the sentence begins without a name, so that the title may say what it is about.
    """

    sentence: SourceSentence
    text: str
    value: Value
    near: dict[str, float]
    clause: dict[str, float]
    said: dict[str, float]
    names: frozenset[str]
    behind_names: frozenset[str]
    scope: frozenset[str]
    others: tuple[Value, ...]
    title: dict[str, float]
    titled: frozenset[str]
    context: dict[str, float]
    leans: bool
    written: str


class Nature(StrEnum):
    """Whether two statements with different values conflict, or what else they mean: another date, unit, scope (a part,
    a plan, a rate, other items) or definition of what is counted, or nothing (`none`). Only a model tells the last
    two."""

    CONFLICT = "conflict"
    DATE = "date"
    UNIT = "unit"
    SCOPE = "scope"
    DEFINITION = "definition"
    NONE = "none"


_MOST_KEPT = 1024
"""Sentences of which the statements are kept: each round of a run and its report compare the same ones."""
_WINDOW = 24
_HALF = 6
"""So many words from the value a word counts half; a comma or bracket between them is as far as `_CLAUSE` words."""
_CLAUSE = 12
_MOST_COUNTED = 3
_MARK = re.compile(r"[,;()–—]\s|\s[–—(]")

# The unit that a header gives of its column: "Cost (million euros)", "Power, MW", "Kosten in Mio. Euro".
_UNIT_IN_HEADER = re.compile(rf"\s*[(\[]([^()\[\]]+)[)\]]\s*$|(?:,|\s(?:{any_of('measured_in')}))\s+(\S.*)$")

_FEWEST = 2
_LEAST_ALIKE = 0.55
"""The words near the values that both have at least, and the share of the weights there."""
_MOST_ALONE = 0.5
"""What both clauses may say beside what the other sentence says too: less than `children` or `adults`."""
_NAME = 0.5
_FIRST_NAME = 2.0
"""The least weight of a name; of one that begins a sentence, where common words have a capital too."""
_UNUSUAL = 3.0
_SIBLINGS = 0.3
_MOST_APART = 2
"""The share and the words of their own of two titles that name two things of one kind."""
_COPY = 6.0
"""Sentences that share so much are about one thing, whatever their titles say."""


def statements(sentence: SourceSentence) -> list[Statement]:
    """A statement for each value of a sentence; of a table's row for each value in a cell behind the first one, which
    names the row."""
    if not sentence.cells:
        return list(_statements(sentence, sentence.text))
    return [
        row
        for name, cell in ((f"{row}: {column}: ", cell) for row, column, cell in _columns(sentence.cells))
        for row in _statements(sentence, name + cell)
        if row.value.start >= len(name)
    ]


def row_text(cells: Sequence[tuple[str, str]]) -> str:
    """A row as a sentence, with the header and the unit of each cell: `Alder Dam | cost: 1,340 million euros.` A cell
    that says no and nothing else is a sentence of its own, which denies what the header says: `Alder Dam: no lock.`"""
    if not cells:
        return ""
    row = _name_and_unit(cells[0][1])[0]
    named = [(column, cell) for _, column, cell in _columns(cells) if cell]
    said = " | ".join([row, *(f"{column}: {cell}" for column, cell in named if not is_no(cell))])
    denied = [f"{row}: {cell.lower()} {column}" for column, cell in named if is_no(cell)]
    return " ".join(f"{sentence}." for sentence in (said, *denied))


def _columns(cells: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """For each cell behind the first, what names the row, the column's header, and the cell's text: `("Alder Dam",
    "cost", "1,340 million euros")`. The cells before the first value name the row; the text has the unit that the
    header gives, else the one that a naming cell gives."""
    naming = [cells[0][1], *takewhile(lambda cell: not values(cell), (cell for _, cell in cells[1:]))]
    named = [_name_and_unit(cell) for cell in naming]
    row = ": ".join(name for name, _ in named)
    row_unit = next((unit for _, unit in named if unit), "")
    for header, cell in cells[1:]:
        name, unit = _name_and_unit(header)
        name = name[:1].lower() + name[1:] if name[1:2].islower() else name
        yield row, name, _with_unit(cell, unit or row_unit)


def _name_and_unit(label: str) -> tuple[str, str]:
    """A header or the label of a row, and the unit that it gives with a space before it, empty where it gives none."""
    found = _UNIT_IN_HEADER.search(label)
    if not found:
        return label, ""
    scale_first = sorted((found[1] or found[2]).split(), key=lambda word: word not in SCALES)
    return label[: found.start()], "".join(f" {word}" for word in scale_first)


def _with_unit(cell: str, unit: str) -> str:
    """The cell with the unit of its column, unless it gives one itself. A number that may be a year gets the unit only
    where that measures something other than time."""
    given = {value.unit for value in values(cell)} - {""}
    measured = f"{cell}{unit}"
    is_number = not given or (given == {"date"} and not {value.unit for value in values(measured)} <= {"date", "time"})
    return measured if is_number else cell


@lru_cache(maxsize=_MOST_KEPT)
def _statements(sentence: SourceSentence, text: str) -> Sequence[Statement]:
    found = values(text)
    if not found:
        return ()
    language, written = read_sentence(text)
    entitled = words(sentence.title, language)
    title, heading = weights_of(entitled), weights_of(words(sentence.heading, language))
    titled = frozenset(word.term for word in entitled if _names_a_thing(sentence.title, word, language))
    leans = _leans(text, written, language)
    context = heading | title
    result = []
    for value in found:
        around = _around(text, value, written)
        outside = [(word, far) for word, far in around if not any(v.start <= word.start < v.end for v in found)]
        near: dict[str, float] = {}
        for word, far in outside:
            if word.weight > 0:
                near[word.term] = max(near.get(word.term, 0.0), word.weight / (1 + far / _HALF))
        names = frozenset(word.term for word, _ in outside if is_name(text, word, language))
        behind_names = frozenset(b.term for a, b in pairwise(written) if b.start - a.end == 1 and a.term in names)
        within = weights_of(word for word, far in outside if far < _CLAUSE)
        result.append(
            Statement(
                sentence=sentence,
                text=text,
                value=value,
                near=near,
                said=weights_of(word for word, _ in outside),
                clause={term: weight for term, weight in within.items() if term not in names},
                names=names,
                behind_names=behind_names,
                scope=_scope(text, outside, language),
                others=tuple(other for other in found if other is not value),
                title=title,
                titled=titled,
                context=context,
                leans=leans,
                written=_written(text, value, written),
            )
        )
    return result


def sameness(one: Statement, other: Statement) -> float:
    """How much two statements share, by rarity and nearness; 0 where they do not speak of the same thing.

    That is so where they share fewer than two words or have more of their own near the values, where they are bound to
    another scope, and where each has a name, or a clause with words, that the other lacks. Scope and clauses gain
    nothing on judged sets (the conflicts of `benchmarks/evidence.py`); they are kept since a plan, a rate, a part or
    another purpose is not the same thing, which those sets do not ask.
    """
    if one.value.unit != other.value.unit or one.scope != other.scope or not _same_attribute(one, other):
        return 0.0
    shared = _in_common(one, other)
    if not shared:
        return 0.0
    return shared + sum(_shared(a.near, b.context) for a, b in ((one, other), (other, one)))


def exclude(one: Statement, other: Statement) -> bool:
    """Whether the values cannot both be right.

    They can where a sentence gives the other's value too, and where each sentence gives a further value that the other
    lacks, such as another year or other items.
    """
    return not _gives(one, other.value) and not _gives(other, one.value) and not further_values(one, other)


def _gives(one: Statement, value: Value) -> bool:
    """Whether the sentence has the value too."""
    return any(agree(own, value) for own in (one.value, *one.others))


def _in_common(one: Statement, other: Statement) -> float:
    """What the words weigh that stand near both values; 0 where they are too few, where the words that only one of the
    sentences has outweigh them, and where names or titles show that two subjects are meant."""
    mine, theirs = named(one, other), named(other, one)
    alone = _alone(one.near, other) + _alone(other.near, one)
    shared = _shared(mine, theirs) if alone else max(_shared(mine, theirs), _shared(one.said, other.said))
    few = len(mine.keys() & theirs.keys()) < _FEWEST
    if few or shared < _LEAST_ALIKE * (shared + alone) or _other_names(one, other) or other_subject(one, other):
        return 0.0
    return shared


def named(one: Statement, other: Statement) -> dict[str, float]:
    """The words near the value; for a row of a table also those words of its title and heading that stand near the
    other value: a row "Height | 84 m" below "Alder Dam" tells of the dam where the other sentence names it."""
    if not one.sentence.cells:
        return one.near
    above = {term: min(weight, one.context[term]) for term, weight in other.near.items() if term in one.context}
    return above | one.near


def difference(one: Statement, other: Statement) -> Nature | None:
    """How two statements about one thing differ; None where they agree, or do not speak of the same thing."""
    if one.value.kind != other.value.kind or _gives(one, other.value) or _gives(other, one.value):
        return None
    if _in_common(one, other) < _FEWEST:
        return None
    if one.value.unit != other.value.unit:
        return Nature.UNIT if one.value.unit and other.value.unit and _same_attribute(one, other) else None
    if one.scope != other.scope:
        return Nature.SCOPE
    if _other_dates(one, other):
        return Nature.DATE
    if further_values(one, other):
        return Nature.SCOPE
    return Nature.CONFLICT if _same_attribute(one, other) else None


def nature(one: Sequence[SourceSentence], other: Sequence[SourceSentence]) -> Nature:
    """The nature of a disagreement between the sentences of two sides: what all comparable values have in common, else
    a conflict."""
    mine, theirs = ([row for sentence in side for row in statements(sentence)] for side in (one, other))
    found = differences(mine, theirs)
    return found.pop() if len(found) == 1 else Nature.CONFLICT


def differences(mine: Sequence[Statement], theirs: Sequence[Statement]) -> set[Nature]:
    """How the statements of one side differ from those of another: their numbers, and where no numbers can be compared
    their dates, since a number of another date has a date of its own."""
    found: dict[bool, set[Nature]] = {True: set(), False: set()}
    for one in mine:
        for other in theirs:
            if (kind := difference(one, other)) is not None:
                found[one.value.kind == "date"].add(kind)
    return found[False] or found[True]


def _other_dates(one: Statement, other: Statement) -> bool:
    """Whether each sentence gives dates, and none that the other gives."""
    mine, theirs = ([value for value in a.others if value.kind == "date"] for a in (one, other))
    return bool(mine and theirs) and not any(agree(a, b) for a in mine for b in theirs)


def further_values(one: Statement, other: Statement) -> bool:
    """Whether each sentence gives a further value, not its own again, that the other lacks."""
    return all(
        any(not any(agree(value, given) for given in (a.value, *b.others)) for value in a.others)
        for a, b in ((one, other), (other, one))
    )


def other_subject(one: Statement, other: Statement) -> bool:
    """Whether the titles tell two things of one kind apart, by a name or a number, or two others where a sentence names
    no subject itself."""
    mine, theirs = (
        [term for term in a.title if term not in {*b.title, *b.near}] for a, b in ((one, other), (other, one))
    )
    if not mine or not theirs:
        return False
    names = any(term in a.titled for a, own in ((one, mine), (other, theirs)) for term in own)
    if names and any(a.leans and not a.title.keys() & a.near.keys() for a in (one, other)):
        return _shared(one.near, other.near) < _COPY
    least = min(sum(one.title.values()), sum(other.title.values()))
    are_alike = _shared(one.title, other.title) >= _SIBLINGS * least
    numbered = any(term[0].isdigit() for term in (*mine, *theirs))
    return (names or numbered) and max(len(mine), len(theirs)) <= _MOST_APART and are_alike


def is_name(text: str, word: Word, language: str) -> bool:
    """Whether a word is written like a name."""
    least = _NAME if word.start else _FIRST_NAME
    return language not in CAPITALISED_NOUNS and word.weight >= least and text[word.start].isupper()


def _names_a_thing(title: str, word: Word, language: str) -> bool:
    """Whether a word of a title is written like a name, or is none that its language uses."""
    return is_name(title, word, language) or (word.weight >= _UNUSUAL and not title[word.start].isdigit())


def _written(text: str, value: Value, written: Sequence[Word]) -> str:
    """The value and, of a bare number, up to three words behind it that may be what it counts."""
    end = value.end
    for word in [word for word in written if word.start >= value.end][: _MOST_COUNTED if not value.unit else 0]:
        if word.start - end != 1 or word.weight == 0 or not text[word.start].islower():
            break
        end = word.end
    return text[value.start : end]


def _around(text: str, value: Value, written: Sequence[Word]) -> list[tuple[Word, int]]:
    """The words within the window and how far each is from the value."""
    first = sum(word.start < value.start for word in written)
    last = sum(word.start < value.end for word in written)
    around = []
    for position in range(max(0, first - _WINDOW), min(len(written), last + _WINDOW)):
        word = written[position]
        if position < first:
            between, far = text[word.end : value.start], first - position
        else:
            between, far = text[value.end : word.start], position - last + 1
        around.append((word, far + _CLAUSE * len(_MARK.findall(between))))
    return around


def _scope(text: str, around: Iterable[tuple[Word, int]], language: str) -> frozenset[str]:
    binding = SCOPES.get(language, frozenset()) | NEGATIONS.get(language, frozenset())
    return frozenset(
        word.term for word, far in around if far < _CLAUSE and text[word.start : word.end].lower() in binding
    )


def _leans(text: str, written: Sequence[Word], language: str) -> bool:
    """Whether no name stands among the first words, as in "It was opened" or "The bridge was opened"; a usual noun is
    none where the language writes all of them with a capital letter."""
    opening = next((word for word in written if word.weight > 0), None)
    if opening is None or not is_name(text, opening, ""):
        return True
    return language in CAPITALISED_NOUNS and opening.weight < _UNUSUAL


def _shared(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(min(weight, other[term]) for term, weight in one.items() if term in other)


def _alone(near: dict[str, float], other: Statement) -> float:
    return sum(weight for term, weight in near.items() if term not in other.near and term not in other.context)


def _same_attribute(one: Statement, other: Statement) -> bool:
    """Whether the clauses share a word that is no name, and not both have words of their own that say something. A
    word behind a name is shared only where its clause has no other: "the Alder mill opened in 2021" and "the Alder mill
    won a prize in 2023" tell of two events."""
    alone = [
        sum(weight for term, weight in a.clause.items() if term not in b.said) for a, b in ((one, other), (other, one))
    ]
    behind = one.behind_names | other.behind_names
    shared = [(a.clause.keys() - behind or a.clause.keys()) & b.said.keys() for a, b in ((one, other), (other, one))]
    return min(alone) < _MOST_ALONE and (any(shared) or not one.clause or not other.clause)


def _other_names(one: Statement, other: Statement) -> bool:
    return all(bool(a.names - b.near.keys() - b.context.keys()) for a, b in ((one, other), (other, one)))
