"""RTF: its paragraphs as text, then its notes and text boxes, with the title and the author of its head."""

from __future__ import annotations

import re
from dataclasses import replace

from striprtf.striprtf import rtf_to_text

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.readers.foreign.office import heading_level
from graph_research.text.readers.limits import Limits
from graph_research.text.readers.plain import plain_document

_HEAD_CHARS = 100_000
_FACT = re.compile(r"\{\\(title|author)\s([^{}]{1,1000})\}")
_MADE = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")
_BRACE = re.compile(r"\\[\\{}]|([{}])")
_APART = re.compile(r"\{\s*(?:\\\*)?\\(footnote|shptxt)(?![a-z])")
_DELETED = re.compile(r"\{[^{}]*\\deleted(?![a-z0])")
_OUTLINE = re.compile(r"\\outlinelevel([0-5]) ?")
_STYLE = re.compile(r"\{\\s(\d{1,4})(?!\d)([^{}]*);\}")
_STYLED = re.compile(r"\\s(\d{1,4})(?!\d) ?")
_CONTROL = re.compile(r"\\[a-z]+-?\d* ?")
_LINE = re.compile(r"\\line(?![a-z])")
_BINARY_WITHOUT_LENGTH = re.compile(r"\\bin(?![a-z\d-])")  # as pandoc 2 writes pictures
_PARAGRAPH_OF_A_CELL = re.compile(r"\\par(?![a-z])([\s}]*\\cell(?![a-z]))")
_LEVELS = "\ue000\ue001\ue002\ue003\ue004\ue005"
"""Signs that no text has, for the levels of headings."""

_SIGN = re.compile(f"[{_LEVELS}]")


def read_rtf(data: bytes, limits: Limits) -> Document:
    """The text; its paragraphs are counted from 1."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise DocumentUnreadable("it is not RTF: it does not start with {\\rtf")
    source = data.decode("latin-1")
    facts = {name: _text(f"{{\\rtf1 {value}}}") for name, value in _FACT.findall(source[:_HEAD_CHARS])}
    made = _MADE.search(source[:_HEAD_CHARS])
    text = _text(_with_levels(_with_notes_last(source)))
    warnings = (f"stopped after {limits.chars:,} characters",) if len(text) > limits.chars else ()
    builder = DocumentBuilder()
    has_levels = any(sign in text for sign in _LEVELS)
    for number, line in enumerate(text[: limits.chars].splitlines(), start=1):
        builder.place("paragraph", number)
        _add(builder, line, has_levels=has_levels)
    document = builder.document()
    return replace(
        document,
        title=facts.get("title", "").strip() or document.title,
        authors=tuple(name for name in [facts.get("author", "").strip()] if name),
        date=(iso_date(f"{made[1]}-{int(made[2]):02}-{int(made[3]):02}") or "") if made else "",
        warnings=warnings,
    )


def _add(builder: DocumentBuilder, line: str, *, has_levels: bool) -> None:
    """Add a line; a short one is a heading only where no line says that it is one."""
    level = _LEVELS.find(line[:1]) + 1 if line else 0
    line = _SIGN.sub("", line)
    if level:
        builder.add("heading", line, level=level)
    elif line.endswith("|"):
        builder.add_row(line.split("|")[:-1])
    else:
        document = plain_document(line)
        blocks = tuple(
            block._replace(kind="paragraph", level=0) if has_levels and block.kind == "heading" else block
            for block in document.blocks
        )
        builder.add_document(replace(document, blocks=blocks, places=()))


def _with_notes_last(source: str) -> str:
    """The source without what tracked changes deleted, its notes and text boxes at its end, and the number
    of each note in brackets where it was."""
    kept: list[str] = []
    last: list[str] = []
    position, notes = 0, 0
    for start, end in _groups(source):
        group = source[start:end]
        if start < position:
            continue
        apart = _APART.match(group)
        kept.append(source[position:start])
        position = end
        if apart is None:
            continue
        is_note = apart[1] == "footnote"
        notes += is_note
        kept.append(f"[{notes}]" if is_note else "")
        last.append(f"\\par\\pard\\plain {f'[{notes}] ' if is_note else ''}{{{group[apart.end() :]}")
    kept.append(source[position:])
    text = "".join(kept)
    return f"{text.rstrip().removesuffix('}')}{''.join(last)}}}" if last else text


def _groups(source: str) -> list[tuple[int, int]]:
    """Where groups start and end that hold deleted text, a note or a text box, in order."""
    open_groups: list[int] = []
    found: list[tuple[int, int]] = []
    for brace in _BRACE.finditer(source):
        if brace[1] == "{":
            open_groups.append(brace.start())
        elif brace[1] and open_groups:
            start = open_groups.pop()
            if _APART.match(source, start) or _DELETED.match(source, start, brace.start()):
                found.append((start, brace.end()))
    return sorted(found)


def _with_levels(source: str) -> str:
    """The source with a sign at the beginning of each heading, by its outline or the name of its style, and none of the
    line breaks within a paragraph and at the end of a cell, as pandoc writes them."""
    names = {number: _CONTROL.sub("", written).strip() for number, written in _STYLE.findall(source[:_HEAD_CHARS])}
    levels = {number: level for number, name in names.items() if (level := heading_level(name))}
    marked = _OUTLINE.sub(lambda outline: outline[0] + _sign(int(outline[1]) + 1), source)
    marked = _STYLED.sub(lambda style: style[0] + _sign(levels.get(style[1], 0)), marked)
    return _LINE.sub(r"\\tab", _PARAGRAPH_OF_A_CELL.sub(r"\1", marked))


def _sign(level: int) -> str:
    return f"\\u{ord(_LEVELS[level - 1])}?" if level else ""


def _text(source: str) -> str:
    source = _BINARY_WITHOUT_LENGTH.sub("", source)
    text: str = rtf_to_text(source, errors="ignore")  # type: ignore[no-untyped-call]  # -- striprtf has no annotations
    return text
