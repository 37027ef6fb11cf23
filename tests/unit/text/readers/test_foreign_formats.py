"""Office files, books, mails and archives: text, headings, tables and metadata, and where each passage stands."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pytest

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.locators import make_locator, resolve
from graph_research.text.passages import passages
from graph_research.text.places import in_words, place_of, places_of
from graph_research.text.readers import READERS, media_type_of
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.foreign.sheets import read_xlsx
from graph_research.text.readers.formats import FORMATS
from graph_research.text.readers.limits import Limits
from graph_research.text.relevance.units import units
from tests.support.documents import foreign_files
from tests.support.documents.reading import read_here


def read(data: bytes, name: str) -> Document:
    media_type = media_type_of(name) or ""
    document = READERS[media_type](data.decode()) if media_type in READERS else read_here(data, media_type, name)
    assert Document.from_layout(document.text, json.loads(json.dumps(document.layout()))) == document
    for passage in passages(document):
        locator = make_locator(document, passage.start, passage.end)
        assert resolve(document.text, locator, document.pages) == (passage.start, passage.end)
    return document


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def where(document: Document, first: str, last: str = "") -> str:
    """Where the text from `first` to `last` stands, in words."""
    start = document.text.index(first)
    end = document.text.index(last or first, start) + len(last or first)
    places = places_of(document.places, start, end)
    assert place_of(document.places, start, end) == (places[0] if len(places) == 1 else None)
    return "; ".join(map(in_words, places))


BODY = [
    ("heading", "Annual report of the lagoon"),
    ("paragraph", "The lagoon produced 412 GWh in 2021, more than in any year before."),
    ("heading", "Costs"),
    ("paragraph", "All figures are in million pounds."),
    ("table", "Item 2020 2021"),
    ("table", "Turbines 14.5 17.25"),
    ("table", "Dredging 3.1"),
    ("item", "First point of the list."),
    ("item", "Second point of the list."),
    ("heading", "Outlook"),
    ("paragraph", "Two seals will be exchanged in May."),
]


@pytest.mark.parametrize("suffix", ["docx", "odt"])
def test_a_text_document_has_headings_items_tables_and_places(tmp_path: Path, suffix: str) -> None:
    document = read(foreign_files.office(tmp_path, suffix), f"report.{suffix}")
    assert blocks(document) == BODY
    assert (document.title, document.authors) == ("Annual report of the lagoon", ("Ann Writer",))
    assert list(document.rows.values())[1:] == [("Turbines", "14.5", "17.25"), ("Dredging", "3.1", "")]
    assert where(document, "The lagoon produced") == "paragraph 2"
    assert where(document, "Turbines") == "table 1, row 2"
    assert where(document, "Turbines", "3.1") == "table 1, row 2–3"
    assert where(document, "Two seals") == "paragraph 8"
    assert where(document, "All figures", "First point") == "paragraph 4; table 1, row 1–3; paragraph 5"


@pytest.mark.parametrize("suffix", ["rtf", "epub", "pdf"])
@pytest.mark.requirement("12.1")
def test_other_formats_of_a_word_processor_give_the_same_words(tmp_path: Path, suffix: str) -> None:
    document = read(foreign_files.office(tmp_path, suffix), f"report.{suffix}")
    words = " ".join(text for _, text in BODY).split()
    assert [word for word in document.text.split() if word not in ("•", "●")] == words
    assert (document.title, document.authors) == ("Annual report of the lagoon", ("Ann Writer",))
    tables = [text for kind, text in blocks(document) if kind == "table"]
    assert tables == [text for kind, text in BODY if kind == "table"]


def test_a_book_names_its_licence() -> None:
    dc, opf = "http://purl.org/dc/elements/1.1/", "http://www.idpf.org/2007/opf"
    book = {
        "META-INF/container.xml": '<container><rootfile full-path="book.opf"/></container>',
        "book.opf": f'<package xmlns="{opf}" xmlns:dc="{dc}"><metadata><dc:rights>CC BY-SA\n4.0</dc:rights></metadata>'
        '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>',
        "a.xhtml": "<html><body><p>Open both gates.</p></body></html>",
    }
    document = read(foreign_files.packed(book), "gates.epub")
    assert (document.text, document.licence) == ("Open both gates.", "CC BY-SA 4.0")


def test_a_workbook_gives_each_value_in_its_cell_and_no_hidden_sheet() -> None:
    document = read(foreign_files.workbook(), "costs.xlsx")
    assert blocks(document) == [
        ("heading", "Costs, all"),
        ("table", "Item 2020 2021"),
        ("table", "Turbines 14.5 17.25"),
        ("table", "Dredging 12.5%"),
        ("heading", "Notes"),
        ("table", "The audit was closed in May."),
    ]
    assert (document.title, document.authors) == ("Costs of the lagoon", ("Bob Counter",))
    assert list(document.rows.values())[2] == ("Dredging", "", "12.5%")
    assert where(document, "17.25") == "sheet Costs, all, D4"
    assert where(document, "Turbines", "12.5%") == "sheet Costs, all, B4:D5"
    assert where(document, "audit") == "sheet Notes, A1"
    assert document.warnings == ("the hidden sheet Secret is not read",)


FEES = [
    ["Fees of the practice"],
    [],
    ["Valid from January"],
    ["Treatment", "Private", None, "Members"],  # above two columns each, as merged cells store it
    [None, "Adult", "Child", "Adult", "Child"],
    ["Filling", 152, 104, 106, 66],
    ["Crown", 845, None, 676],
]


def fees_spreadsheet() -> bytes:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    cells = ["".join(cell(value or "") for value in row) for row in FEES]
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    return foreign_files.open_document("spreadsheet", f'<table:table table:name="Fees">{rows}</table:table>')


@pytest.mark.parametrize(
    ("content", "name"), [(foreign_files.workbook_of(FEES), "fees.xlsx"), (fees_spreadsheet(), "fees.ods")]
)
def test_a_table_of_a_sheet_has_the_columns_of_its_widest_row_but_its_captions(content: bytes, name: str) -> None:
    document = read(content, name)
    [(header, *rows)] = document.tables
    assert document.header_at(header) == (
        "Treatment",
        "Private Adult",
        "Private Child",
        "Members Adult",
        "Members Child",
    )
    assert [document.rows[row] for row in rows] == [
        ("Filling", "152", "104", "106", "66"),
        ("Crown", "845", "", "676", ""),
    ]
    assert where(document, "676").endswith("D7")


def test_formulas_without_a_stored_value_are_counted() -> None:
    costs = [["Item", "Price", "Total"], ["Ale", 13, "=B2*3"], ["Stout", 15, "=B3*3"]]
    document = read(foreign_files.workbook_of(costs), "costs.xlsx")
    [warning] = document.warnings
    assert warning.startswith("2 formulas have no stored value in sheet ")


CATCH = [
    ["Country", "Year", "Tons"],
    ["Norway", 2020, 510],
    ["", 2021, 478],
    ["Iceland", 2020, 130],
    ["", 2021, 144],
]


def catch_workbook() -> bytes:
    workbook = openpyxl.load_workbook(io.BytesIO(foreign_files.workbook_of(CATCH)))
    for cells in ("A2:A3", "A4:A5"):
        workbook.active.merge_cells(cells)
    made = io.BytesIO()
    workbook.save(made)
    return made.getvalue()


def catch_in_word() -> bytes:
    document = docx.Document()
    table = document.add_table(len(CATCH), 3)
    for row, cells in enumerate(CATCH):
        for column, value in enumerate(cells):
            table.cell(row, column).text = str(value)
    for first in (1, 3):
        table.cell(first, 0).merge(table.cell(first + 1, 0))
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [(catch_workbook(), "catch.xlsx"), (catch_in_word(), "catch.docx")],
)
def test_a_merged_cell_is_said_in_each_row_that_it_stands_in(content: bytes, name: str) -> None:
    document = read(content, name)
    assert list(document.rows.values()) == [
        ("Country", "Year", "Tons"),
        ("Norway", "2020", "510"),
        ("Norway", "2021", "478"),
        ("Iceland", "2020", "130"),
        ("Iceland", "2021", "144"),
    ]


def test_rows_behind_an_empty_one_are_another_table_where_they_begin_with_a_header() -> None:
    prices = [["Beer", "Keg", "Bottle"], ["Ale", 82, 1.42], [], ["Stout", 91], [], ["Deposit", "Amount"], ["Keg", 35]]
    document = read(foreign_files.workbook_of(prices), "prices.xlsx")
    beers, deposits = ([document.rows[start] for start in table] for table in document.tables)
    assert beers == [("Beer", "Keg", "Bottle"), ("Ale", "82", "1.42"), ("Stout", "91", "")]
    assert deposits == [("Deposit", "Amount"), ("Keg", "35")]


def test_a_word_document_that_a_program_made_is_not_dated_by_the_template_of_its_library() -> None:
    made = io.BytesIO()
    document = docx.Document()
    document.add_paragraph("Both gates are open.")
    document.save(made)
    assert read(made.getvalue(), "gates.docx").date == ""
    document.core_properties.modified = datetime(2025, 3, 11, tzinfo=UTC)
    document.save(made)
    assert read(made.getvalue(), "gates.docx").date.startswith("2025-03-11")


def test_a_workbook_with_styles_that_no_reader_knows_is_read_and_says_what_is_missing() -> None:
    members = members_of(foreign_files.workbook())
    members["xl/styles.xml"] = members["xl/styles.xml"].replace(b"gray125", b"plaid")
    document = read(foreign_files.packed(members), "costs.xlsx")
    assert list(document.rows.values())[2] == ("Dredging", "", "0.125")
    assert "its formats are damaged: dates and shares are shown as plain numbers" in document.warnings


def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return {name: package.read(name) for name in package.namelist()}


@pytest.mark.parametrize("suffix", ["docx", "xlsx", "pptx"])
def test_strict_office_files_are_read_as_all_others(suffix: str) -> None:
    made = io.BytesIO()
    word = docx.Document()
    word.add_heading("Gates")
    word.save(made)
    data = {"docx": made.getvalue(), "xlsx": foreign_files.workbook(), "pptx": foreign_files.slides()}[suffix]
    strict = {
        name: re.sub(rb"http://schemas.openxmlformats.org/(\w+)/2006/", rb"http://purl.oclc.org/ooxml/\1/", content)
        for name, content in members_of(data).items()
    }
    assert blocks(read(foreign_files.packed(strict), f"a.{suffix}")) == blocks(read(data, f"a.{suffix}"))


def test_the_parts_of_a_word_document_may_have_any_name() -> None:
    made = io.BytesIO()
    document = docx.Document()
    document.add_heading("Gates")
    document.save(made)
    renamed = {
        name.replace("document.xml", "main2.xml"): content.replace(b"document.xml", b"main2.xml")
        for name, content in members_of(made.getvalue()).items()
    }
    assert blocks(read(foreign_files.packed(renamed), "gates.docx")) == [("heading", "Gates")]


def test_a_row_at_the_end_of_a_sheet_is_read_at_once_and_what_is_damaged_behind_it_is_said() -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B1048576"], book.active["ALN2"] = "first", "last", "column 1002"
    made = io.BytesIO()
    book.save(made)
    members = members_of(made.getvalue())
    sheet = "xl/worksheets/sheet1.xml"
    rule = b'</sheetData><conditionalFormatting sqref="A1"><cfRule type="unknown"/></conditionalFormatting>'
    members[sheet] = members[sheet].replace(b"</sheetData>", rule)
    document = read_xlsx(foreign_files.packed(members), Limits(seconds=5))
    assert blocks(document) == [("heading", "Sheet"), ("table", "first"), ("table", "last")]
    assert document.warnings == (
        "sheet Sheet is damaged behind row 1,048,576: rows may be missing",
        "read the first 1,000 columns of sheet Sheet",
    )


def test_repeated_rows_and_columns_of_a_spreadsheet_are_counted() -> None:
    document = read(foreign_files.spreadsheet(), "output.ods")
    assert blocks(document) == [("heading", "Output"), ("table", "Year GWh"), ("table", "412")]
    assert where(document, "412") == "sheet Output, C5"


def word_table(*cells: str) -> str:
    return f"<w:tbl><w:tr>{''.join(cells)}</w:tr></w:tbl>"


def word_cell(text: str, more: str = "") -> str:
    return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p>{more}</w:tc>"


def test_cells_in_content_controls_are_read_and_inner_tables_once() -> None:
    control = f"<w:sdt><w:sdtContent>{word_cell('412')}</w:sdtContent></w:sdt>"
    table = word_table(word_cell("Output"), control, word_cell("Parts", word_table(word_cell("gates"))))
    document = read(foreign_files.word_document(table), "a.docx")
    assert blocks(document) == [("table", "Output 412 Parts gates")]
    assert list(document.rows.values()) == [("Output", "412", "Parts gates")]


_CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:date1904 val="0"/><c:chart>'
    "<c:title><a:p><a:r><a:t>Output</a:t></a:r></a:p></c:title><c:ser><c:tx><c:v>Share</c:v></c:tx><c:cat><c:lvl>"
    '<c:pt idx="0"><c:v>Spring</c:v></c:pt><c:pt idx="1"><c:v>Autumn</c:v></c:pt></c:lvl><c:lvl><c:pt idx="0">'
    "<c:v>2021</c:v></c:pt></c:lvl></c:cat><c:val><c:formatCode>0%</c:formatCode>"
    '<c:pt idx="0"><c:v>0.37000000000000005</c:v></c:pt><c:pt idx="1"><c:v>0.63</c:v></c:pt></c:val></c:ser>'
    '<c:ser><c:tx><c:v>Day</c:v></c:tx><c:val><c:formatCode>d/m/yyyy</c:formatCode><c:pt idx="1">'
    "<c:v>44197</c:v></c:pt></c:val></c:ser></c:chart></c:chartSpace>"
)
_POINTS = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart">'
    + "".join(
        f"<c:ser><c:tx><c:v>{name}</c:v></c:tx><c:{kind}>{stored}</c:{kind}><c:{values}><c:numCache>"
        f'<c:pt idx="0"><c:v>4</c:v></c:pt><c:pt idx="1"><c:v>5</c:v></c:pt></c:numCache></c:{values}></c:ser>'
        for name, kind, values, stored in (
            (
                "Speed",
                "cat",
                "val",
                '<c:strCache><c:pt idx="0"><c:v>2.10</c:v></c:pt><c:pt idx="1"><c:v>007</c:v></c:pt></c:strCache>',
            ),
            ("Size", "cat", "val", ""),
            ("North", "xVal", "yVal", '<c:numCache><c:pt idx="0"><c:v>1.0</c:v></c:pt></c:numCache>'),
            ("South", "xVal", "yVal", '<c:numCache><c:pt idx="0"><c:v>8.0</c:v></c:pt></c:numCache>'),
        )
    )
    + "</c:chartSpace>"
)
_DIAGRAM = (
    '<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><d:pt modelId="0" type="doc"/>'
    + "".join(
        f'<d:pt modelId="{n}"><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>'
        for n, text in enumerate(("Close", "Open", "Open the upper gate"), start=1)
    )
    + '<d:cxn srcId="0" destId="1" srcOrd="1"/><d:cxn srcId="0" destId="2" srcOrd="0"/><d:cxn srcId="2" destId="3"/>'
    '<d:cxn srcId="1" destId="0" type="presOf"/></d:dataModel>'
)
_SHOWN = (
    '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="c"/>'
    '<d:relIds xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" r:dm="d"/>'
)


def with_drawings(suffix: str, drawings: dict[str, str]) -> bytes:
    """A file that shows the chart `c.xml` and the diagram `d.xml`."""
    folder, data = {
        "docx": ("word", foreign_files.word_document("<w:p><w:drawing/></w:p>")),
        "pptx": ("ppt/slides", foreign_files.slides()),
    }[suffix]
    members = {name: content.decode() for name, content in members_of(data).items()}
    name = next(name for name in members if name.startswith(folder) and name.endswith(".xml"))
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    at = "<w:drawing/>" if suffix == "docx" else "</p:spTree>"
    shown = _SHOWN.replace("r:", f'xmlns:r="{office}" r:')
    members[name] = members[name].replace(at, shown + at)
    links = "".join(f'<Relationship Id="{n}" Target="{n}.xml"/>' for n in "cd")
    within, _, base = name.rpartition("/")
    members[f"{within}/_rels/{base}.rels"] = (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>'
    )
    return foreign_files.packed(members | {f"{within}/{member}": drawing for member, drawing in drawings.items()})


@pytest.mark.parametrize("suffix", ["docx", "pptx"])
def test_charts_are_tables_and_diagrams_are_read_from_above(suffix: str) -> None:
    document = read(with_drawings(suffix, {"c.xml": _CHART, "d.xml": _DIAGRAM}), f"a.{suffix}")
    rows = [("", "Share", "Day"), ("2021 Spring", "37%", ""), ("2021 Autumn", "63%", "2021-01-01")]
    assert [row for row in document.rows.values() if row in rows] == rows
    texts = ["Output", "Open", "Open the upper gate", "Close"]
    assert [text for _, text in blocks(document) if text in texts] == texts
    broken = read(with_drawings(suffix, {"c.xml": "<c", "d.xml": _DIAGRAM}), f"a.{suffix}")
    assert "Open the upper gate" in broken.text
    [warning] = broken.warnings
    assert "/c.xml is not read: it is damaged" in warning


def test_words_below_a_chart_stay_as_they_are_and_points_of_a_series_have_its_own_places() -> None:
    document = read(with_drawings("docx", {"c.xml": _POINTS}), "a.docx")
    assert list(document.rows.values()) == [
        ("", "Speed", "Size"),
        ("2.10", "4", "4"),
        ("007", "5", "5"),
        ("", "North"),
        ("1", "4"),
        ("2", "5"),
        ("", "South"),
        ("8", "4"),
        ("2", "5"),
    ]


def test_how_a_word_is_pronounced_stands_above_it_and_not_in_the_text() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    ruby = f"<w:ruby><w:rt>{run.format('かん')}</w:rt><w:rubyBase>{run.format('閘門')}</w:rubyBase></w:ruby>"
    word = foreign_files.word_document(f"<w:p><w:r>{ruby}</w:r>{run.format('は八つある。')}</w:p>")
    base = "<text:ruby><text:ruby-base>閘門</text:ruby-base><text:ruby-text>かん</text:ruby-text></text:ruby>"
    writer = foreign_files.open_document("text", f"<text:p>{base}は八つある。</text:p>")
    page = "<p><ruby>閘門<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>は八つある。</p>".encode()
    assert {read(word, "a.docx").text, read(writer, "a.odt").text, read(page, "a.html").text} == {"閘門は八つある。"}


def test_a_file_that_is_inserted_in_a_word_document_and_not_read_is_named() -> None:
    document = read(foreign_files.word_document("<w:altChunk/><w:p><w:r><w:t>Text.</w:t></w:r></w:p>"), "a.docx")
    assert document.warnings == ("a file that is inserted in it is not read: it is empty",)


@pytest.mark.parametrize(
    ("name", "inserted", "place"),
    [
        ("part.html", b"<p>The seals last 18 months.</p>", "paragraph 1"),
        ("part.txt", b"The seals last 18 months.", "part.txt, line 1"),
        (
            "part.docx",
            foreign_files.word_document("<w:p><w:r><w:t>The seals last 18 months.</w:t></w:r></w:p>"),
            "part.docx, paragraph 1",
        ),
    ],
)
def test_a_file_that_is_inserted_in_a_word_document_is_read_in_its_place(
    name: str, inserted: bytes, place: str
) -> None:
    text = "<w:p><w:r><w:t>{0}</w:t></w:r></w:p>"
    names = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="r1"'
    word = foreign_files.word_document(text.format("Before.") + f"<w:altChunk {names}/>" + text.format("Behind."))
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    related = f'<Relationships xmlns="{links}"><Relationship Id="r1" Target="{name}"/></Relationships>'
    members = members_of(word) | {"word/_rels/document.xml.rels": related.encode(), f"word/{name}": inserted}
    document = read(foreign_files.packed(members), "a.docx")
    assert [text for _, text in blocks(document)] == ["Before.", "The seals last 18 months.", "Behind."]
    assert (where(document, "18 months"), document.warnings) == (place, ())


def test_the_paragraphs_and_tables_of_a_box_stand_behind_the_paragraph_that_holds_it_and_once() -> None:
    def paragraph(text: str) -> str:
        return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"

    table = f"<w:tbl><w:tr><w:tc>{paragraph('Gates')}</w:tc><w:tc>{paragraph('8')}</w:tc></w:tr></w:tbl>"
    inner = f"<w:p><w:r><w:txbxContent>{paragraph('Inner.')}</w:txbxContent></w:r></w:p>"
    box = f"<w:r><w:pict><w:txbxContent>{paragraph('First.')}{table}{inner}</w:txbxContent></w:pict></w:r>"
    body = f"<w:p><w:r><w:t>Around</w:t></w:r>{box}<w:r><w:t> it.</w:t></w:r></w:p>{paragraph('Last.')}"
    document = read(foreign_files.word_document(body), "a.docx")
    assert [text for _, text in blocks(document)] == ["Around it.", "First.", "Gates 8", "Inner.", "Last."]
    assert where(document, "Last.") == "paragraph 2"
    in_a_cell = foreign_files.word_document(f"<w:tbl><w:tr><w:tc>{body}</w:tc></w:tr></w:tbl>")
    assert [text for _, text in blocks(read(in_a_cell, "a.docx"))] == [
        "Around it. Last.",
        "First.",
        "Gates 8",
        "Inner.",
    ]


def test_merged_cells_stand_in_their_first_column_and_a_caption_row_names_no_columns() -> None:
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>{0}</w:t></w:r></w:p></w:tc>'
    rows = [
        wide.format("Output of the lagoon") + word_cell(""),
        word_cell("Year") + word_cell("GWh") + word_cell("Gates"),
        wide.format("2020 and 2021") + word_cell("3"),
    ]
    table = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    document = read(foreign_files.word_document(table), "a.docx")
    *_, last = document.rows
    assert document.columns_at(last) == (("Year", "2020 and 2021"), ("GWh", ""), ("Gates", "3"))


def test_a_paragraph_of_a_word_document_may_be_a_heading_by_itself_and_no_item_of_a_list() -> None:
    properties = '<w:pPr><w:numPr><w:numId w:val="{0}"/></w:numPr>{1}</w:pPr>'
    level = '<w:outlineLvl w:val="1"/>'
    paragraphs = [("0", level, "Costs"), ("0", "", "All of it."), ("4", "", "The gates.")]
    body = "".join(
        f"<w:p>{properties.format(number, more)}<w:r><w:t>{text}</w:t></w:r></w:p>" for number, more, text in paragraphs
    )
    document = read(foreign_files.word_document(body), "a.docx")
    assert blocks(document) == [("heading", "Costs"), ("paragraph", "All of it."), ("item", "The gates.")]


def test_raised_digits_of_a_word_document_stay_raised() -> None:
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r>'
    body = f"<w:p><w:r><w:t>It covers 12 km</w:t></w:r>{raised}<w:r><w:t> since 2021</w:t></w:r>{raised}</w:p>"
    assert blocks(read(foreign_files.word_document(body), "a.docx")) == [("paragraph", "It covers 12 km² since 2021²")]


@pytest.mark.parametrize(("style", "kind"), [("List Bullet 2", "item"), ("List Contents", "paragraph")])
def test_an_item_of_a_word_document_has_a_style_of_lists(style: str, kind: str) -> None:
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = '<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>The gates.</w:t></w:r></w:p>'
    styles = f'<w:styles {names}><w:style w:styleId="a"><w:name w:val="{style}"/></w:style></w:styles>'
    document = f"<w:document {names}><w:body>{body}</w:body></w:document>"
    made = foreign_files.packed({"word/document.xml": document, "word/styles.xml": styles})
    assert blocks(read(made, "a.docx")) == [(kind, "The gates.")]


RICH_TEXT = rb"""{\rtf1\ansi{\stylesheet{\s1\outlinelevel0 Title;}{\s2\sbasedon1\fs36 Heading 2;}{\s3\sb240 Plain;}}
\pard\s1\outlinelevel0 The lagoon\par
\pard\plain \s2\fs36{\loch Turbines}\par
\pard\plain \s3\sb240 Sixteen of them\par
\pard It has sixteen turbines.{\super\chftn{\*\footnote\chftn\pard Annual {\b report}.}}{\deleted Nonsense.}
 None\line stopped.\par
\pard{\listtext\u61623\'3f\tab}{Short line}\par
{\shp{\*\shpinst{\sp{\sn fill}{\sv 1}}{\shptxt\pard A box.\par}}}\pard\{Letter\}{\footnote\pard Second.}\par}"""


def test_rich_text_keeps_its_notes_and_boxes_and_leaves_out_what_was_deleted() -> None:
    document = read(RICH_TEXT, "a.rtf")
    assert blocks(document) == [
        ("heading", "The lagoon"),
        ("heading", "Turbines"),
        ("paragraph", "Sixteen of them"),
        ("paragraph", "It has sixteen turbines.[1] None stopped."),
        ("item", "Short line"),
        ("paragraph", "{Letter}[2]"),
        ("paragraph", "[1] Annual report."),
        ("paragraph", "A box."),
        ("paragraph", "[2] Second."),
    ]


def test_a_picture_of_rich_text_without_a_length_is_passed_over() -> None:
    document = read(b"{\\rtf1\\binfsxn1 {\\pard Look {\\pict\\jpegblip \\bin ffd8ffe0} here.\\par}}", "a.rtf")
    assert document.text == "Look here."


def test_a_cell_of_rich_text_may_end_its_paragraph_itself() -> None:
    cell = b"{{\\pard\\intbl %s\\par}\n\\cell}\n"
    row = b"{\\trowd\\cellx4320\\cellx8640\n" + cell + cell + b"\\intbl\\row}\n"
    rows = row % (b"Parcel", b"Postage") + row % (b"3 to 10 kg", b"12.70")
    document = read(b"{\\rtf1\\ansi\n%s}" % rows, "a.rtf")
    assert list(document.rows.values()) == [("Parcel", "Postage"), ("3 to 10 kg", "12.70")]


def docbook_table(*rows: Sequence[str]) -> str:
    entries = ("".join(f"<entry>{cell}</entry>" for cell in row) for row in rows)
    tbody = "".join(f"<row>{row}</row>" for row in entries)
    return f"<informaltable><tgroup><tbody>{tbody}</tbody></tgroup></informaltable>"


def open_table(*rows: Sequence[str]) -> str:
    cells = ("".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row) for row in rows)
    return f"<table:table>{''.join(f'<table:table-row>{row}</table:table-row>' for row in cells)}</table:table>"


FIRST, SECOND = [("Ferry", "Cars"), ("Skarvik", "22")], [("Quay", "Depth"), ("North", "7 m")]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (foreign_files.open_document("text", open_table(*FIRST) + open_table(*SECOND)), "a.odt"),
        (f"<article>{docbook_table(*FIRST)}{docbook_table(*SECOND)}</article>".encode(), "a.xml"),
        (b"| Ferry | Cars |\n|--|--|\n| Skarvik | 22 |\n\n| Quay | Depth |\n|--|--|\n| North | 7 m |\n", "a.md"),
        (
            foreign_files.word_document(
                "".join(
                    "<w:tbl>"
                    + "".join(f"<w:tr>{word_cell(one)}{word_cell(two)}</w:tr>" for one, two in table)
                    + "</w:tbl>"
                    for table in (FIRST, SECOND)
                )
            ),
            "a.docx",
        ),
    ],
    ids=["odt", "docbook", "markdown", "docx"],
)
def test_a_table_right_behind_another_has_its_own_header(data: bytes, name: str) -> None:
    document = read(data, name)
    columns = [document.columns_at(start) for start in document.rows]
    assert columns == [(), (("Ferry", "Skarvik"), ("Cars", "22")), (), (("Quay", "North"), ("Depth", "7 m"))]


NOTED = [
    ("paragraph", "It has sixteen turbines.[1] None stopped.[2]"),
    ("paragraph", "[1] Annual report."),
    ("paragraph", "[2] Letter."),
]


def test_the_notes_of_a_word_document_are_numbered_behind_its_text() -> None:
    run, text = "<w:r>{0}</w:r>", "<w:r><w:t xml:space='preserve'>{0}</w:t></w:r>"
    mark, note = '<w:footnoteReference w:id="{0}"/>', "<w:footnote{0}><w:p>{1}</w:p></w:footnote>"
    first = text.format("It has sixteen turbines.") + run.format(mark.format(7))
    body = f"<w:p>{first}{text.format(' None stopped.')}{run.format(mark.format(9))}</w:p>"
    line = note.format(' w:type="separator" w:id="0"', run.format("<w:separator/>"))
    notes = note.format(' w:id="7"', text.format("Annual report.")) + note.format(' w:id="9"', text.format("Letter."))
    last = f"<w:p>{text.format('The end.')}</w:p>"
    document = read(foreign_files.word_document(body + last, line + notes), "a.docx")
    assert blocks(document) == [NOTED[0], ("paragraph", "The end."), *NOTED[1:]]
    assert where(document, "Letter.") == "paragraph 1"


def test_the_notes_of_an_open_document_are_numbered_behind_its_text() -> None:
    note = (
        "<text:note><text:note-citation>{0}</text:note-citation>"
        "<text:note-body><text:p>{1}</text:p></text:note-body></text:note>"
    )
    first, second = note.format(1, "Annual report."), note.format(2, "Letter.")
    body = f"<text:p>It has sixteen turbines.{first} None stopped.{second}</text:p>"
    document = read(foreign_files.open_document("text", f"{body}<text:p>The end.</text:p>"), "a.odt")
    assert blocks(document) == [NOTED[0], ("paragraph", "The end."), *NOTED[1:]]
    assert where(document, "Letter.") == "paragraph 1"


@pytest.mark.parametrize("kind", ["text", "presentation"])
def test_a_chart_of_an_open_document_is_a_table_below_its_titles(kind: str) -> None:
    link = '<draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/>'
    frame = f"<draw:frame>{link}</draw:frame>"
    body = f"<text:p>{frame}</text:p>" if kind == "text" else f"<draw:page>{frame}</draw:page>"
    chart = "urn:oasis:names:tc:opendocument:xmlns:chart:1.0"
    rows = [("", "Pounds"), ("Seals<text:list><text:list-item>Seals</text:list-item></text:list>", "1200")]
    table = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{said}</text:p></table:table-cell>" for said in row)
        + "</table:table-row>"
        for row in rows
    )
    embedded = (
        f'<chart:chart xmlns:chart="{chart}"><chart:title><text:p>Costs</text:p></chart:title>'
        f"<table:table>{table}</table:table></chart:chart>"
    )
    members = members_of(foreign_files.open_document(kind, body))
    members["Object 1/content.xml"] = members_of(foreign_files.open_document("chart", embedded))["content.xml"]
    document = read(foreign_files.packed(members), {"text": "a.odt", "presentation": "a.odp"}[kind])
    assert blocks(document) == [("paragraph", "Costs"), ("table", "Pounds"), ("table", "Seals 1200")]
    assert where(document, "1200") == {"text": "paragraph 1", "presentation": "slide 1"}[kind]
    shown = (
        f"<text:p>Text.{frame}</text:p>" if kind == "text" else f"<draw:page>{frame}<text:p>Text.</text:p></draw:page>"
    )
    members |= members_of(foreign_files.open_document(kind, shown)) | {"Object 1/content.xml": b"<c"}
    broken = read(foreign_files.packed(members), {"text": "a.odt", "presentation": "a.odp"}[kind])
    assert broken.text == "Text."
    [warning] = broken.warnings
    assert warning.startswith("the embedded Object 1 is not read: it is damaged")


def test_an_open_document_with_a_password_is_called_encrypted() -> None:
    members = members_of(foreign_files.open_document("text", "<text:p>Text.</text:p>"))
    members["META-INF/manifest.xml"] = b"<manifest><encryption-data/></manifest>"  # of a macro, perhaps
    assert read(foreign_files.packed(members), "a.odt").text == "Text."
    members["content.xml"] = b"\x8f\x02"
    with pytest.raises(DocumentUnreadable, match="it is encrypted: it opens only with a password"):
        read(foreign_files.packed(members), "a.odt")


def test_inner_tables_of_an_open_document_are_read_once() -> None:
    cell = "<table:table-cell><text:p>{0}</text:p>{1}</table:table-cell>"
    row = "<table:table-row>{0}</table:table-row>"
    inner = f"<table:table>{row.format(cell.format('gates', ''))}</table:table>"
    rows = f"<table:table-header-rows>{row.format(cell.format('Output', ''))}</table:table-header-rows>"
    table = f"<table:table>{rows}{row.format(cell.format('Parts', inner))}</table:table>"
    document = read(foreign_files.open_document("text", table), "a.odt")
    assert blocks(document) == [("table", "Output"), ("table", "Parts gates")]


def test_a_box_in_a_paragraph_is_words_of_their_own_and_a_comment_none() -> None:
    comment = "<office:annotation><text:p>Check this.</text:p></office:annotation>"
    box = "<draw:frame><draw:text-box><text:p>In a box.</text:p><text:p>Still.</text:p></draw:text-box></draw:frame>"
    document = read(foreign_files.open_document("text", f"<text:p>{box}Turbines{comment} turn.</text:p>"), "a.odt")
    assert document.text == "In a box. Still. Turbines turn."


def test_a_spreadsheet_shows_dates_as_other_workbooks_and_neither_comments_nor_hidden_sheets() -> None:
    cell = "<table:table-cell{0}>{1}<text:p>{2}</text:p></table:table-cell>"
    comment = "<office:annotation><text:p>Check this.</text:p></office:annotation>"
    date = ' office:value-type="date" office:date-value="{0}"'
    row = cell.format(date.format("2021-03-04"), "", "04/03/21") + cell.format("", comment, "412")
    row += cell.format(date.format("2021-03-04T08:30:00"), "", "04/03/21")
    sheet = '<table:table table:name="{0}" table:style-name="{1}"><table:table-row>{2}</table:table-row></table:table>'
    hidden = '<style:style style:name="gone"><style:table-properties table:display="false"/></style:style>'
    body = sheet.format("Output", "shown", row) + sheet.format("Secret", "gone", cell.format("", "", "hidden words"))
    document = read(foreign_files.open_document("spreadsheet", body, styles=hidden), "a.ods")
    assert document.text == "Output 2021-03-04 412 2021-03-04 08:30:00"
    assert where(document, "Output") == "sheet Output, A1"
    assert document.warnings == ("the hidden sheet Secret is not read",)


def test_a_filled_row_of_a_spreadsheet_is_repeated_up_to_a_bound() -> None:
    row = "<table:table-row{0}><table:table-cell><text:p>{1}</text:p></table:table-cell></table:table-row>"
    repeated = ' table:number-rows-repeated="{0}"'
    rows = row.format(repeated.format("3"), "412") + row.format(repeated.format("²"), "17")
    rows += row.format(repeated.format("5000"), "9")
    table = f'<table:table table:name="Output">{rows}</table:table>'
    document = read(foreign_files.open_document("spreadsheet", table), "a.ods")
    assert [text for _, text in blocks(document)] == ["Output", "412", "412", "412", "17", *["9"] * 1_000]
    assert where(document, "17") == "sheet Output, A4"
    assert document.warnings == ("read 1,000 of 5,000 equal rows from row 5 of sheet Output",)


@pytest.mark.parametrize(
    ("kind", "name", "place"),
    [("text", "a.fodt", "table 1, row 2"), ("spreadsheet", "a.fods", "sheet Output, A2:B2")],
)
def test_an_open_document_of_one_xml_text_is_read_as_a_packed_one(kind: str, name: str, place: str) -> None:
    cells = [["Year", "GWh"], ["2021", "412"]]
    cell = "<table:table-cell><text:p>{0}</text:p></table:table-cell>"
    rows = "".join(f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>" for row in cells)
    packed = foreign_files.open_document(kind, f'<table:table table:name="Output">{rows}</table:table>')
    flat = members_of(packed)["content.xml"].replace(b"document-content", b"document")
    image = "<draw:image><office:binary-data>iVBORw0KGgo=</office:binary-data></draw:image>"
    flat = flat.replace(b"<text:p>412", f"<text:p>{image}412".encode())
    document, whole = read(flat, name), read(packed, name.replace("f", "", 1))
    assert (document.text, blocks(document)) == (whole.text, blocks(whole))
    assert where(document, "2021", "412") == where(whole, "2021", "412") == place


def test_columns_of_a_spreadsheet_that_are_not_read_are_named() -> None:
    cell = "<table:table-cell{0}><text:p>{1}</text:p></table:table-cell>"
    gap = '<table:table-cell table:number-columns-repeated="999"/>'
    row = f"<table:table-row>{cell.format('', 'first')}{gap}{{0}}</table:table-row>"
    end = '<table:table-cell table:number-columns-repeated="15384"/>'
    sheets = {"Cut": row.format(cell.format("", "column 1001")), "Whole": row.format(end)}
    tables = "".join(f'<table:table table:name="{name}">{rows}</table:table>' for name, rows in sheets.items())
    document = read(foreign_files.open_document("spreadsheet", tables), "a.ods")
    assert [text for _, text in blocks(document)] == ["Cut", "first", "Whole", "first"]
    assert document.warnings == ("read the first 1,000 columns of sheet Cut",)


@pytest.mark.parametrize(("data", "name"), [(foreign_files.slides(), "a.pptx"), (foreign_files.open_slides(), "a.odp")])
def test_slides_are_read_in_their_order(data: bytes, name: str) -> None:
    document = read(data, name)
    assert [text for kind, text in blocks(document) if kind == "heading"] == ["The lagoon", "Costs"]
    assert where(document, "Sixteen turbines") == "slide 1"
    assert where(document, "1.2 billion") == "slide 2"
    assert where(document, "Sixteen turbines", "1.2 billion") == "slide 1–2"
    if name.endswith("pptx"):
        assert where(document, "year was wet") == "slide 1"
        assert ("table", "Year GWh") in blocks(document)


def test_a_mail_has_sender_date_body_and_readable_attachments() -> None:
    document = read(foreign_files.mail(), "seals.eml")
    assert (document.title, document.authors, document.date) == ("Seals of turbine 7", ("Ann Writer",), "2021-05-04")
    assert where(document, "exchanged on Monday") == "line 3"
    assert where(document, "Seals 1200") == "costs.csv, line 2"
    assert where(document, "17.25") == "sheet all.xlsx, Costs, all, D4"
    assert document.warnings == ("the attachment photo.png is not read: unsupported file type",)


@pytest.mark.parametrize(("sheets", "title"), [(["Sales"], "Sales"), (["Sales", "Faults"], "")])
def test_a_workbook_without_a_title_has_that_of_its_only_sheet(sheets: list[str], title: str) -> None:
    workbook = openpyxl.Workbook()
    for number, name in enumerate(sheets):
        workbook.create_sheet(name, number).append([f"rows of {name}"])
    workbook.remove(workbook.worksheets[-1])
    packed = io.BytesIO()
    workbook.save(packed)
    assert (read(packed.getvalue(), "figures.xlsx")).title == title


def test_the_header_of_a_mail_is_not_quoted_with_its_first_sentence() -> None:
    source = "Subject: Seals\nFrom: Ann <ann@x.org>\nDate: Tue, 5 Mar 2024 10:00:00 +0000\n\nSeals last 18 months."
    document = read(source.encode(), "seals.eml")
    assert units(document)[-1].text == "Seals last 18 months."


def test_quoted_lines_of_a_mail_lose_their_marks_and_its_signature_is_boilerplate() -> None:
    source = "Subject: Re: Seals\nFrom: Ann <ann@x.org>\n\nYes.\n\n-- \nAnn | Dock 4\n\n> They last\n> 18 months.\n"
    document = read(source.encode(), "seals.eml")
    assert [unit.text for unit in units(document)] == ["Yes.", "They last 18 months."]
    assert blocks(document)[-1] == ("boilerplate", "-- Ann | Dock 4")
    assert where(document, "They last") == "line 6"


QUOTING_MAIL = b"""Subject: Re: Seals
From: Ann <ann@x.org>

They last
18 months.
Bob wrote:
> Dear Ann,
> how long do they last?
>
> - I heard 12 months.

Write me.
"""


def test_what_a_mail_quotes_is_marked_as_earlier_and_is_no_paragraph_of_the_mail() -> None:
    document = read(QUOTING_MAIL, "seals.eml")
    said = [(document.text[block.start : block.end], block.is_earlier) for block in document.blocks[2:]]
    assert said == [
        ("They last 18 months. Bob wrote:", False),
        ("Dear Ann, how long do they last?", True),
        ("I heard 12 months.", True),
        ("Write me.", False),
    ]
    assert (where(document, "how long"), where(document, "Write me")) == ("line 5", "line 9")


def test_what_a_web_mail_quotes_is_marked_as_earlier() -> None:
    mail = EmailMessage()
    mail.set_content("<p>18 months.</p><blockquote>How long do they last?</blockquote>", subtype="html")
    document = read(mail.as_bytes(), "seals.eml")
    assert [block.is_earlier for block in document.blocks[-2:]] == [False, True]


def test_a_mail_of_parts_without_a_boundary_has_its_lines_as_body() -> None:
    source = "From: ann@example.org\nSubject: Gates\nContent-Type: multipart/mixed\n\nOpen both gates, Zoë.\n"
    document = read(source.encode(), "gates.eml")
    assert blocks(document)[-1] == ("paragraph", "Open both gates, Zoë.")


def test_all_parts_of_a_mail_are_read_and_of_alternatives_one_with_the_files_in_the_others() -> None:
    body = EmailMessage()
    body.set_content("The seals were exchanged.")
    body.add_alternative("<p>The <b>seals</b> were exchanged.</p>", subtype="html")
    [_, page] = body.iter_parts()
    page.add_related(b"Item,Pounds\nSeals,1200\n", maintype="text", subtype="csv", filename="costs.csv")
    page.add_related(b"\x89PNG", maintype="image", subtype="png", filename="logo.png")
    message = EmailMessage()
    message["Subject"] = "Seals"
    message.make_mixed()
    message.attach(body)
    message.add_attachment("--- a/seals\n", filename="seals.patch")
    footer = EmailMessage()
    footer.set_content("Sent to the list of the lagoon.")
    message.attach(footer)
    document = read(message.as_bytes(), "a.eml")
    assert document.warnings == ()
    assert [text for _, text in blocks(document)] == [
        "Seals",
        "The seals were exchanged.",
        "Sent to the list of the lagoon.",
        "costs.csv",
        "Item Pounds",
        "Seals 1200",
        "seals.patch",
        "--- a/seals",
    ]
    assert where(document, "Sent to the list") == "part 2, line 1"


def test_of_alternatives_of_a_mail_an_empty_text_is_none() -> None:
    message = EmailMessage()
    message["Subject"] = "Seals"
    message.set_content("\n")
    message.add_alternative("<p>The seals were exchanged.</p>", subtype="html")
    document = read(message.as_bytes(), "a.eml")
    assert blocks(document)[-1] == ("paragraph", "The seals were exchanged.")


def test_a_forwarded_mail_is_read() -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"], outer["Subject"] = "Seals", "Fwd: Seals"
    inner.set_content("Seals last 18 months.")
    outer.set_content("See below.")
    outer.add_attachment(inner)
    document = read(outer.as_bytes(), "forwarded.eml")
    assert [unit.text for unit in units(document)] == ["See below.", "Seals last 18 months."]
    assert where(document, "18 months") == "attachment 1.eml, line 1"


def test_each_file_of_an_archive_that_is_attached_to_a_mail_is_read_or_named() -> None:
    message = EmailMessage()
    message["Subject"] = "Seals"
    message.set_content("See the archive.")
    members = {"notes/seals.txt": "Seals last 18 months.", "photo.png": b"\x89PNG", "inner.zip": b"PK"}
    message.add_attachment(foreign_files.packed(members), maintype="application", subtype="zip", filename="a.zip")
    message.add_attachment(b"PK", maintype="application", subtype="zip", filename="torn.zip")
    document = read(message.as_bytes(), "a.eml")
    assert [unit.text for unit in units(document)] == ["See the archive.", "Seals last 18 months."]
    assert where(document, "18 months") == "a.zip/notes/seals.txt, line 1"
    assert document.warnings == (
        "the attachment a.zip/inner.zip is not read: it is an archive in an archive",
        "the attachment a.zip/photo.png is not read: unsupported file type",
        "the attachment torn.zip is not read: it is damaged: it is not a complete zip file",
    )


def test_a_notebook_has_its_cells_and_what_they_printed() -> None:
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Output\n", "of the lagoon"]},
            {
                "cell_type": "code",
                "source": "print(410 + 2)",
                "outputs": [{"output_type": "stream", "text": ["412\n"]}, {"data": {"image/png": "aGk="}}],
            },
        ]
    }
    document = read(json.dumps(notebook).encode(), "a.ipynb")
    assert blocks(document) == [
        ("heading", "Output"),
        ("paragraph", "of the lagoon"),
        ("code", "print(410 + 2)"),
        ("code", "412"),
    ]
    assert where(document, "412") == "cell 2"


def test_a_notebook_of_an_older_format_is_read_and_one_with_long_outputs_says_that_they_are_cut() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Output"]},
        {"cell_type": "code", "input": ["print('8' * 20_000)"], "outputs": [{"text": ["8" * 20_000]}]},
    ]
    document = read(json.dumps({"worksheets": [{"cells": cells}, {}, 1]}).encode(), "a.ipynb")
    assert blocks(document)[:2] == [("heading", "Output"), ("code", "print('8' * 20_000)")]
    assert document.warnings == ("of 1 outputs only the first 10,000 characters are read",)


def test_rows_of_a_table_as_text_stand_at_their_lines() -> None:
    document = read(b'Item;2020\n"Turbines,\nall";14,5\nDredging;\n', "costs.csv")
    assert list(document.rows.values()) == [("Item", "2020"), ("Turbines, all", "14,5"), ("Dredging", "")]
    assert where(document, "14,5") == "line 2"
    assert where(document, "Dredging") == "line 4"


def test_a_long_cell_is_read_and_rows_before_a_broken_row_are_kept() -> None:
    long = "gate " * 40_000
    document = read(f"Item,2020\nNote,{long}\n".encode(), "costs.csv")
    assert list(document.rows.values()) == [("Item", "2020"), ("Note", long.strip())]
    document = read(f"Item,2020\nGates,7\nNote,{'x' * 11_000_000}\n".encode(), "costs.csv")
    assert list(document.rows.values()) == [("Item", "2020"), ("Gates", "7")]
    assert document.warnings == (
        "line 3 is not a row of a table: field larger than field limit (10485760); the rows before it are read",
    )


def test_docbook_has_headings_code_and_the_authors_of_its_info() -> None:
    source = b"""<!DOCTYPE article [<!ENTITY name "the lagoon">]><article><info><title>Manual</title><author>
<personname><firstname>Ann</firstname><surname>Writer</surname></personname></author><pubdate>2021-05-04</pubdate></info>
<section><title>Start</title><para>Open <emphasis>both</emphasis> gates of &name;.</para>
<programlisting>open --all</programlisting>
<itemizedlist><listitem><para>One item.</para></listitem></itemizedlist></section></article>"""
    document = read(source, "manual.xml")
    assert (document.title, document.authors, document.date) == ("Manual", ("Ann Writer",), "2021-05-04")
    assert [row for row in blocks(document) if row[1] in ("Start", "Open both gates of the lagoon.", "One item.")] == [
        ("heading", "Start"),
        ("paragraph", "Open both gates of the lagoon."),
        ("item", "One item."),
    ]
    assert where(document, "Open both") == "line 3"


def test_docbook_with_entities_of_another_file_is_read_and_says_what_is_missing() -> None:
    source = b"""<!DOCTYPE article [<!ENTITY % defs SYSTEM "defs.ent"> %defs;]><article><title>Manual</title>
<para>Open both gates of &lagoon; at noon &mdash; not <emphasis>before.</para></article>"""
    document = read(source, "manual.xml")
    assert [text for _, text in blocks(document)] == ["Manual", "Open both gates of at noon not before."]
    [warning] = document.warnings
    assert warning.startswith("it is damaged: its XML cannot be read (")
    assert warning.endswith("what can be read of it is read")


def test_source_code_and_plain_text_stand_at_their_lines() -> None:
    document = read(b"import os\n\n\ndef gate():\n    return 7\n", "gate.py")
    assert blocks(document) == [("code", "import os"), ("code", "def gate(): return 7")]
    assert where(document, "return 7") == "line 5"
    document = read(b"Gates\n=====\n\nOpen both gates\nbefore noon.\n", "gates.txt")
    assert where(document, "Open both", "noon") == "line 4–5"


def test_a_compressed_file_is_read_by_the_name_below_its_own() -> None:
    document = read(gzip.compress(b"<h1>Gates</h1><p>Open both.</p>"), "manual.html.gz")
    assert blocks(document) == [("heading", "Gates"), ("paragraph", "Open both.")]


async def test_the_child_process_reads_what_is_read_here() -> None:
    files = {
        "costs.xlsx": foreign_files.workbook(),
        "output.ods": foreign_files.spreadsheet(),
        "talk.odp": foreign_files.open_slides(),
        "talk.pptx": foreign_files.slides(),
        "report.docx": foreign_files.word_document("<w:p><w:r><w:t>Both gates open.</w:t></w:r></w:p>"),
        "report.odt": foreign_files.open_document("text", "<text:p>Both gates open.</text:p>"),
        "gates.eml": foreign_files.mail(),
    }
    async with LimitedReader() as reader:
        for name, data in files.items():
            media_type = media_type_of(name) or ""
            assert await reader.document(data, media_type, name) == read_here(data, media_type, name), name


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.eml", "Subject: a\nContent-Type: text/plain; charset=iso-8859-2\n\nŻółta śluza.".encode("iso-8859-2")),
        ("a.rtf", b"{\\rtf1\\ansi\\ansicpg1257 \\'d0liuzai}"),
        ("a.txt.gz", gzip.compress("Το κανάλι έχει οκτώ κλειδαριές.".encode("cp1253"))),
    ],
    ids=["mail", "rich text", "compressed"],
)
async def test_the_child_process_knows_every_character_set(name: str, data: bytes) -> None:
    media_type = media_type_of(name) or ""
    async with LimitedReader() as reader:
        assert await reader.document(data, media_type, name) == read_here(data, media_type, name)


async def test_each_document_of_an_archive_has_its_own_name_or_reason() -> None:
    members = {
        "notes/a.md": "# Gates\n\nOpen both.",
        "b.xlsx": foreign_files.workbook(),
        "photo.png": b"\x89PNG",
        "../out.txt": "outside",
        "/etc/abs.txt": "outside",
        "inner.zip": foreign_files.packed({"a.txt": "a"}),
        "broken.docx": b"PK",
        ".hidden.txt": "hidden",
    }
    async with LimitedReader() as reader:
        parts = await reader.parts(foreign_files.packed(members), media_type_of("a.zip") or "", "a.zip")
    assert {part.name: part.error or (part.document.title if part.document else "") for part in parts} == {
        "../out.txt": "its path leads out of the archive",
        "etc/abs.txt": "its path leads out of the archive",
        "b.xlsx": "Costs of the lagoon",
        "broken.docx": "it is damaged: it is not a complete zip file",
        "inner.zip": "it is an archive in an archive",
        "notes/a.md": "Gates",
        "photo.png": "unsupported file type",
    }


@pytest.mark.parametrize("media_type", [name for name in FORMATS if name not in READERS])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 9, b"\0" * 99, b"<a>" * 9])
def test_what_is_not_of_its_format_is_refused_in_plain_words(media_type: str, data: bytes) -> None:
    with pytest.raises(DocumentUnreadable) as refused:
        read_here(data, media_type, "file.txt.gz")
    assert refused.value.message.startswith("it ")
    assert "Error" not in refused.value.message


def test_an_empty_file_is_called_empty_whatever_its_format() -> None:
    for media_type in ("application/pdf", "application/rtf"):
        with pytest.raises(DocumentUnreadable, match="it is empty"):
            read_here(b"", media_type, "file")
