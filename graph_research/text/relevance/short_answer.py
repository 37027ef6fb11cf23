"""How many of the best quotations make a short answer."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.text.language.words import words
from graph_research.text.relevance.query import Query

_YES_NO_WORDS = 50
_MOST_WORDS = 80
_MOST = 3
_LEAST_COVERED = 0.5
_WHOLE = 0.95


def within_budget(query: Query, texts: Sequence[str], covered: Sequence[float]) -> list[int]:
    """Positions of the texts, given best first, that make the answer: the best, and up to two more that fit.

    A question for yes or no gets 50 words, since it is answered by a statement, another one 80. A further text must
    hold (`covered`, of the question's weight) at least half of what the best one holds. A text that holds nearly all of
    the question stands alone.
    """
    room = _YES_NO_WORDS if query.is_yes_no else _MOST_WORDS
    picked: list[int] = []
    for position, text in enumerate(texts):
        if len(picked) == _MOST or (picked and covered[0] >= _WHOLE):
            break
        length = len(words(text, query.language))
        if not picked or (length <= room and covered[position] >= _LEAST_COVERED * covered[0]):
            picked.append(position)
            room -= length
    return picked
