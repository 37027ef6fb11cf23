"""The documents that a user has uploaded: one folder for each user, searched for nobody else."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import stat
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from graph_research.app.library import LibraryMissing, list_omissions, remove_folders
from graph_research.app.workspace import Workspace
from graph_research.errors import why_unreadable
from graph_research.providers.search.local.bibliography import may_have_references
from graph_research.providers.search.local.catalog import CATALOG_NAME
from graph_research.service.errors import BodyTooLarge, DocumentNameInvalid, NotReady, UnknownDocument
from graph_research.text.readers.formats import media_type_of_file

MOST_BYTES = 50_000_000
"""Of one document."""
MOST_DOCUMENTS, MOST_LIBRARY_BYTES = 1_000, 1_000_000_000
"""Of one user."""
_NAME = re.compile(r"[^\W_][\w .,()+-]{0,127}")
_MODE = 0o700
_INCOMING = "incoming-"
_ABANDONED_SECONDS = 3_600
"""After which nothing is added to an upload any more: its process was killed."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document of a user. `problem` is why it could not be read, or only in part, when it was last indexed."""

    name: str
    bytes: int
    media_type: str | None
    uploaded_at: datetime
    problem: str | None = None


class Uploads:
    """The documents of one user."""

    def __init__(self, workspace: Workspace, user: str) -> None:
        self._workspace = workspace
        self._folder = workspace.home.user_library(user)

    async def documents(self) -> list[Document]:
        """All of them, by name."""
        omitted = [row for row in await list_omissions(self._workspace) if row["folder"] == str(self._folder)]
        problems = {Path(row["path"]).name: str(row["reason"]) for row in omitted}
        files = await asyncio.to_thread(self._files)
        return [_document(name, facts, problems.get(name)) for name, facts in sorted(files.items())]

    async def get(self, name: str) -> Document:
        """`UnknownDocument` where there is none."""
        for document in await self.documents():
            if document.name == name:
                return document
        raise UnknownDocument(f"there is no document {name[:80]!r}")

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> tuple[Document, bool]:
        """Store a document in the place of one of this name, and whether there was none. It is read and indexed when
        a job searches it. `DocumentNameInvalid`, `BodyTooLarge`, `NotReady`."""
        file = self._folder / _checked(name)
        room = await asyncio.to_thread(self._room_beside, name)
        self._folder.mkdir(mode=_MODE, parents=True, exist_ok=True)
        await asyncio.to_thread(self._remove_abandoned)
        incoming = self._folder.parent / f"{_INCOMING}{secrets.token_hex(8)}"
        try:
            await _write(incoming, chunks, min(MOST_BYTES, room))
            facts = incoming.stat()
            if facts.st_size > self._room_beside(name):
                raise _no_room()  # others have been stored meanwhile
            is_new = not file.exists()
            incoming.replace(file)
        except OSError as error:
            raise NotReady(f"the document could not be stored: {why_unreadable(error)}") from error
        finally:
            incoming.unlink(missing_ok=True)
        return _document(name, facts), is_new

    async def delete(self, name: str) -> None:
        """Remove a document, also from the index. `UnknownDocument` where there is none."""
        document = await self.get(name)
        file = self._folder / document.name
        file.unlink(missing_ok=True)
        with suppress(LibraryMissing):  # it was never indexed
            await remove_folders(self._workspace, [file])

    def _room_beside(self, name: str) -> int:
        """How many bytes a document of this name may have. `BodyTooLarge` where there is no room for one."""
        others = [facts for other, facts in self._files().items() if other != name]
        room = MOST_LIBRARY_BYTES - sum(facts.st_size for facts in others)
        if len(others) >= MOST_DOCUMENTS or room <= 0:
            raise _no_room()
        return room

    def _remove_abandoned(self) -> None:
        for file in self._folder.parent.glob(f"{_INCOMING}*"):
            with suppress(FileNotFoundError):
                if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
                    file.unlink()

    def _files(self) -> dict[str, os.stat_result]:
        """By name, without those that are deleted meanwhile."""
        files = {}
        for file in self._folder.iterdir() if self._folder.is_dir() else ():
            with suppress(FileNotFoundError):
                files[file.name] = file.stat()
        return {name: facts for name, facts in files.items() if stat.S_ISREG(facts.st_mode)}


def _no_room() -> BodyTooLarge:
    return BodyTooLarge(
        f"a library may have {MOST_DOCUMENTS:,} documents of {MOST_LIBRARY_BYTES:,} bytes in all",
        help="delete some first",
    )


def _checked(name: str) -> str:
    """The name where it is that of a file and of a format that is read."""
    if not _NAME.fullmatch(name) or len(os.fsencode(name)) > 200:
        raise DocumentNameInvalid(
            f"{name[:80]!r} is not the name of a document",
            help="use up to 128 letters, digits, spaces and . , ( ) + - _, the first one a letter or digit",
        )
    if (media_type_of_file(name, b"") is None and not may_have_references(name)) or name.lower() == CATALOG_NAME:
        raise DocumentNameInvalid(f"documents like {name[:80]!r} are not read", help="use .md, .html, .pdf or .docx")
    return name


def _document(name: str, facts: os.stat_result, problem: str | None = None) -> Document:
    return Document(
        name=name,
        bytes=facts.st_size,
        media_type=media_type_of_file(name, b""),
        uploaded_at=datetime.fromtimestamp(facts.st_mtime, UTC),
        problem=problem,
    )


async def _write(file: Path, chunks: AsyncIterator[bytes], most_bytes: int) -> None:
    size = 0
    with file.open("xb") as output:
        async for chunk in chunks:
            size += len(chunk)
            if size > most_bytes:
                raise BodyTooLarge(f"a document may have {most_bytes:,} bytes here")
            await asyncio.to_thread(output.write, chunk)
