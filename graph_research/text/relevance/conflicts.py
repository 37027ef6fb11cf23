"""Where sources disagree: values that exclude each other, and sentences that differ in a denial, an opposite or a name.

Two statements conflict if they speak of the same thing and their values cannot both be right (`statements.py`). Two
sentences without such values conflict if all their words agree but for a stretch that denies, turns round or renames.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations_with_replacement
from operator import itemgetter
from typing import Literal

from graph_research.text.language.opposites import NEGATIONS, opposites
from graph_research.text.language.quantities import agree, values
from graph_research.text.language.words import Word, held_weight, read_sentence, words, written_words
from graph_research.text.relevance.statements import (
    SourceSentence,
    Statement,
    exclude,
    is_name,
    named,
    sameness,
    statements,
)


@dataclass(frozen=True, kw_only=True)
class ConflictSide:
    """The value as the first of its sentences writes it, and every sentence that gives the same value."""

    value: str
    evidence: tuple[SourceSentence, ...]


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Two or three sides of different sources. `topic` names what they tell of, in words that they share."""

    kind: Literal["number", "date", "statement"]
    topic: str
    description: str
    sides: tuple[ConflictSide, ...]


_RAREST = 6
_MOST_COMPARED = 50
"""By how many of its rarest terms a statement is compared, and with how many others at most."""
_LEAST_SAME = 2.5
"""What two statements about one thing share at least."""
_LEAST_SHARED = 0.4
"""The share of what the shorter of two sources without titles says that the other says too, if they are about one
thing: sources about two people or places of one name share less."""
_MOST_SIDES = 3
"""Values that scatter further are of as many things, such as the dates of releases."""
_LEAST_BEFORE = 3
_LEAST_REPEATED = 6.0
"""The words before a stretch, and the weight of all that two sentences repeat, at least."""
_MOST_TOPIC_WORDS, _MOST_TOPIC_CHARS = 6, 120

_Read = tuple[str, Sequence[Word]]
"""A sentence's language and words."""


def find_contradictions(sentences: Sequence[SourceSentence]) -> list[Conflict]:
    """Every disagreement between sentences of different sources, in the order of their first sentences.

    Near-linear in the number of sentences: only those that share rare words are compared.
    """
    read = [read_sentence(sentence.text) for sentence in sentences]
    found = [statement for sentence in sentences for statement in statements(sentence)]

    @cache
    def said(source_id: str) -> Mapping[str, float]:
        """The terms of a source with their weights."""
        own = (words for sentence, (_, words) in zip(sentences, read, strict=True) if sentence.source_id == source_id)
        return {word.term: word.weight for word in chain.from_iterable(own)}

    groups = _groups(_excluding(found, said))
    by_value = [conflict for group in groups if (conflict := _conflict([found[i] for i in group])) is not None]
    return [*by_value, *_reworded(sentences, read)]


def contrary_value(claim: SourceSentence, passage: SourceSentence) -> str | None:
    """How a passage writes what it gives in place of a value, a denial or a name of the claim; None where it does not
    contradict the claim, which has no source id."""
    conflicts = find_contradictions([claim, passage])
    return next((side.value for row in conflicts for side in row.sides if passage in side.evidence), None)


def _excluding(found: Sequence[Statement], said: Callable[[str], Mapping[str, float]]) -> Iterator[tuple[int, int]]:
    """The statements whose values exclude each other, where neither source has one that is more like the other's."""
    sources = [one.sentence.source_id for one in found]
    items = [(source, one.value.unit, one.near) for source, one in zip(sources, found, strict=True)]
    compared: dict[tuple[int, int], float] = {}
    nearest: dict[tuple[int, str], float] = defaultdict(float)
    for a, b in _candidates(items):
        same = sameness(found[a], found[b])
        if same >= _LEAST_SAME:
            compared[a, b] = same
            nearest[a, sources[b]] = max(nearest[a, sources[b]], same)
            nearest[b, sources[a]] = max(nearest[b, sources[a]], same)
    for (a, b), same in compared.items():
        if same < max(nearest[a, sources[b]], nearest[b, sources[a]]) or not exclude(found[a], found[b]):
            continue
        if (found[a].title and found[b].title) or _of_one_thing(said(sources[a]), said(sources[b])):
            yield a, b


def _of_one_thing(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return held_weight(one, other) >= _LEAST_SHARED * min(sum(one.values()), sum(other.values()))


def _candidates(items: Sequence[tuple[str, str, Collection[str]]]) -> Iterator[tuple[int, int]]:
    """Pairs of `(source, unit, terms)` of two sources and one unit that share some of their rarest terms."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, unit, terms in items:
        counts[unit].update(iter(terms))
    postings: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (source, unit, terms) in enumerate(items):
        repeated = sorted((count, term) for term in terms if (count := counts[unit][term]) > 1)
        rarest = [postings[unit][term] for _, term in repeated[:_RAREST]]
        shared = Counter(chain.from_iterable(others[-_MOST_COMPARED:] for others in rarest))
        for others in rarest:
            others.append(number)
        most = sorted(shared.items(), key=itemgetter(1), reverse=True)  # several times as fast as `most_common`
        for other, _ in most[:_MOST_COMPARED]:
            if items[other][0] != source:
                yield other, number


def _reworded(sentences: Sequence[SourceSentence], read: Sequence[_Read]) -> Iterator[Conflict]:
    """Sentences of two sources that differ in one stretch, which denies, turns round or renames."""
    alike = _beginning_alike(sentences, read)
    items = [(sentences[n].source_id, read[n][0], {word.term for word in read[n][1] if word.weight > 0}) for n in alike]
    for one, other in _candidates(items):
        a, b = alike[one], alike[other]
        stretches = _stretches(read[a][1], read[b][1])
        if stretches and _turned(sentences[a], sentences[b], stretches, read[a][0]):
            sides = tuple(
                ConflictSide(value=_written(sentence, stretch), evidence=(sentence,))
                for sentence, stretch in zip((sentences[a], sentences[b]), stretches, strict=True)
            )
            before = [word for word in read[a][1] if word.weight > 0 and word not in stretches[0]]
            topic = " ".join(written_words(sentences[a].text, before[:_MOST_TOPIC_WORDS]))
            yield Conflict(
                kind="statement", topic=topic, description=" · ".join(side.value for side in sides), sides=sides
            )


def _beginning_alike(sentences: Sequence[SourceSentence], read: Sequence[_Read]) -> list[int]:
    """The sentences that begin with the same words as one of another source: no others differ in one stretch."""
    beginnings = [tuple(word.term for word in written[:_LEAST_BEFORE]) for _, written in read]
    sources: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for sentence, beginning in zip(sentences, beginnings, strict=True):
        sources[beginning].add(sentence.source_id)
    return [n for n, beginning in enumerate(beginnings) if len(sources[beginning]) > 1]


def _stretches(one: Sequence[Word], other: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]] | None:
    """The one stretch of words in which two sentences differ, if the rest says enough."""
    if any(mine.term != theirs.term for mine, theirs in zip(one[:_LEAST_BEFORE], other, strict=False)):
        return None
    mine, theirs = [word.term for word in one], [word.term for word in other]
    least = min(len(mine), len(theirs))
    start = next((i for i in range(least) if mine[i] != theirs[i]), least)
    end = next((i for i in range(least - start) if mine[-1 - i] != theirs[-1 - i]), least - start)
    stretches = one[start : len(one) - end], other[start : len(other) - end]
    repeated = sum(word.weight for word in (*one[:start], *one[len(one) - end :]))
    return stretches if any(stretches) and start >= _LEAST_BEFORE and repeated >= _LEAST_REPEATED else None


def _turned(
    one: SourceSentence, other: SourceSentence, stretches: tuple[Sequence[Word], Sequence[Word]], language: str
) -> bool:
    sides = list(zip((one, other), stretches, strict=True))
    other_titles = one.title and other.title and one.title != other.title
    if other_titles or any(values(_written(sentence, stretch)) for sentence, stretch in sides):
        return False
    denying = NEGATIONS.get(language, frozenset())
    said = [[s.text[word.start : word.end].lower() for word in stretch] for s, stretch in sides]
    terms = [
        {word.term for word, text in zip(stretch, texts, strict=True) if word.weight > 0 and text not in denying}
        for stretch, texts in zip(stretches, said, strict=True)
    ]
    denials = [sum(text in denying for text in texts) for texts in said]
    if denials[0] % 2 != denials[1] % 2:
        return terms[0] == terms[1]
    if len(terms[0] - terms[1]) == len(terms[1] - terms[0]) == 1 and language == "en":
        (mine,), (theirs,) = terms[0] - terms[1], terms[1] - terms[0]
        if any((number, not side) in opposites().get(theirs, ()) for number, side in opposites().get(mine, ())):
            return True
    named = all(
        any(is_name(s.text, word, language) for word in stretch)
        and all(s.text[word.start].isupper() for word in stretch if word.weight > 0)
        for s, stretch in sides
    )
    return named and not terms[0] & terms[1]


def _written(sentence: SourceSentence, stretch: Sequence[Word]) -> str:
    return sentence.text[stretch[0].start : stretch[-1].end] if stretch else sentence.text


def _groups(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The connected statements of the pairs, in order."""
    group: dict[int, list[int]] = {}
    for a, b in pairs:
        one, other = group.setdefault(a, [a]), group.setdefault(b, [b])
        if one is not other:
            one += other
            group.update(dict.fromkeys(other, one))
    return sorted({id(numbers): sorted(numbers) for numbers in group.values()}.values())


def _conflict(group: list[Statement]) -> Conflict | None:
    sides = _disjoint_sources(_sides(group))
    if not 2 <= len(sides) <= _MOST_SIDES:
        return None
    topic = _topic(sides)
    return Conflict(
        kind=sides[0][0].value.kind,
        topic=topic[:1].upper() + topic[1:],
        description=" · ".join(side[0].written for side in sides),
        sides=tuple(
            ConflictSide(value=side[0].written, evidence=tuple(dict.fromkeys(one.sentence for one in side)))
            for side in sides
        ),
    )


def _topic(sides: Sequence[Sequence[Statement]]) -> str:
    """The stretch of a statement that has most of the words which the first two sides share and fewest others, with `…`
    for its value; where there is none or a long one only, as in rows of tables, the words that they share."""
    one, other = sides[0][0], sides[1][0]
    both = named(one, other).keys() & named(other, one).keys()
    told = [statement for side in sides[:2] for statement in side if not statement.sentence.cells]
    stretches = [found for statement in told for found in _stretches_with(statement, both)]
    _, topic = max(stretches, key=lambda found: (found[0], -len(found[1])), default=(0, ""))
    return topic if 0 < len(topic) <= _MOST_TOPIC_CHARS else _topic_words(one, both)


def _stretches_with(statement: Statement, terms: Set[str]) -> Iterator[tuple[int, str]]:
    """The parts of a statement from one of these terms to another, its value as `…`, with the number of terms that they
    hold less that of other words."""
    text, value = statement.text, statement.value
    written = [word for word in read_sentence(text)[1] if not value.start <= word.start < value.end]
    shared = [word for word in written if word.term in terms]
    for first, last in combinations_with_replacement(shared, 2):
        within = [word for word in written if first.start <= word.start <= last.start]
        others = sum(word.weight > 0 and word.term not in terms for word in within)
        ends = (value.start, value.end) if first.start < value.start < last.start else (last.end, last.end)
        said = "…".join(filter(None, (text[first.start : ends[0]], text[ends[1] : last.end])))
        yield len({word.term for word in within} & terms) - others, said


def _topic_words(one: Statement, both: Set[str]) -> str:
    """These words of a statement, those above a table's row before its own."""
    text = one.text
    above = one.sentence.heading or one.sentence.title
    language, written = read_sentence(text)
    over = [word for word in words(above, language) if word.term in both - one.near.keys()]
    shared = [word for word in written if word.term in both and not one.value.start <= word.start < one.value.end]
    return " ".join(dict.fromkeys([*written_words(above, over), *written_words(text, shared)]))


def _sides(group: Sequence[Statement]) -> list[list[Statement]]:
    """Statements by value, the most precise first; a coarse value that fits two sides belongs to neither."""
    sides: list[list[Statement]] = []
    for statement in sorted(group, key=lambda statement: statement.value.high - statement.value.low):
        fitting = [side for side in sides if all(agree(statement.value, other.value) for other in side)]
        if not fitting:
            sides.append([statement])
        elif len(fitting) == 1:
            fitting[0].append(statement)
    order = {id(statement): position for position, statement in enumerate(group)}
    return sorted(
        (sorted(side, key=lambda statement: order[id(statement)]) for side in sides),
        key=lambda side: order[id(side[0])],
    )


def _disjoint_sources(sides: Sequence[Sequence[Statement]]) -> list[list[Statement]]:
    """Sides without the sources that stand on several of them: who differs from themselves means two things."""
    seen = Counter(source for side in sides for source in {statement.sentence.source_id for statement in side})
    kept = [[statement for statement in side if seen[statement.sentence.source_id] == 1] for side in sides]
    return [side for side in kept if side]
