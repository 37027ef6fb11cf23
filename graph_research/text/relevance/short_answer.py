"""Which of the best quotations make a short answer: together they hold much of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graph_research.text.language.quantities import values
from graph_research.text.language.words import held_share, read_sentence, words, written_in
from graph_research.text.relevance.query import Query
from graph_research.text.relevance.units import LABELLED, UnitKind, asks
from graph_research.text.sentences import SENTENCE_ENDS

_YES_NO_WORDS = 40
_MOST_WORDS = 80
_MOST = 3
_OF_NUMBERS, _LEAST_SHARE = 1.5, 0.05
"""What a candidate loses of its score for the share of its words with a digit, where a question asks for yes or no, and
what it keeps at least. Chosen on the tuning half of PubMedQA."""

_FILLING = 0.1
"""Of the weight of a question's rarest word; a word of so little, such as "does", is none that it asks for."""
_SAID = 1.5  # what words weigh that are no mere filling: a rare one, or several common ones
_ALL_BUT_THE_LABEL = 0.9  # of the question's weight, for a value whose label is what is asked for


@dataclass(frozen=True, slots=True)
class Candidate:
    """A quotation that may answer, with its score for what is asked. `above` is what names a row: the header of its
    table, the heading above that, and the title."""

    text: str
    score: float
    kind: UnitKind = field(default="sentence", kw_only=True)
    above: str = field(default="", kw_only=True)


def chosen(query: Query, candidates: Sequence[Candidate]) -> list[int]:
    """Positions of the candidates that make the answer: the best, then up to two more that hold a word of the question
    and fit, each the best by its score times the weight of what it holds of the question and those before do not. Where
    a date or a number is asked for, those that hold one come first, and of numbers of things those that count what is
    asked for.

    A question for yes or no gets 40 words, another one 80; since it is answered by a statement, a sentence counts less
    for it the more of its words are numbers. What states nothing is left out; where nothing else is there, the best
    stands alone. Beside a row of a table stand others of that table that hold what it holds of the question, and what
    holds something of the question that the row and what names it do not.
    """
    scores = [_score(query, candidate) for candidate in candidates]
    ordered = sorted(range(len(candidates)), key=lambda place: -scores[place])
    stating = [p for p in ordered if scores[p] > 0.0 and states_something(query, candidates[p])]
    picked = (stating or ordered)[:1]
    held = {place: _held(query, candidates[place].text, _language(query, candidates[place])) for place in stating}
    left = [place for place in stating[1:] if held[place]]
    if any(_holds_asked_kind(query, candidates[place]) for place in picked):
        left = [place for place in left if held[place].keys() - query.value_terms]
    for row in [candidates[place] for place in picked if candidates[place].kind == "row"]:
        language = _language(query, row)
        own, named = (_held(query, text, language).keys() for text in (row.text, f"{row.text} {row.above}"))
        left = [
            p
            for p in left
            if not held[p].keys() <= named or (candidates[p].above == row.above and held[p].keys() >= own)
        ]
    room = _YES_NO_WORDS if query.is_yes_no else _MOST_WORDS
    while left and len(picked) < _MOST:
        said = {term for place in picked for term in held[place]}
        gains = [scores[p] * sum(w for term, w in held[p].items() if term not in said) for p in left]
        best = left.pop(gains.index(max(gains)))
        if sum(len(words(candidates[place].text, query.language)) for place in (*picked, best)) <= room:
            picked.append(best)
    if not query.asked_kind:
        return picked
    return sorted(picked, key=lambda place: -_fit(query, candidates[place]))


def _holds_asked_kind(query: Query, candidate: Candidate) -> bool:
    """Whether it holds a value of the kind that is asked for; what the figures of a row are says its header."""
    if candidate.kind == "row":
        return any(map(str.isdigit, candidate.text))
    language, written = read_sentence(candidate.text)
    return query.holds_asked_kind(candidate.text, {word.term for word in written}, language)


def _fit(query: Query, candidate: Candidate) -> int:
    """2 for a value of the kind that is asked for, 1 where it is a number of other things, 0 without one."""
    is_counted_otherwise = candidate.kind != "row" and query.counts_other_things(
        candidate.text, read_sentence(candidate.text)[0]
    )
    return 2 - is_counted_otherwise if _holds_asked_kind(query, candidate) else 0


def _score(query: Query, candidate: Candidate) -> float:
    if not query.is_yes_no:
        return candidate.score
    written = candidate.text.split()
    numbers = sum(any(map(str.isdigit, word)) for word in written)
    return candidate.score * max(_LEAST_SHARE, 1.0 - _OF_NUMBERS * numbers / max(1, len(written)))


def _language(query: Query, candidate: Candidate) -> str:
    """The language to read it in; of a row, whose few words tell little, the question's unless they tell another."""
    is_row = candidate.kind == "row"
    return written_in(candidate.text, query.language) if is_row else read_sentence(candidate.text)[0]


def _held(query: Query, text: str, language: str) -> dict[str, float]:
    """The terms that the question asks for and a text holds, with their weights."""
    asked = query.weights(language)
    least = _FILLING * max(asked.values(), default=0.0)
    return {word.term: asked[word.term] for word in words(text, language) if asked.get(word.term, 0.0) > least}


def states_something(query: Query, candidate: Candidate) -> bool:
    """Whether a text can answer: no heading, code or question, no labelled value (`From: Jo Ames`) whose label has no
    word of the question, unless the label says something and the value has all of these (who finds a caterer? `Jo
    Ames: find a caterer`), and nothing that only repeats the question: it has a value more, or further words that say
    something together. A sentence that repeats a question for yes or no answers it."""
    if candidate.kind in ("heading", "line") or asks(candidate.text):
        return False
    language, written = read_sentence(candidate.text)
    asked = query.weights(language)
    labelled = LABELLED.match(candidate.text)
    label = words(labelled[1], language) if labelled else []
    if labelled and not any(word.term in asked for word in label):
        is_asked_for = held_share(asked, {word.term for word in written}) >= _ALL_BUT_THE_LABEL
        if not is_asked_for or sum(word.weight for word in label) < _SAID:
            return False
    further = [word for word in written if word.term not in asked]
    is_sentence = candidate.text.endswith(SENTENCE_ENDS)
    if query.is_yes_no and is_sentence and query.is_repeated_by({word.term for word in written}, language):
        return True
    return sum(word.weight for word in further) >= _SAID or any(
        value.start <= word.start < value.end for value in values(candidate.text) for word in further
    )
