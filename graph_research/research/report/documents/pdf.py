"""The report as PDF, set by Typst with its own fonts; each number leads to its passage."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import count

import typst
from pypdf import PdfReader

from graph_research.errors import GraphResearchError
from graph_research.research.report.documents.elements import (
    LINE_BREAK,
    LINE_CHARS,
    Code,
    Element,
    Heading,
    Items,
    Paragraph,
    Passage,
    Span,
    Style,
    Table,
    is_code,
    least_width,
    text_of,
)
from graph_research.research.report.documents.layout import elements_of
from graph_research.research.report.formatting import breakable
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report
from graph_research.text.language.tags import has_italics, primary

_FONTS = (
    *("Libertinus Serif", "Noto Serif CJK SC", "Noto Serif CJK JP", "Noto Sans CJK SC", "Noto Sans CJK JP"),
    *("Source Han Serif SC", "WenQuanYi Micro Hei", "IPAexMincho", "DejaVu Sans", "New Computer Modern"),
)
"""Typst's own first, then the system's for Chinese and Japanese; those that are not installed are passed over."""

_MISSING = "\x00"
_STYLE = """
#set page(margin: (x: 2.2cm, y: 2.4cm), numbering: "1")
#set text(font: FONTS, size: 10.5pt, lang: LANG, fallback: true)
#set par(justify: false, leading: 0.68em)
#show heading: set block(above: 1.4em, below: 0.7em)
#show link: set text(fill: rgb("#1f4f8f"))
#show raw: set text(size: 8.5pt)
#show table: set text(size: 9pt)
#set table(stroke: 0.4pt + luma(170), inset: 5pt)
"""


_MOST_MISSING = 0.1
"""The largest share of characters without a font with which a PDF is still worth having."""


_MOST_LINES = 30
"""What is kept on one page: code and rows of tables of up to so many lines."""


class PdfNotMade(GraphResearchError):
    """The PDF could not be set, or no installed font has the characters of the report."""


def render_pdf(report: Report) -> bytes:
    """The file's bytes; the same report and fonts give the same bytes.

    Characters that no installed font has are named on the first page; `PdfNotMade` where they are a tenth or more.
    """
    labels = labels_for(report.language)
    elements = elements_of(report, labels, for_print=True)
    made = _set(_source(report, elements))
    text = _shown(made)
    if _MISSING not in text:
        return made
    missing = _missing(elements, report.language)
    if text.count(_MISSING) > _MOST_MISSING * len(text):
        raise PdfNotMade(
            f"no installed font has characters of the report, such as {missing[:20]}",
            help="install a font that has them, such as Noto Sans CJK for Chinese and Japanese",
        )
    notice = Paragraph((Span(labels.no_font.format(characters=" ".join(missing[:40])), Style.STRONG),))
    return _set(_source(report, [*elements[:1], notice, *elements[1:]]))


def _set(source: str) -> bytes:
    try:
        return bytes(typst.compile(source.encode(), timestamp=0))
    except typst.TypstError as error:
        raise PdfNotMade("the report cannot be set as PDF", help=str(error)) from error


def _shown(made: bytes) -> str:
    """The text of all pages, in which a glyph of no font is `_MISSING`."""
    return "".join(page.extract_text() for page in PdfReader(io.BytesIO(made)).pages)


def _missing(elements: Sequence[Element], language: str) -> str:
    """The characters that no font has, each set on a page of its own to see."""
    characters = sorted(
        {character for element in elements for character in _element(element, language) if character > "\u02ff"}
    )
    pages = "\n#pagebreak()\n".join(f"#{_text(character)}" for character in characters)
    reader = PdfReader(io.BytesIO(_set(f"{_head(language)}\n{pages}\n")))
    shown = [page.extract_text() for page in reader.pages]
    return "".join(character for character, text in zip(characters, shown, strict=False) if _MISSING in text)


def _source(report: Report, elements: Sequence[Element]) -> str:
    """The report in Typst's language. All text of others is in string literals, so that none of it is markup."""
    title = f"#set document(title: {_string(report.headline)}, author: {_string('graph-research')})"
    headings = count()
    places = (f" <heading-{next(headings)}>" if isinstance(element, Heading) else "" for element in elements)
    body = (f"{_element(element, report.language)}{place}" for element, place in zip(elements, places, strict=True))
    return "\n".join([title, _head(report.language), *body]) + "\n"


def _head(language: str) -> str:
    installed = [name for name in _FONTS if name in _families()]
    if primary(language) == "ja":  # many characters have another form there than in Chinese
        installed.sort(key=lambda name: name.endswith("SC"))
    fonts = f"({', '.join(map(_string, installed))},)"
    upright = "" if has_italics(language) else "#show emph: it => it.body\n"
    return upright + _STYLE.replace("FONTS", fonts).replace("LANG", _string(primary(language)))


def _element(element: Element, language: str) -> str:
    match element:
        case Heading(text, 0):
            size = "13pt" if element.is_long else "19pt"
            return f"#block(below: 1.2em, text(size: {size}, weight: {_string('bold')}, {_string(text)}))"
        case Heading(text, level):
            return f"#heading(level: {level}, {_string(text)})"
        case Paragraph(spans, is_quoted):
            return f"#quote(block: true)[{_spans(spans)}]" if is_quoted else f"#par[{_spans(spans)}]"
        case Items(items, ordered):
            mark = "+" if ordered else "-"
            return "\n".join(f"{'  ' * item.level}{mark} {_spans(item.spans)}" for item in items) + "\n"
        case Table():
            return _table(element, language)
        case Code(text, lexer, marks, caption):
            block = f"#raw({_string(text)}, block: true, lang: {_string(lexer)})"
            if text.count("\n") < _MOST_LINES:
                block = f"#block(breakable: false)[{block}]"
            block = _captioned(caption, block)
            return f"{block}\n#par[{_spans(marks)}]" if marks else block
        case Passage(citation, number, quote, source, where):
            said = [Span(f"[{number}] {quote} "), Span(source, Style.EMPHASIS), Span(where)]
            return f"#par[{_spans(said)}] <{citation}>"


def _table(table: Table, language: str) -> str:
    heads = [f"[*#{_text(head)}*]" for head in table.header]
    header = f"table.header({', '.join(heads)})," if any(table.header) else ""
    cells = ", ".join(f"[{_spans(cell)}]" for row in table.rows for cell in row)
    made = f"#table(columns: {len(table.header)}, {header} {cells})"
    longest = max((len(text_of(cell)) for row in table.rows for cell in row), default=0)
    if longest * len(table.header) < _MOST_LINES * LINE_CHARS:
        made = f"#[#set table.cell(breakable: false)\n{made}]"
    if sum(map(least_width, table.columns())) > LINE_CHARS:
        foreign = "" if has_italics(language) else f", lang: {_string('en')}"  # its words, too, have to be divided
        made = f"#[#show table: set text(hyphenate: true{foreign})\n{made}]"
    return _captioned(table.caption, made)


def _captioned(caption: str, made: str) -> str:
    return f"#block(sticky: true)[#strong({_string(caption)})]\n{made}" if caption else made


def _spans(spans: Iterable[Span]) -> str:
    return "".join(map(_span, spans))


def _span(span: Span) -> str:
    if span is LINE_BREAK:
        return "#linebreak()"
    if is_code(span):
        raw = "#sym.zws;".join(f"#raw({_string(piece)})" for piece in breakable(span.text))
        return f"#strong[{raw}]" if span.style is Style.STRONG_CODE else raw
    text = f"#{_text(span.text)}"
    if span.citation:
        return f"#link(<{span.citation}>)[{text}]"
    if span.leads_to is not None:
        return f"#link(<heading-{span.leads_to}>)[{text}]"
    text = f"#link({_string(span.url)})[{text}]" if span.url else text
    functions = {Style.STRONG: "strong", Style.EMPHASIS: "emph"}
    return f"#{functions[span.style]}[{text}]" if span.style in functions else text


def _text(text: str) -> str:
    return f"text({_string(text)})"


def _string(text: str) -> str:
    """A Typst string literal, which has JSON's escapes but for `\\u{...}`."""
    safe = "".join(character for character in text if character in "\n\t" or character.isprintable())
    return json.dumps(safe, ensure_ascii=False)


@cache
def _families() -> frozenset[str]:
    return frozenset(typst.Fonts().families())
