"""The sentences of a report as text with numbers and marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from graph_research.research.code_blocks import names_set_in
from graph_research.research.evidence.cited import Citation, CitedBlock, CitedContradiction, CitedStatement
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import EMPTY_CELL, BlockType, StatementKind, statements_of
from graph_research.research.report.documents.block_settings import settings_by_source
from graph_research.research.report.documents.elements import (
    LINE_BREAK,
    SPACE,
    Item,
    Span,
    Spans,
    Style,
    Table,
    joined,
    line,
)
from graph_research.research.report.formatting import bracketed, gap_behind, one_line, quoted
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report
from graph_research.research.report.reading import (
    Attributions,
    also_in,
    disputed_statements,
    letter,
    other_values,
    same_source,
    source_marks,
)
from graph_research.research.report.sentence_parts import Clause, InlineMarks, clauses_of

_STYLES = {
    (False, False): Style.PLAIN,
    (True, False): Style.CODE,
    (False, True): Style.STRONG,
    (True, True): Style.STRONG_CODE,
}
"""By whether a stretch is code and in bold."""
_NAME = re.compile(r"\w+(?:[.-]\w+)*")


class Sentences:
    """The statements of one report as spans."""

    def __init__(self, report: Report, labels: Labels) -> None:
        self._labels = labels
        self._citations = {citation.id: citation for citation in report.citations}
        self._sources = {source.id: source for source in report.sources}
        self._attributions = Attributions(report, labels)
        sections = (block for section in report.sections for block in section.blocks)
        blocks = (*report.short_answer, *sections, *report.conclusions)
        told = statements_of(block for block in blocks if block.type is not BlockType.CODE)
        self._cited_in_text = self._sources_of(name for row in told for name in row.citations)
        composed = (row for block in blocks if block.type is BlockType.CODE for row in block.sentences)
        self._values = {
            word for row in composed if row.status is Status.ANALYSIS for word in _NAME.findall(row.text.casefold())
        }
        self._disputed = disputed_statements(report)
        self._other_values = other_values(report, self._disputed)
        self._marks = InlineMarks(report)

    @property
    def has_disputed(self) -> bool:
        """Whether a statement is marked as disputed."""
        return bool(self._disputed)

    def paragraph(self, statements: Sequence[CitedStatement]) -> Spans:
        """Running text."""
        spans: list[Span] = []
        for statement in statements:
            sentence = self._sentence(statement)
            gap = gap_behind(spans[-1].text) if spans and sentence else ""
            spans += [*([Span(gap)] if gap else []), *sentence]
        return tuple(spans)

    def _sources_of(self, names: Iterable[str]) -> set[int]:
        return {self._citations[name].n for name in names}

    def items(self, items: Sequence[Sequence[CitedStatement]]) -> tuple[Item, ...]:
        """The items of a list. Of quotations of one source in a row only the first says whose they are."""
        naming = self._attributions.named_in(items)
        return tuple(Item(self.item(item, is_named=item[0].id in naming)) for item in items)

    def item(self, statements: Sequence[CitedStatement], *, is_named: bool = True) -> Spans:
        """A quote that stands alone says whose it is, where it `is_named`; anything else is running text."""
        if len(statements) == 1 and statements[0].kind is StatementKind.QUOTE:
            return self._quote(statements[0], is_named=is_named)
        return self.paragraph(statements)

    def table(self, block: CitedBlock) -> Table:
        """A table, filled up to equal rows."""
        width = max([len(block.header), *map(len, block.rows)])
        header = [one_line(head) for head in block.header]
        caption = one_line(block.caption)
        is_marked_once = bool(caption and block.rows) and all(map(_is_analysis, block.rows))
        rows = [self._row(row, is_marked=not is_marked_once) for row in block.rows]
        return Table(
            tuple(header + [""] * (width - len(header))),
            tuple(tuple(row + [()] * (width - len(row))) for row in rows),
            f"{caption} {bracketed(self._labels.analysis, self._labels)}" if is_marked_once else caption,
        )

    def sides(self, contradiction: CitedContradiction) -> Table:
        """Each side of a disagreement: its value, and who says so in which words."""
        cells = [
            joined((self._of_side(self._citations[name]) for name in side.citations), LINE_BREAK)
            for side in contradiction.sides
        ]
        return Table(tuple(one_line(side.value) for side in contradiction.sides), (tuple(cells),))

    def numbers(self, names: Iterable[str]) -> Spans:
        """The numbers of the cited sources, each once, three in a row as `[3–5]`."""
        spans: list[Span] = []
        for mark in source_marks(names, self._citations):
            spans += [*([Span(" ")] if spans else []), Span(f"[{mark.label}]", citation=mark.citations[0].id)]
            is_range = len(mark.numbers) > 1  # its further passages have no text of their own, but are cited
            spans += [
                Span("" if is_range else f"[{letter(n)}]", citation=further.id, is_further=True)
                for n, further in enumerate(mark.citations[1:], start=1)
            ]
        return tuple(spans)

    def of_block(self, block: CitedBlock, statement: CitedStatement, others: Iterable[CitedBlock]) -> Spans:
        """The caption of a block to copy: its sources, with the word for analysis where the writer composed it. Where
        several tell of its settings each stands with those that it tells of and no table of the section has, and one
        that tells of none where no sentence of the report cites it; else none stands where the `others` of its section
        that are no such blocks have them all and tell of all that it sets."""
        others = list(others)
        rows = {word for other in others for row in other.rows if row for word in row[0].text.split()}
        settings = settings_by_source(statement.text, block.language, statement.citations, self._citations, rows)
        told = [row for other in others if other.type is not BlockType.CODE for row in other.statements()]
        shown = self._sources_of(name for row in told for name in row.citations)
        named = set(_NAME.findall(" ".join(row.text for row in told)))
        if sum(map(bool, settings.values())) > 1:
            numbers = self._with_settings(statement, settings)
        else:
            is_told = settings.keys() <= shown and named.issuperset(names_set_in(statement.text, block.language))
            numbers = () if is_told else self.numbers(statement.citations)
        lead = (Span(self._labels.pair.format(name=self._labels.sources, value="")), *numbers) if numbers else ()
        return joined([lead, self._analysis(statement), self._status(statement)])

    def _with_settings(self, statement: CitedStatement, settings: Mapping[int, Sequence[str]]) -> Spans:
        """The numbers of the sources, each once behind the settings that it tells of, those without any last and only
        where they are not shown elsewhere."""
        shown = self._cited_in_text
        of_source = {
            n: self._number_of_all([name for name in statement.citations if self._citations[name].n == n])
            for n in settings
        }
        comma, semicolon = Span(self._labels.comma), Span(self._labels.semicolon)
        named = (
            joined([joined(((Span(name, Style.CODE),) for name in names), comma), of_source[n]])
            for n, names in settings.items()
            if names
        )
        others = joined(of_source[n] for n, names in settings.items() if not names and n not in shown)
        hidden = [name for name in statement.citations if (n := self._citations[name].n) in shown and not settings[n]]
        return (*joined([*named, others], semicolon), *self._unnumbered(hidden))

    def _row(self, row: Sequence[CitedStatement], *, is_marked: bool) -> list[Spans]:
        """The cells of a row. Where all that state something rest on one source, its number stands once, behind the
        row's label; the passages of the other cells are cited there without a number of their own. Where all of them
        are analysis, so does its mark, unless the whole table has it."""
        stating = _stating(row)
        names = list(dict.fromkeys(name for cell in row for name in cell.citations))
        is_numbered_once = (
            len(stating) > 1
            and all(cell.citations for cell in stating)
            and len({self._citations[name].n for name in names}) == 1
        )
        is_marked_once = is_marked and len(stating) > 1 and _is_analysis(row)
        of_cells = self._sources_of(name for cell in row[1:] for name in cell.citations)
        if is_numbered_once:
            label = joined([self._label(row[0]), self._number_of_all(names)])
        else:
            is_told = self._sources_of(row[0].citations) <= of_cells
            is_marked_here = is_marked and not is_marked_once
            is_name = is_told and not (is_marked_here and row[0].judged)
            label = self._label(row[0]) if is_name else self._cell(row[0], is_marked=is_marked_here)
        if is_marked_once:
            judged = (cell for cell in row if cell.judged and cell.status is Status.ANALYSIS)
            label = self._marked(next(judged, stating[0]), label)
        shown = {"is_numbered": not is_numbered_once, "is_marked": is_marked and not is_marked_once}
        cells = [self._cell(cell, **shown) for cell in row[1:]]
        return [label, *cells]

    def _number_of_all(self, names: Sequence[str]) -> Spans:
        first, *others = names
        return (Span(f"[{self._citations[first].n}]", citation=first), *self._unnumbered(others))

    def _unnumbered(self, names: Iterable[str]) -> Spans:
        """Citations whose numbers stand elsewhere."""
        return tuple(Span("", citation=name, is_further=True) for name in names)

    def _label(self, cell: CitedStatement) -> Spans:
        """The first cell of a row without its numbers: it names what the others tell of."""
        return joined([self._set(cell, self._said(cell)), self._status(cell)])

    def _cell(self, cell: CitedStatement, *, is_numbered: bool = True, is_marked: bool = True) -> Spans:
        """A cell without the numbers or the mark that stand elsewhere, such as below a block to copy whose value it
        repeats, or for which it says nothing."""
        if cell.text.strip() == EMPTY_CELL.text:
            return (*self._set(cell, self._said(cell)), *self._unnumbered(cell.citations))
        numbers = self.numbers(cell.citations) if is_numbered else ()
        said = joined([self._set(cell, self._said(cell)), numbers])
        is_marked = is_marked and cell.text.strip().casefold() not in self._values
        return joined([self._marked(cell, said) if is_marked else said, self._status(cell)])

    def _marked(self, statement: CitedStatement, spans: Spans) -> Spans:
        """A statement; one of analysis with its numbers as what it is inferred from, or without any the word for it."""
        if statement.status is not Status.ANALYSIS or not spans:
            return spans
        judged = [self._labels.judgement] if statement.judged else []
        said = self._labels.comma.join([*judged, self._labels.inferred_from])
        before, behind = bracketed(said, self._labels).split("{grounds}")
        marked: list[Span] = []
        for is_grounds, run in _runs(spans):
            marked += [Span(before), *run, Span(behind)] if is_grounds else run
        return tuple(marked) if len(marked) > len(spans) else joined([spans, self._analysis(statement)])

    def _analysis(self, statement: CitedStatement) -> Spans:
        if statement.status is not Status.ANALYSIS:
            return ()
        return line(bracketed(self._labels.judgement if statement.judged else self._labels.analysis, self._labels))

    def _status(self, statement: CitedStatement) -> Spans:
        return joined(
            [
                self._dispute(statement) if statement.id in self._disputed else (),
                self._unsupported if statement.status is Status.UNSUPPORTED else (),
                self._by_the_user if statement.status is Status.USER else (),
            ]
        )

    def _dispute(self, statement: CitedStatement) -> Spans:
        """The mark, with what the other sides give where that is told."""
        sides = self._other_values.get(statement.id)
        if not sides:
            return line(bracketed(self._labels.disputed, self._labels))
        values = (joined([line(side.value), self.numbers(side.citations)]) for side in sides)
        lead = self._labels.pair.format(name=self._labels.disputed, value="")
        opening, closing = self._labels.brackets
        return (Span(f"{opening}{lead}"), *joined(values, Span(self._labels.comma)), Span(closing))

    @property
    def _unsupported(self) -> Spans:
        return line(bracketed(self._labels.unsupported, self._labels), Style.STRONG)

    @property
    def _by_the_user(self) -> Spans:
        return line(bracketed(self._labels.statuses[Status.USER], self._labels))

    def _sentence(self, statement: CitedStatement) -> Spans:
        clauses = clauses_of(statement, self._citations, self._sources)
        numbered = tuple(span for clause in clauses for span in self._clause(statement, clause))
        return joined([self._marked(statement, numbered), self._status(statement)])

    def _clause(self, statement: CitedStatement, clause: Clause) -> Spans:
        said = quoted(clause.text, self._labels) if statement.kind is StatementKind.QUOTE else clause.text
        numbered = joined([self._set(statement, said), self.numbers(clause.citations)])
        return (*numbered, Span(clause.end)) if clause.end else numbered

    def _set(self, statement: CitedStatement, text: str) -> Spans:
        """The text of a statement or clause, with code and what is in bold in their styles."""
        stretches = self._marks.stretches(statement, text) if text else ()
        return tuple(Span(piece, _STYLES[is_code, is_strong]) for piece, is_code, is_strong in stretches)

    def _said(self, statement: CitedStatement) -> str:
        text = one_line(statement.text)
        return quoted(text, self._labels) if statement.kind is StatementKind.QUOTE else text

    def _quote(self, statement: CitedStatement, *, is_named: bool) -> Spans:
        first = self._citations[statement.citations[0]] if is_named and statement.citations else None
        who = self._attribution(first) if first else ()
        others = also_in(statement, self._citations)
        also = (
            joined([(Span(f"{self._labels.semicolon}{self._labels.also_in}"),), self.numbers(others)]) if others else ()
        )
        numbers = self.numbers(same_source(statement, self._citations))
        return joined(
            [
                line(quoted(one_line(statement.text), self._labels)),
                (*joined([numbers, who]), *also),
                self._status(statement),
            ]
        )

    def _of_side(self, citation: Citation) -> Spans:
        said = line(quoted(one_line(citation.quote), self._labels))
        unproved = () if citation.valid else self._unsupported
        return joined([said, self.numbers([citation.id]), self._attribution(citation), unproved])

    def _attribution(self, citation: Citation) -> Spans:
        said = self._attributions.of(citation)
        return line(said, Style.EMPHASIS) if said else ()


def analysis_legend(labels: Labels) -> str:
    """What the marks of analysis mean."""
    marks = (labels.inferred_from.format(grounds="…"), labels.judgement, labels.analysis)
    return labels.analysis_legend.format(mark=labels.comma.join(bracketed(mark, labels) for mark in marks))


def _stating(row: Sequence[CitedStatement]) -> list[CitedStatement]:
    """The cells of a row, but its label, that state something."""
    return [cell for cell in row[1:] if cell.text.strip() not in ("", EMPTY_CELL.text)]


def _is_analysis(row: Sequence[CitedStatement]) -> bool:
    """Whether all that the row states is analysis."""
    stating = _stating(row)
    return bool(stating) and all(cell.status is Status.ANALYSIS for cell in stating)


def _runs(spans: Spans) -> Iterator[tuple[bool, Spans]]:
    """The spans in runs, each with whether it is a row of numbers, of which the reader sees one at least."""
    numbered = [bool(span.citation) for span in spans]
    for n in range(1, len(spans) - 1):
        numbered[n] |= spans[n] == SPACE and numbered[n - 1] and bool(spans[n + 1].citation)
    for is_numbered, run in groupby(zip(numbered, spans, strict=True), key=itemgetter(0)):
        held = tuple(span for _, span in run)
        yield is_numbered and any(span.citation and span.text for span in held), held
