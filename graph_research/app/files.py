"""Files for the user, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from graph_research.errors import UserMistake, why_unreachable

_FILE_MODE = 0o644


class OutputUnwritable(UserMistake):
    """A place named for results cannot be written to."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace `path` by `content`, a text in UTF-8; a reader sees the old file or the new one. Folders are made on the
    way."""
    if os.path.isdir(path):  # noqa: PTH112 -- False where the system refuses to look
        raise _unwritable(path, "it is a folder")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise _unwritable(path, error.strerror or str(error)) from error


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before any work is done for it. Nothing is made."""
    if reason := why_unreachable(folder):
        raise _unwritable(folder, reason)
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir():
        raise _unwritable(folder, f"{nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise _unwritable(folder, f"no permission to write in {nearest}")


def _unwritable(path: Path, reason: str) -> OutputUnwritable:
    return OutputUnwritable(f"{path} cannot be written: {reason}", help="name another place")
