"""Open points of a research, such as a question left open or what a reader did not find: what statements answer them.

Only what words alone show: an open point that is wrongly called answered misleads more than one that is listed although
a reader finds its answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from graph_research.text.language.quantities import figures
from graph_research.text.language.questions import (
    asked_kind,
    asked_only,
    asks_otherwise,
    clauses,
    is_question_word,
    points_back,
    without_amount,
)
from graph_research.text.language.tables import listed
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.language.words import language_of, words
from graph_research.text.relevance.entries import names_in
from graph_research.text.relevance.query import parse

_FEWEST, _FEWEST_OF_A_SENTENCE = 2, 3
"""Words that a point asks for, at least, the parts of a setting's name counted, where a cell and where a sentence is to
answer it: one alone does not say what is asked of it, and a sentence that holds two may be about something else."""
_SEARCHED = {language: frozenset(found) for language, found in listed("searched").items()}
_LAST_MARK = re.compile(r"\W*\Z")


@dataclass(frozen=True)
class Told:
    """A statement of a text, a cell with what it stands `under`, its row's label and its column's heading, and the
    `heading` of its section, whose names tell of which thing the statement is. What else a heading has says what its
    section is about, which no statement of it needs to tell."""

    text: str
    under: str = ""
    heading: str = ""

    @cached_property
    def terms(self) -> frozenset[str]:
        return self.said | self._terms_of(" ".join(parse(self.heading).names))

    @cached_property
    def said(self) -> frozenset[str]:
        return self.own | self._terms_of(self.under)

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


def is_answered(limit: str, told: Sequence[Told], titles: Iterable[str]) -> bool:
    """Whether statements answer all that a limit says was not found. The title of a source in it says where that was
    not found, and asks for nothing; one of a single word may be the name of the thing that is asked about."""
    for title in sorted((title for title in titles if len(title.split()) > 1), key=len, reverse=True):
        limit = limit.replace(title, "")
    return not left_open(limit, told)


def is_rest_of(rest: str, point: str) -> bool:
    """Whether a text asks for less than an open point and most of its words are the point's, so that it is no other
    question."""
    language = language_of(point)
    asked, left = asked_words(point, language), asked_words(rest, language)
    return not asked <= left and len(left & asked) > len(left) / 2


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
    asked = asked_words(clause, language)
    holding = [
        row
        for row in told
        if asked <= row.terms and len(asked & row.said) >= (_FEWEST if row.under else _FEWEST_OF_A_SENTENCE)
    ]
    if asked_kind(clause, language) == "number":
        return any(figures(row.text) for row in holding)
    return not asks_otherwise(clause, language) and any(not row.own <= asked for row in holding)
