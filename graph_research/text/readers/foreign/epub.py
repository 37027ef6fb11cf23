"""EPUB books: their chapters in the order of the spine."""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.package import Package, dublin_core, dublin_core_rights, local_name, target_of
from graph_research.text.readers.html import html_document
from graph_research.text.readers.limits import Limits

_CONTAINER = "META-INF/container.xml"
_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes, limits: Limits) -> Document:
    """A book; its chapters, which are the files of its spine, are counted from 1."""
    warnings: tuple[str, ...] = ()
    with Package(data, limits) as package:
        if "META-INF/encryption.xml" in package and b"EncryptedKey" in package.read("META-INF/encryption.xml"):
            raise DocumentUnreadable("it is encrypted: it opens only in the shop's own reader")
        opf = _rootfile(package)
        book = package.xml(opf)
        if book is None:
            raise DocumentUnreadable("it is damaged: its list of contents is missing")
        builder = DocumentBuilder()
        chars = 0
        chapters = _spine(book, opf)
        for number, name in enumerate(chapters, start=1):
            chapter = html_document(decode(package.read(name)))
            chars += len(chapter.text)
            if chars > limits.chars:
                warnings = (f"stopped after {limits.chars:,} characters, before chapter {number} of {len(chapters)}",)
                break
            if chapter.text:
                builder.place("chapter", number)
                builder.add_document(chapter)
        title, authors, date = dublin_core(book)
    licence = dublin_core_rights(book)
    return replace(builder.document(title), authors=authors, date=date, licence=licence, warnings=warnings)


def _rootfile(package: Package) -> str:
    container = package.xml(_CONTAINER)
    files = [
        element.get("full-path", "")
        for element in (container.iter() if container is not None else ())
        if local_name(element) == "rootfile"
    ]
    if not files:
        raise DocumentUnreadable("it is damaged: it has no META-INF/container.xml")
    return str(files[0])


def _spine(book: etree._Element, opf: str) -> list[str]:
    items = {
        element.get("id"): target_of(opf, element.get("href", "").partition("#")[0])
        for element in book.iter()
        if local_name(element) == "item" and element.get("media-type") in _TYPES
    }
    order = [element.get("idref") for element in book.iter() if local_name(element) == "itemref"]
    return [items[name] for name in order if name in items]
