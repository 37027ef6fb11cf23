"""Raised numbers of a PDF that lead to notes."""

from __future__ import annotations

import io

import pypdfium2
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from graph_research.text.readers.foreign.pdf.pdfium_lines import page_lines
from graph_research.text.readers.foreign.pdf.reader import read_pdf
from graph_research.text.readers.limits import Limits


def drawn(*runs: tuple[str, float]) -> bytes:
    """A line of runs of text, each in small letters where it is raised by so many points."""
    made = io.BytesIO()
    canvas = Canvas(made)
    text = canvas.beginText()
    x = 50.0
    for said, raised in runs:
        size = 7 if raised else 11
        text.setFont("Helvetica", size)
        text.setTextTransform(1, 0, 0, 1, x, 700 + raised)
        text.textOut(said)
        x += stringWidth(said, "Helvetica", size)
    canvas.drawText(text)
    canvas.save()
    return made.getvalue()


def both(*runs: tuple[str, float]) -> set[str]:
    """What pypdf and PDFium read."""
    data = drawn(*runs)
    with pypdfium2.PdfDocument(data) as document:
        return {read_pdf(data, Limits()).text, " ".join(line.text for line in page_lines(document[0]))}


def test_numbers_of_notes_stand_in_brackets() -> None:
    runs = [
        ("The lock leaks.", 0),
        ("1", 4),
        (" It costs 3.5 percent,", 0),
        ("2,3", 4),
        (" says the keeper", 0),
        ("14", 4),
    ]
    assert both(*runs) == {"The lock leaks.[1] It costs 3.5 percent,[2,3] says the keeper[14]"}


def test_exponents_indexes_and_numbers_of_the_text_do_not() -> None:
    runs = [("It covers 12 km", 0), ("2", 4), (" by sin", 0), ("2", 4), (" x, or 3.5 of 10", 0), ("6", 4)]
    assert both(*runs) == {"It covers 12 km2 by sin2 x, or 3.5 of 106"}
    assert both(("Salts of chlor", 0), ("2", -3), (" are read", 0)) == {"Salts of chlor2 are read"}
