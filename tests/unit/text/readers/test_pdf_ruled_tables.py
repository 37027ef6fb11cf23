"""Tables of a PDF whose cells drawn lines divide."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pypdfium2
import pytest
from reportlab.lib.colors import black
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

from graph_research.text.document import Document
from graph_research.text.readers.foreign.pdf.reader import read_pdf
from graph_research.text.readers.foreign.pdf.ruling import page_grids
from graph_research.text.readers.limits import Limits

TEXT = getSampleStyleSheet()["BodyText"]
BEFORE = "The register shows the locks of the district and what was found in each when they were inspected."
AFTER = "The locks are owned by the county."
GRID = ("GRID", (0, 0), (-1, -1), 0.5, black)


def page(rows: Sequence[Sequence[Any]], widths: Sequence[int], *styles: tuple[Any, ...]) -> Document:
    """A page with a table between two paragraphs, as it is read."""
    made = io.BytesIO()
    style = TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *styles])
    table = Table([list(row) for row in rows], colWidths=list(widths), style=style)
    SimpleDocTemplate(made, pagesize=A4).build([Paragraph(BEFORE, TEXT), table, Paragraph(AFTER, TEXT)])
    return read_pdf(made.getvalue(), Limits())


def table_of(document: Document) -> list[tuple[str, ...]]:
    blocks = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert [text for kind, text in blocks if kind != "table"] == [BEFORE, AFTER], "the text around it stays as it is"
    return [document.rows[block.start] for block in document.blocks if block.kind == "table"]


def test_lines_of_wrapped_cells_belong_to_their_cell() -> None:
    leak = "The gate leaks at its lower edge and has to be replaced before the next season begins"
    rows = [
        ["Lock", "Owner", "Findings"],
        [Paragraph("Alder", TEXT), Paragraph("County of North Holm", TEXT), Paragraph(leak, TEXT)],
        [Paragraph("Birch upper lock with pumping station", TEXT), "", Paragraph("Nothing", TEXT)],
    ]
    assert table_of(page(rows, (90, 80, 150), GRID)) == [
        ("Lock", "Owner", "Findings"),
        ("Alder", "County of North Holm", leak),
        ("Birch upper lock with pumping station", "", "Nothing"),
    ]


def test_a_cell_of_several_columns_or_rows_stands_at_its_first() -> None:
    rows = [
        ["Site", "Catch in 2020", "", "State"],
        ["", "Spring", "Autumn", ""],
        ["Alder", "12", "15", "good"],
        ["Birch", "2", "", "fair"],
    ]
    spans = [("SPAN", (1, 0), (2, 0)), ("SPAN", (0, 0), (0, 1)), ("SPAN", (3, 0), (3, 1))]
    assert table_of(page(rows, (80,) * 4, GRID, *spans)) == [
        ("Site", "Catch in 2020", "", "State"),
        ("", "Spring", "Autumn", ""),
        ("Alder", "12", "15", "good"),
        ("Birch", "2", "", "fair"),
    ]


@pytest.mark.parametrize("last", ["shield", "7,4"])
def test_rows_that_no_line_divides_stay_rows(last: str) -> None:
    rows = [("Metal", "State", "Use"), ("sodium", "liquid", "coolant"), ("lead", "solid", last), ("tin", "gas", "3")]
    columns = ("LINEAFTER", (0, 0), (-2, -1), 0.5, black)
    assert table_of(page(rows, (80,) * 3, columns, ("LINEBELOW", (0, 0), (-1, 0), 0.5, black))) == rows


def test_columns_of_numbers_as_wide_as_the_numbers_are_rows() -> None:
    rows = [("Run", "A", "B"), ("CL", "2.083", "1.79"), ("ICL", "2.093", "1.80"), ("GCC", "2.914", "1.73")]
    tight = [("LEFTPADDING", (0, 0), (-1, -1), 1), ("RIGHTPADDING", (0, 0), (-1, -1), 1)]
    box = [("BOX", (0, 0), (-1, 0), 0.5, black), ("BOX", (0, 0), (-1, -1), 0.5, black)]
    inner = ("INNERGRID", (0, 0), (-1, 0), 0.5, black), ("LINEAFTER", (0, 0), (-2, -1), 0.5, black)
    assert table_of(page(rows, (24, 28, 24), *tight, *box, *inner)) == rows


def test_a_frame_around_text_is_no_table() -> None:
    prose = [Paragraph(f"{name} lock leaks at the gate. " * 60, TEXT) for name in ("Alder", "Birch", "Cedar", "Dale")]
    document = page([prose[:2], prose[2:]], (220, 220), GRID)
    assert document.cells == ()
    assert "table" not in {block.kind for block in document.blocks}


def test_a_drawing_of_many_lines_has_no_cells() -> None:
    made = io.BytesIO()
    canvas = Canvas(made)
    for number in range(2_600):
        canvas.line(50, number / 4, 500, number / 4)
    for x in (50, 275, 500):
        canvas.line(x, 0, x, 650)
    canvas.save()
    with pypdfium2.PdfDocument(made.getvalue()) as read:
        assert page_grids(read[0]) == []
