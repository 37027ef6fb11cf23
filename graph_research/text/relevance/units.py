"""What can be quoted of a document: each sentence, list item, table row, definition and line of code."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from graph_research.text.document import Block, Document
from graph_research.text.sentences import PROSE, SENTENCE_ENDS, sentence_spans

UnitKind = Literal["sentence", "heading", "row", "definition", "line"]

MOST_CHARS = 600
"""A longer sentence or row is cut between words: nobody checks a longer quotation."""

_SPACES_OF_A_SENTENCE = 5  # a longer heading may be a sentence that was written without a full stop
_MOST_WORDS = 0.85
"""The share of words in a line of running text."""
_WORD = re.compile(r"[\"'“‘(_*]*[^\W\d_]+(?:['’-][^\W\d_]+)*[\"'”’)_*]*[.,;:!?]?[\"'”’)]*(?=\s|$)")
_LETTER = re.compile(r"[^\W_]")
_NOTE_MARKS = re.compile(r"(?<=[.!?。！？\"”])(?:\[\d{1,3}\])+$")
LABELLED = re.compile(r"([^\W\d_][^.:：!?\n]{0,30})(?::\s+|：)\S(?!.*[.!?。！？]$)")
"""A value behind its label, such as `Payroll: Ines Okafor` or `电话：027`, which ends like no sentence."""


@dataclass(frozen=True)
class Unit:
    """`document.text[start:end]`, without white space around it.

    `heading` is the nearest heading above it, `header` the caption of its table with the names of the columns, or the
    term that it explains. `block` is the number of its block: units of one block follow each other in the text.
    """

    start: int
    end: int
    text: str
    kind: UnitKind
    block: int
    heading: str = ""
    header: str = ""


def asks(text: str) -> bool:
    """Whether a text ends with a question mark."""
    return text.endswith(("?", "？"))


def units(document: Document, language: str = "en") -> tuple[Unit, ...]:
    """Every unit in order: all text that holds a letter or digit, but the title, short headings with a text below,
    boilerplate and the marks of notes behind a sentence.

    A document that holds nothing but its title has the title as a unit.
    """
    found = tuple(_units(document, language))
    return tuple(unit for unit in found if unit.text != document.title) or found


def _units(document: Document, language: str) -> Iterator[Unit]:
    text = document.text
    lines = document.code_lines
    line_starts = [start for table in document.places if table.kind == "line" for start in table.starts]
    heading = caption = first = ""
    before: Block | None = None
    term: Block | None = None
    blocks = document.blocks or (Block("paragraph", 0, len(text)),)
    for number, (block, below) in enumerate(zip(blocks, (*blocks[1:], None), strict=True)):
        if block.kind == "heading":
            heading = text[block.start : block.end]
        is_term = block.kind == "item" and below is not None and bool(document.term_at(below.start))
        is_sentence = block.start in document.bare_headings or heading.count(" ") >= _SPACES_OF_A_SENTENCE
        is_sentence = is_sentence or asks(heading)  # the text below answers it
        is_prose = block.kind in PROSE or (block.kind == "heading" and is_sentence)
        if is_prose and not is_term:  # a term is a unit with the sentence that explains it
            spans = [
                span
                for begin, stop in _labelled_apart(text, block, line_starts)
                for span in sentence_spans(text, begin, stop, language=language)
            ]
            for position, (start, end) in enumerate(spans):
                defined = term if position == 0 else None
                kind: UnitKind = "definition" if defined else "heading" if block.kind == "heading" else "sentence"
                end = start + len(_NOTE_MARKS.sub("", text[start:end]))
                begin = defined.start if defined else start
                yield from _cut(text, begin, end, kind, number, heading, document.term_at(start))
        elif block.kind == "table":
            written = text[block.start : block.end]
            if before is None or before.kind != "table":
                caption, first = "", written
            elif block.level:
                caption, first = first if first == text[before.start : before.end] else "", written
            first = "" if block.begins_without_header else first
            names = " ".join(filter(None, document.header_at(block.start)))
            header = " ".join(dict.fromkeys(filter(None, (caption, first, names))))
            for start, end in _lines(text, block):
                yield from _cut(text, start, end, "row", number, heading, header)
        elif block.kind == "code":
            within = lines[bisect_right(lines, block.start) : bisect_left(lines, block.end)]
            for start, end, is_text in _stretches_of(text, [block.start, *within, block.end]):
                spans = sentence_spans(text, start, end, language=language) if is_text else [(start, end)]
                for first_of, last_of in spans:
                    yield from _cut(text, first_of, last_of, "sentence" if is_text else "line", number, heading)
        before, term = block, block if is_term else None


def _labelled_apart(text: str, block: Block, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """A block, cut before and behind each of several lines in a row that hold a labelled value each: a reader joins the
    lines of a paragraph, but nobody reads these as one sentence. `starts` are those of all lines."""
    within = [block.start, *starts[bisect_right(starts, block.start) : bisect_left(starts, block.end)], block.end]
    lines = list(pairwise(within))
    labelled = [bool(LABELLED.match(text[start:end].strip())) for start, end in lines]
    begin = block.start
    for (start, _), (before, here) in zip(lines[1:], pairwise(labelled), strict=True):
        if (before or here) and sum(labelled) > 1:
            yield begin, start
            begin = start
    yield begin, block.end


def _lines(text: str, block: Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for line in text[block.start : block.end].split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _stretches_of(text: str, edges: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """The lines between the `edges` of a block of code, each alone; but where several in a row are running text, as in
    a letter or a message that is set like code, these are one stretch, True behind it."""
    run: tuple[int, int] | None = None
    lines = 0
    for start, end in pairwise(edges):
        line = text[start:end].strip()
        goes_on = run is not None and not text[run[0] : run[1]].rstrip().endswith(SENTENCE_ENDS)
        if _is_running_text(line) or (goes_on and _share_of_words(line) == 1):
            run, lines = (run[0] if run else start, end), lines + 1
            continue
        if run:
            yield (*run, lines > 1)
        run, lines = None, 0
        yield start, end, False
    if run:
        yield (*run, lines > 1)


def _is_running_text(line: str) -> bool:
    is_long = line.count(" ") >= _SPACES_OF_A_SENTENCE and not line.endswith(";")
    return is_long and bool(_WORD.match(line)) and _share_of_words(line) >= _MOST_WORDS


def _share_of_words(line: str) -> float:
    """How many of a line's pieces between spaces are words, with marks around them."""
    pieces = line.split()
    return sum(bool(_WORD.fullmatch(piece)) for piece in pieces) / len(pieces) if pieces else 0.0


def _cut(text: str, start: int, end: int, kind: UnitKind, block: int, heading: str, header: str = "") -> Iterator[Unit]:
    while start < end:
        stop = end
        if end - start > MOST_CHARS:
            space = text.rfind(" ", start + 1, start + MOST_CHARS)
            stop = space if space > start else start + MOST_CHARS
        written = text[start:stop]
        if _LETTER.search(written):
            first = start + len(written) - len(written.lstrip())
            yield Unit(first, first + len(written.strip()), written.strip(), kind, block, heading, header)
        start = stop
