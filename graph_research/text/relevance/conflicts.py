"""Finding disagreements: frames that speak of the same thing and give values that do not agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graph_research.text.language.quantities import agree
from graph_research.text.language.stems import words
from graph_research.text.relevance.statements import Frame, frames
from graph_research.text.relevance.statements import SourceSentence as SourceSentence


@dataclass(frozen=True, kw_only=True)
class ConflictSide:
    """The value as the first of its sentences writes it, and every sentence that gives the same value."""

    value: str
    evidence: tuple[SourceSentence, ...]


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Two or more sides of different origin. `topic` is made of words found in the first sentence."""

    kind: Literal["number", "date"]
    topic: str
    description: str
    sides: tuple[ConflictSide, ...]


def find_contradictions(sentences: Sequence[SourceSentence]) -> list[Conflict]:
    """Every disagreement between sentences of different origin, in the order of their first sentences.

    Linear in the number of sentences: only frames with equal subject, attribute, unit and scope are compared.
    """
    groups: dict[tuple[str, frozenset[str], frozenset[str]], list[Frame]] = {}
    for sentence in sentences:
        for frame in frames(sentence):
            groups.setdefault((frame.value.unit, frame.key, frame.scope), []).append(frame)
    return [conflict for group in groups.values() if (conflict := _conflict(group)) is not None]


def _conflict(group: list[Frame]) -> Conflict | None:
    named = [frame for frame in group if frame.names or _shares_title(frame, group)]
    sides = [side for side in _sides(named) if side]
    if len(sides) < 2 or len({frame.sentence.origin for side in sides for frame in side}) < 2:
        return None
    sides = _disjoint_origins(sides)
    if len(sides) < 2:
        return None
    return Conflict(
        kind=sides[0][0].value.kind,
        topic=sides[0][0].topic[:1].upper() + sides[0][0].topic[1:],
        description=" · ".join(side[0].written for side in sides),
        sides=tuple(ConflictSide(value=side[0].written, evidence=_distinct(side)) for side in sides),
    )


def _distinct(side: list[Frame]) -> tuple[SourceSentence, ...]:
    """The sentences of a side, of overlapping ones the first."""
    kept: list[SourceSentence] = []
    for sentence in (frame.sentence for frame in side):
        if not any(
            sentence.source_id == other.source_id and sentence.start < other.end and other.start < sentence.end
            for other in kept
        ):
            kept.append(sentence)
    return tuple(kept)


def _sides(group: list[Frame]) -> list[list[Frame]]:
    """Frames by value, the most precise first; a coarse value that fits two sides belongs to neither."""
    sides: list[list[Frame]] = []
    for frame in sorted(group, key=_coarseness):
        fitting = [side for side in sides if all(agree(frame.value, other.value) for other in side)]
        if not fitting:
            sides.append([frame])
        elif len(fitting) == 1:
            fitting[0].append(frame)
    order = {id(frame): position for position, frame in enumerate(group)}
    return sorted(
        (sorted(side, key=lambda frame: order[id(frame)]) for side in sides), key=lambda side: order[id(side[0])]
    )


def _coarseness(frame: Frame) -> tuple[int, float]:
    date = frame.value.date
    return (date.count(0) if frame.value.kind == "date" else int(frame.value.approximate), frame.value.place)


def _disjoint_origins(sides: list[list[Frame]]) -> list[list[Frame]]:
    """Sides without the origins that stand on several of them: who differs from themselves means two things."""
    seen: dict[str, int] = {}
    for side in sides:
        for origin in {frame.sentence.origin for frame in side}:
            seen[origin] = seen.get(origin, 0) + 1
    kept = [[frame for frame in side if seen[frame.sentence.origin] == 1] for side in sides]
    return [side for side in kept if side]


def _shares_title(frame: Frame, group: list[Frame]) -> bool:
    """Whether a sentence without a name stands under a title that another source's sentence stands under as well."""
    own = {word.lower() for word in words(frame.sentence.title) if word[0].isupper()}
    others = [
        {word.lower() for word in words(other.sentence.title) if word[0].isupper()}
        for other in group
        if other.sentence.origin != frame.sentence.origin
    ]
    return any(own and other and (own <= other or other <= own) for other in others)
