"""Which reader takes which format, inside the child process; whatever a broken file raises becomes a reason."""

from __future__ import annotations

import codecs
import encodings
import io
import pkgutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePath

import openpyxl

from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers import formats as registry
from graph_research.text.readers.foreign.archive import read_zip, unpack_gzip
from graph_research.text.readers.foreign.epub import read_epub
from graph_research.text.readers.foreign.mail import read_eml
from graph_research.text.readers.foreign.office import read_docx, read_pptx
from graph_research.text.readers.foreign.opendocument import read_flat, read_odp, read_ods, read_odt
from graph_research.text.readers.foreign.pdf.reader import read_pdf
from graph_research.text.readers.foreign.pdf.reader import warm_up as warm_up_pdf
from graph_research.text.readers.foreign.rtf import read_rtf
from graph_research.text.readers.foreign.sheets import read_xlsx
from graph_research.text.readers.foreign.xml_text import read_xml
from graph_research.text.readers.formats import FORMATS, HEAD_BYTES, READERS, media_type_of_file, type_of_bytes
from graph_research.text.readers.limits import FilePart, Limits
from graph_research.text.readers.stated_date import stated_date

_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_DEPTH = 3  # a mail may be attached to a mail
_Read = Callable[[bytes, str], Document]
_FOREIGN: Mapping[str, Callable[[bytes, Limits], Document]] = {
    registry.PDF: read_pdf,
    registry.PPTX: read_pptx,
    registry.XLSX: read_xlsx,
    registry.ODT: read_odt,
    registry.ODS: read_ods,
    registry.ODP: read_odp,
    registry.FLAT_ODF: read_flat,
    registry.EPUB: read_epub,
    registry.RTF: read_rtf,
    registry.XML: read_xml,
}
_WITH_FILES: Mapping[str, Callable[[bytes, Limits, _Read], Document]] = {
    registry.DOCX: read_docx,
    registry.EML: read_eml,
}
"""Formats with files in them, which are read by the function that they are given."""


def read_parts(data: bytes, media_type: str, name: str, limits: Limits) -> Iterator[FilePart]:
    """The documents of a file as they are read, or why there are none; never raises."""
    try:
        if media_type == registry.ZIP:
            yield from read_zip(data, limits, _member)
        else:
            yield FilePart(document=_read(data, media_type, name, limits))
    except DocumentUnreadable as error:
        yield FilePart(error=error.message)
    except MemoryError:
        yield FilePart(error="it needs more memory than is allowed")


def _member(data: bytes, name: str, depth: int = 1) -> Document:
    """A file inside of another one, read by its name."""
    media_type = media_type_of_file(name, data[:HEAD_BYTES])
    if media_type is None:
        raise DocumentUnreadable("unsupported file type")
    if media_type == registry.ZIP or depth > _MAX_DEPTH:
        raise DocumentUnreadable("it is an archive in an archive")
    limits = FORMATS[media_type].limits
    if len(data) > limits.bytes:
        raise DocumentUnreadable(f"it has {len(data):,} bytes, more than {limits.bytes:,}")
    return _read(data, media_type, name, limits, depth)


def _read(data: bytes, media_type: str, name: str, limits: Limits, depth: int = 0) -> Document:
    if not data:
        raise DocumentUnreadable("it is empty")
    media_type = type_of_bytes(data, media_type)
    if media_type == registry.GZIP:
        return _member(unpack_gzip(data, limits), PurePath(name).stem, depth + 1)
    if media_type not in READERS and data.startswith(_OLD_OFFICE):
        raise DocumentUnreadable("it is encrypted, or in a format of Office before 2007")
    try:
        if media_type in READERS:
            document = READERS[media_type](decode(data))
        elif media_type in _WITH_FILES:
            document = _WITH_FILES[media_type](data, limits, partial(_member, depth=depth + 1))
        else:
            document = _FOREIGN[media_type](data, limits)
        if media_type not in READERS and media_type != registry.EML:
            document = replace(document, date=stated_date(document) or document.date)
    except (DocumentUnreadable, MemoryError):
        raise
    except RecursionError as error:
        raise DocumentUnreadable("it is nested too deeply") from error
    except Exception as error:
        raise DocumentUnreadable("it is damaged") from error
    if not document.text:
        raise DocumentUnreadable("it has no text")
    return document


def warm_up() -> None:
    """Load whatever readers load late, since opening files will be forbidden."""
    warm_up_pdf()
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(LookupError):  # no codec, or one of another system
            codecs.lookup(module.name)
    workbook = openpyxl.Workbook()
    workbook.active.append(["text", 1.5])
    made = io.BytesIO()
    workbook.save(made)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", "# Title\n\nText, [a link](b).")
        archive.writestr("a.eml", "From: a@example.org\nSubject: =?utf-8?q?a?=\nContent-Type: text/html\n\n<p>b")
        archive.writestr("a.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>")
        archive.writestr("a.rtf", "{\\rtf1 \\u8364? text}")
        archive.writestr("a.xlsx", made.getvalue())
        archive.writestr("a.csv", "a,b\n")
        archive.writestr("a.txt", "Текст без кодировки".encode("koi8-r"))
    with suppress(DocumentUnreadable):
        list(read_parts(packed.getvalue(), registry.ZIP, "a.zip", Limits()))
