"""Files for the user, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from graph_research.errors import UserMistake

__all__ = ["OutputUnwritable", "check_writable", "write_atomically"]

_FILE_MODE = 0o644


class OutputUnwritable(UserMistake):
    """A place named for results cannot be written to."""

    code = "output-unwritable"


def write_atomically(path: Path, text: str) -> None:
    """Replace `path` by `text` in UTF-8; a reader sees the old file or the new one. Folders are made on the way."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(temporary).chmod(_FILE_MODE & ~_umask())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def check_writable(folder: Path) -> None:
    """Make the folder and prove that a file can be written there, before any work is done for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"writable")
            probe.flush()
    except OSError as error:
        raise _unwritable(folder, error) from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _unwritable(path: Path, error: OSError) -> OutputUnwritable:
    return OutputUnwritable(
        f"{path} cannot be written: {error.strerror or error}", help="name another folder with --out or another file"
    )
