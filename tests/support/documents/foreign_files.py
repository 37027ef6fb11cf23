"""Files of foreign formats, made for tests: by LibreOffice where it is installed, by libraries, or by hand."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import openpyxl
import pytest

REPORT = """<html><head><title>Annual report of the lagoon</title><meta name="author" content="Ann Writer"></head><body>
<h1>Annual report of the lagoon</h1><p>The lagoon produced 412 GWh in 2021, more than in any year before.</p>
<h2>Costs</h2><p>All figures are in million pounds.</p><table border=1><tr><th>Item</th><th>2020</th><th>2021</th></tr>
<tr><td>Turbines</td><td>14.5</td><td>17.25</td></tr><tr><td>Dredging</td><td>3.1</td><td></td></tr></table>
<ul><li>First point of the list.</li><li>Second point of the list.</li></ul>
<h2>Outlook</h2><p>Two seals will be exchanged in May.</p></body></html>"""
_OFFICE = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
_TABLE = 'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
_TEXT = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
_DRAW = 'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
_STYLE = 'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
_SHOW = 'xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


def packed(members: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def office(folder: Path, suffix: str) -> bytes:
    """The report as LibreOffice writes it; skips the test where LibreOffice is missing."""
    if shutil.which("libreoffice") is None:
        pytest.skip("LibreOffice is not installed")
    return _converted(str(folder.parent), suffix)


@cache
def _converted(folder: str, suffix: str) -> bytes:
    source = Path(folder, "report.html")
    source.write_text(REPORT)
    profile = Path(folder, "profile").as_uri()
    for kind, name in [("odt:writer8", "report.html"), (suffix, "report.odt")]:
        command = ["libreoffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", kind]
        command += [*(["--infilter=HTML (StarWriter)"] if name.endswith("html") else []), "--outdir", folder]
        subprocess.run([*command, str(Path(folder, name))], capture_output=True, timeout=120, check=True)
        if suffix == "odt":
            break
    return Path(folder, f"report.{suffix}").read_bytes()


def workbook_of(rows: Iterable[Sequence[str | int | float | None]]) -> bytes:
    """A workbook with one sheet of these rows."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def workbook() -> bytes:
    """Two visible sheets and a hidden one; the first has a table that begins at B3."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Costs, all"
    for cell, value in {"B3": "Item", "C3": 2020, "D3": 2021, "B4": "Turbines", "C4": 14.5, "D4": 17.25}.items():
        sheet[cell] = value
    sheet["B5"], sheet["D5"] = "Dredging", 0.125
    sheet["D5"].number_format = "0.0%"
    other = book.create_sheet("Notes")
    other["A1"] = "The audit was closed in May."
    book.create_sheet("Secret").sheet_state = "hidden"
    book["Secret"]["A1"] = "hidden words"
    book.properties.creator, book.properties.title = "Bob Counter", "Costs of the lagoon"
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def spreadsheet() -> bytes:
    """An OpenDocument spreadsheet with repeated rows and columns."""
    row = "<table:table-row{0}>{1}</table:table-row>"
    cell = "<table:table-cell{0}><text:p>{1}</text:p></table:table-cell>"
    gap = '<table:table-cell table:number-columns-repeated="2"/>'
    rows = [
        row.format("", cell.format("", "Year") + cell.format("", "GWh")),
        row.format(' table:number-rows-repeated="3"', '<table:table-cell table:number-columns-repeated="16384"/>'),
        row.format("", gap + cell.format("", "412")),
    ]
    body = f'<table:table table:name="Output">{"".join(rows)}</table:table>'
    return open_document("spreadsheet", body)


def open_slides() -> bytes:
    """An OpenDocument presentation of two slides."""
    frame = "<draw:frame{0}><draw:text-box><text:p>{1}</text:p></draw:text-box></draw:frame>"
    title = ' presentation:class="title"'
    pages = "".join(
        f"<draw:page>{frame.format(title, name)}{frame.format('', text)}</draw:page>"
        for name, text in [("The lagoon", "Sixteen turbines turn."), ("Costs", "It cost 1.2 billion pounds.")]
    )
    return open_document("presentation", pages)


def word_document(body: str, notes: str = "") -> bytes:
    """A Word document with this body and these footnotes."""
    footnotes = {"word/footnotes.xml": f"<w:footnotes {_W}>{notes}</w:footnotes>"} if notes else {}
    return packed({"word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>", **footnotes})


def open_document(kind: str, body: str, styles: str = "") -> bytes:
    """An OpenDocument file of this kind with this body."""
    names = " ".join((_OFFICE, _TABLE, _TEXT, _DRAW, _SHOW, _STYLE))
    content = (
        f"<office:document-content {names}>{styles}<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    )
    return packed({"content.xml": f"{content}</office:document-content>"})


def slides() -> bytes:
    """A PowerPoint file of two slides, shown in another order than they are stored, the first with a note."""
    words = "<a:p><a:r><a:t>{1}</a:t></a:r></a:p>"
    shape = f"<p:sp><p:nvSpPr><p:nvPr>{{0}}</p:nvPr></p:nvSpPr><p:txBody>{words}</p:txBody></p:sp>"
    title = '<p:ph type="title"/>'

    def slide(name: str, text: str, more: str = "") -> str:
        shapes = shape.format("", text) + shape.format(title, name) + more
        return f"<p:sld {_A} {_P}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"

    cells = "".join(
        f"<a:tc><a:txBody><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>" for cell in ("Year", "GWh")
    )
    grid = f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>"
    table = f"<p:graphicFrame><a:graphic><a:graphicData>{grid}</a:graphicData></a:graphic></p:graphicFrame>"
    note = shape.format('<p:ph type="body"/>', "Say that the year was wet.")
    notes = f"<p:notes {_A} {_P}><p:cSld><p:spTree>{note}</p:spTree></p:cSld></p:notes>"

    def links(*targets: str) -> str:
        rows = "".join(f'<Relationship Id="r{n}" Target="{target}"/>' for n, target in enumerate(targets))
        return f'<Relationships xmlns="{_RELATIONSHIPS}">{rows}</Relationships>'

    order = '<p:sldIdLst><p:sldId r:id="r1"/><p:sldId r:id="r0"/></p:sldIdLst>'
    return packed(
        {
            "ppt/presentation.xml": f"<p:presentation {_P} {_R}>{order}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": links("slides/slide1.xml", "slides/slide2.xml"),
            "ppt/slides/slide1.xml": slide("Costs", "It cost 1.2 billion pounds.", table),
            "ppt/slides/slide2.xml": slide("The lagoon", "Sixteen turbines turn."),
            "ppt/slides/_rels/slide2.xml.rels": links("../notesSlides/notesSlide1.xml"),
            "ppt/notesSlides/notesSlide1.xml": notes,
        }
    )


def mail() -> bytes:
    """A mail with an HTML alternative, a readable attachment, and one that cannot be read."""
    message = EmailMessage()
    message["From"] = "Ann Writer <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Date"] = "Tue, 04 May 2021 10:00:00 +0000"
    message["Subject"] = "Seals of turbine 7"
    message.set_content("Dear Bob,\n\nthe seals of turbine 7 were exchanged on Monday.\n\nAnn\n")
    message.add_alternative("<p>Dear Bob, <b>the seals</b></p>", subtype="html")
    message.add_attachment(b"Item,Pounds\nSeals,1200\n", maintype="text", subtype="csv", filename="costs.csv")
    message.add_attachment(workbook(), maintype="application", subtype="octet-stream", filename="all.xlsx")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="photo.png")
    return message.as_bytes()
