"""The registry of document formats: media type, suffixes, what reads it, and what a file may take."""

from __future__ import annotations

import mimetypes
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from graph_research.text.decoding import is_prose, is_text
from graph_research.text.document import Document
from graph_research.text.language.tags import is_known
from graph_research.text.readers.code import code_document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.limits import Limits
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.notebook import notebook_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.readers.separated import separated_document

TEXT = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
FLAT_ODF = "application/vnd.oasis.opendocument.text-flat-xml"
EPUB = "application/epub+zip"
RTF = "application/rtf"
EML = "message/rfc822"
XML = "application/xml"
GZIP = "application/gzip"
ZIP = "application/zip"

_CODE_SUFFIXES = """
    .py .pyi .js .mjs .ts .tsx .jsx .c .h .cc .cpp .hpp .cs .java .kt .go .rs .rb .php .pl .pm .sh .bash .sql
    .r .jl .lua .swift .scala .hs .ml .el .lisp .clj .ex .erl .f90 .css .scss .cmake .json .jsonl .yaml .yml
    .toml .ini .cfg .conf
"""


@dataclass(frozen=True, kw_only=True)
class Format:
    """How files of a media type are read: by `read` from their characters, or where it is None in the limited child
    process from their bytes."""

    media_type: str
    suffixes: tuple[str, ...]
    read: Callable[[str], Document] | None = None
    limits: Limits = field(default_factory=Limits)


HEAD_BYTES = 8192
"""How much of a file shows whether it is text."""

CHARSET_SUFFIX = re.compile(r"\.(?:utf-?8|iso-?\d+-\w+|euc-?(?:jp|kr)|big5|shift_?jis)$")
"""The end of a file's name, in lower case, that tells its character set."""

_KNOWN_SUFFIXES = mimetypes.MimeTypes()
"""Python's own list of suffixes, such as those of pictures, without that of the machine."""

_ARCHIVE = Limits(bytes=50 * 1024 * 1024, unpacked_bytes=200 * 1024 * 1024, seconds=120.0)
_BOOK = Limits(bytes=50 * 1024 * 1024, chars=5_000_000, seconds=60.0)
_TEXT = Limits(chars=10 * 1024 * 1024)

FORMATS: Mapping[str, Format] = {
    one.media_type: one
    for one in (
        Format(media_type=MARKDOWN, suffixes=(".md", ".markdown"), read=markdown_document, limits=_TEXT),
        Format(
            media_type=TEXT,
            suffixes=(".txt", ".text", ".rst", ".adoc", ".org", ".tex", ".texi", ".info", ".log"),
            read=plain_document,
            limits=_TEXT,
        ),
        Format(media_type=HTML, suffixes=(".html", ".htm", ".xhtml"), read=html_document, limits=_TEXT),
        Format(media_type="application/xhtml+xml", suffixes=(), read=html_document, limits=_TEXT),
        Format(media_type=PDF, suffixes=(".pdf",)),
        Format(media_type=DOCX, suffixes=(".docx", ".docm")),
        Format(media_type=PPTX, suffixes=(".pptx", ".pptm")),
        Format(media_type=XLSX, suffixes=(".xlsx", ".xlsm"), limits=Limits(chars=2_000_000)),
        Format(media_type="text/csv", suffixes=(".csv", ".tsv"), read=separated_document, limits=_TEXT),
        Format(media_type=EPUB, suffixes=(".epub",), limits=_BOOK),
        Format(media_type=ODT, suffixes=(".odt",)),
        Format(media_type=ODS, suffixes=(".ods",), limits=Limits(chars=2_000_000)),
        Format(media_type=ODP, suffixes=(".odp",)),
        Format(media_type=FLAT_ODF, suffixes=(".fodt", ".fods", ".fodp"), limits=Limits(chars=2_000_000)),
        Format(media_type=RTF, suffixes=(".rtf",)),
        Format(media_type=EML, suffixes=(".eml",), limits=Limits(bytes=50 * 1024 * 1024)),
        Format(media_type="application/x-ipynb+json", suffixes=(".ipynb",), read=notebook_document, limits=_TEXT),
        Format(media_type=XML, suffixes=(".xml", ".docbook", ".dbk"), limits=_TEXT),
        Format(media_type="text/x-source", suffixes=tuple(_CODE_SUFFIXES.split()), read=code_document, limits=_TEXT),
        Format(media_type=GZIP, suffixes=(".gz",), limits=_BOOK),
        Format(media_type=ZIP, suffixes=(".zip",), limits=_ARCHIVE),
    )
}

READERS: Mapping[str, Callable[[str], Document]] = {name: one.read for name, one in FORMATS.items() if one.read}
"""By media type, what makes a document of a text; `DocumentUnreadable` where it cannot be read."""

MEDIA_TYPES: Mapping[str, str] = {suffix: one.media_type for one in FORMATS.values() for suffix in one.suffixes}
"""By suffix in lower case, the media type of files that are read as such."""


def media_type_of(name: str) -> str | None:
    """The media type of a file by its name; None for files that are not read. `x.html.gz` is read if `x.html` is, and
    so are `x.html.fr` and `x.html.ja.euc-jp`, as servers name what they hold in several languages."""
    path = PurePath(CHARSET_SUFFIX.sub("", name.lower()))
    inner = MEDIA_TYPES.get(PurePath(path.stem).suffix)
    if inner is not None and is_known(path.suffix[1:]):
        return inner
    media_type = MEDIA_TYPES.get(path.suffix)
    if media_type == GZIP:
        return GZIP if inner not in (None, GZIP, ZIP) else None
    return media_type


def media_type_of_file(name: str, head: bytes) -> str | None:
    """The media type of a file by its name, and where that does not tell, plain text if its content, which begins with
    `head`, is text: of one without a suffix, as `README` and `changelog.gz`, anything that is text; of one with a
    suffix that stands for nothing, as `README.Debian`, what is written in words. Nothing counts against an empty
    head."""
    media_type = media_type_of(name)
    path = PurePath(name)
    is_packed = path.suffix.lower() == ".gz"
    inner = PurePath(path.stem if is_packed else name)
    if media_type is not None or not _may_be_text(inner):
        return media_type
    if is_packed:
        head = _unpacked(head) if head else head
    elif (found := type_of_bytes(head, TEXT)) != TEXT:
        return found
    is_read = is_prose(head) if inner.suffix else is_text(head)
    return (GZIP if is_packed else TEXT) if is_read else None


def _may_be_text(name: PurePath) -> bool:
    """Whether a name leaves open what the file is: it has no suffix, or one that stands for nothing behind a name that
    has none, so that copies such as `policy.md.bak` are left."""
    if not name.suffix:
        return True
    is_known = _KNOWN_SUFFIXES.guess_type(f"a{name.suffix}", strict=False) != (None, None)
    return not is_known and not PurePath(name.stem).suffix


def _unpacked(head: bytes) -> bytes:
    """What the first bytes of a compressed file hold; a byte that no text has where it is none."""
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
    except zlib.error:
        return b"\0"


def type_of_bytes(data: bytes, media_type: str) -> str:
    """A PDF's or an RTF file's whatever it is called, else `media_type`."""
    if data.startswith(b"%PDF-"):
        return PDF
    return RTF if data.startswith(b"{\\rtf") else media_type
