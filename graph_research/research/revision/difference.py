"""What differs between two versions of a report, by sentence, claim and source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from graph_research.research.evidence.contradictions import tell_the_same
from graph_research.research.models.record import Record
from graph_research.research.report.model import Report


class ReportDifference(Record):
    """Texts of sentences and claims, ids of sources. `rescored` are claims of both versions whose confidence differs;
    `confidence` is that of the whole, before and after."""

    sentences_removed: list[str]
    sentences_added: list[str]
    claims_removed: list[str]
    claims_added: list[str]
    rescored: list[str]
    sources_removed: list[str]
    sources_added: list[str]
    contradictions_removed: list[str]
    confidence: tuple[float | None, float | None]


def difference(old: Report, new: Report) -> ReportDifference:
    """What leads from one version to another; a sentence that stands twice counts twice."""
    sentences = [row.text for row in old.statements()], [row.text for row in new.statements()]
    claims = {claim.text: claim.confidence for claim in old.claims}, {row.text: row.confidence for row in new.claims}
    sources = [source.id for source in old.sources], [source.id for source in new.sources]
    return ReportDifference(
        sentences_removed=_missing(*sentences),
        sentences_added=_missing(*reversed(sentences)),
        claims_removed=_missing(*claims),
        claims_added=_missing(*reversed(claims)),
        rescored=[text for text, value in claims[0].items() if claims[1].get(text, value) != value],
        sources_removed=_missing(*sources),
        sources_added=_missing(*reversed(sources)),
        contradictions_removed=[
            row.topic for row in old.contradictions if not any(tell_the_same(row, one) for one in new.contradictions)
        ],
        confidence=(old.confidence.value, new.confidence.value),
    )


def _missing(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    """The texts that the others lack, in order."""
    return list((Counter(list(texts)) - Counter(list(others))).elements())
