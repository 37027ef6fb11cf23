"""Basis and limits: what a reader must know of a report before relying on it, in about five lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.models.source import Tier
from graph_research.research.quality_gates import NO_SURE_FINDING
from graph_research.research.report.formatting import day, one_line, side_by_side
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.scoring.origin import UNNAMED
from graph_research.research.scoring.tiers import is_maker

_NAMED = 4
_FEW_SOURCES = 10
_DATED_SHARE = 1 / 3
"""The least share of the cited sources whose dates tell of all."""
_CONFIRMED = 2
"""So many origins confirm each other."""
_AUTHORITATIVE = (Tier.PRIMARY_SOURCE, Tier.AUTHORITATIVE)
_WEAK = (Tier.UNVERIFIED, Tier.FLAGGED)
_TOLD = (Status.PROVED, Status.VERIFIED, Status.CITED, Status.ANALYSIS, Status.USER, Status.UNSUPPORTED)


def basis_of(report: Report, labels: Labels, *, is_brief: bool = False) -> list[str]:
    """One line each: what was read, how sure the report is and why, what limits it. Where it `is_brief` a confidence
    that nothing lowers is left out: what is inferred is marked where it stands. So is `how_read`."""
    cited = [source for source in report.sources if source.citations]
    told_above = (labels.limit_one_origin, labels.limit_undated, labels.limit_open)
    unrated = labels.limit_checks.format(issues=labels.checks[NO_SURE_FINDING])
    told_by_read = (labels.limit_weak, unrated) if _is_unrated(cited) else ()
    told_by_confidence = (unrated,) if report.statistics.origins_cited == 1 else ()
    told = (*told_above, *told_by_read, *told_by_confidence)
    reading = _of_reading(labels) if is_brief else ()
    told_elsewhere = (*told, *_standing(labels), *_of_writing(labels), *reading, labels.limit_left_out)
    return [
        *_read(report, cited, labels),
        *(() if is_brief and report.confidence.level == "high" else _confidence(report, labels)),
        *(row for row in report.limitations if not _is_one_of(told_elsewhere, row)),
    ]


def making_of(report: Report, labels: Labels) -> list[str]:
    """How the sentences are proved, and what was discarded in writing, for the methodology of the page. How many
    sentences the report lacks is left to `report.json`: a reader cannot use it."""
    discarded = (row for row in report.limitations if _is_one_of(_of_writing(labels), row))
    return [*how_proved(report, labels), *discarded]


def how_proved(report: Report, labels: Labels) -> list[str]:
    """What a citation shows, and how many sentences are proved in which way."""
    return [*what_a_citation_shows(report, labels), *_sentences(report, labels)]


def what_a_citation_shows(report: Report, labels: Labels) -> list[str]:
    """And what not; empty where nothing is cited."""
    return [row for row in report.limitations if row in _standing(labels)]


def how_read(report: Report, labels: Labels) -> list[str]:
    """How many sources were read in part only, for the methodology of what is not the page."""
    return [row for row in report.limitations if _is_one_of(_of_reading(labels), row)]


def _of_reading(labels: Labels) -> tuple[str, ...]:
    return labels.limit_fidelity, labels.limit_partly


def _of_writing(labels: Labels) -> tuple[str, ...]:
    return labels.limit_length, labels.limit_quotes, labels.limit_fabricated


def _standing(labels: Labels) -> tuple[str, ...]:
    """What holds of every report, and of one that has quotations alone."""
    return labels.limit_standing, labels.limit_standing_quoted


def _is_one_of(templates: Sequence[str], text: str) -> bool:
    """Whether the text is one of these, with whatever stands in its gaps."""
    patterns = (".*".join(map(re.escape, re.split(r"\{\w+\}", template))) for template in templates)
    return any(re.fullmatch(pattern, text, re.DOTALL) for pattern in patterns)


def as_of(report: Report, labels: Labels) -> str:
    """What stands below the title: which versions the sources name, that the report is not sure where it is not, and
    how old the cited sources are, or that all are the makers' own. Empty where nothing is cited and no version is
    named."""
    cited = [source for source in report.sources if source.citations]
    named = labels.comma.join(f"{row.name} {row.version}" for row in report.newest_versions)
    versions = [labels.newest_versions.format(names=named)] if named else []
    names = [row.name for row in report.newest_versions]
    others = [row for row in cited if not is_maker(row.publisher, names)]
    is_told = all(row.published_at for row in others)
    level = labels.levels[report.confidence.level].lower()
    is_unsure = report.written and cited and report.confidence.level not in ("high", "medium")
    confidence = [labels.confidence_above.format(level=level)] if is_unsure else []
    dates = _dates(cited, labels, is_told=is_told) if others else _of_makers(cited, names, labels)
    return side_by_side([*versions, *confidence, *dates])


def _of_makers(cited: Sequence[ReportSource], products: Sequence[str], labels: Labels) -> list[str]:
    """That all cited documents, if there are any, are the makers' own, or of one that is named."""
    makers = {name for source in cited for name in products if is_maker(source.publisher, [name])}
    if len(makers) == 1:
        return [labels.all_of_one_maker.format(name=makers.pop())]
    return [labels.all_of_makers] if makers else []


def _read(report: Report, cited: list[ReportSource], labels: Labels) -> Iterator[str]:
    behind: dict[str, str] = {}
    for source in cited:
        if source.origin != UNNAMED:
            behind.setdefault(source.origin, _name(source, [row.name for row in report.newest_versions]))
    names = list(behind.values())
    named = labels.comma.join([*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])])
    unnamed = labels.basis_read_unrated if _is_unrated(cited) else labels.basis_read_unnamed
    publishers = labels.basis_read_names if len(names) > 1 else labels.basis_read_name
    template = publishers if names else unnamed if cited else labels.basis_read
    yield template.format(
        read=sum(source.is_read for source in report.sources), cited=len(cited), origins=len(names), names=named
    )


def _is_unrated(cited: Sequence[ReportSource]) -> bool:
    """Whether none of the sources says who made it, so that no rule can tell how reliable it is."""
    return bool(cited) and all(row.origin == UNNAMED and row.tier == Tier.UNVERIFIED for row in cited)


def _name(source: ReportSource, products: Sequence[str]) -> str:
    """The origin of a source as the source, or a product that is called like it, writes it."""
    if product := next((name for name in products if is_maker(source.origin, [name])), ""):
        return product
    written = (source.publisher or "", ", ".join(source.authors))
    return next((name for name in map(one_line, written) if name.casefold() == source.origin), source.origin)


def _dates(cited: Sequence[ReportSource], labels: Labels, *, is_told: bool) -> Iterator[str]:
    """The dates of the cited sources where they stand for enough of them, else how many have none, unless it `is_told`
    which version those describe."""
    days = sorted(source.published_at[:10] for source in cited if source.published_at)
    undated = len(cited) - len(days)
    if days and len(days) >= _DATED_SHARE * len(cited):
        template = labels.basis_dates if days[0] != days[-1] else labels.basis_date
        more = labels.basis_undated.format(n=undated) if undated else ""
        yield template.format(first=day(days[0], labels), last=day(days[-1], labels), undated=more)
    elif not is_told:
        yield labels.limit_undated.format(n=undated, all=len(cited)) if days else labels.basis_no_dates


def _confidence(report: Report, labels: Labels) -> Iterator[str]:
    """How sure the report is, and what lowers that."""
    confidence, numbers = report.confidence, report.statistics
    if not report.written:
        return
    failed = sum(one.status == SubQueryStatus.FAILED for one in report.sub_queries)
    disputed = sum(row.is_open for row in report.contradictions)
    is_named = any(source.origin != UNNAMED for source in report.sources if source.citations)
    one_origin = labels.reason_one_origin if is_named else labels.why_one_origin
    reasons = [
        *([one_origin] if numbers.origins_cited == 1 else []),
        *([labels.reason_few_sources.format(n=len(report.sources))] if len(report.sources) < _FEW_SOURCES else []),
        *([labels.reason_disputed.format(n=disputed)] if disputed else []),
        *_claims(report, labels),
        *([labels.reason_failed.format(n=failed)] if failed else []),
        *([labels.reason_unscored] if confidence.value is None else []),
    ]
    level = labels.levels[confidence.level].lower()
    if reasons and confidence.level != "high":
        yield labels.basis_confidence.format(level=level, reasons=labels.semicolon.join(reasons))
    else:
        yield labels.confidence_above.format(level=level)


def _claims(report: Report, labels: Labels) -> Iterator[str]:
    """How many claims one origin alone makes, where the report has several and not all of these are authorities on the
    matter; how many are disputed or weak, nothing of these where all cited sources are, which the limitations say."""
    tiers = {source.id: source.tier for source in report.sources}
    lone = [claim for claim in report.claims if claim.origins < _CONFIRMED]
    if lone and report.statistics.origins_cited > 1:
        good = sum(any(tiers.get(name) in _AUTHORITATIVE for name in claim.support) for claim in lone)
        if good < len(lone):
            template = labels.reason_lone_claims if good else labels.reason_lone_unverified
            yield template.format(n=len(lone), all=len(report.claims), good=good)
    weak = [row for row in report.claims if row.contradiction or all(tiers.get(name) in _WEAK for name in row.support)]
    if weak and not all(source.tier in _WEAK for source in report.sources if source.citations):
        yield labels.reason_weak_claims.format(weak=len(weak), all=len(report.claims))


def _sentences(report: Report, labels: Labels) -> Iterator[str]:
    counts = report.statistics.statements
    said = [
        labels.basis_status.format(n=counts[status], status=labels.statuses[status], meaning=labels.meanings[status])
        for status in _TOLD
        if counts.get(status)
    ]
    if said:
        yield labels.basis_sentences.format(counts=labels.semicolon.join(said))
