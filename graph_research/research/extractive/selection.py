"""What a step of a user's own graph selects: sentences that answer a question, or that bear on a claim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graph_research.research.extractive.analyzer import Analysis, analyze
from graph_research.research.extractive.claim_groups import Group, source_sentence
from graph_research.research.extractive.question import Question, parse_question
from graph_research.research.extractive.sentences import Sentence
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.extractive.sources import SourceFacts
from graph_research.text.language.quantities import Value, agree, values
from graph_research.text.language.stems import content_stems, stem_list
from graph_research.text.relevance.conflicts import SourceSentence, find_contradictions
from graph_research.text.relevance.statements import Frame, frames, same_statement

_CLAIM = "the claim"
_MOST_OF_A_SIDE = 3
_MOST_OTHERS = 2
_SPOKEN_OF = 0.5
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_TURNED = re.compile(
    r"\b(?:not|never|no|without|neither|nor|cannot|\w+n't|planned|plans?|schedul\w+|expect\w*|propos\w+|if|would|may|"
    r"might|could)\b",
    re.IGNORECASE,
)

_POINTS_BACK = re.compile(
    r"^(?:and|but|so|what about)\b|\b(?:it|its|they|their|them|there|this|that|these|those)\b", re.I
)

Stance = Literal["supports", "contradicts"]


@dataclass(frozen=True, kw_only=True)
class Selected:
    """A sentence of a source, word for word. `value` is the number or date in it that is asked for, "" for none."""

    source_id: str
    text: str
    start: int
    stance: Stance = "supports"
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """`leads` are the sentences that answer, `quotes` all that bear on what was asked, `why` says how they were
    chosen; both are empty where no source says anything about it."""

    leads: Sequence[Selected]
    quotes: Sequence[Selected]
    why: str

    @property
    def verdict(self) -> str:
        """`supported`, `contradicted`, `disputed` or `not_found`."""
        stances = {quote.stance for quote in self.quotes}
        if len(stances) == 2:
            return "disputed"
        return {"supports": "supported", "contradicts": "contradicted"}[stances.pop()] if stances else "not_found"


def select_answer(question: str, earlier: Sequence[str], material: Mapping[str, Any]) -> Selection:
    """The short answer to `question`, who else says so, and who says otherwise.

    Only sentences are taken that stand under, or hold, every name of the question's subject, and that speak of what is
    asked of it. A question that points back ("and how much did it cost?") is read together with the last of the
    `earlier` ones that names something.
    """
    analysis = analyze({**material, "question": _in_context(question, earlier), "sub_queries": ()})
    fit = [group for group in analysis.groups if analysis.ranked and _speaks_of(group.lead, analysis.question)]
    if not fit:
        return Selection(leads=(), quotes=(), why=f"No sentence of {_sources(analysis)} answers the question.")
    groups = _needed(short_answer(fit, analysis.question, analysis.sources), analysis.question)
    leads = [_selected(group.lead, analysis.question) for group in groups]
    others = [_selected(one, analysis.question) for group in groups for one in group.others[:_MOST_OTHERS]]
    against = _against(groups, analysis)
    told = f"The best ranked of the sentences in {_sources(analysis)}, word for word"
    why = f"{told}; {_count(len(against), 'sentence')} on the other side." if against else f"{told}."
    return Selection(leads=leads, quotes=_distinct([*leads, *others, *against]), why=why)


def select_for_claim(claim: str, material: Mapping[str, Any]) -> Selection:
    """Sentences that state the claim, and sentences that give another number or date for the same thing.

    A sentence supports where it gives the claim's values for the same subject and attribute, or holds all of the
    claim's content words and numbers and neither negates nor plans what the claim does not. It contradicts only by a
    value: subject, attribute, unit and scope must be equal.
    """
    analysis = analyze({**material, "question": claim, "sub_queries": ()})
    fit = [passage for passage in _ranked_first(analysis) if not analysis.sources[passage.source_id].flagged]
    claimed = SourceSentence(source_id=_CLAIM, origin=_CLAIM, text=_sentence(claim), start=0, end=len(_sentence(claim)))
    against = _contradicting(claimed, fit, analysis.sources)
    stated = frames(claimed)
    support = [
        passage
        for passage in fit
        if (passage.source_id, passage.start) not in against
        and (_same_values(stated, frames(source_sentence(passage, analysis.sources))) or _same_words(claim, passage))
    ]
    quotes = [_selected(passage, analysis.question) for passage in _one_a_source(support)]
    contrary = [passage for passage in fit if (passage.source_id, passage.start) in against]
    quotes += [_claimed_value(passage, claim, analysis.sources) for passage in _one_a_source(contrary)]
    stating, differing = _count(len(support), "sentence"), _count(len(contrary), "sentence")
    why = f"In {_sources(analysis)}: {stating} stating the claim, {differing} giving another value."
    return Selection(leads=quotes[:1], quotes=quotes, why=why)


def _in_context(question: str, earlier: Sequence[str]) -> str:
    subject = parse_question(question).subject
    if not _POINTS_BACK.search(question) or (subject is not None and subject.names):
        return question
    before = (parse_question(asked).subject for asked in reversed(earlier))
    named = next((one for one in before if one is not None and one.names), None)
    return f"{named.phrase}: {question}" if named else question


def _speaks_of(passage: Sentence, question: Question) -> bool:
    around = passage.stem_set | passage.frame_stems
    if question.subject and question.subject.names and question.about(around) < 1.0:
        return False
    return not question.facets or any(facet.share(around) >= _SPOKEN_OF for facet in question.facets)


def _needed(groups: Sequence[Group], question: Question) -> list[Group]:
    """The first, and each further one that speaks of a part of the question which those before it leave out."""
    kept: list[Group] = []
    covered: set[str] = set()
    for group in groups:
        spoken = {facet.phrase for facet in question.facets if facet.share(group.lead.stem_set) >= _SPOKEN_OF}
        if not kept or spoken - covered:
            kept.append(group)
        covered |= spoken
    return kept


def _against(groups: Sequence[Group], analysis: Analysis) -> list[Selected]:
    """The other sides of conflicts that a chosen sentence is part of."""
    chosen = {(passage.source_id, passage.start) for group in groups for passage in group.passages}
    found = []
    for conflict in analysis.conflicts:
        sides = [any((one.source_id, one.start) in chosen for one in side.evidence) for side in conflict.sides]
        for side, is_ours in zip(conflict.sides, sides, strict=True):
            if any(sides) and not is_ours:
                one = side.evidence[0]
                found.append(
                    Selected(
                        source_id=one.source_id,
                        text=one.text,
                        start=one.start,
                        stance="contradicts",
                        value=side.value,
                    )
                )
    return found


def _contradicting(
    claimed: SourceSentence, fit: Sequence[Sentence], sources: Mapping[str, SourceFacts]
) -> set[tuple[str, int]]:
    """Where sentences stand that give another value than the claim does."""
    places: set[tuple[str, int]] = set()
    for passage in fit:
        if find_contradictions([claimed, source_sentence(passage, sources)]):
            places.add((passage.source_id, passage.start))
    return places


def _same_values(stated: Sequence[Frame], given: Sequence[Frame]) -> bool:
    return bool(stated) and all(any(same_statement(a, b) and agree(a.value, b.value) for b in given) for a in stated)


def _same_words(claim: str, passage: Sentence) -> bool:
    wanted = content_stems(claim)
    own = len(wanted & passage.stem_set)
    return (
        bool(wanted)
        and own * 4 >= len(wanted) * 3
        and wanted <= passage.stem_set | passage.frame_stems
        and set(_DIGITS.findall(claim)) <= set(_DIGITS.findall(passage.text))
        and bool(_TURNED.search(claim)) == bool(_TURNED.search(passage.text))
    )


def _ranked_first(analysis: Analysis) -> list[Sentence]:
    ranked = [item.passage for item in analysis.ranked]
    known = set(ranked)
    return [*ranked, *(passage for passage in analysis.pool.passages if passage not in known)]


def _one_a_source(passages: Sequence[Sentence]) -> list[Sentence]:
    first: dict[str, Sentence] = {}
    for passage in passages:
        first.setdefault(passage.source_id, passage)
    return list(first.values())[:_MOST_OF_A_SIDE]


def _claimed_value(passage: Sentence, claim: str, sources: Mapping[str, SourceFacts]) -> Selected:
    """A contradicting sentence with the value that it gives for what the claim says."""
    text = _sentence(claim)
    stated = frames(SourceSentence(source_id=_CLAIM, origin=_CLAIM, text=text, start=0, end=len(text)))
    given = [
        frame.written
        for frame in frames(source_sentence(passage, sources))
        if any(same_statement(frame, one) and not agree(frame.value, one.value) for one in stated)
    ]
    return Selected(
        source_id=passage.source_id,
        text=passage.text,
        start=passage.start,
        stance="contradicts",
        value=given[0] if given else "",
    )


def _selected(passage: Sentence, question: Question) -> Selected:
    return Selected(
        source_id=passage.source_id,
        text=passage.text,
        start=passage.start,
        value=_value(passage.text, question),
    )


def _value(text: str, question: Question) -> str:
    """The value in a sentence that fits what is asked: of the counted thing, else a date where one is wanted, else the
    one that is nearest to the question's words."""
    found = [value for value in values(text) if value.usable and value.end > value.start]
    if question.wants_date:
        found = [value for value in found if value.kind == "date"] or found
    elif question.wants_number or question.counted:
        found = [value for value in found if value.kind == "number"] or found
    asked = frozenset().union(*(facet.stems for facet in question.facets)) | question.counted
    counted = [value for value in found if value.unit.removeprefix("count:") in asked]
    best = min(counted or found, key=lambda value: _distance(text, value, asked), default=None)
    return text[best.start : best.end].strip() if best else ""


def _distance(text: str, value: Value, asked: frozenset[str]) -> int:
    """Characters to the nearest of the question's words; the value's own count as well."""
    places = [
        min(abs(match.start() - value.end), abs(value.start - match.end()))
        if not value.start <= match.start() < value.end
        else 0
        for match in re.finditer(r"[^\W_]+", text)
        if asked.intersection(stem_list(match[0]))
    ]
    return min(places, default=len(text))


def _distinct(quotes: Sequence[Selected]) -> list[Selected]:
    first: dict[tuple[str, int], Selected] = {}
    for quote in quotes:
        first.setdefault((quote.source_id, quote.start), quote)
    return list(first.values())


def _sentence(claim: str) -> str:
    text = " ".join(claim.split())
    return text if text.endswith((".", "!")) else f"{text}."


def _sources(analysis: Analysis) -> str:
    return _count(len(analysis.sources), "source")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
