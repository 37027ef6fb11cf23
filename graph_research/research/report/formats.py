"""The formats of a report, by name: what a file of one is called, its media type, and how it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_research.research.report.model import Report


@dataclass(frozen=True, kw_only=True)
class ProvedReport:
    """A report with what its pages show of the run: archived texts and their layouts by archive hash, and the graph's
    picture as SVG, which is drawn only when a format asks for it."""

    report: Report
    texts: Mapping[str, str]
    layouts: Mapping[str, Mapping[str, Any]]
    graph_svg: Callable[[], str] = lambda: ""


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way to write a report. `render` gives the bytes of a file; those of a text are UTF-8.

    Renderers import what they need when they are called, so that the names of the formats cost nothing.
    """

    suffix: str
    media_type: str
    render: Callable[[ProvedReport], bytes]
    is_text: bool = True


def _markdown(proved: ProvedReport) -> bytes:
    from graph_research.research.report.documents.markdown import render_markdown

    return render_markdown(proved.report).encode()


def _html(proved: ProvedReport) -> bytes:
    from graph_research.research.report.page.html import render_html

    page = render_html(proved.report, texts=proved.texts, layouts=proved.layouts, picture_svg=proved.graph_svg())
    return page.encode()


def _json(proved: ProvedReport) -> bytes:
    import orjson

    return orjson.dumps(proved.report.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _docx(proved: ProvedReport) -> bytes:
    from graph_research.research.report.documents.docx import render_docx

    return render_docx(proved.report)


def _pdf(proved: ProvedReport) -> bytes:
    from graph_research.research.report.documents.pdf import render_pdf

    return render_pdf(proved.report)


def _pandoc(proved: ProvedReport) -> bytes:
    from graph_research.research.report.documents.pandoc import render_pandoc

    return render_pandoc(proved.report).encode()


def _evidence(proved: ProvedReport) -> bytes:
    from graph_research.research.report.documents.evidence_table import render_evidence

    return render_evidence(proved.report).encode()


def _bibliography(name: str) -> Callable[[ProvedReport], bytes]:
    def render(proved: ProvedReport) -> bytes:
        from graph_research.research.report.documents.bibliography import RENDERERS, listed_sources

        return RENDERERS[name](listed_sources(proved.report)).encode()

    return render


REPORT_FORMATS: Mapping[str, Format] = {
    "md": Format(suffix=".md", media_type="text/markdown", render=_markdown),
    "html": Format(suffix=".html", media_type="text/html", render=_html),
    "json": Format(suffix=".json", media_type="application/json", render=_json),
    "docx": Format(
        suffix=".docx",
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        render=_docx,
        is_text=False,
    ),
    "pdf": Format(suffix=".pdf", media_type="application/pdf", render=_pdf, is_text=False),
    "pandoc": Format(suffix=".md", media_type="text/markdown", render=_pandoc),
    "csv": Format(suffix=".csv", media_type="text/csv", render=_evidence),
    "bibtex": Format(suffix=".bib", media_type="application/x-bibtex", render=_bibliography("bibtex")),
    "ris": Format(suffix=".ris", media_type="application/x-research-info-systems", render=_bibliography("ris")),
    "csl-json": Format(
        suffix=".json", media_type="application/vnd.citationstyles.csl+json", render=_bibliography("csl-json")
    ),
}
