"""What an audit of a report says: a verdict on each sentence, with the passages behind it."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from pydantic import Field

from graph_research.research.evidence.cited import CitedPlace
from graph_research.research.models.record import Record


class Verdict(StrEnum):
    """What the library says to a sentence.

    `supported`: a passage says it. `contradicted`: a passage says otherwise, and none says it. `unclear`: passages are
    about it, and their words do not decide whether they say it; or a model finds it said in part. `not_found`: no
    passage has enough of its words, or a model finds none that says it. `not_checkable`: it states no fact.
    """

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNCLEAR = "unclear"
    NOT_FOUND = "not_found"
    NOT_CHECKABLE = "not_checkable"


class AuditQuote(Record):
    """A passage of a library document: `text[locator] == quote`. `cited` where the report names this document as the
    source of the sentence; `score` is how far the passage supports the sentence, 0 to 1; `place` is where it stands in
    the document's file, where that is known."""

    source_id: str
    title: str
    path: str
    locator: str
    quote: str
    score: float
    cited: bool = False
    place: CitedPlace | None = None


class AuditedSentence(Record):
    """A sentence of the report, from 1. `score` is that of the best passage, `reason` what it lacks or says otherwise.

    `quote` is the best passage, of a sentence that was not found the nearest; `against` says otherwise. `citations` are
    the marks that stand in the report, `unfollowed` those that lead to no document of the library. `passages` are the
    best few; a verifier `model` was shown them, where it judged.
    """

    n: int
    text: str
    verdict: Verdict
    score: float = 0.0
    reason: str = ""
    quote: AuditQuote | None = None
    against: AuditQuote | None = None
    citations: list[str] = Field(default_factory=list)
    unfollowed: list[str] = Field(default_factory=list)
    passages: list[AuditQuote] = Field(default_factory=list)
    model: str = ""


class Audit(Record):
    """The audit of the report in `file`, against `documents` documents of a library. `counts` has every verdict;
    `unread` has each file of the library that was not read, as `PATH: REASON`; `run_id` is the run in which a model
    judged, empty where code did alone."""

    file: str
    title: str
    documents: int
    counts: dict[str, int]
    sentences: list[AuditedSentence]
    unread: list[str] = Field(default_factory=list)
    run_id: str = ""


def counts_of(sentences: list[AuditedSentence]) -> dict[str, int]:
    """How many sentences have each verdict."""
    counted = Counter(sentence.verdict.value for sentence in sentences)
    return {verdict.value: counted[verdict.value] for verdict in Verdict}
