"""A question taken apart: its subject, its facets, and what each of its terms weighs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from graph_research.text.language.lexicon import FUNCTION_WORDS, GENERIC_NOUNS, VERBS
from graph_research.text.language.phrases import name_runs, noun_phrases
from graph_research.text.language.stems import content_stems, name_parts, stem, stem_list, words

_MOST_CHARS = 4_000
_MOST_FACETS = 8
_NUMBER_WANTED = re.compile(
    r"\b(?:how (?:many|much|long|big|large|high|tall|far|fast|deep|often|old|expensive)|what (?:capacity|cost|size|"
    r"share|percentage|price|number)|at what|cost)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:.?!]\s")
_MEASURED = re.compile(r"\bhow (high|tall|long|wide|deep|heavy|old|fast|far|expensive|big|large)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\bhow many (?:\w+ )??(\w+s|people|children|men|women|species)\b", re.IGNORECASE)
_DATE_WANTED = re.compile(r"\b(?:when|what year|which year|what date|since when|how long ago)\b", re.IGNORECASE)
_SUBJECT_WEIGHT = 0.5
_VERB_WEIGHT = 0.15
_GENERIC_WEIGHT = 0.2


@dataclass(frozen=True, kw_only=True)
class Facet:
    """One thing that the question asks about, as the question writes it.

    `names` are the stems of each of its names, `clause` counts the clauses of the question before it.
    """

    phrase: str
    stems: frozenset[str]
    names: tuple[frozenset[str], ...] = ()
    clause: int = 0

    def share(self, stems: Iterable[str]) -> float:
        """How much of the facet is among `stems`, 0 to 1: of its names, where it has some."""
        known = frozenset(stems)
        if self.names:
            return sum(1 for parts in self.names if parts <= known) / len(self.names)
        return len(self.stems & known) / len(self.stems)


@dataclass(frozen=True, kw_only=True)
class Question:
    """`subject` is what every facet belongs to; `weights` maps each content stem to its weight; `counted` are the stems
    of what "how many" asks for."""

    text: str
    subject: Facet | None
    facets: tuple[Facet, ...]
    weights: dict[str, float]
    counted: frozenset[str]
    wants_number: bool
    wants_date: bool

    @property
    def parts(self) -> tuple[tuple[Facet, float], ...]:
        """Subject and facets with the weight each has in the question's coverage."""
        subject = ((self.subject, _SUBJECT_WEIGHT),) if self.subject else ()
        return (*subject, *((facet, 1.0) for facet in self.facets))

    def about(self, stems: Iterable[str]) -> float:
        """How much of the subject is among `stems`, 0 to 1; 0 where the question has none."""
        return self.subject.share(stems) if self.subject else 0.0

    def coverage(self, stem_sets: Iterable[Iterable[str]]) -> float:
        """The weighted share of subject and facets that the best of `stem_sets` cover, 0 to 1."""
        sets = [frozenset(stems) for stems in stem_sets]
        total = sum(weight for _, weight in self.parts)
        if not total or not sets:
            return 0.0
        return sum(weight * max(part.share(stems) for stems in sets) for part, weight in self.parts) / total


@lru_cache(maxsize=16)
def parse_question(text: str) -> Question:
    """Takes the first 4,000 characters apart; a question without content terms has no subject, facets or weights."""
    asked = text[:_MOST_CHARS]
    phrases = noun_phrases(asked)
    names = name_runs(asked)
    subject = _subject(phrases, names)
    measured = [(match[1],) for match in _MEASURED.finditer(asked)]
    facets = _facets(asked, [*phrases, *measured], subject)
    return Question(
        text=text,
        subject=subject,
        facets=facets,
        weights=_weights(asked, subject, facets),
        counted=frozenset(stem(match[1]) for match in _COUNTED.finditer(asked)),
        wants_number=bool(_NUMBER_WANTED.search(asked)),
        wants_date=bool(_DATE_WANTED.search(asked)),
    )


def _facet(phrase: tuple[str, ...]) -> Facet:
    joined = " ".join(phrase)
    named = [part for word in phrase if re.search(r"[A-Z]|\w[._]\w", word) for part in words(word)]
    return Facet(
        names=tuple(name_parts(word) for word in named),
        phrase=joined,
        stems=content_stems(joined) or frozenset(stem(word) for word in phrase),
    )


def _subject(phrases: list[tuple[str, ...]], names: list[tuple[str, ...]]) -> Facet | None:
    """The first name, else the first phrase where there are more; a lone phrase is both subject and question."""
    chosen = names[0] if names else phrases[0] if phrases else None
    return _facet(chosen) if chosen else None


def _facets(text: str, phrases: list[tuple[str, ...]], subject: Facet | None) -> tuple[Facet, ...]:
    found: list[Facet] = []
    for phrase in phrases:
        kept = tuple(word for word in phrase if word.lower() not in GENERIC_NOUNS) or phrase
        facet = replace(_facet(kept), clause=_clause(" ".join(kept), text))
        known = [subject, *found] if subject else found
        if any(facet.stems <= other.stems for other in known if other):
            continue
        found.append(facet)
    return tuple(found[:_MOST_FACETS])


def _clause(phrase: str, text: str) -> int:
    return len(_CLAUSE_END.findall(text[: max(0, text.find(phrase))]))


def _weights(text: str, subject: Facet | None, facets: tuple[Facet, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for facet in facets:
        for base in facet.stems:
            weights[base] = max(weights.get(base, 0.0), 1.0 if len(facet.stems) == 1 else 0.7)
    if subject:
        for base in subject.stems:
            weights.setdefault(base, _SUBJECT_WEIGHT)
    for word in words(text):
        lowered = word.lower()
        if lowered in FUNCTION_WORDS:
            continue
        light = _VERB_WEIGHT if lowered in VERBS else _GENERIC_WEIGHT if lowered in GENERIC_NOUNS else 0.5
        for base in stem_list(word):
            weights.setdefault(base, light)
    return dict(list(weights.items())[:60])
