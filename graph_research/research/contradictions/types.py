"""A sentence that can disagree with another one, and the disagreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class SourceSentence:
    """A sentence of a source: `document.text[start:end] == text`.

    `origin` is who stands behind the source; sentences of one origin never contradict each other, and near-duplicate
    documents share an origin. `title` is the document's, `heading` the nearest one above the sentence.
    """

    source_id: str
    origin: str
    text: str
    start: int
    end: int
    title: str = ""
    heading: str = ""


@dataclass(frozen=True, kw_only=True)
class ConflictSide:
    """The value as the first of its sentences writes it, and every sentence that gives the same value."""

    value: str
    evidence: tuple[SourceSentence, ...]


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Two or more sides of different origin. `topic` is made of words found in the first sentence."""

    kind: Literal["number", "date"]
    topic: str
    description: str
    sides: tuple[ConflictSide, ...]
