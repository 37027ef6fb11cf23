"""What is searched for where no model says it: the question itself, then its parts."""

from __future__ import annotations

from collections.abc import Iterable

from graph_research.research.retrieval.query_novelty import asked_before
from graph_research.text.language.words import language_of, terms, words
from graph_research.text.relevance.query import Query, parse

_SEVERAL = 2
_TAKEN_UP = 0.5
"""The share of the question's words, by their weight, that a plan has to hold."""


def queries_of(question: str, most: int) -> list[tuple[str, str]]:
    """The question and its parts, or the sides of a comparison, each with its reason; at most `most`, none twice."""
    query = parse(question)
    kept: list[tuple[str, str]] = []
    for text, reason in ((query.text, "The question as it was asked."), *_of_parts(query, most - 1)):
        if len(kept) < most and not asked_before(text, [earlier for earlier, _ in kept]):
            kept.append((text, reason))
    return kept


def are_about(queries: Iterable[str], question: str) -> bool:
    """Whether several queries beside the question itself have a name that it names."""
    query = parse(question)
    own = (text.casefold() for text in queries if not asked_before(text, [query.text]))
    named = _words_of_names(query)
    return sum(any(name in text for name in named) for text in own) >= _SEVERAL


def takes_up(queries: Iterable[str], question: str) -> bool:
    """Whether queries search for what a question asks: they hold half of its words, or where they are in another
    language a word of its names, if it has any. The question as a whole does not count where it asks several things."""
    query = parse(question)
    several = len(query.parts) > 1
    searched = " ".join(text for text in queries if not (several and asked_before(text, [query.text])))
    if language_of(searched) != query.language:
        named = _words_of_names(query)
        return not named or any(name in searched.casefold() for name in named)
    weights = query.weights(query.language)
    held = weights.keys() & set(terms(searched, query.language))
    return sum(weights[term] for term in held) >= _TAKEN_UP * sum(weights.values())


def _words_of_names(query: Query) -> set[str]:
    names = " ".join(query.names)
    return {names[word.start : word.end].casefold() for word in words(names, query.language) if word.weight}


def _in_context(part: Query, query: Query) -> str:
    """A part as a search for it. Where the question has no name, a phrase of it stands for the single word that the
    part got to be understood by."""
    is_alone = part.text == part.own or query.subject or " " not in query.phrase
    return part.text if is_alone else f"{query.phrase} {part.own}"


def _of_parts(query: Query, most: int) -> list[tuple[str, str]]:
    """A query for each part, the last ones joined where there are too many; of things compared, one for each."""
    if len(query.parts) > 1:
        own = [part.own for part in query.parts]
        asked = own if len(own) <= most else [*own[: most - 1], ", ".join(own[most - 1 :])]
        texts = {part.own: _in_context(part, query) for part in query.parts}
        return [
            (texts.get(o, f"{query.subject or query.phrase} {o}".strip()), f"The question asks “{o}”.") for o in asked
        ]
    if len(query.names) < 2:
        return []
    shared = query.text
    for name in query.names:
        shared = shared.replace(name, " ")
    common = " ".join(shared[word.start : word.end] for word in words(shared, query.language) if word.weight)
    return [(f"{name} {common}".strip(), f"The question names “{name}”.") for name in query.names]
