"""The files of a library folder: found without leaving the folder, read within bounds, turned into documents."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graph_research.providers.search.local.bibliography import (
    ZOTERO,
    ReferenceFile,
    may_have_references,
    reference_file,
)
from graph_research.providers.search.local.catalog import CATALOG_NAME
from graph_research.providers.search.local.records import NOT_IN_WORDS, UNSUPPORTED, Failure
from graph_research.text.decoding import decode
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers import FORMATS, HEAD_BYTES, READERS, media_type_of, media_type_of_file

_COPIES = frozenset({"_sources", "_static"})  # what Sphinx puts beside its pages: their sources, and scripts
_OF_ZOTERO = frozenset({"locate", "pipes", "styles", "translators"})  # what the program puts beside its database
_REPORT_FILES = frozenset({"report.md", "report.html", "report.json"})  # what a run writes into its folder
_REPORT = re.compile(rb'\s*\{\s*"format":\s*"report/\d')
_OPENED = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file that may be indexed. `url` is its path below the added folder, with `/`. One that holds references is in
    `references`; it is no document."""

    path: Path
    url: str
    mtime_ns: int
    size: int
    content_type: str
    references: ReferenceFile | None = None


def find_files(root: Path) -> Iterator[FoundFile | Failure]:
    """The documents of a folder (or the one file `root` is), sorted, and the files that cannot be read, such as
    those of an unsupported type.

    `root` is an absolute path without symbolic links. Hidden files and folders are passed over, as are the copies that
    Sphinx keeps of its sources, what Zotero has beside its database, and the reports of runs, which would be their own
    sources; linked folders are not entered. A linked file counts only when its target lies below
    `root`, and once: under the path of its target where that is found itself, else of the first link.
    """
    if not root.is_dir():
        yield _found(root, root.name, root.parent)
        return
    failures: list[Failure] = []
    linked: set[Path] = set()

    def note(error: OSError) -> None:
        failures.append(Failure(path=str(error.filename), reason=_reason(error)))

    for folder, names, files in os.walk(root, onerror=note):
        passed = _COPIES | _OF_ZOTERO if ZOTERO in files else _COPIES
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in passed)
        within = Path(folder).relative_to(root).as_posix()
        own = _REPORT_FILES if "report.json" in files and _is_report(Path(folder, "report.json")) else frozenset()
        for name in sorted(set(files) - own):
            path = Path(folder, name)
            if _is_read(name):
                found = _found(path, name if within == "." else f"{within}/{name}", root)
                if path.is_symlink() and isinstance(found, FoundFile):
                    if found.path in linked or _is_found(found.path.relative_to(root)):
                        continue
                    linked.add(found.path)
                yield found
            elif name != CATALOG_NAME and not name.startswith("."):
                yield _unsupported(path)
    yield from failures


def _is_report(file: Path) -> bool:
    """Whether a file is the report of a run as JSON."""
    try:
        with open(os.open(file, _OPENED), "rb") as stream:  # noqa: PTH123 -- a descriptor has no pathlib form
            return _REPORT.match(stream.read(100)) is not None
    except OSError:
        return False


def _is_read(name: str) -> bool:
    """Whether files of this name are read, or may be where it does not tell what they are."""
    is_shown = not name.startswith(".") and name != CATALOG_NAME
    return is_shown and (media_type_of_file(name, b"") is not None or may_have_references(name))


def _is_found(within: Path) -> bool:
    """Whether a file at this path below the root is found without a link to it."""
    return _is_read(within.name) and not any(part.startswith(".") or part in _COPIES for part in within.parts[:-1])


def _found(path: Path, url: str, root: Path) -> FoundFile | Failure:
    try:
        url.encode()
        facts = path.lstat()
        target = path  # the folders above it are no links
        if stat.S_ISLNK(facts.st_mode):
            target = path.resolve(strict=True)
            facts = target.stat()
    except UnicodeEncodeError:
        return Failure(path=os.fsencode(path).decode(errors="replace"), reason="its name is not valid UTF-8")
    except OSError as error:
        return Failure(path=str(path), reason=_reason(error))
    except RuntimeError:
        return Failure(path=str(path), reason="it is a symbolic link to itself")
    if not target.is_relative_to(root):
        return Failure(path=str(path), reason="it is a symbolic link that leads out of the folder")
    if not stat.S_ISREG(facts.st_mode):
        return Failure(path=str(path), reason="it is not a regular file")
    references = reference_file(target)
    content_type = "" if references else _type_of(path.name, target)
    if content_type is None:
        return _unsupported(path, NOT_IN_WORDS if _is_read(path.name) else UNSUPPORTED)
    return FoundFile(
        path=target,
        url=url,
        mtime_ns=facts.st_mtime_ns,
        size=facts.st_size,
        content_type=content_type,
        references=references,
    )


def _type_of(name: str, file: Path) -> str | None:
    """The media type of the file of this name."""
    head = b""
    if media_type_of(name) is None:
        with suppress(OSError), file.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    return media_type_of_file(name, head)


def _unsupported(path: Path, reason: str = UNSUPPORTED) -> Failure:
    return Failure(path=os.fsencode(path).decode(errors="replace"), reason=reason)


def read_bytes(file: FoundFile) -> bytes:
    """The file's bytes; raises `DocumentUnreadable`. A link put in its place meanwhile is not followed."""
    most = FORMATS[file.content_type].limits.bytes
    if file.size > most:
        raise DocumentUnreadable(f"it has {file.size:,} bytes, more than {most:,}")
    try:
        with open(os.open(file.path, _OPENED), "rb") as stream:  # noqa: PTH123 -- a descriptor has no pathlib form
            data = stream.read(file.size + 1)  # no more, since memory is taken for all that is asked for
            return data if len(data) <= file.size else data + stream.read(most - file.size)
    except OSError as error:
        raise DocumentUnreadable(_reason(error)) from error


def read_document(data: bytes, content_type: str) -> Document:
    """The document in a text file; raises `DocumentUnreadable`."""
    document = READERS[content_type](decode(data))
    if not document.text:
        raise DocumentUnreadable("it has no text")
    return document


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "it is a symbolic link that leads nowhere"
    return (error.strerror or str(error)).lower()
