"""PDFs: read in a child process that is not trusted with anything."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject, StreamObject
from reportlab.lib.pagesizes import A5
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen import canvas

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.locators import make_locator, resolve
from graph_research.text.readers import PDF
from graph_research.text.readers.foreign import child
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.foreign.package import named_authors
from graph_research.text.readers.foreign.pdf.accents import composed
from graph_research.text.readers.foreign.pdf.hyphenation import Vocabulary
from graph_research.text.readers.foreign.pdf.layout import PdfLine, pdf_document
from graph_research.text.readers.foreign.pdf.reader import broken_words
from graph_research.text.readers.foreign.pdf.tables import PdfCell, table_rows
from graph_research.text.readers.formats import FORMATS
from graph_research.text.readers.limits import Limits
from tests.support.documents.reading import read_here


def read(data: bytes, limits: Limits | None = None) -> Document:
    return read_here(data, PDF, limits=limits)


def refusal(data: bytes) -> str:
    """Why a PDF gives no text."""
    with pytest.raises(DocumentUnreadable) as refused:
        read(data)
    return refused.value.message


async def refused_by(reader: LimitedReader, data: bytes) -> str:
    [part] = await reader.parts(data, PDF)
    assert part.document is None
    return part.error


def make_pdf(*pages: list[tuple[str, float, float]], title: str = "") -> bytes:
    """Pages of lines `(text, size, y)`."""
    made = io.BytesIO()
    drawing = canvas.Canvas(made, pagesize=A5, invariant=True)
    drawing.setTitle(title)
    for lines in pages:
        for text, size, y in lines:
            drawing.setFont("Helvetica", size)
            drawing.drawString(40, y, text)
        drawing.showPage()
    drawing.save()
    return made.getvalue()


def report(pages: int = 3) -> bytes:
    def page(number: int) -> list[tuple[str, float, float]]:
        return [
            ("Annual Report", 8, 560),
            (f"Page {number}", 8, 20),
            (f"{number} The station", 16, 500),
            ("The powerhouse has worked through more than", 10, 470),
            ("eight thousand tides. None of the machines", 10, 456),
            ("had to be stopped for a whole", 10, 442),
            ("day.", 10, 428),
            (f"Seals were exchanged in {('May', 'June', 'July')[number - 1]}.", 10, 402),
        ]

    return make_pdf(*(page(number) for number in range(1, pages + 1)), title="Annual Report 2021")


@pytest.mark.requirement("11.11")
def test_a_pdf_becomes_pages_with_headings_paragraphs_and_furniture() -> None:
    document = read(report())
    assert document.warnings == ()
    assert document.title == "Annual Report 2021"
    assert len(document.pages) == 3
    assert "\n\n---PAGE 2---\n\n" in document.text
    second = [
        (one.kind, document.text[one.start : one.end])
        for one in document.blocks
        if document.pages[1] <= one.start < document.pages[2]
    ]
    assert second == [
        ("boilerplate", "Annual Report"),
        ("boilerplate", "Page 2"),
        ("heading", "2 The station"),
        (
            "paragraph",
            "The powerhouse has worked through more than eight thousand tides. None of the machines had to be stopped "
            "for a whole day.",
        ),
        ("paragraph", "Seals were exchanged in June."),
    ]
    block = document.blocks[7]
    locator = make_locator(document, block.start, block.end)
    assert locator.startswith("page:2:char:")
    assert resolve(document.text, locator) == (block.start, block.end)


@pytest.mark.parametrize("title", ["untitled", "Microsoft Word - r2_final.doc", "R2"])
def test_a_title_that_the_pages_do_not_know_gives_way_to_the_first_heading(title: str) -> None:
    page = [("Results of the lagoon", 16, 500), ("None of the machines stood still.", 10, 470)]
    document = read(make_pdf(page, title=title))
    assert (document.title, document.authors) == ("Results of the lagoon", ())
    assert (read(make_pdf(page[1:], title=title))).title == ("" if title == "untitled" else title)


def test_an_author_of_brackets_is_what_a_program_writes_for_none() -> None:
    assert named_authors(["(anonymous)", "Ann Writer", "anonymous", "(unspecified)"]) == ("Ann Writer",)


def test_what_is_filled_in_a_form_stands_behind_the_text_of_its_page() -> None:
    made = io.BytesIO()
    sheet = canvas.Canvas(made, pagesize=A5)
    sheet.drawString(50, 500, "Application for a berth")
    sheet.acroForm.textfield(name="f1", tooltip="Ship", value="Aurora")
    sheet.acroForm.textfield(name="Remark", value="")
    sheet.acroForm.textfield(name="Pin", value="1234", fieldFlags="password")
    sheet.acroForm.choice(name="Engine", value="diesel", options=["diesel", "electric"])
    sheet.acroForm.checkbox(name="insured", checked=True)
    sheet.showPage()
    sheet.drawString(50, 500, "The berth is 30 metres long.")
    sheet.save()
    document = read(made.getvalue())
    texts = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert [text for kind, text in texts if kind == "item"] == ["Ship: Aurora", "Engine: diesel"]
    place = document.text.index("Ship: Aurora")
    assert make_locator(document, place, place + 12).startswith("page:1:char:")
    assert document.warnings == ()


async def test_one_child_reads_one_pdf_after_the_other() -> None:
    async with LimitedReader() as reader:
        [first], [broken], [second] = [await reader.parts(data, PDF) for data in (report(1), b"%PDF-1.4 no", report(1))]
    assert first == second
    assert first.document is not None
    assert broken.document is None
    assert "damaged" in broken.error


@pytest.mark.parametrize(
    ("data", "limits", "warning"),
    [
        (b"<html>", Limits(), "does not start with %PDF-"),
        (b"%PDF-" + b"0" * 100, Limits(bytes=50), "more than 50"),
        (make_pdf([]), Limits(), "no text; it may be a scan"),
    ],
)
@pytest.mark.requirement("12.3")
async def test_what_gives_no_text_gives_a_reason(data: bytes, limits: Limits, warning: str) -> None:
    async with LimitedReader(limits) as reader:
        assert warning in await refused_by(reader, data)


@pytest.mark.requirement("12.2")
async def test_a_pdf_may_have_10_megabytes_500_pages_500000_characters_and_30_seconds() -> None:
    limits = FORMATS[PDF].limits
    assert (limits.bytes, limits.pages, limits.chars, limits.seconds) == (10 * 1024 * 1024, 500, 500_000, 30.0)
    async with LimitedReader() as reader:
        assert "bytes, more than 10,485,760" in await refused_by(reader, b"%PDF-" + b" " * limits.bytes)


@pytest.mark.requirement("12.2")
def test_pages_and_characters_beyond_the_limit_are_left_out_with_a_warning() -> None:
    document = read(report(), Limits(pages=2))
    assert len(document.pages) == 2
    assert document.warnings == ("read the first 2 of 3 pages",)
    document = read(report(), Limits(chars=100))
    assert 0 < len(document.text) <= 100
    assert "stopped after 100 characters" in document.warnings[0]
    document = read(report(), Limits(chars=100, pages=2))
    assert document.warnings == ("stopped after 100 characters, on page 1 of 3",), "it says how far it was read, once"


@pytest.mark.requirement("12.2")
def test_what_stands_between_pages_counts_as_characters_too() -> None:
    whole = len(read(report()).text)
    for chars in range(whole - 40, whole):
        document = read(report(), Limits(chars=chars))
        assert len(document.text) <= chars
        assert document.warnings


def test_an_encrypted_pdf_says_so() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(report(1))))
    writer.encrypt("secret", algorithm="RC4-128")
    data = io.BytesIO()
    writer.write(data)
    assert refusal(data.getvalue()) == "it is encrypted: it opens only with a password"


def raw_pdf(content: str, *, font: str = "/BaseFont/Helvetica", trailer: str = "") -> bytes:
    """A PDF of one page, written by hand."""
    bodies = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        f"<</Type/Font/Subtype/Type1{font}>>",
    )
    data, table = "%PDF-1.6\n", "0000000000 65535 f \n"
    for number, body in enumerate(bodies, start=1):
        table += f"{len(data):010d} 00000 n \n"
        data += f"{number} 0 obj{body}endobj\n"
    end = f"trailer<</Size 6/Root 1 0 R{trailer}>>\nstartxref\n{len(data)}\n%%EOF\n"
    return f"{data}xref\n0 6\n{table}{end}".encode()


def test_a_pdf_of_which_only_attachments_are_encrypted_is_read() -> None:
    attachments = (
        f"/ID[<{'ab' * 16}><{'ab' * 16}>]/Encrypt<</Filter/Standard/V 4/R 4/Length 128/P -4/O<{'12' * 32}>"
        f"/U<{'34' * 32}>"
        "/CF<</StdCF<</AuthEvent/EFOpen/CFM/AESV2/Length 16>>>>/StmF/Identity/StrF/Identity/EFF/StdCF>>"
    )
    document = read(raw_pdf("BT /F1 12 Tf 20 200 Td (Open to all) Tj ET", trailer=attachments))
    assert (document.text, document.warnings) == ("Open to all", ())


async def test_a_damaged_pdf_is_called_damaged_and_not_by_the_name_of_an_exception() -> None:
    async with LimitedReader() as reader:
        for data in (b"%PDF-1.7 nothing", raw_pdf("BT", trailer="/Encrypt 7")):
            reason = await refused_by(reader, data)
            assert "damaged" in reason
            assert "Error" not in reason


def test_names_of_glyphs_are_no_text() -> None:
    font = "/BaseFont/X/Encoding<</Type/Encoding/Differences[65/g18/g152/g3/g87/g7]>>"
    document = raw_pdf("BT /F1 12 Tf 20 200 Td (ABCDEABCDEABCDE) Tj ET", font=font)
    assert "letters" in refusal(document)


@pytest.mark.requirement("12.2")
async def test_a_pdf_that_takes_too_long_is_ended_and_the_next_one_is_read() -> None:
    made = io.BytesIO()
    drawing = canvas.Canvas(made, pageCompression=1, invariant=True)
    text = drawing.beginText(10, 10)
    text._code.append("(x) Tj 0 -1 Td " * 400_000)
    drawing.drawText(text)
    drawing.showPage()
    drawing.save()
    async with LimitedReader(Limits(seconds=2)) as reader:
        assert await refused_by(reader, made.getvalue()) == "it took longer than 2 seconds"
    async with LimitedReader() as reader:
        assert "Seals" in (await reader.document(report(1), PDF)).text


@pytest.mark.requirement("12.2")
async def test_a_pdf_that_unpacks_to_more_than_its_memory_does_no_harm() -> None:
    writer = PdfWriter()
    page = writer.add_blank_page(width=72, height=72)
    stream = StreamObject()
    stream.set_data(b"BT " + b" " * 100_000_000)
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode())
    data = io.BytesIO()
    writer.write(data)
    async with LimitedReader(memory_bytes=48 * 1024 * 1024) as reader:
        assert await refused_by(reader, data.getvalue())
        assert "Seals" in (await reader.document(report(1), PDF)).text


@pytest.mark.skipif(sys.platform != "linux", reason="limits of processes differ elsewhere")
@pytest.mark.parametrize(
    "attempt",
    ["open('/etc/hostname')", "import socket; socket.socket()", "import os; os.fork()", "bytearray(1 << 31)"],
)
def test_the_confined_child_opens_nothing_and_grows_little(attempt: str) -> None:
    folder = str(Path(child.__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); import socket, child; child._confine(64 << 20)\n"
        f"try:\n    {attempt}\nexcept (OSError, MemoryError) as error:\n    print('refused')\nelse:\n    print('done')"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout == "refused\n" or (attempt.endswith("fork()") and "done" in ran.stdout)


def test_cells_at_one_height_are_a_row_and_dots_a_table_of_contents() -> None:
    lines = [
        PdfLine("1 Introduction . . . . . . . . 4", 10, "", 500),
        PdfLine("Year", 10, "", 400),
        PdfLine("GWh", 10, "", 400),
        PdfLine("2018", 10, "", 380),
        PdfLine("410", 10, "", 380),
        PdfLine("• A wrapped", 10, "", 340),
        PdfLine("item.", 10, "", 328),
        PdfLine("x = 1", 10, "mono", 300),
    ]
    document = pdf_document([lines])
    assert [(one.kind, document.text[one.start : one.end]) for one in document.blocks] == [
        ("boilerplate", "1 Introduction . . . . . . . . 4"),
        ("table", "Year GWh"),
        ("table", "2018 410"),
        ("item", "A wrapped item."),
        ("code", "x = 1"),
    ]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["an experi-", "ment shows", "the experiment"], "an experiment shows the experiment"),
        (["a long-", "term view, long and term"], "a long-term view, long and term"),
        (["mark-recap-", "ture of fish"], "mark-recapture of fish"),
        (["pages 12-", "14 and the Euro-", "Asian plate"], "pages 12- 14 and the Euro- Asian plate"),
        (["soft\u00ad", "ened"], "softened"),
    ],
)
def test_divided_words_are_joined_as_the_document_writes_them(lines: list[str], text: str) -> None:
    assert Vocabulary(lines).join(lines) == text


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell what belongs together")
async def test_what_the_child_would_start_is_known_as_its_own() -> None:
    async with LimitedReader() as reader:
        await reader.parts(make_pdf([]), PDF)
        [own] = [pid for pid in os.listdir("/proc") if pid.isdigit() and is_child_with_mark(pid)]
        assert os.getsid(int(own)) == int(own)


def is_child_with_mark(pid: str) -> bool:
    try:
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        return int(parent) == os.getpid() and b"STARTED_BY_GRAPH_RESEARCH=" in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def test_columns_are_read_one_after_the_other_and_running_heads_are_marked() -> None:
    made = io.BytesIO()
    drawing = canvas.Canvas(made, pagesize=A5, invariant=True)
    left = ["{} lagoon has sixteen", "turbines that turn with", "the tide in both", "directions {}."]
    right = ["{} sluices are opened", "at high water to let", "the basin fill {}."]
    names = ["North", "South", "West"]
    for number, name in enumerate(names):
        drawing.setFont("Helvetica", 9)
        drawing.drawString(40, 570, "Journal of Tides")
        for x, lines in ((40, left), (220, right)):
            for row, text in enumerate(lines):
                drawing.drawString(x, 500 - 12 * row, text.format(name))
        drawing.drawString(200, 20, str(number + 12))
        drawing.showPage()
    drawing.save()
    document = read(made.getvalue())
    texts = [document.text[one.start : one.end] for one in document.blocks if one.kind == "paragraph"]
    assert texts == [" ".join(lines).format(name, name) for name in names for lines in (left, right)]
    heads = [document.text[one.start : one.end] for one in document.blocks if one.kind == "boilerplate"]
    assert heads.count("Journal of Tides") == 3


LAGOON = "the tide of the lagoon rises over sand while its salt drops and the birds return each spring"


def column(name: str, *, words: int) -> list[str]:
    """Lines of a column, each of which begins with a name and its number."""
    all_words = LAGOON.split() * 2
    return [" ".join([f"{name}{number}", *all_words[number : number + words]]) for number in range(12)]


@pytest.mark.parametrize("lefts", [(40, 220), (40, 190, 340)], ids=["two columns", "three columns"])
def test_columns_that_are_written_across_are_read_one_after_the_other_below_and_above_what_spans_them(
    lefts: tuple[int, ...],
) -> None:
    title, caption = "Salt and sand of the outer lagoon, as they were measured", "Figure 1. Salt by place and by year."
    made = io.BytesIO()
    drawing = canvas.Canvas(made, pagesize=(480, 595), invariant=True)
    columns = [column(name, words=6) for name, _ in zip("abc", lefts, strict=False)]
    for _ in range(2):
        drawing.setFont("Helvetica", 9)
        drawing.drawString(60, 560, f"{title} over the years.")
        for row in range(12):
            if row == 8:
                drawing.drawString(60, 425, f"{caption} The places lie at the mouth, and behind the bars.")
            for left, lines in zip(lefts, columns, strict=True):
                drawing.drawString(left, (530 if row < 8 else 500) - 12 * row, lines[row])
        drawing.showPage()
    drawing.save()
    document = read(made.getvalue())
    above, below = ([line for lines in columns for line in lines[part]] for part in (slice(8), slice(8, 12)))
    first_page = document.text[: document.pages[1]].split("---PAGE")[0].split()
    wanted = [*title.split(), "over", "the", "years.", *" ".join(above).split(), *caption.split()]
    assert first_page[: len(wanted)] == wanted
    assert first_page[-len(" ".join(below).split()) :] == " ".join(below).split()
    assert document.text.count(above[0]) == 2, "once on each page"
    assert document.cells == ()


def test_columns_whose_lines_stand_at_heights_of_their_own_are_read_one_after_the_other() -> None:
    left = [(540.0 - 10 * number, 40, line) for number, line in enumerate(column("a", words=5))]
    right = [(540.0 - 12 * number, 220, line) for number, line in enumerate(column("b", words=5))]
    lines = sorted([*left, *right], key=lambda line: (-line[0], line[1]))
    document = read(drawn(*((y, [(x, text)]) for y, x, text in lines)))
    assert document.text.split() == " ".join(text for _, _, text in [*left, *right]).split()


def test_a_table_of_texts_is_read_row_by_row() -> None:
    names = ["The outer bar", "The flats", "The mouth of the lagoon", "The inner bar", "Dunes", "The old harbour"]
    told = ["sand", "grass and mud in spring", "deep water", "sand and stones", "grass that was planted", "mud"]
    rows = [
        (500.0 - 14 * number, list(zip((40, 220), row, strict=True)))
        for number, row in enumerate(zip(names, told, strict=True))
    ]
    words = read(drawn(*rows)).text.split()
    assert words == " ".join(f"{name} {text}" for name, text in zip(names, told, strict=True)).split()


def test_a_running_head_as_large_as_a_heading_is_known_by_its_page_number() -> None:
    pages = [
        [
            (f"Seals of the lagoon {number}" if number % 2 else f"{number} A. Writer", 14, 560),
            (f"{number} Part of the work", 14, 500),
            ("None of the machines had to be stopped", 10, 470),
            ("for a whole day in any of the years.", 10, 456),
        ]
        for number in range(1, 7)
    ]
    document = read(make_pdf(*pages))
    kinds = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert [text for kind, text in kinds if kind == "heading"] == [
        f"{number} Part of the work" for number in range(1, 7)
    ]
    assert {("boilerplate", "Seals of the lagoon 1"), ("boilerplate", "2 A. Writer")} <= set(kinds)


def test_lines_of_slides_and_forms_that_differ_in_their_values_are_no_running_heads() -> None:
    slides = [
        [("Sales", 20, 500), (f"Sales rose to {value} million euros", 12, 460), (f"Nordkant AG {number}", 8, 20)]
        for number, value in enumerate((41, 55, 62, 70), start=1)
    ]
    forms = [[(f"Boat length {length} m", 10, 500), (f"Fee {length * 17} EUR", 10, 480)] for length in (6, 7, 9, 12)]
    for pages, heads in ((slides, [f"Nordkant AG {number}" for number in range(1, 5)]), (forms, [])):
        document = read(make_pdf(*pages))
        assert [document.text[one.start : one.end] for one in document.blocks if one.kind == "boilerplate"] == heads


def test_a_running_head_may_have_the_number_of_its_page_among_others() -> None:
    body = [("The lagoon has sixteen turbines that", 10, 470), ("turn with the tide in both directions", 10, 456)]
    body += [("and are stopped for their seals in May.", 10, 442)]
    pages = [
        [(f"Tides 2020, 12, 345 {page} of 17", 8, 560), *body, ("www.tides.example", 8, 20)] for page in range(2, 6)
    ]
    document = read(make_pdf(*pages))
    heads = [document.text[one.start : one.end] for one in document.blocks if one.kind == "boilerplate"]
    assert [head for head in heads if "Tides" in head] == [f"Tides 2020, 12, 345 {page} of 17" for page in range(2, 6)]


def test_rows_of_numbers_are_rows_of_a_table() -> None:
    lines = ["Costs of the works are shown below", "Item 2020 2021", "Turbines 14.5 17.25", "Dredging 3.1 n/a"]
    lines += ["The works began in 2019", "and ended two years later"]
    document = read(make_pdf([(text, 10, 500 - 14 * row) for row, text in enumerate(lines)]))
    kinds = [(one.kind, document.text[one.start : one.end]) for one in document.blocks]
    assert [text for kind, text in kinds if kind == "table"] == lines[1:4]


@pytest.mark.requirement("12.1")
@pytest.mark.parametrize(
    ("content", "font"),
    [
        ("Q Q ) BT /F1 12 Tf 20 200 Td (Seals last nine years) Tj ET", "/BaseFont/Helvetica"),
        ("BT /F1 12 Tf 20 200 Td [(Seals last nine years) -x ] TJ ET", "/BaseFont/Helvetica"),
        ("BT /F1 12 Tf 20 200 Td (Seals last nine years) Tj ET", "/BaseFont 7/Encoding 9 0 R"),
    ],
)
def test_a_pdf_in_which_pypdf_finds_nothing_is_read_by_pdfium(content: str, font: str) -> None:
    document = read(raw_pdf(content, font=font))
    assert (document.text, document.pages, document.warnings) == ("Seals last nine years", (0,), ())


@pytest.mark.requirement("12.1")
def test_a_pdf_whose_words_pypdf_runs_together_is_read_by_pdfium() -> None:
    wide_space = f"/BaseFont/Times-Roman/FirstChar 32/LastChar 122/Widths[1200 {'500 ' * 90}]"
    content = "BT /F1 12 Tf 20 200 Td [(Seals) -250 (last) -250 (nine) -250 (years)] TJ ET"
    document = read(raw_pdf(content, font=wide_space))
    assert document.text == "Seals last nine years"


def drawn(*lines: tuple[float, list[tuple[float, str]]], bold: int = 0) -> bytes:
    """A page of lines `(y, [(x, text), …])`, the first `bold` of them bold."""
    made = io.BytesIO()
    drawing = canvas.Canvas(made, pagesize=A5, invariant=True)
    for number, (y, cells) in enumerate(lines):
        drawing.setFont("Helvetica-Bold" if number < bold else "Helvetica", 10)
        for x, text in cells:
            drawing.drawString(x, y, text)
    drawing.save()
    return made.getvalue()


def test_a_row_of_a_table_has_its_cells_their_lines_and_the_header() -> None:
    page = drawn(
        (500, [(40, "Costs of the works are shown below, by work and by year of payment.")]),
        (470, [(40, "Work"), (150, "Cost"), (230, "What was done")]),
        (456, [(40, "Turbines"), (150, "14.5"), (230, "Sixteen machines were")]),
        (444, [(230, "replaced at once")]),
        (430, [(40, "Dredging"), (230, "The basin")]),
        (416, [(40, "Locks of the west"), (150, "1,310.25"), (230, "None")]),
        (380, [(40, "The works began in 2019 and ended two years later.")]),
        bold=2,
    )
    document = read(page)
    rows = [document.columns_at(block.start) for block in document.blocks if block.kind == "table"]
    assert rows == [
        (),
        (("Work", "Turbines"), ("Cost", "14.5"), ("What was done", "Sixteen machines were replaced at once")),
        (("Work", "Dredging"), ("Cost", ""), ("What was done", "The basin")),
        (("Work", "Locks of the west"), ("Cost", "1,310.25"), ("What was done", "None")),
    ]
    assert document.text.count("Costs of the works") == document.text.count("The works began") == 1


def test_a_plain_header_is_known_by_its_column_of_numbers_and_a_list_of_terms_is_no_table() -> None:
    table = [(40.0, "Work"), (150.0, "Cost")], [(40.0, "Turbines"), (150.0, "14.5")], [(40.0, "Locks"), (150.0, "3")]
    document = read(drawn(*((470.0 - 14 * n, row) for n, row in enumerate(table))))
    assert [document.columns_at(block.start) for block in document.blocks][1:] == [
        (("Work", "Turbines"), ("Cost", "14.5")),
        (("Work", "Locks"), ("Cost", "3")),
    ]
    terms = [(40.0, "-a"), (90.0, "Shows all.")], [(40.0, "-b"), (90.0, "Shows some.")], [(40.0, "-c"), (90.0, "None.")]
    document = read(drawn(*((470.0 - 14 * n, row) for n, row in enumerate(terms))))
    assert document.cells == ()


def test_lines_of_justified_text_are_no_rows_of_a_table() -> None:
    words = [["Seals", "of the turbines last"], ["nine years where", "the water"], ["holds", "little of the sand"]]
    lines = [(500.0 - 12 * n, [(40.0, left), (60.0 + 6 * len(left), right)]) for n, (left, right) in enumerate(words)]
    document = read(drawn(*lines, bold=1))
    assert document.cells == ()


NARROW = [
    ["Lake", "Capacity (hm3)", "Filled 2023", "Operator"],
    ["Alder Lake", "412", "355", "Northern Water"],
    ["Birch Tarn", "88", "41", "District"],
    ["Cedar Pool", "1,204", "1,190", "Coast Council"],
]


def placed(rows: list[list[str]], gap: float, *, to_right: bool) -> list[tuple[float, list[tuple[float, str]]]]:
    """The lines of a table whose columns stand so many points apart."""
    widths = [max(stringWidth(row[column], "Helvetica", 10) for row in rows) for column in range(len(rows[0]))]
    lefts = [40 + sum(widths[:column]) + gap * column for column in range(len(widths))]
    places = [
        [
            left + to_right * (column > 0) * (widths[column] - stringWidth(row[column], "Helvetica", 10))
            for column, left in enumerate(lefts)
        ]
        for row in rows
    ]
    return [(470.0 - 14 * n, list(zip(places[n], row, strict=True))) for n, row in enumerate(rows)]


@pytest.mark.parametrize("gap", [3.0, 5.0, 8.0])
@pytest.mark.parametrize("to_right", [False, True])
def test_columns_that_stand_as_close_as_words_are_divided(gap: float, to_right: bool) -> None:
    prose = "The lakes of the north were measured in spring, and what each of them held is shown below."
    document = read(drawn((500, [(40, prose)]), *placed(NARROW, gap, to_right=to_right)))
    header, *below = NARROW
    rows = [document.columns_at(block.start) for block in document.blocks if block.kind == "table"]
    assert rows == [(), *(tuple(zip(header, row, strict=True)) for row in below)]


def test_words_without_written_spaces_between_them_are_no_cells() -> None:
    prose = "What a column of the store may hold is told here, type by type, with limits."
    heading = placed([["8.1.", "Numeric", "types"]], 3.0, to_right=False)
    below = [(456.0, [(40.0, "The"), (61.0, "numeric"), (99.0, "types")]), (442.0, [(40.0, "are of two kinds.")])]
    document = read(drawn((500, [(40, prose)]), *heading, *below))
    assert document.cells == ()
    assert "8.1. Numeric types" in document.text


STATEMENT = [
    ["Item", "2022", "2023"],
    ["Income"],
    ["Water sales", "1,200", "1,310"],
    ["Grants", "", "280"],
    ["Costs"],
    ["Pumps", "410", "500"],
]


@pytest.mark.parametrize("unit", ["", " EUR"])
def test_years_are_a_header_over_numbers_and_labels_are_rows_of_their_own(unit: str) -> None:
    lefts = (40.0, 200.0, 260.0)
    names, *below = STATEMENT
    table = [names, *([label, *(f"{value}{unit}" if value else "" for value in values)] for label, *values in below)]
    lines = [
        (470.0 - 14 * number, [(left, text) for left, text in zip(lefts, row, strict=False) if text])
        for number, row in enumerate(table)
    ]
    document = read(drawn(*lines))
    whole = [row + [""] * (3 - len(row)) for row in table]
    rows = [document.columns_at(block.start) for block in document.blocks if block.kind == "table"]
    assert rows == [(), *(tuple(zip(whole[0], row, strict=True)) for row in whole[1:])]


def test_a_header_at_the_left_of_its_column_names_numbers_at_the_right() -> None:
    table = [[(40, "Well"), (100, "Depth"), (220, "Flow")]]
    table += [[(40, well), (185, depth), (330, flow)] for well, depth, flow in [("A", "31", "4.5"), ("B", "27", "6.1")]]
    prose = [(40, "The wells of the town were measured in spring.")]
    document = read(drawn((500, prose), *((470.0 - 14 * number, row) for number, row in enumerate(table))))
    *_, last = document.rows
    assert document.columns_at(last) == (("Well", "B"), ("Depth", "27"), ("Flow", "6.1"))


def test_words_far_apart_in_three_columns_have_a_header_and_names_with_values_or_numbered_lines_none() -> None:
    def lines(*rows: Sequence[str]) -> list[tuple[float, list[tuple[float, str]]]]:
        return [(470.0 - 14 * number, list(zip((40, 160, 280), row, strict=False))) for number, row in enumerate(rows)]

    board = [("Name", "Role", "City"), ("Ada Byron", "chair", "London"), ("Emmy Noether", "secretary", "Erlangen")]
    document = read(drawn(*lines(*board)))
    *_, last = document.rows
    assert document.columns_at(last) == tuple(zip(board[0], board[2], strict=True))
    facts = [("Seat:", "Norden"), ("Founded:", "1904"), ("Members:", "412")]
    assert (read(drawn(*lines(*facts)))).cells == ()
    listing = [("198", "keep all", "here"), ("199", "keep some", "7"), ("200", "keep few", "9")]
    assert (read(drawn(*lines(*listing)))).cells == ()


def test_a_header_of_several_lines_without_rows_is_no_table() -> None:
    prose = [(40.0, "The wells of the town were measured in spring.")]
    header = [[(40.0, "Well"), (160.0, "Depth"), (280.0, "Flow")], [(160.0, "metres"), (280.0, "litres")]]
    document = read(drawn((500, prose), *((470.0 - 14 * number, row) for number, row in enumerate(header))))
    assert document.cells == ()


def test_three_columns_of_text_are_no_table() -> None:
    columns = ["the tides were", "of the lagoon", "weak and none", "of the many", "machines stood", "still that year"]
    lines = [(470.0 - 14 * n, [(40.0 + 115 * k, f"{columns[(n + k) % 6]} again") for k in range(3)]) for n in range(5)]
    assert (read(drawn(*lines))).cells == ()


def test_accents_of_their_own_are_put_on_their_letters() -> None:
    words = "Th\\264eor\\140eme de Gonz\\264alez, Franc\\270ais, fa\\270cade, na\\250\\365ve"
    content = f"BT /F1 12 Tf 20 200 Td ({words}) Tj ET"
    encoding = "/Encoding<</Type/Encoding/Differences[96/grave 180/acute 168/dieresis 184/cedilla 245/dotlessi]>>"
    document = read(raw_pdf(content, font=f"/BaseFont/Helvetica{encoding}"))
    assert document.text == "Théorème de González, Français, façade, naïve"


@pytest.mark.parametrize("text", ["`quoted' and ´ alone", "a ´b ¨ c", "x¸ q¸"])
def test_signs_that_make_no_letter_stay(text: str) -> None:
    assert composed(text) == text


@pytest.mark.parametrize(
    ("text", "other", "count"),
    [
        ("The \x0crst \x0cle", "The first file", 2),  # a ligature of a font that does not say its letters
        ("helperpackages are wellknown", "helper packages are well known", 2),
        ("a Wikipedia ´ is", "a Wikipédia is", 1),
        ("a package of the world", "a package of the world", 0),
        ("a package", "apackage", 0),
    ],
)
def test_what_is_broken_in_a_text_is_counted(text: str, other: str, count: int) -> None:
    assert broken_words(text, other) == count


def test_the_bullets_of_a_symbol_font_begin_items() -> None:
    lines = [PdfLine(text, 10.0, y=500.0 - 12 * number) for number, text in enumerate(["\uf0b7 Gates", "\uf0a7 Locks"])]
    document = pdf_document([lines])
    assert [block.kind for block in document.blocks] == ["item", "item"]


def test_a_drawn_soft_hyphen_within_a_line_is_a_hyphen() -> None:
    assert (
        Vocabulary([]).join(["a long\u00adterm plan and an experi\u00ad", "ment"])
        == "a long-term plan and an experiment"
    )


WORDS = st.sampled_from(["", "Well", "a b", "31", "2022", "4.5 m", "x:"])
LINES = st.lists(
    st.tuples(st.lists(WORDS, min_size=3, max_size=3), st.sampled_from([30, 30, 140]), st.booleans()), max_size=8
)


@example([(["Well", "a b", "a b"], 30, False), (["", "a b", "a b"], 30, True)])  # a header of two lines and no row
@given(LINES)
def test_any_lines_give_tables_with_rows_of_several_cells_and_all_their_words(lines: list[Any]) -> None:
    rows = [
        [PdfCell(left, left + width, text) for left, text in zip((40, 160, 280), texts, strict=True) if text]
        for texts, width, _ in lines
    ]
    found = table_rows(rows, [close for _, _, close in lines])
    assert all(len(cells) >= 2 for cells in found.values() if cells)
    said = [text for cells in found.values() for cell in cells for text in cell]
    assert sorted(said) == sorted(cell.text for number in found for cell in rows[number])
