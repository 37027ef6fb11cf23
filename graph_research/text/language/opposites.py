"""Words that turn or bind a statement: what denies, compares or limits it, by language; in English what counts."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.tables import facts, groups, listed, word_of
from graph_research.text.language.words import UNSPACED, language_of, stem, term_weights

NEGATIONS = {language: frozenset(words) for language, words in listed("negations").items()}
"""Words that deny what stands beside them; Japanese and Chinese by the pairs of characters that they begin with."""

_WORDS = re.compile(r"\w+")
_ABSOLUTE = listed("absolute")
_EXCEPTING = listed("excepting")
_PERMITTING = listed("permitting")
_TAKING_BACK = facts("taking_back")
"""What a sentence begins with that takes back the one before it, as patterns."""
DEFAULT = deferred(word_of("defaults"), re.IGNORECASE)
"""A word for what holds where nothing is set, in any language."""

CAPITALISED_NOUNS = frozenset(facts("capitalised_nouns"))
"""Languages in which a capital letter does not tell a name."""

TURNING = {language: frozenset(words) for language, words in listed("turning").items()}
"""Words that let the roles beside a verb or a noun change places: "B was bought by A", "the capital of B"."""

PARTING = {
    language: frozenset([*words, *listed("contrasting").get(language, ())])
    for language, words in listed("joining").items()
}
"""Words between clauses that each say something of another thing: "and", "while"."""
SCOPES = {language: frozenset(words) for language, words in listed("scopes").items()}
"""Words that bind a value to a part, a rate, a plan or a kind of figure."""

QUANTIFIERS = {word: number for number, words in enumerate(groups("quantifiers")) for word in words.split()}
"""How much of something is meant: words of the same number mean the same."""


def is_no(cell: str) -> bool:
    """Whether the cell of a table says no and nothing else, in any language: `no`, `nein`, `None`. A single letter may
    stand for anything."""
    word = cell.strip(" .!").casefold()
    is_word = len(word) > 1 or not word.isascii()
    return is_word and any(word in negations for negations in NEGATIONS.values())


def is_absolute(text: str, language: str) -> bool:
    """Whether a text denies something altogether, or says it of all cases, of one only, of what holds by default, or
    that things are the same or safe: one exception makes it wrong. In a language that is not listed no text is."""
    return _holds(text, _ABSOLUTE.get(language, ()), language)


def tells_exception(text: str, language: str) -> bool:
    """Whether a text holds a word with which one tells of a case that is otherwise: "unless", "however", "might". In a
    language that is not listed no text does."""
    return _holds(text, _EXCEPTING.get(language, ()), language)


def only_denies(text: str, other: str) -> bool:
    """Whether a text says no more than that what another one names is not, as "without `-f`" does of "remove `-f`"."""
    language = language_of(text)
    denying = {stem(word, language) for word in NEGATIONS.get(language, ())}
    denied = term_weights(text).keys() - denying
    is_denial = not denying.isdisjoint(stem(word, language) for word in _WORDS.findall(text))
    return is_denial and bool(denied) and denied <= term_weights(other).keys()


def takes_back(sentence: str, language: str) -> bool:
    """Whether a sentence begins as one does that takes back, or binds, what stands before it: "However, …", "This no
    longer …". In a language that is not listed none does."""
    taking_back = _TAKING_BACK.get(language)
    end = "" if language in UNSPACED else r"(?!\w)"
    return taking_back is not None and re.match(rf"\W*(?:{taking_back}){end}", sentence, re.IGNORECASE) is not None


def denies(text: str, language: str) -> bool:
    """Whether a text holds a word that denies something. In a language that is not listed no text does."""
    return _holds(text, NEGATIONS.get(language, ()), language)


def permits(text: str, language: str) -> bool:
    """Whether a text holds a word that permits something or calls it safe or enough: what follows in its source may add
    a condition. In a language that is not listed no text does."""
    return _holds(text, _PERMITTING.get(language, ()), language)


def _holds(text: str, found: Collection[str], language: str) -> bool:
    if language in UNSPACED:
        return any(stretch in text for stretch in found)
    return not set(found).isdisjoint(_WORDS.findall(text.lower()))


@cache
def opposites() -> dict[str, frozenset[tuple[int, bool]]]:
    """By English stem, the numbers of the pairs that it belongs to and the side."""
    sides: dict[str, set[tuple[int, bool]]] = {}
    for number, pair in enumerate(groups("opposites")):
        for side, words in enumerate(pair.split(":")):
            for word in words.split():
                sides.setdefault(stem(word), set()).add((number, bool(side)))
    return {term: frozenset(found) for term, found in sides.items()}
