"""Open points of a research, such as a question left open or what a reader did not find: what statements answer them.

Only what words alone show: an open point that is wrongly called answered misleads more than one that is listed although
a reader finds its answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from graph_research.text.bm25 import inverse_frequency
from graph_research.text.language.quantities import figures
from graph_research.text.language.questions import (
    asked_kind,
    asked_only,
    asks_otherwise,
    clauses,
    is_question_word,
    points_back,
    with_bare_default,
    without_amount,
    without_default,
)
from graph_research.text.language.tables import listed
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import held_share, language_of, terms, whole_word_weights, words, written_in
from graph_research.text.relevance.alike import numbers_in
from graph_research.text.relevance.entries import names_in
from graph_research.text.relevance.query import parse

_FEWEST, _FEWEST_OF_A_SENTENCE = 2, 3
"""Words that a point asks for, at least, the parts of a setting's name counted, where a cell and where a sentence is to
answer it: one alone does not say what is asked of it, and a sentence that holds two may be about something else."""
_HELD, _ALIKE, _HELD_BESIDE_NAMES = 0.85, 0.52, 0.5
"""Two points ask the same where one has so much of what the other asks, by rarity, or both share so much, as a
geometric mean, and where one has so much of what the other asks beside names: the default of a setting is not its
largest value. Where each has a name of its own, they ask of different things. In the lists of two runs all pairs above
that asked the same, and most below did not."""
_SEARCHED = {language: frozenset(found) for language, found in listed("searched").items()}
_ASIDE = ";"
_CHAPTER = r"(?:\d+\.)+\s+"
_MOST_KEPT = 8  # limits are held against the titles of one list of sources, one after the other
_LAST_MARK = re.compile(r"\W*\Z")


@dataclass(frozen=True)
class Told:
    """A statement of a text, a cell with what it stands `under`, its row's label and its column's heading, and the
    `heading` of its section."""

    text: str
    under: str = ""
    heading: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        return self.own | self._terms_of(self.under) | self._terms_of(self.heading)

    @cached_property
    def own(self) -> frozenset[str]:
        return self._terms_of(self.text)

    def _terms_of(self, text: str) -> frozenset[str]:
        return frozenset(word.term for word in words(text, language_of(f"{self.under}: {self.text}")))


def left_open(point: str, told: Sequence[Told]) -> str:
    """What is left of an open point: those of its clauses that none of the statements answers, empty where all are
    answered. A point is cut only where each clause is a question that is understood without the others.

    A clause is answered by a statement that has all its words, says more than these, and gives a number where one is
    asked for.
    """
    language = language_of(point)
    asked = clauses(point, language)
    left = [clause for clause in asked if not _is_answered(clause, language, told)]
    if not left:
        return "" if asked else point
    leads = left[0] == asked[0]
    if left == asked or not all(_stands_alone(clause, language, leads=leads) for clause in left):
        return point
    return _sentence(left, point)


def is_answered(limit: str, told: Sequence[Told], titles: Sequence[str]) -> bool:
    """Whether statements answer all that a limit says was not found. The title of a source in it says where that was
    not found, and asks for nothing."""
    named = _titles(tuple(titles))
    return not left_open(named.sub("", without_place(limit, titles)) if named else limit, told)


def without_place(limit: str, titles: Sequence[str]) -> str:
    """The limit without the clause behind its last semicolon, if that says by its title in which of the sources read
    the answer would stand."""
    named = _titles(tuple(titles), least_words=1)
    said, _, place = limit.rpartition(_ASIDE)
    if not (said and named and named.search(place)):
        return limit
    mark = _LAST_MARK.search(limit)
    return f"{said}{mark[0] if mark else ''}"


def asked_again(points: Sequence[str], told: Sequence[str] = (), titles: Sequence[str] = ()) -> set[int]:
    """The places of the points that ask the same as what is `told`, or as another one of them: of several that ask the
    same the one that asks most words stays. A title says where something was not found."""
    named = _titles(tuple(titles))
    texts = [named.sub(" ", text) if named else text for text in (*told, *points)]
    language = language_of("\n".join(texts))  # of a short one it is often guessed wrong
    asked = [_Asked.of(text, written_in(text, language)) for text in texts]
    counts = Counter(word for one in asked for word in one.words)
    rarity = {word: inverse_frequency(len(asked), count) for word, count in counts.items()}
    before, rest = asked[: len(told)], asked[len(told) :]
    kept: list[_Asked] = []
    again = set[int]()
    for place in sorted(range(len(rest)), key=lambda place: -len(rest[place].words)):
        said = any(rest[place].is_same(other, rarity, is_told=True) for other in before)
        if said or any(rest[place].is_same(other, rarity) for other in kept):
            again.add(place)
        else:
            kept.append(rest[place])
    return again


@dataclass(frozen=True)
class _Asked:
    """What a point asks, as far as its first semicolon: its words, all terms, with the `parts` of its names, the terms
    of names as of settings, and of what it writes with a capital too, its numbers, and whether it asks what holds by
    default, however it says so."""

    words: frozenset[str]
    terms: frozenset[str]
    names: frozenset[str]
    subjects: frozenset[str]
    numbers: tuple[str, ...]
    parts: Mapping[str, frozenset[str]]
    is_of_default: bool

    @classmethod
    def of(cls, text: str, language: str) -> _Asked:
        said = text.split(_ASIDE)[0]
        point = without_default(said, language)
        asked = asked_words(point, language)
        named, subjects = (
            [frozenset(terms(name, language)) for name in found] for found in (names_in(point), parse(point).names)
        )
        own = asked & whole_word_weights(point, language).keys()
        names = frozenset().union(*named)
        parts = {whole: found - own for found in named for whole in found & own if found - own}
        return cls(own, asked, names, names.union(*subjects) & asked, numbers_in(point), parts, point != said)

    def is_same(self, other: _Asked, rarity: Mapping[str, float], *, is_told: bool = False) -> bool:
        """Whether both ask the same, a word counted by its rarity alone: what a point asks of a rare thing, such as
        what it costs, is often said with common words. What is told as not found says nothing of what a point asks
        beyond it."""
        if self.is_of_default != other.is_of_default:
            return False
        if self.numbers and other.numbers and self.numbers != other.numbers:
            return False
        if not (self.subjects <= other.terms or other.subjects <= self.terms):
            return False
        less, more = sorted((self, other), key=lambda one: sum(map(rarity.__getitem__, one.words)))
        if len(less.words) < _FEWEST:
            return less.terms == more.terms
        of_less, of_more = ({word: rarity[word] for word in one.words} for one in (less, more))
        terms_of_more = more.terms | {name for name, parts in less.parts.items() if parts <= more.terms}
        shared = held_share(of_less, terms_of_more)
        alike = shared * math.sqrt(sum(of_less.values()) / sum(of_more.values()))
        beside = {word: held for word, held in of_less.items() if word not in less.names}
        is_held = shared >= _HELD and not (is_told and more is self)
        return (is_held or alike >= _ALIKE) and (not beside or held_share(beside, terms_of_more) >= _HELD_BESIDE_NAMES)


def is_rest_of(rest: str, point: str) -> bool:
    """Whether a text asks for less than an open point and two of its words, if it has so many, are the point's, so that
    it is no other question; what is left may be asked in words that are new for the most part."""
    language = language_of(point)
    asked, left = asked_words(point, language), asked_words(rest, language)
    return not asked <= left and len(left & asked) >= min(_FEWEST, len(left)) > 0


def single_questions(point: str) -> list[str]:
    """An open point as one question each, if it asks several that are understood by themselves. A clause that is not,
    such as "and what each costs", stays with the first one, as does one that names nothing where the first does."""
    language = language_of(point)
    first, *others = clauses(point, language) or [point]
    alone = [
        clause
        for clause in others
        if _stands_alone(clause, language, leads=False) and (_names_something(clause) or not _names_something(first))
    ]
    if not alone:
        return [point]
    with_first = [first, *(clause for clause in others if clause not in alone)]
    return [_sentence(with_first, point), *(_sentence([clause], point) for clause in alone)]


def asked_words(text: str, language: str) -> frozenset[str]:
    """The terms of what a text asks or says to be missing, without the words with which it asks and says so."""
    aside = STOP_WORDS | _SEARCHED.get(language, frozenset())
    asked = asked_only(without_amount(text, language), language)
    found = ((word, asked[word.start : word.end].lower()) for word in words(asked, language))
    return frozenset(word.term for word, written in found if word.weight > 0.0 and written not in aside)


@lru_cache(maxsize=_MOST_KEPT)
def _titles(titles: tuple[str, ...], *, least_words: int = 2) -> re.Pattern[str] | None:
    """Titles as whole words, also between Chinese signs, with their chapter's number or not; in their own case, since
    an event loop is asked for and "Event Loop" is a page. One of fewer words may be the name of what is asked about."""
    bare = {re.sub(rf"^{_CHAPTER}", "", title.strip()) for title in titles}
    bare = {title for title in bare if len(title.split()) >= least_words}
    any_title = "|".join(map(re.escape, sorted(bare, key=len, reverse=True)))
    return re.compile(rf"(?:\b{_CHAPTER})?(?<!\w)(?:{any_title})(?!\w)", re.ASCII) if bare else None


def _sentence(parts: Sequence[str], point: str) -> str:
    """Clauses of a point as a sentence that ends like it."""
    mark = _LAST_MARK.search(point)
    return f"{parts[0][0].upper()}{', '.join(parts)[1:]}{mark[0] if mark else ''}"


def _stands_alone(clause: str, language: str, *, leads: bool) -> bool:
    """Whether a clause is a question that is understood without those that are cut; where the first one `leads` those
    that are left, a pronoun means what it names."""
    if not is_question_word(clause.split()[0], language):
        return False
    return leads or (len(asked_words(clause, language)) >= _FEWEST and not points_back(clause, language))


def _names_something(clause: str) -> bool:
    return bool(names_in(clause) or parse(clause).names)


def _is_answered(clause: str, language: str, told: Sequence[Told]) -> bool:
    asked = asked_words(with_bare_default(clause, language), language)
    holding = [
        row for row in told if len(asked) >= (_FEWEST if row.under else _FEWEST_OF_A_SENTENCE) and asked <= row.terms
    ]
    if asked_kind(clause, language) in ("number", "money"):
        return any(figures(row.text) for row in holding)
    return not asks_otherwise(clause, language) and any(not row.own <= asked for row in holding)
