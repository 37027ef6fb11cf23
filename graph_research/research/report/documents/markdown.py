"""The report as Markdown: readable as plain text, safe in any renderer, the same bytes for the same research."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

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
from graph_research.research.report.formatting import one_line
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report

_ACTIVE = re.compile(r"[\\`\[\]|~]|(?<=\])\(|!(?=\[)|\$(?=\S)")
_UNDERSCORES = re.compile(r"(?<!\w)_+")
_STAR = re.compile(r"\*")
_STARS = re.compile(r"\*+(?=[^\s*])|\*+$")
"""Where emphasis may begin. Underscores behind a letter and stars before a space only end it."""
_ENTITY = re.compile(r"&(?=#?\w+;)")
_BAR = r"\|"
_PLAIN_ADDRESS = re.compile(r"[\w#/:.%?=+,@-]+")
_ENDING = '<>|\\`"'
_NOT_IN_ANCHORS = re.compile(r"[^\w\s-]")
_LINE_START = re.compile(r"^(?=[#+*=-])|^(\d{1,9})(?=[.)](?:\s|$))")


def escape(text: str, *, starts_line: bool = True, within_emphasis: bool = False) -> str:
    """Foreign text as one line that Markdown and HTML leave alone: no markup, link, image, table cell or heading; nor,
    `within_emphasis`, its end."""
    line = _ACTIVE.sub(_escaped, one_line(text))
    line = _UNDERSCORES.sub(_escaped, line)
    line = (_STAR if within_emphasis else _STARS).sub(_escaped, line)
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    if not starts_line:
        return line
    line = "\\" + line if line.startswith(">") else line
    return _LINE_START.sub(lambda match: f"{match[1]}\\" if match[1] else "\\", line)


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])


def render_markdown(report: Report) -> str:
    """The report, ending in a newline. It holds no time, duration, absolute path or run id."""
    elements = elements_of(report, labels_for(report.language), for_print=False)
    anchors = anchors_of(element.text for element in elements if isinstance(element, Heading))
    return "\n\n".join(_element(_linked(element, anchors)) for element in elements) + "\n"


def anchors_of(headings: Iterable[str]) -> list[str]:
    """The name by which a link leads to each heading, as GitHub and most programs make it of the heading's words: small
    letters, hyphens for spaces, no marks, and a number behind one that there is already."""
    seen: Counter[str] = Counter()
    anchors = []
    for heading in headings:
        name = _NOT_IN_ANCHORS.sub("", one_line(heading).lower()).replace(" ", "-")
        anchors.append(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return anchors


def _linked(element: Element, anchors: Sequence[str]) -> Element:
    """The element, its texts that lead to a heading as links."""
    if not isinstance(element, Items):
        return element
    items = [replace(item, spans=tuple(_to_heading(span, anchors) for span in item.spans)) for item in element.items]
    return replace(element, items=tuple(items))


def _to_heading(span: Span, anchors: Sequence[str]) -> Span:
    return span if span.leads_to is None else replace(span, url=f"#{anchors[span.leads_to]}")


def _element(element: Element) -> str:
    match element:
        case Heading(text, level):
            return f"{'#' * (level + 1)} {escape(text, starts_line=False)}"
        case Paragraph(spans, is_quoted):
            return ("> " if is_quoted else "") + _spans(spans)
        case Items():
            return "\n".join(f"{'  ' * item.level}{mark} {_spans(item.spans)}" for mark, item in element.marked())
        case Table():
            return _table(element)
        case Code(text, language, marks, caption):
            return _captioned(caption, fenced(text, language)) + (f"\n\n{_spans(marks)}" if marks else "")
        case Passage(_, number, quote, source, where):
            of_it = f"*{escape(source, within_emphasis=True)}*{escape(where, starts_line=False)}"
            return f"[{number}] {escape(quote)} {of_it}"


def fenced(text: str, language: str) -> str:
    """A block of code that nothing in it ends; a language that is no plain name is left out."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    name = language if re.fullmatch(r"[A-Za-z0-9+#.-]{1,20}", language) else ""
    return f"{fence}{name}\n{text}\n{fence}"


def code(text: str) -> str:
    """A stretch of code within a line that nothing in it ends."""
    said = one_line(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", said)), default=0))
    return f"{fence}{said}{fence}" if fence == "`" else f"{fence} {said} {fence}"


def within_cell(spans: Spans) -> Spans:
    """The spans of a table's cell, which a bar in code would end."""
    return tuple(replace(span, text=span.text.replace("|", _BAR)) if is_code(span) else span for span in spans)


def _table(table: Table) -> str:
    heads = [escape(head, starts_line=False) for head in table.header]
    rows = [heads, ["---"] * len(heads)]
    rows += [[_spans(within_cell(cell), starts_line=False) for cell in row] for row in table.rows]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return _captioned(table.caption, lines)


def _captioned(caption: str, lines: str) -> str:
    return f"**{escape(caption, within_emphasis=True)}**\n\n{lines}" if caption else lines


def _spans(spans: Sequence[Span], *, starts_line: bool = True) -> str:
    runs = enumerate(emphasised(spans))
    return "".join(_run(style, run, starts_line=starts_line and n == 0) for n, (style, run) in runs)


def _run(style: Style, run: Spans, *, starts_line: bool) -> str:
    """One span, or bold or emphasis with code in it."""
    if len(run) == 1 and style is not Style.STRONG_CODE:
        return _span(run[0], starts_line=starts_line)
    return in_style(style, "".join(code(span.text) if is_code(span) else _emphatic(span.text) for span in run))


def in_style(style: Style, text: str) -> str:
    """The text in bold or emphasis, without the white space at its edges."""
    mark = {Style.STRONG: "**", Style.STRONG_CODE: "**", Style.EMPHASIS: "*"}.get(style, "")
    lead, said, trail = edges(text)
    return f"{lead}{mark}{said}{mark}{trail}" if said else lead


def _emphatic(text: str) -> str:
    lead, said, trail = edges(text)
    return f"{lead}{escape(said, starts_line=False, within_emphasis=True)}{trail}"


def edges(text: str) -> tuple[str, str, str]:
    """The white space before a text, the text, and that behind it."""
    inner = text.lstrip()
    return text[: len(text) - len(inner)], inner.rstrip(), inner[len(inner.rstrip()) :]


def _span(span: Span, *, starts_line: bool) -> str:
    if span is LINE_BREAK:
        return "<br>"
    if span.is_further:
        return ""
    if span.citation or span.style is Style.NUMBER:
        return span.text
    if is_code(span):
        return code(span.text)
    is_emphasis = span.style in (Style.STRONG, Style.EMPHASIS)
    text = escape(span.text, starts_line=starts_line and not span.url, within_emphasis=is_emphasis)
    if span.url:
        return f"[{text}]({_target(span.url)})"
    before, _, after = edges(span.text)
    return f"{before}{in_style(span.style, text)}{after}" if text else before


def _target(url: str) -> str:
    """A link's address, between `<` and `>` where it has more than plain signs; what could end it or the table's cell
    is percent-encoded."""
    if _PLAIN_ADDRESS.fullmatch(url):
        return url
    return f"<{''.join(f'%{ord(sign):02X}' if sign in _ENDING else sign for sign in url)}>"
