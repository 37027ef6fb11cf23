"""XML texts: DocBook by the meaning of its elements, any other XML by where its words stand."""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import BlockKind, Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.readers.foreign.package import local_name, parse_xml, text_of
from graph_research.text.readers.html import html_document
from graph_research.text.readers.limits import Limits

_SECTIONS = frozenset(
    (
        "book",
        "part",
        "chapter",
        "appendix",
        "article",
        "section",
        "sect1",
        "sect2",
        "sect3",
        "sect4",
        "sect5",
        "refentry",
    )
)
_INFO = frozenset(["info", "bookinfo", "articleinfo", "chapterinfo", "sectioninfo", "refentryinfo", "refmeta"])
_CODE = frozenset(["programlisting", "screen", "literallayout", "synopsis", "cmdsynopsis"])
_ITEMS = frozenset(["listitem", "member", "step", "question", "answer"])
_TABLES = frozenset(("table", "informaltable"))
_ROWS = frozenset(("row", "tr"))
_CELLS = frozenset(("entry", "td", "th"))
_TEXTS = frozenset(["para", "simpara", "title", "subtitle", "term", "bridgehead", "p", "refname", "refpurpose"])


def read_xml(data: bytes, limits: Limits) -> Document:
    """The text of the elements, each at the line where it begins. Attributes and comments are no text."""
    root, broken = _parsed(data)
    if local_name(root) == "html":
        return html_document(data.decode("utf-8", "replace"))
    builder = DocumentBuilder()
    reader = _Reader(builder, limits)
    reader.read(root)
    title = next((text_of(element) for element in root if local_name(element) == "title"), "")
    info = next((element for element in root if local_name(element) in _INFO), None)
    authors: tuple[str, ...] = ()
    date = ""
    if info is not None:
        title = next((text_of(element) for element in info.iter() if local_name(element) == "title"), title)
        authors = tuple(filter(None, (_person(one) for one in info.iter() if local_name(one) == "author")))
        dates = [text_of(one).strip() for one in info.iter() if local_name(one) in ("pubdate", "date")]
        date = next((found for text in dates if (found := iso_date(text))), "")
    return replace(builder.document(title), authors=authors, date=date, warnings=(*broken, *reader.warnings))


def _parsed(data: bytes) -> tuple[etree._Element, tuple[str, ...]]:
    """The root, and what is wrong where some of the text may be left out."""
    try:
        return parse_xml(data), ()
    except DocumentUnreadable as error:
        return parse_xml(data, recover=True), (f"{error.message}; what can be read of it is read",)


def _person(author: etree._Element) -> str:
    names = [text_of(one) for one in author.iter() if local_name(one) in ("firstname", "givenname", "surname")]
    return " ".join(" ".join(names or [text_of(author)]).split())


class _Reader:
    """Walks the tree without recursion."""

    def __init__(self, builder: DocumentBuilder, limits: Limits) -> None:
        self._builder = builder
        self._limits = limits
        self._chars = 0
        self.warnings: list[str] = []

    def read(self, root: etree._Element) -> None:
        pending: list[tuple[etree._Element, int, bool]] = [(root, 0, False)]
        while pending:
            element, depth, listed = pending.pop()
            name = local_name(element)
            if not name:
                continue
            if self._chars > self._limits.chars:
                self.warnings.append(f"stopped after {self._limits.chars:,} characters, in line {element.sourceline}")
                return
            if name in _ROWS:
                self._add_row(element)
            elif name in _CODE or name in _TEXTS or _has_own_text(element):
                self._add(element, name, depth, listed=listed)
            else:
                if name in _TABLES:
                    self._builder.begin_table()
                inner = depth + (name in _SECTIONS)
                pending += [(child, inner, listed or name in _ITEMS) for child in reversed(element)]

    def _add_row(self, row: etree._Element) -> None:
        self._builder.place("line", row.sourceline or 1)
        self._builder.add_row([text_of(cell) for cell in row if local_name(cell) in _CELLS])

    def _add(self, element: etree._Element, name: str, depth: int, *, listed: bool) -> None:
        kind: BlockKind = "item" if listed else "paragraph"
        if name in ("title", "bridgehead", "refname"):
            kind = "heading"
        elif name in _CODE:
            kind = "code"
        text = text_of(element)
        self._chars += len(text)
        self._builder.place("line", element.sourceline or 1)
        self._builder.add(kind, text, level=max(1, min(6, depth)) if kind == "heading" else 0)


def _has_own_text(element: etree._Element) -> bool:
    if element.text and element.text.strip():
        return True
    return any(child.tail and child.tail.strip() for child in element)
