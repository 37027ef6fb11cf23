"""A question as what ranking and judging need of it: weighted terms, names, parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import log, sqrt

from graph_research.text.language.quantities import Value, figures, values
from graph_research.text.language.questions import (
    asked_kind,
    asked_only,
    asked_things,
    chinese_topic,
    clauses,
    counted_words,
    is_question_word,
    is_yes_no,
    listed,
    price_asked,
)
from graph_research.text.language.superlatives import price_terms
from graph_research.text.language.tables import any_of
from graph_research.text.language.tags import question_language
from graph_research.text.language.words import (
    Word,
    held_share,
    language_counts,
    language_of,
    stem,
    terms,
    weight,
    words,
)

_MOST_CHARS = 4_000
MOST_PARTS = 8
SUBJECT_SHARE = 0.3  # of its weight, for a word that a part has only from the question's subject
_MOST_AFTER_NAME = 2
_MOST_COUNTED = 3
"""Words behind a number, or behind "how many", of which one is what is counted."""
SPECIFIC = 1.5
"""The weight of a word that a reader would miss, such as `sharks`."""
ALL_COMMON = 0.1
"""The weight of each word of a question that has common words only."""
RARE = 1.0  # a capital letter makes a word of at least this weight a name, wherever it stands
_MOST_OF_IT = 0.5
_TOPIC_END = re.compile(": |：")
_NAME = re.compile(
    r"(?:\d{1,2}\s(?=[A-Z]))?(?:[A-Z]\.\s?)*(?:[A-Z]|\d+[A-Za-z]|[a-z]+[A-Z_]|\w+[._]\w)[\w.'’/-]*"
    rf"(?:\s(?:(?:&|{any_of('within_names')})\s){{0,2}}(?:[A-Z][\w.'’/-]*|\d[\w.]*))*"
)


@dataclass(frozen=True)
class Query:
    """A question, or a part of one: `own` is the part's text, `text` that with the names that the part leaves out,
    `whole` the question, empty for one of several things that it lists."""

    text: str
    own: str
    language: str
    whole: str = ""

    def weights(self, language: str) -> dict[str, float]:
        """The query's terms for texts in `language`, with the weight that its own language gives them."""
        return _weights(self, language)

    @cached_property
    def own_terms(self) -> frozenset[str]:
        """The terms of the part itself, in the question's language; all of them where it is the whole question."""
        return frozenset(word.term for word in self.own_words if word.weight > 0.0)

    @property
    def is_specific(self) -> bool:
        """Whether the part itself has a word that a reader would miss, such as `sharks`."""
        return any(word.weight >= SPECIFIC for word in self.own_words)

    @property
    def in_context(self) -> Query:
        """The part with all words of the question that it is about."""
        return Query(self.whole or self.text, self.own, self.language)

    @property
    def alone(self) -> Query:
        """The part without the rest of the question."""
        return replace(self, whole="")

    @property
    def own_words(self) -> list[Word]:
        """The words of the part itself, at their places in it."""
        return words(asked_only(self.own, self.language), self.language)

    @cached_property
    def value_terms(self) -> frozenset[str]:
        """The terms with which it asks for an amount of money, such as "cost": where one is told, they are."""
        asking = price_asked(self.own, self.language)
        return price_terms(self.language).intersection(terms(asking, self.language)) if asking else frozenset()

    def weights_beside_value(self, language: str) -> dict[str, float]:
        """The weights without those of `value_terms`, unless it has no others."""
        weights = self.weights(language)
        return {term: weight for term, weight in weights.items() if term not in self.value_terms} or weights

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, identifiers, titles and dates in order, whole and as written."""
        return tuple(dict.fromkeys(_names(self.text, self.language)))

    @cached_property
    def parts(self) -> tuple[Query, ...]:
        """What is asked, one thing each, eight at most, in order; the question itself where it asks one thing."""
        _, rest = _parted_topic(self.own)
        if _says(rest, self.language) and not is_yes_no(rest, self.language):
            return self.things
        return self._parted(asked_things(self.own, self.language), self.text)[:MOST_PARTS]

    @cached_property
    def things(self) -> tuple[Query, ...]:
        """What the text lists, one thing each, eight at most, whether it asks or not; behind a colon, where there is
        one."""
        _, rest = _parted_topic(self.own)
        listing = rest if _says(rest, self.language) else self.own
        pieces = [piece for clause in clauses(listing, self.language) for piece in _things(clause, self.language)]
        return self._parted(pieces, "")[:MOST_PARTS]

    def _parted(self, pieces: Sequence[str], whole: str) -> tuple[Query, ...]:
        kept = [piece for piece in dict.fromkeys(pieces) if _says(piece, self.language)]
        if len(kept) < 2:
            return (self,)
        lead, rest = _parted_topic(self.own)
        named = lead if rest and words(lead, self.language) else kept[0]
        subject = self.subject or chinese_topic(named, self.language) or _rarest(named, self.language)
        return tuple(Query(self._with(subject, piece), piece, self.language, whole) for piece in kept)

    @cached_property
    def subject(self) -> str:
        """The first name with the words that follow it directly ("Marrow Bay tidal lagoon"), "" without a name."""
        if not self.names:
            return ""
        start = self.text.find(self.names[0])
        end = start + len(self.names[0])
        after = [word for word in words(self.text, self.language) if word.start >= end][:_MOST_AFTER_NAME]
        for word in after:
            if self.text[end : word.start] != " " or word.weight < RARE:
                break
            end = word.end
        return self.text[start:end]

    @cached_property
    def phrase(self) -> str:
        """The first two of the content words that stand together around the rarest one of its first part ("heat
        pumps"), that word alone where none stands beside it, "" without any."""
        text = self.parts[0].own
        told = [word for word in words(text, self.language) if word.weight > 0.0]
        if not told:
            return ""
        first = told.index(max(told, key=lambda word: word.weight))
        while first > 0 and text[told[first - 1].end : told[first].start] == " ":
            first -= 1
        beside = [word for word in told[first + 1 : first + 2] if text[told[first].end : word.start] == " "]
        return text[told[first].start : (beside or told[first:])[0].end]

    def _with(self, subject: str, piece: str) -> str:
        """A part that names nothing, with the subject of the question."""
        named = subject.casefold() in piece.casefold() or _names(piece, self.language)
        return piece if named else f"{subject} {piece}"

    @cached_property
    def asked_kind(self) -> str:
        """The kind of value that it begins by asking for, empty for none."""
        return asked_kind(self.own, self.language)

    @cached_property
    def _asked_unit(self) -> str | None:
        """The unit of what it asks the number of, empty for a number of things, None where it asks for no number so."""
        counted = counted_words(self.own, self.language)
        return next((figure.unit for figure in figures(f"2{counted}")), None) if counted else None

    def asks_for(self, value: Value) -> bool:
        """Whether a value is of the kind and unit that it begins by asking for; a share tells how many things, too."""
        if self.asked_kind == "money":
            return value.unit.startswith("money")
        of_things = "" if value.unit == "percent" else value.unit
        return value.kind == self.asked_kind and self._asked_unit in (None, value.unit, of_things)

    def holds_asked_kind(self, text: str, named: Collection[str], language: str) -> bool:
        """Whether a text has a value of the kind and unit that it begins by asking for. A number is an amount of money
        where the terms of the text and of what stands above it, `named`, have one for a price."""
        if any(map(self.asks_for, values(text))):
            return True
        is_priced = self.asked_kind == "money" and any(map(str.isdigit, text))
        return is_priced and not price_terms(language).isdisjoint(named)

    def counts_what_is_asked(self, text: str, language: str) -> bool:
        """Whether it asks for a number of things and a text has a number of these."""
        return self._asked_unit == "" and self._counts(text, filter(self.asks_for, values(text)), language)

    def counts_other_things(self, text: str, language: str) -> bool:
        """Whether it asks for a number of things and a text has numbers, but none of these, and no share either."""
        if self._asked_unit != "":
            return False
        found = list(filter(self.asks_for, values(text)))
        return not any(value.unit for value in found) and not self._counts(text, found, language)

    def _counts(self, text: str, found: Iterable[Value], language: str) -> bool:
        """Whether what stands behind one of the numbers that were found in a text is what is counted."""
        counted = _counted_terms(self.own, self.language, language)
        behind = (text[value.end :] for value in found if not value.unit)
        return any(word.term in counted for rest in behind for word in words(rest, language)[:_MOST_COUNTED])

    @property
    def is_yes_no(self) -> bool:
        """Whether it asks for yes or no, behind a topic that it names before a colon too ("Screening: is it safe?")."""
        return is_yes_no(self._behind_topic, self.language)

    def is_repeated_by(self, terms: Collection[str], language: str) -> bool:
        """Whether a text with these terms holds most of what it asks, by weight, but for a topic before a colon."""
        return held_share(parse(self._behind_topic, self.language).weights(language), terms) > _MOST_OF_IT

    @cached_property
    def _behind_topic(self) -> str:
        return _TOPIC_END.split(self.text)[-1]


@lru_cache(maxsize=64)
def parse(question: str, language: str | None = None) -> Query:
    """The question's first 4,000 characters, white space made single."""
    text = " ".join(question[:_MOST_CHARS].split())
    return Query(text, text, language or _told(text))


def _told(text: str) -> str:
    """The language of a question; names and terms alone tell of none."""
    told = question_language(text)
    has_its_words = language_counts(re.findall(r"\w+", text.lower())).get(told)
    return told if has_its_words else language_of(text)


@lru_cache(maxsize=256)
def _weights(query: Query, language: str) -> dict[str, float]:
    found: dict[str, float] = {}
    own = query.own_terms
    known = words(asked_only(query.text, query.language), query.language)
    least = 0.0 if any(word.weight > 0.0 for word in known) else ALL_COMMON
    for word in known:
        if value := max(least, word.weight * (1.0 if word.term in own else SUBJECT_SHARE)):
            other = word.term
            if language != query.language:
                other = stem(query.text[word.start : word.end], language)
            found[other] = max(found.get(other, 0.0), value)
    return found


@lru_cache(maxsize=256)
def _counted_terms(question: str, asked_in: str, language: str) -> frozenset[str]:
    """What a question asks the number of, as terms of a language: asked for each passage that is ranked."""
    asked = words(counted_words(question, asked_in), language)[:_MOST_COUNTED]
    return frozenset(word.term for word in asked if word.weight > 0.0)


def _names(text: str, language: str) -> list[str]:
    found = []
    for match in _NAME.finditer(text):
        name = match[0].rstrip(".,'’-")
        first, _, rest = name.partition(" ")
        if is_question_word(first, language) or (match.start() == 0 and weight(first, language) < RARE):
            name = rest
        if name and _says(name, language):
            found.append(name)
    return found


def _parted_topic(text: str) -> tuple[str, str]:
    """What stands before the first colon, and behind it; nothing behind where there is none."""
    lead, *rest = _TOPIC_END.split(text, maxsplit=1)
    return lead, "".join(rest)


def _things(clause: str, language: str) -> list[str]:
    """The things that a clause lists, where each says something; else the clause."""
    pieces = listed(clause, language)
    return pieces if all(_says(piece, language) for piece in pieces) else [clause]


def _rarest(text: str, language: str) -> str:
    rare = max(words(text, language), key=lambda word: word.weight)
    return text[rare.start : rare.end]


def _says(text: str, language: str) -> bool:
    return bool(terms(asked_only(text, language), language))


@lru_cache(maxsize=32)
def distinct_weights(queries: Sequence[Query], language: str) -> Sequence[Mapping[str, float]]:
    """The words of each query for texts in `language`, each with its share. A word weighs less that more queries have,
    so that the names of what all are about decide little. A query's words are divided by the root of their weight:
    neither few words nor many win by their number."""
    own = [query.weights(language) for query in queries]
    having = Counter(term for weights in own for term in weights)
    rare = [{term: weight * log((len(own) + 1) / having[term]) for term, weight in weights.items()} for weights in own]
    return [{term: weight / sqrt(sum(row.values())) for term, weight in row.items()} for row in rare]
