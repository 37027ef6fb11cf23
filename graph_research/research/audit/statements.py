"""The sentences of a report as it is written, each with the citation marks behind it, and its list of sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from graph_research.research.report.documents.sentences import analysis_legend
from graph_research.research.report.labels.languages import LANGUAGES, labels_for
from graph_research.text.document import Block, Document
from graph_research.text.language.dates import dates_in
from graph_research.text.language.words import language_of, words
from graph_research.text.relevance.statements import row_text
from graph_research.text.sentences import PROSE, sentence_spans

_MARK = re.compile(r"\s*\\?\[\^?([\w.-]{1,12}(?:\s*[,;–-]\s*\d{1,4})*)\\?\](?!\()")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_MARK = re.compile(
    rf"(?:(?<=[^\W\d_]{{3}})|(?<=[.,;:!?)\"”’»])|(?<=\s1[5-9]\d\d)|(?<=\s20\d\d))(?:([{_RAISED}]+)|\^(\d{{1,3}})\^)"
)
"""A raised number behind a word, a sign or a year: none of m² and 10⁶."""
_YEAR = r"(?:1[5-9]|20)\d\d[a-z]?"
_AUTHOR_YEAR = rf"[^\W\d_][^();\d]{{1,80}}\s{_YEAR}(?:,[^();]{{1,20}})?"
_IN_PARENTHESES = re.compile(rf"\s*\(({_AUTHOR_YEAR}(?:;\s*{_AUTHOR_YEAR})*)\)")
_NAME = re.compile(r"[^\W\d_][\w'’-]+")
_NOTE = re.compile(r"\[(?:\^[\w-]{1,40}|\d{1,4})\]:?\s")
_RANGE = re.compile(r"(\d{1,4})\s*[–-]\s*(\d{1,4})")
_ENTRY = re.compile(r"^\W*\[?\^?(\d{1,4})[\].:)|\t ]+\s*(\S.*)", re.DOTALL)
_NUMBER = re.compile(r"\d{1,3}")
_ENDS = re.compile(r"[.!?。！？]['\"”’»)\]]*$")
_SENTENCE = re.compile(r"[.!?]['\"”’»)]*\s*\[")
_QUOTED = re.compile(r"[“„«\"「](.*)[”“»\"」]", re.DOTALL)
_WHOM = re.compile(r"(?<=\])\s[^.!?\[\]„“«「]*(?=[„“«「])")
"""Behind a mark whom the quotation before it is from, up to the next quotation."""
_LIST_MARK = re.compile(r"\(?(?:[a-z]|[ivx]{2,4}|\d{1,2})\)\s+(?=\S)|[a-z]\.\s+(?=[^\W\d_a-z])")
_NUMBERING = re.compile(r"^\s*\d{1,3}(?:\.\d{1,3})*\.?\s+|(?<![\s.…])[\s.…]+\d{1,4}\s*$")
"""The number before an entry of a table of contents, and that of its page."""
_PLACEHOLDER = re.compile(r"\\\{\w+\\\}")
_SPACED = re.compile(r"\s+([.,;:!?])")
_LEAST_WORDS = 3
_MOST_RANGE = 50
_SOURCE_HEADINGS = frozenset(
    (
        "references",
        "bibliography",
        "literature",
        "footnotes",
        "notes",
        "citations",
        "literaturverzeichnis",
        "quellenverzeichnis",
        "références",
        "bibliographie",
        "bibliografía",
        "referencias",
        "bibliografia",
        "riferimenti",
        "referências",
        "bronnen",
        "參考文獻",
        "参考文献",
        "works cited",
        "further reading",
    )
)
"""Beside the headings of this program's own reports."""


@dataclass(frozen=True, kw_only=True)
class ReportSentence:
    """A sentence without its marks, and the marks: numbers and names in brackets behind or in it, raised numbers, and
    of `(Vance et al., 2021)` the name and the year, `Vance 2021`. Of a row of a table `cells` are the header and the
    text of each cell."""

    text: str
    marks: tuple[str, ...] = ()
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def claim(self) -> str:
        """What is compared: the sentence, or the row with the header and unit of each cell."""
        return row_text(self.cells) or self.text

    @property
    def is_checkable(self) -> bool:
        """Whether it may state a fact: it asks nothing, leads to nothing, and has words that say something."""
        if self.text.rstrip("”\"'»)* ").endswith(("?", ":", "？", "：")):
            return False
        said = sum(word.weight > 0.0 for word in words(self.claim, language_of(self.claim)))
        return said >= _LEAST_WORDS


def sentences_of(document: Document) -> list[ReportSentence]:
    """The sentences of the text in order, those of table rows too; without headings, also where a table of contents has
    them, the headers of tables and the list of sources.

    What follows a mark behind the end of a sentence without an end of its own, such as whom it quotes, is left out, and
    so is what a report of this program says of itself.
    """
    language = language_of(document.text)
    found: list[ReportSentence] = []
    for piece in _pieces(document):
        text = _ungrouped(_other_sides().sub("", piece.text))
        spans = sentence_spans(text, language=language) if piece.is_prose else [(0, len(text))]
        first = len(found)
        for start, end in spans:
            found += _read(text[start:end], found.pop() if len(found) > first else None, language)
        if piece.cells and len(found) == first + 1:
            found[-1] = replace(found[-1], cells=piece.cells)
    return [row for row in found if not _own_notes().fullmatch(row.text)]


def cited_entries(document: Document) -> Mapping[str, str]:
    """The text behind each mark of the report: by its number in the list of sources, or that of a footnote, and by the
    first name and each year of an entry. A number that stands alone is that of the lines behind it. Where no entry of a
    list has a number, those of the last list are counted."""
    notes: dict[str, str] = {}
    numbered: dict[str, str] = {}
    named: dict[str, str] = {}
    counted: list[str] = []
    listing, alone = 0, ""
    for block in document.blocks:
        text = document.text[block.start : block.end]
        if block.kind == "heading":
            listing = _listing(block, text, listing)
            counted, alone = [], ""
            continue
        counted += [text] if listing and block.kind == "item" else []
        for line in map(str.strip, text.split("\n")):
            if match := _ENTRY.match(line):
                (numbered if listing else notes).setdefault(match[1], match[2].strip())
                alone = ""
            elif block.kind == "boilerplate":  # a running head is no part of an entry
                pass
            elif listing and _NUMBER.fullmatch(line):
                alone = line
            elif alone:
                numbered[alone] = f"{numbered.get(alone, '')} {line}".strip()
            if listing and (name := _NAME.search(line)):
                for year in re.findall(rf"\b{_YEAR}\b", line):
                    named.setdefault(f"{name[0]} {year}", line)
    by_place = {str(number): text for number, text in enumerate([] if numbered else counted, start=1)}
    return {**notes, **numbered, **by_place, **named}


def _listing(heading: Block, text: str, before: int) -> int:
    """The level of the heading that a list of sources stands under from this heading on, 0 for none; `before` is that
    until here."""
    if before and heading.level > before:
        return before
    return heading.level if " ".join(text.lower().split()) in _headings() else 0


def _read(piece: str, before: ReportSentence | None, language: str) -> Iterator[ReportSentence]:
    """The sentence before, with the marks that a piece of text begins with, and the sentences of the piece."""
    parts = _parts(piece)
    while parts and not parts[0][0]:
        _, marks = parts.pop(0)
        if before:
            before = ReportSentence(text=before.text, marks=(*before.marks, *marks))
            if parts and not _has_end(parts, 0):
                parts.pop(0)
    if before:
        yield before
    text, cited, ended = "", list[str](), False
    for number, (said, marks) in enumerate(parts):
        if ended and not _has_end(parts, number):
            cited += [] if said else marks
            continue
        if ended:
            yield from _split(text, cited, language)
            text, cited = "", []
        text = _SPACED.sub(r"\1", f"{text} {said}".strip())
        cited += marks
        ended = bool(marks and _ENDS.search(said))
    if any(character.isalnum() for character in text):
        yield from _split(text, cited, language)


def _has_end(parts: Sequence[tuple[str, Sequence[str]]], number: int) -> bool:
    """Whether a sentence ends with this part, or with the sign behind its mark."""
    behind = parts[number + 1][0] if number + 1 < len(parts) else ""
    return bool(_ENDS.search(parts[number][0]) or _ENDS.fullmatch(behind[:1]))


def _split(text: str, marks: Sequence[str], language: str) -> Iterator[ReportSentence]:
    """The sentences of what stood in one pair of quotation marks, without the letter or number of an entry of a list;
    the marks behind it belong to each."""
    for start, end in sentence_spans(text, language=language):
        mark = _LIST_MARK.match(text, start, end)
        yield ReportSentence(text=text[mark.end() if mark else start : end], marks=tuple(marks))


def _parts(piece: str) -> list[tuple[str, list[str]]]:
    """The text before each mark with the names in that mark, and the rest."""
    parts, last = list[tuple[str, list[str]]](), 0
    for start, end, names in sorted(_marks(piece)):
        if start >= last:
            parts.append((_bare(piece[last:start]), names))
            last = end
    rest = _bare(piece[last:])
    return [*parts, (rest, [])] if rest else parts


def _marks(piece: str) -> Iterator[tuple[int, int, list[str]]]:
    """Where each mark of a text starts and ends, and the names in it."""
    for match in _MARK.finditer(piece):
        yield *match.span(), _names(match[1])
    for match in _RAISED_MARK.finditer(piece):
        yield *match.span(), [str(int("".join(match[2] or (str(_RAISED.index(sign)) for sign in match[1]))))]
    for match in _IN_PARENTHESES.finditer(piece):
        cited = match[1].split(";")
        if all(part.lstrip()[0].isupper() and not any(found.month for found in dates_in(part)) for part in cited):
            yield *match.span(), [_author_and_year(part) for part in cited]


def _author_and_year(cited: str) -> str:
    name, year = _NAME.search(cited), re.search(rf"\b{_YEAR}\b", cited)
    return f"{name[0] if name else ''} {year[0] if year else ''}".strip()


def _bare(text: str) -> str:
    """The text in one line, without quotation marks around all of it."""
    line = _own_marks().sub("", " ".join(text.split())).strip("*| ")
    quoted = _QUOTED.fullmatch(line)
    return quoted[1].strip() if quoted else line


class _Piece(NamedTuple):
    """A text of the report; of a row that is read as a whole `cells` as in `ReportSentence`, without marks."""

    text: str
    is_prose: bool = True
    cells: tuple[tuple[str, str], ...] = ()


def _pieces(document: Document) -> Iterator[_Piece]:
    """The text of each block that is no heading and no note, up to the list of sources, which never stands first; what
    stands behind that list under a heading of its own is read again. Of a table's row the cells that hold sentences,
    else the whole row."""
    listing = 0
    before = ""
    has_prose = False
    below_title, headings = _below_title(document), _as_entries(document)
    for block, below in zip(document.blocks, [*document.blocks[1:], None], strict=True):
        text = document.text[block.start : block.end]
        if block.start in below_title or _is_caption(block, text, below):
            continue
        if block.kind in PROSE and _as_entry(text) in headings:
            continue
        if block.kind == "heading":
            listing = _listing(block, text, listing) if has_prose else 0
        elif listing or _NOTE.match(text) or text.strip("*").endswith(_legends()):
            pass
        elif block.kind in PROSE:
            has_prose = True
            yield _Piece(text)
        elif block.kind == "table" and before == "table" and block.start not in document.table_at(block.start)[:1]:
            cells = tuple(map(_ungrouped, document.rows.get(block.start, ())))
            with_sentences = [cell for cell in cells if _ENDS.search(_MARK.sub("", cell)) or _SENTENCE.search(cell)]
            yield from (_Piece(_WHOM.sub(" ", cell) if cell[:1] in "„“«「" else cell) for cell in with_sentences)
            if not with_sentences:
                columns = tuple(
                    (header, _unmarked(_ungrouped(cell))) for header, cell in document.columns_at(block.start)
                )
                yield _Piece(" ".join(cells) or text, is_prose=False, cells=columns)
        before = block.kind


def _as_entries(document: Document) -> frozenset[str]:
    """The headings as a table of contents has them."""
    texts = (document.text[block.start : block.end] for block in document.blocks if block.kind == "heading")
    return frozenset(map(_as_entry, texts))


def _as_entry(text: str) -> str:
    return " ".join(_NUMBERING.sub("", text).lower().split())


def _is_caption(block: Block, text: str, below: Block | None) -> bool:
    """Whether a paragraph stands right above a table or code and is no sentence."""
    is_above = below is not None and below.kind in ("table", "code")
    return (
        block.kind == "paragraph" and is_above and not _ENDS.search(text.strip("* ")) and not next(_marks(text), None)
    )


def _unmarked(cell: str) -> str:
    return " ".join(text for text, _ in _parts(cell) if text)


def _below_title(document: Document) -> frozenset[int]:
    """Where the lines start that stand between the title and the first sentence of the text, such as for whom and when
    it was written: paragraphs without a mark and without the end of a sentence."""
    found: list[int] = []
    for place, block in enumerate(document.blocks):
        text = document.text[block.start : block.end]
        if place == 0:
            if block.kind != "heading":
                break
        elif block.kind != "paragraph":
            break
        elif next(_marks(text), None) or any(_ENDS.search(text[start:end]) for start, end in sentence_spans(text)):
            return frozenset(found)
        else:
            found.append(block.start)
    return frozenset()


@cache
def _legends() -> tuple[str, ...]:
    """What a report of this program says at the end of the line below its title of how it marks analysis."""
    every = [labels_for(language) for language in LANGUAGES]
    return tuple(legend for labels in every for legend in (analysis_legend(labels), labels.analysis_shaded))


@cache
def _own_notes() -> re.Pattern[str]:
    """The sentences of a report of this program that tell how it was made and how to read it."""
    notes: list[str] = []
    for language in LANGUAGES:
        labels = labels_for(language)
        head = (
            *(labels.basis_dates, labels.basis_date, labels.basis_no_dates),
            *(labels.confidence_above.format(level=level.lower()) for level in labels.levels.values()),
        )
        made = labels.pair.format(name=labels.date, value="{day}")
        said = (
            *(labels.selected_by_code, labels.written_by_no_model, labels.quotes_by_code, labels.no_search_answered),
            *(labels.not_answered, labels.nothing_written, labels.nearest, labels.unrelated, labels.nothing_near),
            *(labels.disputed_values, labels.disagreements_lead, labels.disagreements_marked),
            *(labels.all_of_makers, labels.all_of_one_maker),
            *(*head, *(labels.semicolon.join([made, text]) for text in head)),
            *(labels.newest_versions, labels.revised),
            *(labels.no_passage_on, labels.no_passage_answers),
        )
        for text in said:
            bare = _own_marks().sub("", text)
            notes += [bare[start:end] for start, end in sentence_spans(bare, language=language)]
    return re.compile("|".join(_PLACEHOLDER.sub(".+", re.escape(note)) for note in sorted(set(notes))))


@cache
def _own_marks() -> re.Pattern[str]:
    """What a report of this program puts behind a sentence, and so before the next one."""
    every = [labels_for(language) for language in LANGUAGES]
    names = {
        name for labels in every for name in (labels.analysis, labels.judgement, labels.disputed, labels.unsupported)
    }
    named = "|".join(map(re.escape, sorted(names)))
    return re.compile(rf"\s*[(（](?:{named})[)）]")


@cache
def _grounds() -> re.Pattern[str]:
    """What a sentence of this program's report is inferred from: numbers in parentheses of their own."""
    worded = [labels_for(language).inferred_from.split("{grounds}") for language in LANGUAGES]
    before, behind = (
        "|".join(sorted({re.escape(side.strip()) for side in sides})) for sides in zip(*worded, strict=True)
    )
    judged = "|".join(sorted({re.escape(labels_for(language).judgement) for language in LANGUAGES}))
    return re.compile(
        rf"\s*[(（](?:(?:{judged})[,，、]\s?)?(?:{before})\s?((?:\s?\\?\[\d[\d\s,;–-]*\\?\])+)\s?(?:{behind})[)）]"
    )


def _ungrouped(text: str) -> str:
    """The text with such numbers as those of any other sentence."""
    return _grounds().sub(r" \1", text)


@cache
def _other_sides() -> re.Pattern[str]:
    """What a report of this program puts behind a sentence where a source says otherwise, with the other's mark."""
    named = "|".join(re.escape(labels_for(language).disputed) for language in LANGUAGES)
    return re.compile(rf"\s*\((?:{named}): (?:[^()]|\([^()]*\))*\)")


@cache
def _headings() -> frozenset[str]:
    """Headings under which a report tells of itself instead of its subject, in lower case."""
    own: list[str] = []
    for language in LANGUAGES:
        labels = labels_for(language)
        own += [labels.sources, labels.methodology, labels.basis, labels.open_questions, labels.passages]
        own += [labels.matrix, labels.archived_texts]
    return _SOURCE_HEADINGS | {text.lower() for text in own}


def _names(mark: str) -> list[str]:
    """The names in a mark; a range of numbers as each of them."""
    ranged = _RANGE.fullmatch(mark.strip())
    if ranged and 0 <= int(ranged[2]) - int(ranged[1]) <= _MOST_RANGE:
        return [str(number) for number in range(int(ranged[1]), int(ranged[2]) + 1)]
    return [name.strip() for name in re.split("[,;]", mark)]
