"""Average-link agglomerative clustering of sparse TF-IDF vectors, for a few dozen sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["Vector", "cluster", "cosine", "unit"]

Vector = Mapping[str, float]


def unit(weights: Vector) -> dict[str, float]:
    """The vector scaled to length 1; an empty or zero one stays empty."""
    length = math.sqrt(math.fsum(value * value for _, value in sorted(weights.items())))
    return {key: value / length for key, value in sorted(weights.items())} if length else {}


def cosine(one: Vector, other: Vector) -> float:
    """The dot product of two unit vectors."""
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(value * other[key] for key, value in one.items() if key in other)


def cluster(vectors: Sequence[Vector], *, most: int, largest: int, least_similarity: float) -> list[list[int]]:
    """Indices of `vectors` in clusters, each in order, the clusters by their first member.

    The two clusters with the highest mean pairwise similarity are merged again and again, none beyond `largest`
    members, until no pair reaches `least_similarity`. Then, while there are more than `most` clusters of several
    members, the most similar two of these are merged as well. Ties go to the earlier pair.
    """
    clusters = [[index] for index in range(len(vectors))]
    similarity = {(a, b): cosine(vectors[a], vectors[b]) for b in range(len(vectors)) for a in range(b)}
    while True:
        pair, value = _closest(clusters, range(len(clusters)), similarity, largest)
        if value < least_similarity:
            several = [index for index, members in enumerate(clusters) if len(members) > 1]
            if len(several) <= most:
                break
            pair, value = _closest(clusters, several, similarity, largest)
        if value < 0.0:
            break
        left, right = pair
        clusters[left] = sorted(clusters[left] + clusters[right])
        del clusters[right]
    return sorted(clusters)


def _closest(
    clusters: Sequence[list[int]], among: Sequence[int], similarity: Mapping[tuple[int, int], float], largest: int
) -> tuple[tuple[int, int], float]:
    """The pair with the highest mean similarity that may still be merged; the value is -1 where there is none."""
    best, pair = -1.0, (0, 0)
    for position, right in enumerate(among):
        for left in among[:position]:
            if len(clusters[left]) + len(clusters[right]) > largest:
                continue
            mean = _mean(clusters[left], clusters[right], similarity)
            if mean > best + 1e-12:
                best, pair = mean, (left, right)
    return pair, best


def _mean(left: list[int], right: list[int], similarity: Mapping[tuple[int, int], float]) -> float:
    return math.fsum(similarity[min(a, b), max(a, b)] for a in left for b in right) / (len(left) * len(right))
