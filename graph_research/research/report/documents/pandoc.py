"""The report as Markdown with pandoc's citations, and its sources as the bibliography in the file's own metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from graph_research.research.report.documents.bibliography import csl_items, listed_sources
from graph_research.research.report.documents.elements import (
    LINE_BREAK,
    Code,
    Element,
    Heading,
    Items,
    Paragraph,
    Passage,
    Span,
    Spans,
    Style,
    Table,
    emphasised,
    is_code,
)
from graph_research.research.report.documents.layout import elements_of
from graph_research.research.report.documents.markdown import code, fenced, in_style, within_cell
from graph_research.research.report.formatting import who_served
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report

_BIBLIOGRAPHY = "::: {#refs}\n:::"
_ACTIVE = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~^$@\"'&:])")


def render_pandoc(report: Report) -> str:
    """The file's text: `[@src-…, c7]` cites passage c7 of a source. Pandoc and its citeproc make any format of it."""
    labels = labels_for(report.language)
    metadata = {
        "title": report.headline,
        "lang": report.language,
        "date": (report.finished_at or report.started_at or "")[:10],
        "keywords": [
            f"run {report.run_id}",
            f"graph {report.graph} {report.graph_hash}",
            f"model {labels.semicolon.join(who_served(report, labels))}",
        ],
        "references": csl_items(listed_sources(report, only_cited=True)),
    }
    front = f"---\n{json.dumps(metadata, ensure_ascii=False, indent=1)}\n---"  # JSON is YAML
    cited = {citation.id: citation.source_id for citation in report.citations}
    elements = elements_of(report, labels, for_print=True)
    return "\n\n".join([front, *_body(elements[1:], cited, Heading(labels.sources, 1))]) + "\n"


def _body(elements: Sequence[Element], cited: dict[str, str], sources: Heading) -> Iterator[str]:
    """The elements; in place of the list of cited sources stands the bibliography, since other numbers lead to it."""
    last = max(n for n, element in enumerate(elements) if element == sources)
    lists = (n for n, element in enumerate(elements) if n > last and isinstance(element, Items))
    replaced = next(lists) if cited else None
    for n, element in enumerate(elements):
        yield _BIBLIOGRAPHY if n == replaced else _element(element, cited)


def _element(element: Element, cited: dict[str, str]) -> str:
    match element:
        case Heading(text, level):
            return f"{'#' * max(level, 1)} {_escaped(text)}"
        case Paragraph(spans, is_quoted):
            return ("> " if is_quoted else "") + _spans(spans, cited)
        case Items():
            rows = (f"{'    ' * item.level}{mark} {_spans(item.spans, cited)}" for mark, item in element.marked())
            return "\n".join(rows)
        case Table():
            return _table(element, cited)
        case Code(text, language, marks, caption):
            above = f"**{_escaped(caption)}**\n\n" if caption else ""
            return above + fenced(text, language) + (f"\n\n{_spans(marks, cited)}" if marks else "")
        case Passage(citation, _, quote, source, where):
            return f"[]{{#{citation}}}**{citation}** {_escaped(quote)} *{_escaped(source)}*{_escaped(where)}"


def _table(table: Table, cited: dict[str, str]) -> str:
    rows = [[_escaped(head) for head in table.header], ["---"] * len(table.header)]
    rows += [[_spans(within_cell(cell), cited) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, *([f"\n: {_escaped(table.caption)}"] if table.caption else [])])


def _spans(spans: Iterable[Span], cited: dict[str, str]) -> str:
    """Citations that stand side by side are one: pandoc reads two pairs of brackets in a row as a link."""
    held = list(spans)
    of_citations = [bool(span.citation) or _is_between(held[n - 1 : n + 2]) for n, span in enumerate(held)]
    text = ""
    for is_cited, group in groupby(zip(of_citations, held, strict=True), key=itemgetter(0)):
        run = [span for _, span in group]
        if is_cited:
            names = (span.citation for span in run if span.citation)
            text += f"[{'; '.join(f'@{cited[name]}, [{name}](#{name})' for name in names)}]"
        else:
            text += "".join(_run(style, part) for style, part in emphasised(run))
    return text


def _is_between(spans: Sequence[Span]) -> bool:
    """Whether the second of three is the space between two citations."""
    return len(spans) == 3 and bool(spans[0].citation and spans[2].citation) and spans[1].text.isspace()


def _run(style: Style, run: Spans) -> str:
    """One span, or bold or emphasis with code in it."""
    if len(run) == 1 and style is not Style.STRONG_CODE:
        return _span(run[0])
    return in_style(style, "".join(code(span.text) if is_code(span) else _escaped(span.text) for span in run))


def _span(span: Span) -> str:
    if span is LINE_BREAK:
        return "; "
    if is_code(span):
        return code(span.text)
    text = _escaped(span.text)
    if span.url:
        return f"[{text}](<{span.url.replace('<', '%3C').replace('>', '%3E')}>)"
    return in_style(span.style, text) if span.style in (Style.STRONG, Style.EMPHASIS) else text


def _escaped(text: str) -> str:
    return _ACTIVE.sub(r"\\\1", text)
