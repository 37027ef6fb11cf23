"""Plain text becomes a document: the text is its own canonical form, headings, items and tables are only marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import BlockKind, Document
from graph_research.text.places import line_places
from graph_research.text.readers.stated_date import stated_date
from graph_research.text.sentences import SENTENCE_ENDS

_RULE = re.compile(r"\s*([-=*_~#+.])(?:\s*\1){2,}\s*$")
_MARKER = re.compile(r"\s*(?:[-*•‣–+\uf000-\uf0ff]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_NUMBER = re.compile(r"\s*\d{1,3}[.)]")
_COLUMNS = re.compile(r"\S(?:\t| {3,}|\s*\|\s*)\S")
_UNFINISHED = (*SENTENCE_ENDS, *';,-)]"”；：，、）」』')
_HEADING_CHARS = 80
_TITLE_CHARS = 120
_HEADING_MARK = re.compile(r"^(?:=+|#+|\*+)\s+")
_MARKUP = ("\\", "%", "#+", "@", "This is ")
_BRACED = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_DECLARED_TITLE = re.compile(
    rf"^(?:[ \t]*(?:\\title\s*(?:\[[^\]]*\])?{_BRACED}|#\+title:(.+)|@(?:settitle|title)\s(.+))|(\S.*)\n\*{{4,}}$)",
    re.IGNORECASE | re.MULTILINE,
)
"""In LaTeX, Org, Texinfo, and the Info files that Texinfo makes, which begin with "This is FILE, produced by …"."""
_FIRST_SECTION = re.compile(
    rf"^[ \t]*(?:\\(?:chapter|section)\*?\s*{_BRACED}|@(?:top(?!\s+Top$)|chapter|unnumbered)\s(.+))", re.MULTILINE
)
_HEAD_CHARS = 50_000
_FOOTNOTE = re.compile(rf"\\thanks\s*{_BRACED}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?\s?|\\\\|@[a-z]+(?=\{)|[{}]|(?<!\\)~")
_SHORT_SHARE = 0.75  # of the text's line width: a shorter line was ended by its writer, not by wrapping
_CODE_SIGNS = re.compile(r"[{}()\[\];=<>$|\\]")

_Part = tuple[BlockKind | None, str, int]


def plain_document(source: str) -> Document:
    """`source` as a document whose text equals `canonical_text(source)`. Its title is the one that it declares as
    LaTeX, Org, Texinfo and Info do, else their first section's, else a short first line without the marks of a
    heading that announces nothing."""
    builder = DocumentBuilder()
    lines = source.expandtabs(4).splitlines()
    reader = _Reader(width=max((len(line.rstrip()) for line in lines), default=0))
    groups = list(_groups(lines))
    for number, group in enumerate(groups):
        above, below = groups[number - 1] if number else [], groups[number + 1 : number + 3]
        builder.add_lines(reader.parts(group, above, below))
    first = next((line for line in lines if line.strip() and not _RULE.match(line)), "")
    title = _declared_title(source, first.strip()) or _HEADING_MARK.sub("", first.strip())
    document = builder.document(title if len(title) <= _TITLE_CHARS and not title.endswith(":") else "")
    return replace(document, date=stated_date(document), places=line_places(lines, document.text))


def _declared_title(source: str, first: str) -> str:
    if not first.startswith(_MARKUP):
        return ""
    head = source[:_HEAD_CHARS]
    found = _DECLARED_TITLE.search(head) or _FIRST_SECTION.search(head)
    title = next(filter(None, found.groups()), "") if found else ""
    return " ".join(_COMMAND.sub(" ", _FOOTNOTE.sub("", title)).split())


def _groups(lines: list[str]) -> Iterator[list[str]]:
    """Lines between blank ones; a ruled line stands alone unless it underlines a single line."""
    group: list[str] = []
    for line in [*lines, ""]:
        if _RULE.match(line) and len(group) == 1 and line.strip()[0] in "=-~":
            yield [*group, line]
            group = []
        elif _RULE.match(line):
            yield from ([group] if group else [])
            yield [line]
            group = []
        elif line.strip():
            group.append(line)
        elif group:
            yield group
            group = []


class _Reader:
    def __init__(self, width: int) -> None:
        self._short = width * _SHORT_SHARE

    def parts(self, group: list[str], above: Sequence[str], below: Sequence[Sequence[str]]) -> list[_Part]:
        """The parts of a group of lines; `above` is the group before it, empty for the first, and `below` are the two
        after it."""
        first = not above
        if _RULE.match(group[-1]):
            return [*(("heading", line, 2) for line in group[:-1]), ("boilerplate", group[-1], 0)]
        if first and self._is_title(group):
            return [("heading", group[0], 1), *(("item", line, 0) for line in group[1:])]
        if _is_lone_heading(group, above, below):
            return [("heading", group[0], 1 if first else 2)]
        if _is_capitals(group[0]):
            return [("heading", group[0], 1 if first else 2), *self._body(group[1:])]
        return self._body(group)

    def _is_title(self, group: list[str]) -> bool:
        return _is_heading(group[0]) and all(_is_heading(line) and len(line) < self._short for line in group)

    def _body(self, group: list[str]) -> list[_Part]:
        if not group:
            return []
        if len(group) > 1 and sum(bool(_COLUMNS.search(line)) for line in group) > len(group) / 2:
            return [("table", line, 0) for line in group]
        if all(line.lstrip().startswith(">") for line in group):
            return [("quote", "\n".join(group), 0)]
        if all(line.startswith("    ") for line in group) and is_code(group):
            return [("code", "\n".join(group), 0)]
        return list(self._paragraphs(group))

    def _paragraphs(self, group: list[str]) -> Iterator[_Part]:
        kind: BlockKind = "paragraph"
        text: list[str] = []
        for number, line in enumerate(group):
            marker = _MARKER.match(line)
            if marker is None:
                if text and self._is_ended(text[-1], line):
                    yield (kind, "\n".join(text), 0)
                    kind, text = "paragraph", []
                text.append(line)
                continue
            yield (kind, "\n".join(text), 0)
            if self._is_numbered_heading(group, number):
                yield ("heading", line, 3)
                kind, text = "paragraph", []
            else:
                yield (None, marker[0], 0)
                kind, text = "item", [line[marker.end() :]]
        yield (kind, "\n".join(text), 0)

    def _is_ended(self, line: str, below: str) -> bool:
        """A line that its writer ended before the margin without finishing a sentence stands for itself."""
        text = line.rstrip()
        return len(text) < self._short and text[-1:].isalnum() and below.strip()[:1].isupper()

    def _is_numbered_heading(self, group: list[str], number: int) -> bool:
        """`2. Failure of turbine 7`, over an indented text that starts a sentence of its own."""
        line = group[number]
        if not _NUMBER.match(line) or line.rstrip().endswith(_UNFINISHED) or len(line) >= self._short:
            return False
        below = group[number + 1] if number + 1 < len(group) else ""
        return _indent(below) > _indent(line) and below.strip()[:1].isupper()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_heading(line: str) -> bool:
    text = line.strip()
    starts_well = text[:1].isupper() or text[:1].isdigit()
    return (
        starts_well and len(text) <= _HEADING_CHARS and not text.endswith(_UNFINISHED) and any(map(str.isalpha, text))
    )


def _is_lone_heading(group: Sequence[str], above: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a line that stands alone heads what follows: the first does, and one that has more than such a line below
    it or below the next. One with a number does where neither the group above nor the one below has such a mark: else
    it is an item of a list."""
    if len(group) != 1 or not _is_heading(group[0]):
        return False
    if _MARKER.match(group[0]):
        beside = [lines[0] for lines in (above, *below[:1]) if lines]
        return bool(_NUMBER.match(group[0]) and below) and not any(map(_MARKER.match, beside))
    if not above:
        return bool(below)
    return any(len(lines) > 1 or not _is_heading(lines[0]) or _MARKER.match(lines[0]) for lines in below)


def _is_capitals(line: str) -> bool:
    return line.isupper() and _is_heading(line) and sum(map(str.isalpha, line)) >= 4


def is_code(lines: Sequence[str]) -> bool:
    """Whether most lines have signs that code has more often than prose."""
    return sum(bool(_CODE_SIGNS.search(line)) for line in lines) > len(lines) / 2
