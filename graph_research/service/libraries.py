"""The folders that a user may search, by the names that the user knows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from graph_research.app.library import LibraryEmpty, require_folders
from graph_research.app.request import RequestInvalid
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake
from graph_research.service.errors import FoldersAlike

UPLOADS = "uploads"
"""What a user's own documents are called among the folders of a library."""
_NOBODY = "nobody"


def check_shared_folders(workspace: Workspace) -> None:
    """`LibraryMissing` where a folder that the operator shares is not there, `FoldersAlike` where users could not tell
    two by their names."""
    shared = _shared(workspace)
    require_folders(workspace, shared)
    names = [name for name, _ in {(folder.name, folder.resolve()) for folder in shared}]
    [(name, times)] = Counter([UPLOADS, *names]).most_common(1)
    if times > 1:
        own = " and of the documents that they upload" if name == UPLOADS else ""
        raise FoldersAlike(
            f"users know a shared folder by its last name, and {name!r} is the name of several{own}",
            help="share one of them through a symbolic link with another name",
        )


def libraries(workspace: Workspace, user: str) -> dict[str, Path]:
    """The folders that the user may search, by name: those that the operator shares, and the user's own."""
    shared = {folder.name: folder.resolve() for folder in _shared(workspace)}
    return {**shared, UPLOADS: workspace.home.user_library(user)}


def _shared(workspace: Workspace) -> list[Path]:
    return [workspace.folder / Path(folder).expanduser() for folder in workspace.settings.library]


def library_folders(workspace: Workspace, user: str, names: Sequence[str] | None) -> list[Path]:
    """The folders that `names` mean, all of them without names: the user's uploads, where there are any, and those that
    the operator shares."""
    known = libraries(workspace, user)
    for name in names or ():
        if name not in known:
            raise RequestInvalid(f"no library {name[:80]!r}", help=f"use {', '.join(known)}")
    chosen = [folder for name, folder in known.items() if names is None or name in names]
    return [folder for folder in chosen if folder != known[UPLOADS] or _has_documents(folder)]


def require_library(workspace: Workspace, user: str, names: Sequence[str] | None) -> list[Path]:
    """The same; `LibraryEmpty` where none is left."""
    folders = library_folders(workspace, user, names)
    if not folders:
        raise nothing_to_search()
    return folders


def nothing_to_search() -> LibraryEmpty:
    """For a user who may search no document."""
    return LibraryEmpty("there is no document to search", help="upload documents with PUT /api/library/documents/NAME")


def without_folders(workspace: Workspace, user: str, text: str) -> str:
    """A message in which the folders that the user may search have the names that the user knows: where they stand on
    the service's machine is no user's business."""
    known = libraries(workspace, user)
    for name in sorted(known, key=lambda name: len(str(known[name])), reverse=True):
        text = text.replace(str(known[name]), name)
    return text


def without_places(workspace: Workspace, text: str) -> str:
    """The same for what is told of a job, whoever's it is; nor where the data home is."""
    home = workspace.home.path
    text = re.sub(rf"{re.escape(str(home))}/users/[^/\s]+/library", UPLOADS, text)
    return without_folders(workspace, _NOBODY, text).replace(str(home), home.name)


@contextmanager
def naming_folders(workspace: Workspace, user: str) -> Iterator[None]:
    """Mistakes that are said in here name no folder of the service's machine."""
    try:
        yield
    except UserMistake as error:
        error.message = without_folders(workspace, user, error.message)
        error.help = without_folders(workspace, user, error.help)
        raise


def _has_documents(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
