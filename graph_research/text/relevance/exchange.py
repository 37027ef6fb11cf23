"""Values that changed places: "the bay has 5 gates and the port 7" where "the bay has 7 gates and the port 5"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph_research.text.language.opposites import PARTING
from graph_research.text.language.quantities import Value, agree, figures
from graph_research.text.language.words import Word, weights_of

_MARK = re.compile(r"[,;.!?]\s|\s[–—]\s|[、，；。]")
_PART_OF_A_WORD = re.compile(r"-?[^\W\d_]")  # "the 400th", "a 24-hour show"
_SAME_VALUE = 2.0


@dataclass(frozen=True)
class Clause:
    """The weights of its words and its values. `joined` says that a word such as "and" stands behind it."""

    terms: dict[str, float]
    values: tuple[Value, ...]
    joined: bool


def clauses(text: str, written: Sequence[Word], language: str) -> list[Clause]:
    """A sentence, of which `written` are the words, cut at commas and at words such as "and" and "while"; empty where
    it has no value."""
    spans: dict[tuple[int, int], Value] = {}
    for value in figures(text):
        if not _PART_OF_A_WORD.match(text, value.end):
            spans.setdefault((value.start, value.end), value)
    if not spans:
        return []
    parting = PARTING.get(language, frozenset())
    parts = [(word.start, word.end, True) for word in written if text[word.start : word.end].lower() in parting]
    marks = [(match.start(), match.end(), False) for match in _MARK.finditer(text)]
    ends = [cut for cut in sorted([*parts, *marks]) if not any(start <= cut[0] < end for start, end in spans)]
    made, start = [], 0
    for at, behind, joined in [*ends, (len(text), len(text), False)]:
        within = [word for word in written if start <= word.start < at and word.weight > 0.0]
        own = [word for word in within if not any(first <= word.start < last for first, last in spans)]
        held = tuple(value for (first, _), value in spans.items() if start <= first < at)
        if own or held:
            made.append(Clause(weights_of(own), held, joined))
        start = behind
    return made


def exchanged(claim: Sequence[Clause], passage: Sequence[Clause]) -> Iterator[Value]:
    """The values of the claim that changed places: the passage gives such a value to another thing, and gives what has
    it in the claim another of the claim's values.

    What a clause is about is told by those of its words and values that no other clause with a value has. Where a thing
    stands in one clause and its value in another ("the lagoon and the harbour have 5 and 7"), nothing is decided.
    """
    mine, theirs = _once(claim), _once(passage)
    if _is_parted(claim, theirs) or _is_parted(passage, mine):
        return
    for clause in claim:
        for value in clause.values:
            there = _same_thing(clause, value, passage, mine & theirs)
            if there is None or any(agree(value, other) for other in there.values):
                continue
            elsewhere = any(agree(value, other) for each in passage if each is not there for other in each.values)
            others = [other for each in claim if each is not clause for other in each.values]
            if elsewhere and any(_instead(value, mine) and agree(mine, own) for mine in others for own in there.values):
                yield value


def _once(found: Sequence[Clause]) -> set[str]:
    counts = Counter(term for clause in found if clause.values for term in clause.terms)
    return {term for term, count in counts.items() if count == 1}


def _is_parted(found: Sequence[Clause], valued: set[str]) -> bool:
    """Whether a thing and its value stand in different clauses: one without a value, before "and", is about what the
    other text gives a value."""
    return any(clause.joined and not clause.values and clause.terms.keys() & valued for clause in found)


def _same_thing(clause: Clause, value: Value, passage: Sequence[Clause], common: set[str]) -> Clause | None:
    """The clause of the passage that is about the same as the clause, whose `value` is left aside; None where there is
    none or several are."""
    scored = []
    for other in (each for each in passage if each.values):
        shared = sum(weight for term, weight in clause.terms.items() if term in common and term in other.terms)
        given = [mine for mine in clause.values if mine is not value]
        same = sum(any(agree(mine, theirs) for theirs in other.values) for mine in given)
        scored.append((shared + _SAME_VALUE * same, other))
    most = max((score for score, _ in scored), default=0.0)
    best = [other for score, other in scored if score == most]
    return best[0] if most > 0.0 and len(best) == 1 else None


def _instead(value: Value, other: Value) -> bool:
    """Whether one may stand in the place of the other: of one kind and unit, and not the same."""
    return value.kind == other.kind and value.unit == other.unit and not agree(value, other)
