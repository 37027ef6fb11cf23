"""HTML becomes a document: text nodes only, spaces at block tags only, and what is page furniture marked as such."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from graph_research.text.canonical import DocumentBuilder, canonical_text
from graph_research.text.document import BlockKind, Document
from graph_research.text.language.tags import primary
from graph_research.text.readers.html_head import PageHead, page_head
from graph_research.text.readers.html_nesting import bound_nesting
from graph_research.text.readers.html_tags import (
    BLOCK_TAGS,
    DROPPED_TAGS,
    FURNITURE_ROLES,
    FURNITURE_TAGS,
    FURNITURE_WORDS,
    INLINE_TAGS,
    NAMED_TAGS,
    VOID_TAGS,
)
from graph_research.text.readers.plain import is_code, plain_document
from graph_research.text.readers.stated_date import stated_date

_CONTENT = "h1, main, article, [role=main]"
_ANCHOR_WORDS = frozenset({"headerlink", "anchorlink", "permalink"})
_ANCHOR_SIGNS = frozenset("¶#§🔗⚓∞")
_DROPPED = ".mw-editsection, .linenos, .lineno, [role=tooltip]"
_TAG = re.compile(r"<([a-z][a-z0-9]*)")
_WORDS = re.compile(r"[a-z0-9]+")
_EMPTY_ELEMENT = re.compile(r"<([A-Za-z][\w:-]*)([^<>]*+)(?<=/)>")
_LONGEST_BEFORE_XML = 100
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_LINK_SHARE = 0.75  # a block with more of its characters in links than this is a list of links, not prose
_LEADS_ON = frozenset({"next", "prev", "previous", "up"})
"""Types of links, see the HTML standard, and Texinfo's name for the page above; what stands beside them leads there."""
_PREFORMATTED_SHARE = 0.9
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SECTION_TEXT = "p, dd, dt, li, pre, td"
_TOPIC_CHARS = 600  # with so much prose a class or an id, such as `toctree-wrapper` or `sql-for-share`, is no hint
_MAX_UNSURE = 8  # elements in each other that are searched for content; those in them are content
_MAY_HOLD_CONTENT = ("form", "search", "aside")
_MAIN_SHARE = 0.4  # a <main> with at least this share of the page's text is the page; the rest is furniture
_NOTE_ROLES = ("note", "doc-footnote", "footnote", "endnote", "rearnote")
_LABELLED_ROWS = 2
_MAX_COVERED = 100_000  # of a page's cells, those that others stand in
_NOTE_LINKS = "sup a[href*='#'], a[href*='#'] > sup, a[role=doc-noteref]"
_NOTE = re.compile(r"\W*((?:[^\W\d_]{2,8}\s)?\d{1,3}|[^\W\d_]{1,2}|[*†‡§]{1,3})\W*")
"""What a link to a note shows: a number ("4", "note 4"), letters or signs, in brackets or not."""
_RAISED_NUMBER = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_NOTED = re.compile(r"(?:[^\W\d_]{3}|[.,;:!?)\"”’»]|\b(?:1[5-9]|20)\d\d)$")
"""What the number of a note stands behind: a word, a sign or a year, and neither a unit nor the base of a power."""


def html_document(source: str, *, line_key: str = "", note_marks: bool = False) -> Document:
    """The visible text of a page as a document.

    Tags are tokenized first and entities are decoded in text nodes only, so `a &lt; b` keeps its sign. Raises
    `DocumentUnreadable` for a page with more than `MAX_TAGS` tags. Raised marks that lead to a note are no words of the
    sentence before them and left out; with `note_marks` they stand in brackets, `[4]`, and so do other raised numbers
    behind a word, a sign or a year. In a page that was rendered from
    another file, the comment `LINE_KEY NUMBER` says from which line of it the text behind the comment is.
    """
    bounded = bound_nesting(_with_end_tags(source))
    tags = frozenset(_TAG.findall(bounded.lower()))
    parser = LexborHTMLParser(bounded.encode("utf-8", "replace"))
    node = parser.css_first(":not(svg) > title") if "title" in tags else None
    title = canonical_text(node.text()) if node is not None else ""
    head = page_head(parser) if not tags.isdisjoint(("meta", "script", "link", "footer")) else PageHead()
    title = title or head.title
    body = parser.body or parser.root
    builder = DocumentBuilder()
    if body is not None:
        _prune(body, tags, note_marks)
        reader = _Reader(builder, _main(body), line_key)
        reader.read(body)
    heading = builder.first_heading()
    only_adds_the_site = bool(heading) and title.startswith(heading)
    document = builder.document(heading if only_adds_the_site else title)
    if body is not None and "pre" in tags and (written := _preformatted_text(body)):
        read = plain_document(written)
        document = replace(read, title=title or read.title, places=())
    return replace(
        document,
        date=head.date or stated_date(document),
        authors=head.authors,
        publisher=head.publisher,
        licence=head.licence,
        language=_declared_language(parser),
    )


def _preformatted_text(body: LexborNode) -> str:
    """The text of a page that is one preformatted text of several paragraphs, as manual pages and archived mails are;
    empty for every other page, such as a listing of code."""
    text = body.text()
    written = "\n\n".join(node.text() for node in body.css("pre"))
    lines = list(filter(str.strip, written.splitlines()))
    is_whole = len("".join(written.split())) >= _PREFORMATTED_SHARE * len("".join(text.split()))
    return written if is_whole and _BLANK_LINE.search(written.strip()) and not is_code(lines) else ""


def _with_end_tags(source: str) -> str:
    """A page in XML with an end for its empty elements (`<title/>`), which HTML takes for their beginning."""
    if not source[:_LONGEST_BEFORE_XML].lstrip("\ufeff \t\r\n").startswith("<?xml"):
        return source
    return _EMPTY_ELEMENT.sub(
        lambda tag: tag[0] if tag[1].lower() in VOID_TAGS else f"<{tag[1]}{tag[2][:-1]}></{tag[1]}>", source
    )


def _declared_language(parser: LexborHTMLParser) -> str:
    page = parser.root
    attributes = page.attributes if page is not None else {}
    return primary(attributes.get("lang") or attributes.get("xml:lang") or "")


def _prune(body: LexborNode, tags: frozenset[str], note_marks: bool) -> None:
    """Take out what no reader sees as text, the signs beside headings that link to the heading itself, and the tags
    that make no difference to where words end; take out the marks of notes too, or put them in brackets. `tags` are
    those that the page's source has: to look for others in the tree takes time."""
    body.strip_tags(sorted(DROPPED_TAGS & tags))
    for node in body.css(_DROPPED):
        node.decompose()
    for link in body.css("a[href^='#']"):
        if _is_anchor(link):
            link.decompose()
    for mark in _note_marks(body):
        mark.replace_with("".join(f"[{said}]" for said in _notes(mark)) if note_marks else "")
    for raised in body.css("sup") if note_marks else ():
        before = raised.prev.text() if raised.prev is not None else ""
        if _RAISED_NUMBER.fullmatch(raised.text()) and _NOTED.search(before):
            raised.replace_with(f"[{raised.text()}]")
    body.unwrap_tags(sorted(INLINE_TAGS & tags))
    body.merge_text_nodes()


def _note_marks(body: LexborNode) -> list[LexborNode]:
    """The raised elements, or links, that hold marks of notes and nothing else."""
    found: dict[int, LexborNode] = {}
    for node in body.css(_NOTE_LINKS):
        raised = node
        while raised.tag != "sup" and raised.parent is not None and raised.parent.tag in ("sup", *INLINE_TAGS):
            raised = raised.parent
        found[raised.mem_id] = raised
    return [mark for mark in found.values() if _notes(mark)]


def _notes(mark: LexborNode) -> list[str]:
    """What the links to notes in an element show; nothing where it shows something else, too."""
    pieces = [piece for piece in re.split(r"[\s,;]*[,;\]][\s,;\[]*", mark.text().strip()) if piece.strip()]
    said = [_NOTE.fullmatch(piece) for piece in pieces]
    return [one[1] for one in said if one] if all(said) else []


def _main(body: LexborNode) -> LexborNode | None:
    mains = body.css("main, [role=main]")
    if len(mains) != 1:
        return None
    share = len(mains[0].text()) / max(1, len(body.text()))
    return mains[0] if share >= _MAIN_SHARE else None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the page a text node stands."""

    kind: BlockKind = "paragraph"
    level: int = 0
    furniture: bool = False
    link: bool = False
    leads_on: bool = False  # in a link to another page of the same document
    row: bool = False
    content: bool = False
    unsure: int = 0  # elements around it that are furniture unless they hold content


@cache
def _changed(place: _Place, **changes: Any) -> _Place:
    """There are few different places on a page, and very many tags."""
    return replace(place, **changes)


class _Reader:
    """Walks the tree without recursion and hands finished blocks to the builder."""

    def __init__(self, builder: DocumentBuilder, main: LexborNode | None, line_key: str) -> None:
        self._builder = builder
        self._line_key = line_key
        self._lines: list[tuple[int, int]] = []  # the first of `_pieces` that is from a line, and the line
        self._main_id = main.mem_id if main is not None else None
        self._pieces: list[str] = []
        self._cell_starts: list[int] = []
        self._covering = 0  # columns that the last cell stands in beside its first
        self._rows_covered: dict[int, int] = {}  # by column, the rows from this one on that a cell stands in
        self._covered: set[int] = set()  # columns of this row that a cell of the row above stands in
        self._cells_room = _MAX_COVERED
        self._place = _Place()
        self._link_chars = 0
        self._leads_on = False
        self._after_break = False

    def read(self, root: LexborNode) -> None:
        start = _Place(furniture=self._main_id is not None)
        pending: list[tuple[LexborNode, _Place, bool]] = [(root, start, False)]
        while pending:
            node, place, leaving = pending.pop()
            if leaving:
                self._boundary(place)
            elif node.is_text_node:
                self._add(node.text_content or "", place)
            elif node.is_element_node:
                pending.extend(self._enter(node, place))
            elif self._line_key and node.is_comment_node:
                self._mark(node.comment_content or "")
        self._flush()

    def _enter(self, node: LexborNode, place: _Place) -> list[tuple[LexborNode, _Place, bool]]:
        tag = node.tag or ""
        if tag in ("br", "hr"):
            self._break(place)
            return []
        inside = self._inside(node, tag, place)
        steps: list[tuple[LexborNode, _Place, bool]] = []
        if tag in BLOCK_TAGS:
            self._boundary(place)
            steps.append((node, inside, True))
            if tag == "table":
                self._builder.begin_table(header=not _labels_its_rows(node))
                self._rows_covered.clear()
            elif tag == "tr":
                self._cell_starts.clear()
                self._covered.clear()
                self._covering = 0
                self._rows_covered = {column: rows - 1 for column, rows in self._rows_covered.items() if rows > 1}
            elif tag in ("td", "th") and place.row:
                self._begin_cell(_span(node, "colspan"), _span(node, "rowspan"))
        steps.extend((child, inside, False) for child in reversed(list(node.iter(include_text=True))))
        return steps

    def _inside(self, node: LexborNode, tag: str, place: _Place) -> _Place:
        if tag == "a":  # one without an address is a place to link to, and often never closed
            leads_on = not _LEADS_ON.isdisjoint((node.attributes.get("rel") or "").lower().split())
            return _changed(place, link=True, leads_on=leads_on) if node.attributes.get("href") else place
        if node.mem_id == self._main_id:
            return _changed(place, furniture=False, content=True)
        if tag not in BLOCK_TAGS:
            return place
        if not place.furniture:
            unsure = tag in _MAY_HOLD_CONTENT or (tag in NAMED_TAGS and _is_called_furniture(node.attributes))
            if unsure:
                place = _changed(place, unsure=place.unsure + 1)
            if _is_furniture(node, tag, place, unsure=unsure):
                place = _changed(place, furniture=True)
        if tag in ("main", "article"):
            place = _changed(place, content=True)
        return _of_kind(node, tag, place)

    def _begin_cell(self, columns: int, rows: int) -> None:
        self._add_covered()
        column = len(self._cell_starts)
        self._cell_starts.append(len(self._pieces))
        self._covering = min(columns - 1, self._cells_room)
        self._cells_room -= self._covering
        if rows > 1:
            self._rows_covered |= dict.fromkeys(range(column, column + self._covering + 1), rows)

    def _add_covered(self) -> None:
        """A cell without a text of its own for each column from here on that a cell at its left or above it stands
        in."""
        self._cell_starts += [len(self._pieces)] * self._covering
        self._covering = 0
        while len(self._cell_starts) in self._rows_covered and self._cells_room > 0:
            self._covered.add(len(self._cell_starts))
            self._cell_starts.append(len(self._pieces))
            self._cells_room -= 1

    def _boundary(self, place: _Place) -> None:
        """A block tag: the end of a block, but between the cells of a table's row only a space."""
        if place.row and self._place.row:
            self._pieces.append(" ")
        else:
            self._flush()

    def _break(self, place: _Place) -> None:
        """One line break is a space, two in a row end a paragraph."""
        if self._after_break and place.kind != "code":
            self._flush()
        self._pieces.append("\n")
        self._after_break = True

    def _add(self, text: str, place: _Place) -> None:
        if not text.strip():
            self._pieces.append(text)
            return
        self._after_break = False
        self._pieces.append(text)
        self._place = place
        if place.link:
            self._link_chars += len(text.strip())
        self._leads_on = self._leads_on or place.leads_on

    def _flush(self) -> None:
        raw = "".join(self._pieces)
        text = canonical_text(raw)
        if text:
            place = self._place
            kind = place.kind
            leads_on = self._leads_on or self._is_links(text)
            if place.furniture or (leads_on and kind in ("paragraph", "item", "table")):
                kind = "boilerplate"
            self._put(kind, raw if kind == "code" else text, place.level if kind == "heading" else 0)
        self._pieces.clear()
        self._cell_starts = [] if text else [0] * len(self._cell_starts)  # empty cells before the first text of a row
        self._link_chars = 0
        self._leads_on = False
        self._after_break = False
        self._place = _Place()
        self._lines = [(0, line) for _, line in self._lines[-1:]]

    def _put(self, kind: BlockKind, text: str, level: int) -> None:
        cells = self._cells()
        lines = self._placed_lines(canonical_text(text))
        if kind == "table" and len(cells) > 1 and " ".join(filter(None, cells)) == text:
            if lines:
                self._builder.place("line", lines[0][0])
            self._builder.add_row(cells)
        elif lines:
            self._builder.add_placed_lines(kind, lines, level=level)
        else:
            self._builder.add(kind, text, level=level)

    def _mark(self, comment: str) -> None:
        key, _, line = comment.partition(" ")
        if key == self._line_key:
            self._lines.append((len(self._pieces), int(line)))

    def _placed_lines(self, text: str) -> list[tuple[int, str]]:
        """The lines of the block `text` with their numbers; the whole block at its first where they cannot be told
        apart, empty where no line is marked."""
        bounds = pairwise([*self._lines, (len(self._pieces), 0)])
        lines = [(line, canonical_text("".join(self._pieces[start:end]))) for (start, line), (end, _) in bounds]
        lines = [(number, line) for number, line in lines if line]
        return lines if " ".join(line for _, line in lines) == text else [(number, text) for number, _ in lines[:1]]

    def _cells(self) -> list[str | None]:
        """The text of each cell of a row; None for one that a cell of the row above stands in."""
        if len(self._cell_starts) == 1:
            self._covering = 0  # a text across the table is no row of it
        self._add_covered()
        bounds = pairwise([*self._cell_starts, len(self._pieces)])
        return [
            None if column in self._covered else canonical_text("".join(self._pieces[start:end]))
            for column, (start, end) in enumerate(bounds)
        ]

    def _is_links(self, text: str) -> bool:
        return self._link_chars >= _LINK_SHARE * len(text)


def _of_kind(node: LexborNode, tag: str, place: _Place) -> _Place:
    if place.row:
        return place
    if level := _HEADING_LEVELS.get(tag):
        return _changed(place, kind="heading", level=level)
    if tag == "tr" and not _is_layout(node):
        return _changed(place, kind="table", row=True)
    if tag in ("li", "dt"):
        return _changed(place, kind="code" if "sig" in _classes(node) else "item")
    if tag in ("blockquote", "dd"):
        return _changed(place, kind="quote" if tag == "blockquote" else "paragraph")
    if tag in ("pre", "xmp", "listing"):
        return _changed(place, kind="code")
    if tag == "caption":
        return _changed(place, kind="table")
    return place


def _labels_its_rows(table: LexborNode) -> bool:
    """Whether the first rows with several cells have a header cell for the row and cells with what it says, so that
    none of them names the columns."""
    rows = ([cell.tag for cell in row.iter() if cell.tag in ("td", "th")] for row in table.css("tr"))
    first = list(islice((tags for tags in rows if len(tags) > 1), _LABELLED_ROWS))
    return len(first) == _LABELLED_ROWS and all(tags[0] == "th" and "th" not in tags[1:] for tags in first)


def _span(cell: LexborNode, name: str) -> int:
    written = (cell.attributes.get(name) or "").strip()
    return int(written[:4]) if written.isascii() and written.isdigit() and written.strip("0") else 1


def _is_layout(row: LexborNode) -> bool:
    """A row that holds whole page parts is there to place them, not to say anything."""
    return row.css_first("table, h1, h2, h3, article, nav, p + p") is not None


def _is_anchor(link: LexborNode) -> bool:
    text = link.text().strip()
    return text in _ANCHOR_SIGNS or (len(text) <= 2 and not _ANCHOR_WORDS.isdisjoint(_classes(link)))


def _is_furniture(node: LexborNode, tag: str, place: _Place, *, unsure: bool) -> bool:
    attributes = node.attributes
    role = attributes.get("role") or ""
    if tag == "aside" and (role or attributes.get("epub:type")) in _NOTE_ROLES:
        return False
    if role in FURNITURE_ROLES or "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if tag == "header":
        return not place.content and node.css_first(_CONTENT) is None
    if tag == "aside" and not place.content:
        return True
    if unsure:
        return place.unsure <= _MAX_UNSURE and not _holds_content(node, _TOPIC_CHARS if tag != "aside" else 1)
    return tag in FURNITURE_TAGS


def _is_called_furniture(attributes: Mapping[str, str | None]) -> bool:
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower()
    return not FURNITURE_WORDS.isdisjoint(_WORDS.findall(names))


def _holds_content(node: LexborNode, least_chars: int) -> bool:
    """Whether a node holds a page's content whatever it is called: its main heading, prose of `least_chars`, or a
    section, which is a heading with a text that is no link."""
    is_section = node.css_first("h2, h3, h4, h5, h6") is not None and _unlinked_chars(node, _SECTION_TEXT) > 0
    return is_section or _unlinked_chars(node, "p") >= least_chars or node.css_first(_CONTENT) is not None


def _unlinked_chars(node: LexborNode, selector: str) -> int:
    """The characters that are no links in the elements of a selector."""
    return sum(len(one.text().strip()) - sum(len(link.text()) for link in one.css("a")) for one in node.css(selector))


def _classes(node: LexborNode) -> frozenset[str]:
    return frozenset((node.attributes.get("class") or "").lower().split())
