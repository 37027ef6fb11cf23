"""The local library as commands use it: folders added, listed, searched and removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint, UserMistake, why_unreachable
from graph_research.graph.errors import InputInvalid
from graph_research.providers.search.local import Counts, Library
from graph_research.providers.search.local.adding import OnProgress
from graph_research.providers.search.local.records import Failure, PassageHit
from graph_research.text.readers import PDF
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.relevance.embedding import load_embedder

_INDEX = "library.db"
_SAMPLE_LINE = "It can be read"


class LibraryMissing(UserMistake):
    """A library folder that is not there, or was never added."""


class LibraryEmpty(UserMistake):
    """The index, or what a run may search of it, holds no document."""


class Indexing(Protocol):
    """Whoever watches folders being indexed on the way to a run."""

    def __call__(self, done: int, total: int, path: str) -> None: ...
    def unreadable(self, failures: Sequence[Failure]) -> None: ...


def open_library(workspace: Workspace) -> Library:
    """The index in the data home."""
    return Library(workspace.home.index / _INDEX)


def open_searched_library(workspace: Workspace) -> Library:
    """The index in the data home, searched by meaning too where a model is named. `EmbedderUnusable`."""
    named = workspace.settings.embedding_model
    return Library(workspace.home.index / _INDEX, embedder=load_embedder(named) if named else None)


async def add_folders(workspace: Workspace, paths: Sequence[Path], on_progress: OnProgress | None = None) -> Counts:
    """Index folders or files, or what changed in them. `LibraryMissing` names one that is not there."""
    resolved = [_existing(workspace, path) for path in paths]
    return await open_library(workspace).add(resolved, on_progress)


async def list_folders(workspace: Workspace) -> list[dict[str, Any]]:
    """`{folder, documents, unread, partly}` of everything that was added; the last two count files."""
    return [
        {"folder": row.path, "documents": row.documents, "unread": row.unread, "partly": row.partly}
        for row in await open_library(workspace).list()
    ]


async def list_omissions(workspace: Workspace) -> list[dict[str, Any]]:
    """`{folder, path, reason, partly}` of every file that the last indexing did not read, or only in part."""
    found = await open_library(workspace).omissions()
    return [
        {"folder": folder, **failure.to_json(), "partly": failure.partly}
        for folder, failures in found.items()
        for failure in failures
    ]


async def search_passages(workspace: Workspace, text: str, *, most: int) -> Sequence[PassageHit]:
    """The best passages, best first, in the configured folders or else the whole index. `InputInvalid` for a text
    without a word."""
    if not any(character.isalnum() for character in text):
        raise InputInvalid(f"{text[:80]!r} has no word to look for", help="give words or numbers")
    library = open_searched_library(workspace)
    folders = [_existing(workspace, Path(folder)) for folder in workspace.settings.library]
    if folders:
        await library.add(folders)
    await require_documents(library, folders)
    return await library.search(text, folders=folders, limit=most)


async def remove_folders(workspace: Workspace, paths: Sequence[Path]) -> int:
    """Forget folders or single documents, also ones whose files are gone; how many documents were forgotten."""
    library = open_library(workspace)
    known = [Path(folder.path) for folder in await library.list()]
    wanted = [(workspace.folder / path.expanduser()).resolve() for path in paths]
    for path in wanted:
        if not any(path.is_relative_to(folder) for folder in known):
            raise LibraryMissing(f"{path} is not in the index", hint=Hint(Action.LIST_DOCUMENTS))
    return sum([await library.remove(path) for path in wanted])


async def require_documents(library: Library, folders: Sequence[Path]) -> None:
    """`LibraryEmpty` where nothing is indexed in `folders`, or at all where none are named."""
    added = await library.list()
    if not folders and not any(folder.documents for folder in added):
        if added:
            raise LibraryEmpty(
                f"nothing is indexed of {', '.join(folder.path for folder in added)}",
                help="add the folders again, as after an upgrade of the program, which makes the index anew",
                hint=Hint(Action.ADD_DOCUMENTS),
            )
        raise LibraryEmpty(
            "the library is empty: there is nothing to search",
            help="name a folder of documents, or index one",
            hint=Hint(Action.ADD_DOCUMENTS),
        )
    filled = {folder.path for folder in added if folder.documents}
    if folders and not any(str(folder) in filled for folder in folders):
        raise LibraryEmpty(
            f"no document can be read in {', '.join(map(str, folders))}",
            help="name a folder of documents, such as .md, .html, .pdf or .docx files",
        )


def require_folders(workspace: Workspace, paths: Sequence[Path]) -> None:
    """`LibraryMissing` where one is not there."""
    for path in paths:
        _existing(workspace, path)


async def count_documents(workspace: Workspace) -> int:
    """How many documents are indexed."""
    return sum(folder.documents for folder in await open_library(workspace).list())


async def unread_files(workspace: Workspace) -> list[Failure]:
    """The files of types that are read which were not read, or only in part."""
    found = await open_library(workspace).omissions()
    return [row for failures in found.values() for row in failures if row.partly or not row.unsupported]


async def pdf_child_works() -> bool:
    """Whether the limited child process reads a PDF of one line."""
    async with LimitedReader() as reader:
        [part] = await reader.parts(_sample_pdf(), PDF)
    return part.document is not None and _SAMPLE_LINE in part.document.text


def _sample_pdf() -> bytes:
    """A PDF of one page with `_SAMPLE_LINE` on it."""
    content = f"BT /F1 12 Tf 20 200 Td ({_SAMPLE_LINE}) Tj ET"
    bodies = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    data, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj{body}endobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer<</Size {len(bodies) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return f"{data}xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def _existing(workspace: Workspace, path: Path) -> Path:
    resolved = (workspace.folder / path.expanduser()).resolve()
    if reason := why_unreachable(resolved):
        raise LibraryMissing(f"{str(path)[:200]} cannot be read: {reason}", help="name a folder that you may read")
    if not resolved.exists():
        raise LibraryMissing(
            f"there is no folder {path}", help="name a folder of documents, such as .md, .html, .pdf or .docx files"
        )
    return resolved
