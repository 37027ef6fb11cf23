"""Compressed files: the documents in a zip file, each by its path in it, and what a `.gz` file holds."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.package import MAX_RATIO, UNPACKS_TOO_FAR, Package
from graph_research.text.readers.formats import ZIP, media_type_of_file
from graph_research.text.readers.limits import FilePart, Limits

_MAX_DOCUMENTS = 2_000
_SMALL_BYTES = 1_000_000
_NAME_CHARS = 400


def read_zip(data: bytes, limits: Limits, read: Callable[[bytes, str], Document]) -> Iterator[FilePart]:
    """The members, sorted, each under a name of its own. `read` reads a member. Members whose path would lead out of a
    folder, or whose name was given to an earlier one, are named and not read."""
    with Package(data, limits) as package:
        names = sorted(filter(_is_visible, package.names()), key=lambda name: (_leads_out(name), name))
        if not names:
            yield FilePart(error="it is empty")
        given: set[str] = set()
        for number, name in enumerate(names):
            if number == _MAX_DOCUMENTS:
                yield FilePart(error=f"the first {_MAX_DOCUMENTS:,} of its files are read")
                return
            shown = _shown(name)
            if shown in given:
                shown = next(other for count in itertools.count(2) if (other := f"{shown} ({count})") not in given)
                yield FilePart(name=shown, error="its name stands twice in the archive")
            else:
                yield _member(package, name, shown, read)
            given.add(shown)


def _is_visible(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return not any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)


def _path(name: str) -> PurePosixPath:
    return PurePosixPath(name.replace("\\", "/"))


def _shown(name: str) -> str:
    return str(_path(name)).lstrip("/")[:_NAME_CHARS].encode("utf-8", "replace").decode()


def _leads_out(name: str) -> bool:
    path = _path(name)
    return path.is_absolute() or ".." in path.parts or "\0" in name


def _member(package: Package, name: str, shown: str, read: Callable[[bytes, str], Document]) -> FilePart:
    file_name = _path(name).name
    media_type = media_type_of_file(file_name, b"")
    if _leads_out(name):
        return FilePart(name=shown, error="its path leads out of the archive")
    if media_type is None:
        return FilePart(name=shown, error="unsupported file type")
    if media_type == ZIP:
        return FilePart(name=shown, error="it is an archive in an archive")
    try:
        return FilePart(name=shown, media_type=media_type, document=read(package.read(name), file_name))
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
                raise DocumentUnreadable(UNPACKS_TOO_FAR)
            if not unpacker.eof:
                raise DocumentUnreadable("it is damaged: it ends too early")
            data = unpacker.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise DocumentUnreadable("it is damaged: it cannot be unpacked") from error
    return b"".join(pieces)
