"""An embedder whose vectors are topics: one number for each, 1 where a text has a word of the topic."""

from __future__ import annotations

from collections.abc import Sequence


class TopicEmbedder:
    def __init__(self, *topics: str) -> None:
        self._topics = [frozenset(topic.split()) for topic in topics]

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(frozenset(text.lower().replace(".", " ").replace("?", " ").split())) for text in texts]

    def _vector(self, words: frozenset[str]) -> list[float]:
        has = [float(bool(topic & words)) for topic in self._topics]
        length = sum(has) ** 0.5 or 1.0
        return [value / length for value in has]
