"""What a verifier is shown beside statements: their passages with the text around the quotes, others of the sources,
and what the run says elsewhere about the things that they name: notes and findings that the report leaves out, and for
the editor's statements what the sections decide."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import sqrt
from typing import Any

from graph_research.graph.context import Context
from graph_research.research.agents.writing.further_passages import NearPassages
from graph_research.research.agents.writing.notes import notes_of
from graph_research.research.agents.writing.passages import Passages, repeated, shown_once
from graph_research.research.models.draft import BlockType, DraftSection, Statement, StatementKind
from graph_research.research.models.evidence import Evidence
from graph_research.text.bm25 import rarer_more
from graph_research.text.language.opposites import DEFAULT, denies, is_absolute, permits, tells_exception
from graph_research.text.language.words import held_weight, language_of, term_weights, whole_word_weights
from graph_research.text.relevance.entries import names_in
from graph_research.text.relevance.query import parse

_MOST_SHOWN = 8
"""Comparisons of a batch; the nearest ones."""
_OF_STATEMENT, _OTHERS_OF_STATEMENT = 3, 1
"""Comparisons of a statement, and sentences beside it that may tell of an exception."""
_LEAST_SHARED = 0.4
"""Of the lesser of two texts, by weight: the words that both have, else they are about different things."""
_LEAST_ALIKE = 0.3
"""The geometric mean of the shares of both that they share, else a few words of a long one are a short one's."""
_LEAST_NEW = 0.15
"""Of a note or finding, by weight: the words that the report does not have, else it says nothing new."""
_LEAST_WORDS = 4
_OF_CONCLUSION = 3
"""Sentences of the sections beside each statement of the editor."""
_AROUND_CHARS, _ENOUGH_CHARS = 300, 400
"""So much of the text on either side of a quote is looked at for what the quote lacks; a quote that is longer than the
second lacks nothing."""
_LEAST_SAID = 2.0
"""A sentence around a quote is about what is said if the words of both weigh so much: more than one common word."""
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


@dataclass(frozen=True)
class Beside:
    """What the prompt shows beside the statements: the passages that they cite, and what may say otherwise, as ids of
    passages and as `comparisons`, by the id of the statement. Those of the editor have the sections' `decisions`, and
    passages without the text around their quotes, which the sections were checked with. `found` is the evidence of
    the `others`. A passage that is `within` another one, both by their ids, is shown as that one."""

    passages: Sequence[Mapping[str, Any]]
    others: Mapping[str, Sequence[str]]
    comparisons: Mapping[str, Sequence[Said]]
    decisions: Sequence[Mapping[str, Any]]
    found: Mapping[str, Evidence]
    within: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    async def of(
        cls,
        handoff: Mapping[str, Any],
        asked: Sequence[tuple[Statement, Mapping[str, Any]]],
        passages: Passages,
        ctx: Context,
    ) -> Beside:
        sections = [DraftSection.model_validate(row) for row in handoff.get("sections") or []]
        by_editor = bool(sections) and {row.id for row, _ in asked}.isdisjoint(
            row.id for section in sections for row in section.statements()
        )
        cited = [name for row, _ in asked for name in row.evidence_ids]
        rows = _around_what_is_said(asked, passages)
        units = checked_units({**given, "id": row.id} for row, given in asked)
        comparisons = await asyncio.to_thread(_comparisons, handoff, sections, units)
        compared = {name for unit in units if unit.ids[0] in comparisons for name in unit.ids}
        others: Mapping[str, list[str]] = {}
        found: Mapping[str, Evidence] = {}
        if absolute := _absolute(asked):
            near = await NearPassages.of(handoff, ctx)
            others = await asyncio.to_thread(_others, absolute, compared, passages, near)
            compared_with = {name for names in others.values() for name in names}
            rows += [row for row in near.rows(cited) if row["id"] in compared_with]
            found = near.evidence
        shown_in = passages.within(cited)
        shown_in |= {name: held for name, held in repeated(rows).items() if name not in cited}
        return cls(
            passages=[row for row in rows if row["id"] not in shown_in],
            others=others,
            comparisons=comparisons,
            decisions=decisions(sections, [row for row, _ in asked]) if by_editor else [],
            found=found,
            within=shown_in,
        )

    def further(self, statement: Statement, passages: Passages, handoff: Mapping[str, Any]) -> list[Evidence]:
        """The evidence, besides its own, of what a statement is shown with: the sentences and rows around its quotes,
        the passages that it is compared with, and those of compared findings."""
        cited = shown_once(statement.evidence_ids, self.within)
        own = [row for row in self.passages if row["id"] in cited]
        said = {name for one in self.comparisons.get(statement.id, ()) for name in one.evidence_ids}
        return [
            *passages.around(own, handoff["question"]),
            *(self.found[name] for name in self.others.get(statement.id, ())),
            *(Evidence.model_validate(row) for row in handoff["evidence"] if row["id"] in said),
        ]

    def material(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The passages and comparisons with the short names that the prompt shows, and the statements with those that
        they cite and those that they are compared with."""
        names = {row["id"]: f"p{n}" for n, row in enumerate(self.passages, 1)}
        said = list(dict.fromkeys(one for row in rows for one in self.comparisons.get(row["id"], ())))
        named = {one: f"c{n}" for n, one in enumerate(said, 1)}

        def known(ids: Iterable[str]) -> list[str]:
            return [names[one] for one in shown_once(ids, self.within) if one in names]

        return {
            "passages": [{**row, "name": names[row["id"]]} for row in self.passages],
            "comparisons": [{"name": named[one], "text": one.text} for one in said],
            "decisions": [{**row, "text": "\n".join(row["lines"])} for row in self.decisions],
            "statements": [
                {
                    **row,
                    "others": list(others),
                    "cites": cites,
                    "compares": [*(name for name in known(others) if name not in cites), *compared],
                }
                for row in rows
                for others in [self.others.get(row["id"], ())]
                for cites in [known(row["evidence_ids"])]
                for compared in [[named[one] for one in self.comparisons.get(row["id"], ())]]
            ],
        }


def _around_what_is_said(
    asked: Sequence[tuple[Statement, Mapping[str, Any]]], passages: Passages
) -> list[dict[str, Any]]:
    """The passages that the statements cite, with the text before and behind a quote up to the sentence that is about
    what a statement which cites it says and holds a word of that which none of its quotes has, or that denies something
    or tells of an exception; right beside the quote such a sentence may be about anything."""
    cited = [name for row, _ in asked for name in row.evidence_ids]
    within = passages.within(cited)
    quotes = {row["id"]: row["quote"] for row in passages.rows(cited, 0)}
    said: dict[str, set[str]] = {}
    lacking: dict[str, set[str]] = {}
    for statement, given in asked:
        quoted = " ".join(quotes[name] for name in statement.evidence_ids if name in quotes)
        terms = term_weights(f"{given.get('context') or ''} {statement.text}").keys()
        for name in shown_once(statement.evidence_ids, within):
            said.setdefault(name, set()).update(terms)
            lacking.setdefault(name, set()).update(terms - term_weights(quoted).keys())

    def is_needed(name: str, around: str, is_beside: bool) -> bool:
        weights, language = term_weights(around), language_of(around)
        limits = denies(around, language) or tells_exception(around, language)
        is_about = held_weight(weights, said[name]) >= _LEAST_SAID
        return (limits and (is_beside or is_about)) or (is_about and not lacking[name].isdisjoint(weights))

    followed = shown_once(_permitting(asked), within)
    return passages.rows(said, _AROUND_CHARS, enough_chars=_ENOUGH_CHARS, followed=followed, is_needed=is_needed)


def _comparisons(
    handoff: Mapping[str, Any], sections: Sequence[DraftSection], units: Sequence[Checked]
) -> dict[str, list[Said]]:
    said = SaidElsewhere(handoff.get("findings") or [], handoff.get("topics") or [], sections, str(handoff["question"]))
    return said.beside(units)


def _absolute(asked: Sequence[tuple[Statement, Mapping[str, Any]]]) -> list[tuple[Statement, str]]:
    """The statements that one exception makes wrong, each with its context."""
    rows = [(row, given.get("context") or "") for row, given in asked if not given.get("is_code")]
    texts = [f"{context} {row.text}" for row, context in rows]
    return [pair for pair, text in zip(rows, texts, strict=True) if is_absolute(text, language_of(text))]


def _permitting(asked: Sequence[tuple[Statement, Mapping[str, Any]]]) -> set[str]:
    """The evidence of the statements that permit something or call it safe, behind which a condition may follow."""
    return {
        name
        for row, given in asked
        if permits(f"{given.get('context') or ''} {row.text}", language_of(row.text))
        for name in row.evidence_ids
    }


def _others(
    absolute: Sequence[tuple[Statement, str]], compared: Collection[str], passages: Passages, near: NearPassages
) -> dict[str, list[str]]:
    """For each of the statements the ids of passages that it does not cite and that may tell of an exception; of one
    with nothing else to compare that of the passage nearest to it."""
    others: dict[str, list[str]] = {}
    for row, context in absolute:
        shown = passages.rows(row.evidence_ids)
        limiting = near.limiting(row.text, context, shown)[:_OTHERS_OF_STATEMENT]
        found = [*_defining(f"{context} {row.text}", shown, near), *limiting]
        if row.id not in compared:
            found = found or near.bearing(f"{context} {row.text}", shown)
        others[row.id] = list(dict.fromkeys(found))
    return others


def _defining(text: str, shown: Sequence[Mapping[str, Any]], near: NearPassages) -> list[str]:
    """Where a text says what the default of settings is, the ids of the definitions of those of which no passage that
    it cites stands under their name."""
    if not DEFAULT.search(text):
        return []
    headings = " ".join(row["heading"] for row in shown)
    return near.definitions(text, shown, besides=[name for name in names_in(text) if name in headings])
