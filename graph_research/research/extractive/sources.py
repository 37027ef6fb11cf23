"""The structured handoff as the extractive model reads it: sources with what their rank depends on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from graph_research.research.models.report_options import ReportOptions, report_language
from graph_research.research.models.source import Source, Tier
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.scoring.origin import origins
from graph_research.research.scoring.site import host_of
from graph_research.research.scoring.versions import later_versions, newer_versions, pages
from graph_research.text.document import Document
from graph_research.text.language.versions import VersionMark, asked_version, title_key, version_mark

TIER_RANK: Mapping[str, int] = {tier.value: rank for rank, tier in enumerate(Tier)}
"""0 for the most credible tier, 4 for flagged ones."""

_AUTHORITATIVE = frozenset({Tier.PRIMARY_SOURCE.value, Tier.AUTHORITATIVE.value})

EMBEDDER = "embedder"
"""Where the model puts its embedder, or None, beside what the handoff holds."""


@dataclass(frozen=True, kw_only=True)
class SourceFacts:
    """What ranking, order and confidence need of a source. `newer` is the id of the source that supersedes it, empty
    where that is not in the handoff, None for a current source. `file` is the name of a local file without suffix.
    `subject` is what its title tells of the subject, empty where it has none. `page` is the same for all versions of a
    page, older ones and those in other languages."""

    id: str
    title: str
    subject: str
    tier: str
    date: str
    origin: str
    file: str
    page: str
    newer: str | None = None

    @property
    def tier_rank(self) -> int:
        return TIER_RANK.get(self.tier, 3)

    @property
    def authoritative(self) -> bool:
        return self.tier in _AUTHORITATIVE

    @property
    def flagged(self) -> bool:
        return self.tier == Tier.FLAGGED.value


def question_of(material: Mapping[str, Any]) -> str:
    """The user's question, under either of its two names."""
    return str(material.get("question") or material.get("original_query") or "")


def options_of(material: Mapping[str, Any]) -> ReportOptions:
    """What the user wishes of the report."""
    return ReportOptions.model_validate(material.get("report_options") or {})


def labels_of(material: Mapping[str, Any]) -> Labels:
    """The fixed words and sentences of the report's language."""
    return labels_for(report_language(material.get("report_options"), question_of(material)))


def read_sources(material: Mapping[str, Any]) -> dict[str, SourceFacts]:
    """The sources by id in the order of the handoff."""
    rows: Sequence[Mapping[str, Any]] = material.get("sources") or ()
    documents: Mapping[str, Document] = material.get("documents") or {}
    sources = [Source.model_validate(row) for row in rows]
    texts = {source.id: documents[source.id].text for source in sources if source.id in documents}
    behind = origins(sources, texts)
    newer, page_of = newer_versions(sources), pages(sources)
    return {
        source.id: SourceFacts(
            id=source.id,
            title=source.title,
            subject=source.subject,
            tier=source.tier.value,
            date=source.published_at or "",
            origin=behind[source.id],
            file="" if host_of(source.url) else PurePosixPath(source.url or "").stem,
            page=page_of[source.id],
            newer=newer[source.id],
        )
        for source in sources
    }


def outdated_rows(document: Document, question: str) -> frozenset[int]:
    """Where the rows of tables start that stand again, with the same label and header, below the heading of a newer
    version or in its sheet, such as `2024` after `2023`; none of a version that the question names."""
    editions: dict[tuple[tuple[str, ...], str], list[tuple[VersionMark, str, Mapping[str, int]]]] = defaultdict(list)
    for header, *rows in document.tables:
        heading = "".join(document.path_at(header)[-1:])
        mark = version_mark(heading)
        if mark.number or mark.date:
            labels = {label.casefold(): row for row in rows if (label := document.rows[row][0])}
            editions[document.header_at(header), title_key(heading)].append((mark, heading, labels))
    return frozenset(
        row
        for tables in editions.values()
        for mark, heading, labels in tables
        if not asked_version(question, heading)
        for label, row in labels.items()
        if any(mark < newer and label in others for newer, _, others in tables)
    )


def as_asked(sources: Mapping[str, SourceFacts], question: str) -> dict[str, SourceFacts]:
    """The sources; where the question names an old version, it counts as current, and newer versions that the question
    does not name count as superseded by it."""
    newer = {name: facts.newer for name, facts in sources.items()}
    asked = {name: asked_version(question, facts.title, facts.file) for name, facts in sources.items()}
    changed = dict(newer)
    for name in (name for name, version in asked.items() if version and newer[name] is not None):
        later = later_versions(name, newer)
        if all(asked[other] != asked[name] for other in later):
            changed |= {other: name for other in later if not asked[other]} | {name: None}
    return {name: replace(facts, newer=changed[name]) for name, facts in sources.items()}
