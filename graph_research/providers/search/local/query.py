"""A question as the index understands it: content terms, identifiers whole and in parts, and neighbouring words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graph_research.text.language.terms import STOP_WORDS

Term = tuple[str, ...]
"""The spellings of one term, each a quoted phrase."""

_TOKEN = re.compile(r"[^\W_]+(?:[._\-–/]*[._\-–/][^\W_]+)*")
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_MOST_TERMS = 48
# Words of questions that say nothing of what is asked for; not among STOP_WORDS, which evidence scoring uses.
_ASKING = frozenset(
    {"much", "many", "would", "could", "may", "might", "shall", "must", "also", "us", "tell", "explain"}
)


@dataclass(frozen=True)
class IndexQuery:
    """Expressions in FTS5's language, made of quoted words only, so that no text of a user's can be an operator.

    `terms` are what a good passage contains, each in one or more spellings; `phrases` are neighbouring words that
    make it better.
    """

    terms: Sequence[Term]
    phrases: Sequence[Term]

    @property
    def match(self) -> str:
        """One expression for passages with any of it; empty when there is nothing to look for."""
        return " OR ".join(dict.fromkeys(spelling for term in (*self.terms, *self.phrases) for spelling in term))


def parse_query(text: str) -> IndexQuery:
    """The terms of `text`; stop words count only where there is nothing else."""
    tokens = [match[0] for match in _TOKEN.finditer(_POSSESSIVE.sub("", text[:50_000]))]
    question = _question(tokens, STOP_WORDS | _ASKING)
    return question if question.terms else _question(tokens, frozenset())


def _question(tokens: Sequence[str], ignored: frozenset[str]) -> IndexQuery:
    terms: dict[Term, None] = {}
    phrases: dict[Term, None] = {}
    for token in tokens:
        words = _WORD.findall(token)
        if len(words) > 1 and not ignored.issuperset(word.lower() for word in words):
            joined = [_phrase(["".join(words)])] if "-" in token else []
            phrases[(_phrase(words), *joined)] = None
        terms.update(dict.fromkeys(_term(word) for word in words if word.lower() not in ignored))
    for left, right in pairwise(tokens):
        phrases.update(dict.fromkeys(_neighbours(left, right, ignored)))
    return IndexQuery(terms=list(terms)[:_MOST_TERMS], phrases=list(phrases)[:_MOST_TERMS])


def _term(word: str) -> Term:
    """A word; a compound also as its parts side by side."""
    parts = identifier_parts(word)
    return (_phrase([word]), _phrase(parts)) if parts else (_phrase([word]),)


def _neighbours(left: str, right: str, ignored: frozenset[str]) -> Iterator[Term]:
    """Two plain words side by side, also written as one."""
    if any(_WORD.fullmatch(word) is None or word.lower() in ignored for word in (left, right)):
        return
    joined = [_phrase([left + right])] if left.isalpha() and right.isalpha() else []
    yield (_phrase([left, right]), *joined)


def _phrase(words: Sequence[str]) -> str:
    return '"' + " ".join(word.lower() for word in words) + '"'


_CAMEL = re.compile(r"[^\W_]*[a-z][A-Z][^\W_]*|[A-Z]{2,}[a-z][^\W_]*")
_HYPHENATED = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)+\b")
_JOINT = re.compile(r"[a-z][A-Z]|[A-Z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def identifier_parts(word: str) -> list[str]:
    """`["Task", "Group"]` for `TaskGroup`; empty for a word that is not a compound."""
    parts = _PART.findall(word) if _CAMEL.fullmatch(word) else []
    return parts if len(parts) > 1 else []


def parts_of_text(text: str) -> str:
    """What the index keeps beside the text itself: the parts of every compound, and hyphenated words as one."""
    compounds = (" ".join(identifier_parts(word)) for word in dict.fromkeys(_WORD.findall(text)) if _JOINT.search(word))
    joined = (word.replace("-", "") for word in dict.fromkeys(_HYPHENATED.findall(text)))
    return " . ".join(part for part in (*compounds, *joined) if part)


def path_words(url: str) -> str:
    """The words of a relative path without its suffix: `library asyncio task` for `library/asyncio-task.html`."""
    return " ".join(_WORD.findall(url.rpartition(".")[0] or url))
