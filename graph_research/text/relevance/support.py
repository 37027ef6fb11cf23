"""Support: how far a claim's words follow from the text that it cites, as one calibrated score with its reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import pairwise

from graph_research.text.language.opposites import (
    CAPITALISED_NOUNS,
    NEGATIONS,
    QUANTIFIERS,
    TURNING,
    opposites,
)
from graph_research.text.language.quantities import Value, figures, states
from graph_research.text.language.stated import unstated
from graph_research.text.language.words import (
    MOST_WEIGHT,
    held_share,
    held_weight,
    language_of,
    weights_of,
    words,
)
from graph_research.text.relevance.exchange import Clause, clauses, exchanged
from graph_research.text.sentences import sentence_spans

SUPPORTED = 0.5
"""At this score and above the words of the claim follow from the quotes."""
UNSUPPORTED = 0.15
"""Below this score its words do not. Of the claims that people call supported by judged sentences (of scientists, of an
encyclopedia) 15 % are below; a third to a half are between it and 0.5, since they say it in other words."""

COEFFICIENTS: Mapping[str, float] = {
    "constant": -1.203,
    "coverage": 2.448,
    "nearness": 0.723,
    "names": -0.214,
    "figures": -2.24,
    "denied": -3.073,
    "opposed": -4.027,
    "quantifier": -1.18,
    "order": -5.285,
    "misplaced": -4.415,
}
"""The logistic regression over `Support.features`, fitted by `benchmarks/fit_evidence.py`."""

_LEAST_LOGIT = -50.0
_SENTENCES = 3  # that together may cover a claim
_AROUND_CLAIMED = 4  # words before and after a figure
_NEAR = 4  # words between two words of a pair
_LONGEST_REVERSAL = 14
_SAME = 0.6  # of a claim's words are in a sentence that says the same
_NAME_WEIGHT = 0.5


class Lack(StrEnum):
    """What a claim has and its quotes have not, or have otherwise."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    WORD = "word"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    QUANTIFIER = "quantifier"
    ORDER = "order"


DEFINITE = (Lack.NUMBER, Lack.DATE, Lack.NEGATION, Lack.OPPOSITE, Lack.ORDER)
"""What refutes a claim that is not `SUPPORTED`; the other kinds are matters of wording as often."""
MISSING = (Lack.NUMBER, Lack.DATE, Lack.NAME, Lack.WORD)
"""What the quotes have not; the other kinds they have otherwise."""


@dataclass(frozen=True)
class Support:
    """`score` is the probability that people call the claim supported; `lacks` are the kinds and words that lower it.

    `features`: `coverage` of the claim's words by weight, by its three best sentences; `nearness`, the pairs
    of neighbouring words of the claim that are near each other in a quote; `names`, the weight of the missing ones;
    `figures`, 1 where a number or a date is missing; `denied`, `opposed`, `quantifier` and `order`, 0 to 1, for what
    the quotes have the other way round; `misplaced`, 0 to 1, for a figure that the quotes give something else.
    """

    score: float
    features: Mapping[str, float]
    lacks: tuple[tuple[Lack, str], ...]


def support(claim: str, quotes: Sequence[str]) -> Support:
    """How far `claim` follows from `quotes`, whose language is told from the texts.

    Words, names and numbers are compared in every language; negations in the languages of `NEGATIONS`; quantifiers
    and comparisons in English.
    """
    language = language_of("\n".join((claim, *quotes)))
    features, lacks = _Comparison(claim, quotes, language).result()
    logit = COEFFICIENTS["constant"] + sum(COEFFICIENTS[name] * value for name, value in features.items())
    return Support(
        score=1 / (1 + math.exp(-max(logit, _LEAST_LOGIT))), features=features, lacks=tuple(dict.fromkeys(lacks))
    )


Context = dict[str, float]
"""The terms around a word, with their weights."""


class _Text:
    """A claim or a sentence of a quote."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.words = words(text, language)
        self.written = [text[word.start : word.end] for word in self.words]
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self.places.setdefault(word.term, []).append(place)

    def around(self, place: int, before: int, after: int) -> Context:
        """The nearest words with a weight, `before` and `after` the word at `place`."""
        context: Context = {}
        for step, wanted in ((1, after), (-1, before)):
            at = place + step
            while 0 <= at < len(self.words) and wanted:
                if self.words[at].weight > 0.0:
                    context.setdefault(self.words[at].term, self.words[at].weight)
                    wanted -= 1
                at += step
        return context

    @cached_property
    def turning(self) -> set[str]:
        """Its words such as "by": with one of them two names may change places, and the sentence means the same."""
        return {written.lower() for written in self.written} & TURNING.get(self.language, frozenset())

    @cached_property
    def clauses(self) -> list[Clause]:
        """Its clauses with their values, empty where it has none."""
        return clauses(self.text, self.words, self.language)

    @cached_property
    def figures(self) -> list[tuple[Value, Context]]:
        """Each figure with the words nearest to it that are no figures."""
        return [(figure, self._beside(figure, _AROUND_CLAIMED)) for figure in self._figures]

    @cached_property
    def surroundings(self) -> list[tuple[Value, Context]]:
        """The same with more of the words, for a sentence that may say it in more of them."""
        return [(figure, self._beside(figure, 2 * _AROUND_CLAIMED)) for figure in self._figures]

    @cached_property
    def _figures(self) -> list[Value]:
        return figures(self.text)

    def _beside(self, figure: Value, most: int) -> Context:
        said = [
            word
            for word in self.words
            if word.weight > 0.0 and not any(one.start <= word.start < one.end for one in self._figures)
        ]
        before = [word for word in said if word.end <= figure.start][-most:]
        after = [word for word in said if word.start >= figure.end][:most]
        return {word.term: word.weight for word in (*before, *after)}

    @cached_property
    def negations(self) -> list[tuple[str, Context]]:
        """Each word that denies, with what it denies."""
        listed = NEGATIONS.get(self.language, frozenset())
        first = 1 if self.language == "zh" else None
        return [
            (written, self.around(at, 1, 3))
            for at, written in enumerate(self.written)
            if written.lower()[:first] in listed
        ]

    @cached_property
    def quantifiers(self) -> list[tuple[str, int, Context]]:
        """Each quantifier with its class."""
        classes = QUANTIFIERS if self.language == "en" else {}
        return [
            (written, classes[written.lower()], self.around(at, 1, 3))
            for at, written in enumerate(self.written)
            if written.lower() in classes
        ]

    @cached_property
    def sides(self) -> list[tuple[str, int, bool, Context]]:
        """Each word that has an opposite, the number of their pair, which of the two it is, and the terms around it."""
        known = opposites() if self.language == "en" else {}
        return [
            (written, pair, side, self.around(at, 3, 3))
            for at, written in enumerate(self.written)
            for pair, side in sorted(known.get(self.words[at].term, ()))
        ]


_sentence = lru_cache(maxsize=1024)(_Text)  # several claims often cite the same quotes


class _Comparison:
    """A claim beside the sentences of its quotes."""

    def __init__(self, claim: str, quotes: Sequence[str], language: str) -> None:
        self.claim = _Text(claim, language)
        self.quotes = quotes
        self.sentences = [
            _sentence(quote[start:end], language)
            for quote in quotes
            for start, end in sentence_spans(quote, language=language)
        ]
        self.lacks: list[tuple[Lack, str]] = []
        self.missing_figures = unstated(claim, quotes)
        lacking = {(figure.start, figure.end) for figure in self.missing_figures}
        spans = [span for figure in figures(claim) if (span := (figure.start, figure.end)) not in lacking]
        literal = {term for sentence in self.sentences for term in sentence.places}
        self.content = [
            word
            for word in self.claim.words
            if word.weight > 0.0
            and (word.term in literal or not any(start <= word.start < end for start, end in spans))
        ]
        self.weights = weights_of(self.content)
        self.own = [held_share(self.weights, sentence.places) for sentence in self.sentences]

    def result(self) -> tuple[dict[str, float], list[tuple[Lack, str]]]:
        self.best, missing = self._best_sentences()
        features = {
            "figures": self._missing_figures(),
            "coverage": 1.0 - held_share(self.weights, missing),
            "nearness": self._nearness(),
            "names": self._missing_names(missing),
            "denied": max(self._denied_by_claim(), self._denied_by_quotes()),
            "opposed": self._opposed(),
            "quantifier": self._quantifier(),
            "order": max(self._order(), self._exchanged()),
            "misplaced": self._misplaced(),
        }
        return features, self.lacks

    def _best_sentences(self) -> tuple[list[int], Context]:
        """Up to three sentences that cover most of the claim, and what they leave."""
        left, best = dict(self.weights), list[int]()
        for _ in range(min(_SENTENCES, len(self.sentences))):
            gains = [held_share(left, sentence.places) for sentence in self.sentences]
            number = max(range(len(gains)), key=lambda number: (gains[number], self.own[number], -number))
            if not gains[number]:
                break
            best.append(number)
            left = {term: value for term, value in left.items() if term not in self.sentences[number].places}
        return best, left

    def _nearness(self) -> float:
        pairs = [(a.term, b.term, min(a.weight, b.weight)) for a, b in pairwise(self.content)]
        near = sum(weight for a, b, weight in pairs if any(_are_near(a, b, sentence) for sentence in self.sentences))
        return near / sum(weight for *_, weight in pairs) if pairs else 1.0

    def _missing_names(self, missing: Context) -> float:
        names = self._names
        written = {term: self.claim.written[places[0]] for term, places in self.claim.places.items()}
        listed = sorted((term for term in missing if not written[term][0].isdigit()), key=lambda term: -missing[term])
        self.lacks += [(Lack.NAME, written[term]) for term in listed if term in names]
        self.lacks += [(Lack.WORD, written[term]) for term in listed if term not in names]
        return held_weight(missing, names)

    @cached_property
    def _names(self) -> set[str]:
        """Terms of words with a capital letter, of the rarest in a language whose nouns have one."""
        least = MOST_WEIGHT if self.claim.language in CAPITALISED_NOUNS else _NAME_WEIGHT
        words_ = self.claim.words
        return {word.term for word in words_ if word.weight >= least and self.claim.text[word.start].isupper()}

    def _missing_figures(self) -> float:
        text = self.claim.text
        lacks = [
            (Lack.DATE if figure.date and figure.date.month else Lack.NUMBER, text[figure.start : figure.end])
            for figure in self.missing_figures
        ]
        self.lacks += lacks
        return 1.0 if lacks else 0.0

    def _denied_by_claim(self) -> float:
        """How much of what the claim denies stands in the best sentences, while no sentence denies it."""
        most = 0.0
        for written, context in self.claim.negations:
            stated = max((held_share(context, self.sentences[number].places) for number in self.best), default=0.0)
            negations = (theirs for sentence in self.sentences for _, theirs in sentence.negations)
            denied = max((held_share(context, theirs) for theirs in negations), default=0.0)
            if denied < 1 / 3 and stated > denied:
                self.lacks.append((Lack.NEGATION, written))
                most = max(most, stated - denied)
        return most

    def _denied_by_quotes(self) -> float:
        """How much of what a best sentence denies stands in the claim, while neither the claim denies it nor another
        sentence states it; the more of the claim the sentence covers, the more it counts."""
        most = 0.0
        for number in self.best:
            for written, context in self.sentences[number].negations:
                mine = {term: value for term, value in context.items() if term in self.claim.places}
                if held_share(context, mine) < 0.5 or any(held_share(context, own) for _, own in self.claim.negations):
                    continue
                if all(held_share(mine, self.sentences[other].places) < 0.5 for other in self.best if other != number):
                    self.lacks.append((Lack.NEGATION, written))
                    most = max(most, held_share(context, mine) * self.own[number] ** 2)
        return most

    def _opposed(self) -> float:
        """Where the quotes have the opposite of a word of the claim in a place more like the claim's than its own."""
        most = 0.0
        for written, pair, side, context in self.claim.sides:
            likeness = {side: 0.0, not side: 0.0}
            for number in self.best:
                for _, other_pair, other_side, theirs in self.sentences[number].sides:
                    if other_pair == pair:
                        likeness[other_side] = max(likeness[other_side], 0.001 + held_share(context, theirs))
            if likeness[not side] > likeness[side]:
                self.lacks.append((Lack.OPPOSITE, written))
                most = max(most, likeness[not side])
        return most

    def _quantifier(self) -> float:
        """1 where no best sentence has a quantifier of the claim, of the same class and for the same words."""
        theirs = [found for number in self.best for found in self.sentences[number].quantifiers]
        lacks = [
            (Lack.QUANTIFIER, written)
            for written, kind, context in self.claim.quantifiers
            if not any(kind == other and (not context or held_share(context, around)) for _, other, around in theirs)
        ]
        self.lacks += lacks
        return 1.0 if lacks else 0.0

    def _order(self) -> float:
        """Above 0 where a best sentence has two names of the claim the other way round, with the same word between
        them and the same words such as "by"; the more of the claim the sentence covers, the more."""
        most, written = 0.0, ""
        once = {term: places[0] for term, places in self.claim.places.items() if len(places) == 1}
        for number in self.best[:2]:
            sentence = self.sentences[number]
            shared = [
                (place, sentence.places[term][0], term in self._names)
                for term, place in once.items()
                if self.claim.words[place].weight > 0.0 and len(sentence.places.get(term, ())) == 1
            ]
            middle = _reversal(shared) if sentence.turning == self.claim.turning else None
            if middle is not None and self.own[number] >= max(_SAME, most):
                most, written = self.own[number], self.claim.written[middle]
        if written:
            self.lacks.append((Lack.ORDER, written))
        return most**4

    def _misplaced(self) -> float:
        """Where a quote has a figure of the claim, and what stands around it in the claim stands in a best sentence
        around another figure of its kind; the more of the claim that sentence covers, the more it counts. A figure with
        no words beside it, such as the date of a page, belongs to nothing else."""
        most = 0.0
        missing = {(figure.start, figure.end) for figure in self.missing_figures}
        for figure, context in self.claim.figures:
            if (figure.start, figure.end) in missing:
                continue
            own = other = 0.0
            for number, sentence in enumerate(self.sentences):
                said = sentence.surroundings
                if same := [
                    held_share(context, near) if near else 1.0 for value, near in said if states(value, figure)
                ]:
                    own = max(own, *same)
                elif number in self.best:
                    alike = (held_share(context, near) for value, near in said if self._may_replace(value, figure))
                    other = max(other, self.own[number] * max(alike, default=0.0))
            if own < 1 / 3 and other > own:
                self.lacks.append((Lack.ORDER, self.claim.text[figure.start : figure.end]))
                most = max(most, other - own)
        return most

    def _may_replace(self, value: Value, figure: Value) -> bool:
        """Whether a value of the quotes is of the figure's kind and unit, and none of the claim's."""
        is_alike = value.kind == figure.kind and value.unit == figure.unit
        return is_alike and not any(states(value, mine) for mine, _ in self.claim.figures)

    def _exchanged(self) -> float:
        """1 where values of the claim have changed places with each other in the best sentences."""
        theirs = [clause for number in sorted(self.best) for clause in self.sentences[number].clauses]
        for value in exchanged(self.claim.clauses, theirs):
            self.lacks.append((Lack.ORDER, self.claim.text[value.start : value.end]))
            return 1.0
        return 0.0


def _are_near(a: str, b: str, sentence: _Text) -> bool:
    theirs = sentence.places.get(b, ())
    return any(abs(i - j) <= _NEAR for i in sentence.places.get(a, ()) for j in theirs)


def _reversal(shared: Sequence[tuple[int, int, bool]]) -> int | None:
    """The place in the claim of the middle one of three words that stand in reverse order in a sentence, the outer two
    names; None where there are none such. Each of `shared` is a place in the claim, in ascending order, the place in
    the sentence, and whether the word is a name."""
    names = [(place, there) for place, there, is_name in shared if is_name]
    for middle, there, _ in shared:
        near = [(place, other) for place, other in names if abs(place - middle) < _LONGEST_REVERSAL]
        before = [(place, other) for place, other in near if place < middle and there < other]
        after = [(place, other) for place, other in near if middle < place and other < there]
        if any(c - a <= _LONGEST_REVERSAL and b - d <= _LONGEST_REVERSAL for a, b in before for c, d in after):
            return middle
    return None
