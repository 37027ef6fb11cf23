"""A question as the index understands it: its terms in each language that the searched documents have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph_research.text.language.words import language_of, words

_MOST_CHARS = 50_000
_MOST_TERMS = 48


@dataclass(frozen=True)
class IndexQuery:
    """What to look for: an expression in FTS5's language, empty for nothing, and the weight of its terms by language.

    The expression is made of quoted words only, so that no text of a user's can be an operator.
    """

    match: str
    weights: Mapping[str, Mapping[str, float]]


def parse_query(text: str, languages: Iterable[str], folders: Sequence[int] | None) -> IndexQuery:
    """The rarest terms of `text`; words as common as `the` count only where there is nothing else."""
    weights = {language: _rarest(text[:_MOST_CHARS], language) for language in languages}
    terms = dict.fromkeys(term for terms in weights.values() for term in terms)
    match = " OR ".join(f'"{term}"' for term in terms)
    if match and folders is not None:
        within = " OR ".join(f'"{folder_term(folder)}"' for folder in folders)
        match = f"folder : ({within}) AND ({match})"
    return IndexQuery(match, weights)


def folder_term(folder: int) -> str:
    """What the index has in the column `folder` of each passage below it; no word of a text looks like it."""
    return f"folder.{folder}"


def _rarest(text: str, language: str) -> dict[str, float]:
    """The terms that a document in `language` may have, without those as common in the question's own language."""
    telling = {word.start for word in words(text, language_of(text)) if word.weight > 0.0}
    weights = {word.term: word.weight * (word.start in telling) for word in words(text, language)}
    rare = {term: weight for term, weight in weights.items() if weight > 0.0} or dict.fromkeys(weights, 1.0)
    return dict(sorted(rare.items(), key=lambda item: -item[1])[:_MOST_TERMS])
