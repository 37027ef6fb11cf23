"""Makes the two PDFs of the demo library from their texts in `pdf_sources/`; the same texts give the same bytes.

Run `python examples/make_pdfs.py` after a change of a text (reportlab comes with the test group) and commit both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

EXAMPLES = Path(__file__).resolve().parent
PDFS = {
    "annual-report-2021.md": "official/annual-report-2021.pdf",
    "smolt-passage-study.md": "reference/smolt-passage-study.pdf",
}
BROKEN_WORD = "¬"
"""Stands in a text where a word is divided at the end of a line, as typesetters do."""
NEW_PAGE = "~~~ new page"

BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=14, spaceAfter=7)
CHAPTER = ParagraphStyle(
    "chapter", fontName="Helvetica-Bold", fontSize=14, leading=18, spaceBefore=12, spaceAfter=6, keepWithNext=1
)
SECTION = ParagraphStyle("section", parent=CHAPTER, fontSize=11, leading=15)
TITLE = ParagraphStyle("title", parent=CHAPTER, fontSize=20, leading=25, spaceBefore=0)
SMALL = ParagraphStyle("small", parent=BODY, fontName="Times-Italic", fontSize=9, leading=12)
GRID = TableStyle(
    [
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 9),
        ("FONT", (0, 1), (-1, -1), "Helvetica", 9),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey),
    ]
)


@dataclass(frozen=True, kw_only=True)
class PrintedText:
    """One document to print: what its first lines say of it, and its blocks of lines in order."""

    title: str
    subtitle: str
    author: str
    running: str
    mark: str
    blocks: tuple[str, ...]


def main() -> None:
    """Write every PDF into the demo library."""
    for source, target in PDFS.items():
        write_pdf(read_text(EXAMPLES / "pdf_sources" / source), EXAMPLES / "library" / target)


def read_text(path: Path) -> PrintedText:
    """Read a text: `name: value` lines, then blocks divided by empty lines."""
    head, *blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return PrintedText(**fields, blocks=tuple(blocks))


def write_pdf(text: PrintedText, target: Path) -> None:
    """Print a text on A5 pages with a running header and page numbers."""
    document = SimpleDocTemplate(
        str(target),
        pagesize=A5,
        leftMargin=18 * mm,
        rightMargin=18 * mm,
        topMargin=20 * mm,
        bottomMargin=18 * mm,
        title=text.title,
        author=text.author,
        subject=text.mark,
        invariant=1,
        pageCompression=0,  # compressed bytes differ between builds of zlib
    )

    def decorate(canvas: Canvas, page: SimpleDocTemplate) -> None:
        _running_lines(canvas, text.running, page.page)

    document.build(list(_flowables(text)), onFirstPage=decorate, onLaterPages=decorate)


def _running_lines(canvas: Canvas, running: str, page: int) -> None:
    width, height = A5
    canvas.setFont("Helvetica", 8)
    canvas.drawString(18 * mm, height - 12 * mm, running)
    canvas.drawCentredString(width / 2, 10 * mm, f"Page {page}")


def _flowables(text: PrintedText) -> Iterator[Flowable]:
    yield Paragraph(escape(text.title), TITLE)
    yield Paragraph(escape(text.subtitle), SMALL)
    yield Spacer(1, 4 * mm)
    for block in text.blocks:
        yield _flowable(block)
    yield Spacer(1, 4 * mm)
    yield Paragraph(escape(text.mark), SMALL)


def _flowable(block: str) -> Flowable:
    if block == NEW_PAGE:
        return PageBreak()
    if block.startswith("## "):
        return Paragraph(escape(block[3:]), SECTION)
    if block.startswith("# "):
        return Paragraph(escape(block[2:]), CHAPTER)
    if block.startswith("|"):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        return Table(rows, style=GRID, hAlign="LEFT", spaceBefore=4, spaceAfter=10, splitByRow=0)
    lines = escape(block).replace("\n", "<br/>").replace(BROKEN_WORD, "-<br/>")
    return Paragraph(lines, BODY)


if __name__ == "__main__":
    main()
