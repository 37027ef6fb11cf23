"""Compressed files: the documents in a zip file, each by its path in it, and what a `.gz` file holds."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.package import MAX_RATIO, Package
from graph_research.text.readers.formats import ZIP, media_type_of
from graph_research.text.readers.limits import FilePart, Limits

_MAX_DOCUMENTS = 2_000
_SMALL_BYTES = 1_000_000
_NAME_CHARS = 400


def read_zip(data: bytes, limits: Limits, read: Callable[[bytes, str], Document]) -> Iterator[FilePart]:
    """The members, sorted; one whose path would lead out of a folder is named and not read. `read` reads a member."""
    with Package(data, limits) as package:
        names = sorted(filter(_is_visible, package.names()))
        if not names:
            yield FilePart(error="it is empty")
        for number, name in enumerate(names):
            if number == _MAX_DOCUMENTS:
                yield FilePart(error=f"the first {_MAX_DOCUMENTS:,} of its files are read")
                return
            yield _member(package, name, read)


def _is_visible(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return not any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)


def _member(package: Package, name: str, read: Callable[[bytes, str], Document]) -> FilePart:
    path = PurePosixPath(name.replace("\\", "/"))
    shown = str(path)[:_NAME_CHARS].encode("utf-8", "replace").decode()
    media_type = media_type_of(path.name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        return FilePart(name=shown.lstrip("/"), error="its path leads out of the archive")
    if media_type is None:
        return FilePart(name=shown, error="unsupported file type")
    if media_type == ZIP:
        return FilePart(name=shown, error="it is an archive in an archive")
    try:
        return FilePart(name=shown, media_type=media_type, document=read(package.read(name), path.name))
    except DocumentUnreadable as error:
        return FilePart(name=shown, media_type=media_type, error=error.message)


def unpack_gzip(data: bytes, limits: Limits) -> bytes:
    """What a `.gz` file holds; `DocumentUnreadable` for a broken file and for a bomb."""
    most = min(limits.unpacked_bytes, max(_SMALL_BYTES, len(data) * MAX_RATIO))
    pieces: list[bytes] = []
    size = 0
    try:
        while data:
            unpacker = zlib.decompressobj(wbits=31)
            piece = unpacker.decompress(data, most - size + 1)
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise DocumentUnreadable("it unpacks to far more than its size")
            if not unpacker.eof:
                raise DocumentUnreadable("it is damaged: it ends too early")
            data = unpacker.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise DocumentUnreadable("it is damaged: it cannot be unpacked") from error
    return b"".join(pieces)
