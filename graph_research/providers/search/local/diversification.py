"""Diversification: the best documents of a search for several things, so that each of these has its own among them.

A document is worth its value in the whole search and, for each part of the question, its place in a search for that
part alone, which counts the less the better the documents before it answer that part. After Santos, Macdonald and
Ounis, “Exploiting query reformulations for web search result diversification” (WWW 2010), with the reciprocal of the
place as the probability that a document answers a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graph_research.providers.search.local.index import Row

_PARTS = 0.8  # what the parts count together; the rest is the whole search


def diversified(documents: Sequence[Sequence[Row]], parts: Sequence[Mapping[int, float]]) -> Iterator[list[Row]]:
    """The documents, each as the rows of its passages, in the order in which they are worth most beside those before
    them; `parts` have by the id of a passage what it is worth for a part. The best row of a document gets what that is
    worth as `value`."""
    top = documents[0][0]["value"]
    answers = [_reciprocal_places(documents, part) for part in parts]
    open_shares = [1.0 / len(parts)] * len(parts)
    left = list(range(len(documents)))
    while left:
        gains = {
            place: (1.0 - _PARTS) * documents[place][0]["value"] / top
            + _PARTS * sum(share * answer[place] for share, answer in zip(open_shares, answers, strict=True))
            for place in left
        }
        best = max(left, key=lambda place: (gains[place], -place))
        left.remove(best)
        worth = top * gains[best] / documents[best][0]["value"]
        yield [{**row, "value": worth * row["value"]} for row in documents[best]]
        open_shares = [share * (1.0 - answer[best]) for share, answer in zip(open_shares, answers, strict=True)]


def _reciprocal_places(documents: Sequence[Sequence[Row]], part: Mapping[int, float]) -> list[float]:
    """1 for the document that answers a part best, 1/2 for the next, 0 for one that does not."""
    worth = [max(part.get(row["id"], 0.0) * row["weight"] for row in rows) for rows in documents]
    order = sorted(range(len(documents)), key=lambda place: (-worth[place], place))
    places = {place: number for number, place in enumerate(order, start=1)}
    return [1.0 / places[place] if worth[place] else 0.0 for place in range(len(documents))]
