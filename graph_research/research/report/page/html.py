"""The report as one HTML file: no script, no network; a click on `[n]` opens the archived text at the quote."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.cited import Citation, CitedContradiction
from graph_research.research.evidence.claim_support import Status
from graph_research.research.report import formatting, reading
from graph_research.research.report.basis import as_of, basis_of, making_of
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.report.page.flow import flow_of
from graph_research.research.report.page.source_view import Mark, Paragraph, context_of, paragraphs
from graph_research.research.report.page.svg_sanitizer import sanitized_svg
from graph_research.research.report.sentence_parts import InlineMarks, clauses_of
from graph_research.text.language.tags import direction
from graph_research.text.wording import shortened

WHOLE_TEXT_BYTES = 2_000_000
"""Whole archived texts are carried up to this many bytes in all."""


def render_html(
    report: Report,
    *,
    texts: Mapping[str, str],
    layouts: Mapping[str, Mapping[str, Any]] | None = None,
    picture_svg: str = "",
) -> str:
    """The page. `texts` and `layouts` are keyed by archive hash, as for `build_report`; `picture_svg` is the graph."""
    labels = labels_for(report.language)
    report = reading.with_short_titles(report)
    archive = Archive(texts, layouts)
    proved = _proved(report, archive)
    whole = _whole_texts(report, archive, proved)
    picture = sanitized_svg(picture_svg)
    disputed = reading.disputed_statements(report)
    left_open = [row.contradiction for row in reading.open_disagreements(report, labels)]
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    return page_template().render(
        report=report,
        style=Markup(style),  # noqa: S704 -- our own file
        policy=Markup(_policy([style, *(picture.styles if picture else ())])),  # noqa: S704 -- fixed words and base64
        picture=Markup(picture.markup) if picture else "",  # noqa: S704 -- rebuilt from allowed elements
        flow=flow_of(report, labels),
        sources={source.id: source for source in report.sources},
        attributions=reading.Attributions(report, labels),
        citations={citation.id: citation for citation in report.citations},
        groups=reading.grouped_sources(report),
        folders=reading.cited_folders(report),
        section_headings=reading.section_headings(report),
        products=[row.name for row in report.newest_versions],
        left_open=left_open,
        explained=reading.explained_differences(report),
        more_evidence=reading.more_evidence(report),
        open_points=reading.points_left_open(report, labels),
        matrix=reading.matrix_view(report, labels),
        closed_gaps=reading.closed_gaps(report, labels),
        has_analysis=any(row.status is Status.ANALYSIS for row in report.statements()),
        as_of=as_of(report, labels),
        basis=basis_of(report, labels),
        making=making_of(report, labels),
        searches=_searches(report, labels),
        opens_with_limit=reading.opens_with_limit(report),
        passages=[_quote_in_context(citation, archive, proved, whole) for citation in report.citations],
        whole_texts=whole,
        disputed=_places_of(disputed, left_open),
        other_values=reading.other_values(report, disputed),
        inline=InlineMarks(report),
        places=_Places(),
        labels=labels,
    )


@dataclass(frozen=True, kw_only=True)
class _QuoteInContext:
    """One citation with the stretch of text around its quote; no paragraphs where the quote is not proved."""

    citation: Citation
    paragraphs: list[Paragraph]
    cut_before: bool = False
    cut_after: bool = False
    in_whole: bool = False


@dataclass(frozen=True, kw_only=True)
class _WholeText:
    """A source's text with every quote marked; `paragraphs` is empty where it was too long to carry."""

    source: ReportSource
    paragraphs: list[Paragraph]


class _Places:
    """Where each citation stands in the page, so that its passage can lead back."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def add(self, n: str) -> str:
        """A new element id for one more place of the citation."""
        self._seen[n] = self._seen.get(n, 0) + 1
        return f"r-{n}-{self._seen[n]}"

    def of(self, n: str) -> list[str]:
        """The ids given out for the citation so far."""
        return [f"r-{n}-{place}" for place in range(1, self._seen.get(n, 0) + 1)]


@cache
def page_template() -> Template:
    """Compiled once a process; to compile takes longer than to render."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FunctionLoader(lambda name: files(__package__).joinpath(f"{name}.html.j2").read_text(encoding="utf-8")),
    )
    environment.filters |= {"breakable": _breakable, "clean": formatting.clean, "shortened": shortened}
    environment.globals |= {
        "formatting": formatting,
        "also_in": reading.also_in,
        "clauses_of": clauses_of,
        "same_source": reading.same_source,
        "cited_once": reading.cited_once,
        "runs": reading.runs,
        "of_disagreements": reading.of_disagreements,
        "source_marks": reading.source_marks,
        "direction": direction,
        "letter": reading.letter,
    }
    return environment.get_template("report")


def _places_of(disputed: Mapping[str, CitedContradiction], left_open: Sequence[CitedContradiction]) -> dict[str, str]:
    """The element of the disagreement that a statement is a side of, by the statement's id."""
    numbers = {row.id: n for n, row in enumerate(left_open, 1)}
    return {name: f"disagreement-{numbers[row.id]}" for name, row in disputed.items()}


def _searches(report: Report, labels: Labels) -> list[str]:
    """The providers with how often each was asked."""
    asked = {use.provider: use for use in report.statistics.gathering.searches if use.asked}
    told = [
        (labels.search_use_failed if use.failed else labels.search_use).format(
            provider=formatting.search_name(name, labels), asked=use.asked, failed=use.failed
        )
        for name, use in asked.items()
    ]
    return [
        labels.comma.join(
            [*told, *(formatting.search_name(name, labels) for name in report.search if name not in asked)]
        )
    ]


def _breakable(text: str) -> Markup:
    """The text on one line, with places where a name may be broken; who copies it gets nothing of them."""
    return Markup("<wbr>").join(formatting.breakable(formatting.one_line(text)))


def _policy(styles: Iterable[str]) -> str:
    """A content security policy that allows these style sheets and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    allowed = " ".join(f"'sha256-{digest}'" for digest in dict.fromkeys(hashes))
    return f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'"


def _proved(report: Report, archive: Archive) -> dict[str, Mark]:
    """Where the quotes stand that stand at all; checked again here, for a mark must not be put on trust."""
    marks = {}
    for citation in report.citations:
        proof = archive.prove(citation.quote, citation.locator, citation.archive_hash)
        if citation.valid and not proof.problem:
            marks[citation.id] = Mark(n=citation.id, start=proof.start, end=proof.end)
    return marks


def _quote_in_context(
    citation: Citation, archive: Archive, proved: Mapping[str, Mark], whole: Iterable[_WholeText]
) -> _QuoteInContext:
    mark = proved.get(citation.id)
    if mark is None:
        return _QuoteInContext(citation=citation, paragraphs=[])
    text = archive.text(citation.archive_hash)
    start, end = context_of(text, mark)
    carried = {source_text.source.archive_hash for source_text in whole if source_text.paragraphs}
    return _QuoteInContext(
        citation=citation,
        paragraphs=paragraphs(text, archive.layout(citation.archive_hash), [mark], start=start, end=end),
        cut_before=start > 0,
        cut_after=end < len(text),
        in_whole=citation.archive_hash in carried,
    )


def _whole_texts(report: Report, archive: Archive, proved: Mapping[str, Mark]) -> list[_WholeText]:
    """The cited sources' texts, first cited first, while they fit into `WHOLE_TEXT_BYTES`."""
    left = WHOLE_TEXT_BYTES
    carried: list[_WholeText] = []
    cited = [source for source in report.sources if source.citations]
    for source in sorted(cited, key=lambda source: source.n or 0):
        is_carried = any(source_text.source.archive_hash == source.archive_hash for source_text in carried)
        if is_carried or archive.problem_of(source.archive_hash):
            continue
        text = archive.text(source.archive_hash)
        size = len(text.encode())
        fits = size <= left
        left -= size if fits else 0
        quoted = [citation.id for citation in report.citations if citation.archive_hash == source.archive_hash]
        marks = [proved[n] for n in quoted if n in proved]
        shown = paragraphs(text, archive.layout(source.archive_hash), marks) if fits else []
        carried.append(_WholeText(source=source, paragraphs=shown))
    return carried
