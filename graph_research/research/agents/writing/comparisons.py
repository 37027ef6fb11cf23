"""What the run says elsewhere about the things that a statement names: notes and findings that the report leaves out,
and for the editor's statements what the sections decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import sqrt
from typing import Any

from graph_research.research.agents.writing.notes import notes_of
from graph_research.research.models.draft import BlockType, DraftSection, Statement, StatementKind
from graph_research.text.bm25 import rarer_more
from graph_research.text.language.opposites import is_absolute
from graph_research.text.language.words import held_weight, language_of, term_weights, whole_word_weights
from graph_research.text.relevance.query import parse

_MOST_SHOWN = 8
"""Comparisons of a batch; the nearest ones."""
_OF_STATEMENT = 3
"""Comparisons of a statement."""
_LEAST_SHARED = 0.4
"""Of the lesser of two texts, by weight: the words that both have, else they are about different things."""
_LEAST_ALIKE = 0.3
"""The geometric mean of the shares of both that they share, else a few words of a long one are a short one's."""
_LEAST_NEW = 0.15
"""Of a note or finding, by weight: the words that the report does not have, else it says nothing new."""
_LEAST_WORDS = 4
_OF_CONCLUSION = 3
"""Sentences of the sections beside each statement of the editor."""
_CLAUSE = re.compile(r"(?<=[.;])\s+|(?<=[。；])")


@dataclass(frozen=True)
class Said:
    """What a finding says, or a clause of a note, which names no evidence."""

    text: str
    evidence_ids: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True)
class Checked:
    """A sentence or the row of a table that a verifier is asked about, by the ids of its statements."""

    ids: tuple[str, ...]
    text: str
    evidence_ids: frozenset[str]
    is_first_row: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether one exception makes it wrong, or it is the row that a table begins with: how things are at first."""
        return self.is_first_row or is_absolute(self.text, language_of(self.text))


def checked_units(batch: Iterable[Mapping[str, Any]]) -> list[Checked]:
    """The sentences and rows of a batch; a block of code is none."""
    lines = groupby(
        batch, key=lambda row: (row.get("where"), row.get("block"), row.get("line"), not row.get("context"))
    )
    units = []
    for (_, _, line, is_alone), given in lines:
        rows = [row for row in given if not row.get("is_code")]
        for group in ([row] for row in rows) if is_alone else [rows] if rows else []:
            first = group[0]
            said = [f"{row.get('column') or ''} {row['text']}".strip() for row in group]
            label = [] if is_alone else [first.get("row") or ""]
            units.append(
                Checked(
                    ids=tuple(row["id"] for row in group),
                    text=": ".join(filter(None, [*label, "; ".join(said)])),
                    evidence_ids=frozenset(name for row in group for name in row.get("evidence_ids") or ()),
                    is_first_row=not is_alone and line == 1,
                )
            )
    return units


class SaidElsewhere:
    """Notes and findings of a run with something that its sections leave out, ranked by the words that they share with
    a statement. The names of the question do not count, since all of them are about these."""

    def __init__(
        self,
        findings: Iterable[Mapping[str, Any]],
        topics: Iterable[Mapping[str, Any]],
        sections: Iterable[DraftSection],
        question: str = "",
    ) -> None:
        self._asked = {term for name in parse(question).names for term in term_weights(name)}
        reported = [_words(text) for text in dict.fromkeys(told_lines(sections))]
        clauses = (Said(clause) for note in notes_of(topics) for clause in _CLAUSE.split(note.text))
        self._said = list(
            dict.fromkeys([*(Said(row["content"], frozenset(row["evidence_ids"])) for row in findings), *clauses])
        )
        terms = [_words(said.text) for said in self._said]
        self._holding = Counter(term for weights in (*reported, *terms) for term in weights)
        self._texts = len(reported) + len(terms)
        self._weights = [self._by_rarity(weights) for weights in terms]
        self._reported = {term for weights in reported for term in weights}
        self._mean = sum(sum(weights.values()) for weights in self._weights) / (len(self._said) or 1)

    def beside(self, units: Sequence[Checked]) -> dict[str, list[Said]]:
        """For the first statement of each unit that is compared, by its id, what may say otherwise: all that is near
        the first rows of tables, then the nearest."""
        pairs = [(score, unit, said) for unit in units if unit.is_compared for score, said in self._near(unit)]
        shown: set[Said] = set()
        beside: dict[str, list[Said]] = {}
        for _, unit, said in sorted(pairs, key=lambda pair: (not pair[1].is_first_row, -pair[0])):
            if said in shown or len(shown) < _MOST_SHOWN:
                shown.add(said)
                beside.setdefault(unit.ids[0], []).append(said)
        return beside

    def _near(self, unit: Checked) -> list[tuple[float, Said]]:
        return sorted(self._ranked(unit), key=lambda pair: -pair[0])[:_OF_STATEMENT]

    def _ranked(self, unit: Checked) -> Iterator[tuple[float, Said]]:
        asked = self._by_rarity(_words(unit.text))
        for said, weights in zip(self._said, self._weights, strict=True):
            own = sum(weights.values())
            if len(weights) < _LEAST_WORDS or said.evidence_ids & unit.evidence_ids:
                continue
            shared = held_weight(weights, asked)
            new = sum(weight for term, weight in weights.items() if term not in self._reported)
            total = sum(asked.values())
            is_near = shared >= _LEAST_SHARED * min(own, total) > 0.0 and shared >= _LEAST_ALIKE * sqrt(own * total)
            if is_near and new >= _LEAST_NEW * own:
                yield shared / sqrt(own + self._mean), said

    def _by_rarity(self, weights: Mapping[str, float]) -> dict[str, float]:
        unasked = {term: weight for term, weight in weights.items() if term not in self._asked}
        return rarer_more(unasked, self._holding, self._texts)


def _words(text: str) -> Mapping[str, float]:
    return whole_word_weights(text, language_of(text))


def told_lines(sections: Iterable[DraftSection]) -> Iterator[str]:
    """The sentences and the rows of tables of the sections, without what says that something was not found."""
    for block in (block for section in sections for block in section.blocks if block.type is not BlockType.CODE):
        for label, *cells in block.rows:
            if said := [cell.text for cell in cells if cell.text and cell.kind is not StatementKind.LIMIT]:
                yield f"{label.text}: {'; '.join(said)}"
        yield from (sentence.text for sentence in block.prose() if sentence.kind is not StatementKind.LIMIT)


def _evidence(rows: Iterable[Statement]) -> frozenset[str]:
    return frozenset(name for row in rows for name in row.evidence_ids)


def decisions(sections: Iterable[DraftSection], statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """What the sections decide and infer that the statements of the editor rest on: `{where, lines}` of each section,
    its tables with a column of the writer's own, and the analysis that cites the same."""
    sections = list(sections)
    shown = {
        row.id
        for statement in statements
        for row in _of_same_evidence(statement, (row for section in sections for row in _analysis(section)))
    }
    cited = {name for statement in statements for name in statement.evidence_ids}
    rows = [
        {
            "where": section.heading,
            "lines": [*_decided(section, cited), *(row.text for row in _analysis(section) if row.id in shown)],
        }
        for section in sections
    ]
    return [row for row in rows if row["lines"]]


def _analysis(section: DraftSection) -> Iterator[Statement]:
    for block in section.blocks:
        if block.type is not BlockType.CODE:
            yield from (row for row in block.prose() if row.kind is StatementKind.ANALYSIS)


def _of_same_evidence(statement: Statement, analysis: Iterable[Statement]) -> list[Statement]:
    """Those of the analysis of which the most evidence is also the statement's."""
    own = set(statement.evidence_ids)
    shares = [(len(own & set(row.evidence_ids)) / len(row.evidence_ids), row) for row in analysis if row.evidence_ids]
    near = sorted((pair for pair in shares if pair[0] > 0.0), key=lambda pair: -pair[0])
    return [row for _, row in near[:_OF_CONCLUSION]]


def _decided(section: DraftSection, cited: Collection[str]) -> Iterator[str]:
    """The tables that cite some of the same and have a column in which most is analysis, such as a rule of choice:
    whole, since what a row decides is read with its condition, its choice and what reverses it."""
    for block in section.blocks:
        if _evidence(block.statements()).isdisjoint(cited):
            continue
        if any(
            2 * sum(row[column].kind is StatementKind.ANALYSIS for row in block.rows) > len(block.rows)
            for column in range(1, len(block.header))
        ):
            yield from (
                " | ".join(cells) for cells in (block.header, *([cell.text for cell in row] for row in block.rows))
            )
