"""Opening an SQLite file of ours, for reading only where it may not be written, such as on a read-only disk."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

__all__ = ["connected"]


def connected(path: Path, **options: Any) -> tuple[sqlite3.Connection, bool]:
    """A connection to the file, which is made when it is missing, and whether it may be written."""
    if not path.exists() or all(os.access(place, os.W_OK) for place in (path, path.parent)):
        return sqlite3.connect(path, **options), True
    return sqlite3.connect(_to_be_read(path), uri=True, **options), False


def _to_be_read(path: Path) -> str:
    """What a killed process left in the `-wal` counts; without one SQLite is told that nobody writes, for it would
    want to make one."""
    wal = path.with_name(f"{path.name}-wal")
    return f"{path.absolute().as_uri()}?{'mode=ro' if wal.exists() and wal.stat().st_size else 'immutable=1'}"
