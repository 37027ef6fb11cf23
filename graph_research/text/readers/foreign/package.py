"""Zipped packages of XML parts, as office formats and EPUB are: unpacked within bounds, parsed safely.

Nothing is written to disk, so a member's path leads nowhere; members are found by the names that the format defines.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Self

from lxml import etree

from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.readers.limits import Limits

MAX_ENTRIES = 10_000
MAX_RATIO = 100
"""A file that unpacks to more than this many times its size is refused, but for small ones."""
_SMALL_BYTES = 1_000_000
_CHUNK_BYTES = 1 << 16
UNPACKS_TOO_FAR = "it unpacks to far more than its size"

_DC = "{http://purl.org/dc/elements/1.1/}"
_DCTERMS = "{http://purl.org/dc/terms/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_XML = (".xml", ".rels")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
"""How strict OOXML files (ISO/IEC 29500-1) and all others (29500-4) begin the names of the same namespaces."""

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    ValueError,
    IndexError,
)
"""What a broken zip file raises."""
_DATES_OF_TEMPLATES = frozenset(("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z"))
"""When the templates of python-docx and python-pptx were made, as every file says that a program makes with these."""


class Package:
    """A zip file whose members are read one by one; all of them together may unpack to `limits.unpacked_bytes`.

    Raises `DocumentUnreadable` for a file that is broken, encrypted, or a bomb. `is_strict` where one of the members
    that were read is strict OOXML.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise DocumentUnreadable("it is damaged: it is not a complete zip file") from error
        self._room = min(limits.unpacked_bytes, max(_SMALL_BYTES, len(data) * MAX_RATIO))
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            raise DocumentUnreadable(f"it has {len(entries):,} entries, more than {MAX_ENTRIES:,}")
        self._files = [entry for entry in entries if not entry.is_dir()]
        self._entries = {entry.filename: entry for entry in reversed(self._files)}
        self.is_strict = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def names(self) -> Iterator[str]:
        """The names of the members, as the file gives them; `read` gives the first of those that share a name."""
        return (entry.filename for entry in self._files)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """A member's bytes, with the namespaces of strict OOXML as in all others; empty where it is missing."""
        entry = self._entries.get(name)
        if entry is None:
            return b""
        if entry.flag_bits & 1:
            raise DocumentUnreadable("it is encrypted: it opens only with a password")
        if entry.file_size > self._room:  # the other members keep theirs
            raise DocumentUnreadable(UNPACKS_TOO_FAR)
        pieces = []
        try:
            with self._zip.open(entry) as stream:
                while piece := stream.read(_CHUNK_BYTES):
                    self._room -= len(piece)
                    if self._room < 0:
                        raise DocumentUnreadable(UNPACKS_TOO_FAR)
                    pieces.append(piece)
        except _DAMAGE as error:
            raise DocumentUnreadable(f"it is damaged: {name[:200]} cannot be unpacked") from error
        content, replaced = (
            _STRICT.subn(_TRANSITIONAL, b"".join(pieces)) if name.endswith(_XML) else (b"".join(pieces), 0)
        )
        self.is_strict = self.is_strict or replaced > 0
        return content

    def xml(self, name: str) -> etree._Element | None:
        """A member's root element, or None where there is no such member."""
        data = self.read(name)
        return parse_xml(data) if data else None

    def related(self, name: str, kind: str = "") -> dict[str, str]:
        """The members that an office member refers to, by the id of the relationship; of one `kind`, such as `styles`.
        The package itself has no name."""
        folder, _, base = name.rpartition("/")
        root = self.xml(f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels")
        if root is None:
            return {}
        return {
            link.get("Id", ""): target_of(name, link.get("Target", ""))
            for link in root.iter(_RELATIONSHIP)
            if link.get("TargetMode") != "External" and link.get("Type", "").endswith(f"/{kind}" if kind else "")
        }

    def part(self, name: str, kind: str, usual: str) -> str:
        """The one member of a `kind` that the member `name` refers to, or where it does not say, the `usual` one."""
        return next(iter(self.related(name, kind).values()), usual)


def parse_xml(data: bytes, *, recover: bool = False) -> etree._Element:
    """The root of an XML text. Entities that the text defines are put in within libxml2's bounds, none from outside.
    With `recover` what is not XML in it, and entities that it does not define, are left out."""
    parser = etree.XMLParser(
        resolve_entities="internal",
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        recover=recover,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentUnreadable(f"it is damaged: its XML cannot be read ({str(error)[:120]})") from error
    if root is None:
        raise DocumentUnreadable("it is damaged: it has no XML")
    return root


def target_of(name: str, target: str) -> str:
    """The member that `target` names, seen from the member `name`."""
    if target.startswith("/"):
        return target.removeprefix("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def text_of(element: etree._Element | None) -> str:
    """All text in an element, empty for None."""
    return "".join(map(str, element.itertext())) if element is not None else ""


def local_name(element: etree._Element) -> str:
    """An element's name without its namespace; empty for a processing instruction or an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_PROGRAMS = frozenset(
    {"openpyxl", "python-docx", "python-pptx", "xlsxwriter", "apache poi", "unknown", "anonymous", "unspecified"}
)
"""What programs write as the author of a file: their own name, or what ReportLab writes for none."""


def named_authors(names: Iterable[str]) -> tuple[str, ...]:
    """The names without empty ones and those of programs."""
    return tuple(name for name in names if name and name.strip("()").casefold() not in _PROGRAMS)


def dublin_core_rights(root: etree._Element) -> str:
    """The first statement of rights among the Dublin Core elements below `root`, in one line."""
    return " ".join(text_of(root.find(f".//{_DC}rights")).split())


def dublin_core(root: etree._Element | None) -> tuple[str, tuple[str, ...], str]:
    """Title, authors and date of the Dublin Core elements below `root`."""
    if root is None:
        return "", (), ""
    title = text_of(root.find(f".//{_DC}title")).strip()
    creators = list(root.iter(f"{_META}initial-creator")) or root.iter(f"{_DC}creator")
    names = [text_of(element).strip() for element in creators]
    authors = named_authors(part for name in names for part in re.split(r"\s*;\s*", name))
    dates = [
        *root.iter(f"{_DC}date"),
        *root.iter(f"{_DCTERMS}modified"),
        *root.iter(f"{_DCTERMS}created"),
        *root.iter(f"{_META}creation-date"),
    ]
    written = [text for element in dates if (text := text_of(element).strip()) not in _DATES_OF_TEMPLATES]
    return title, authors, next((date for text in written if (date := iso_date(text))), "")
