"""Looks for a key in everything that a user's folder holds."""

from __future__ import annotations

import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["assert_no_trace"]


def assert_no_trace(key: str, folder: Path) -> None:
    """It stands neither in a file nor in what is packed in one: rows of the store, members of a bundle."""
    looked_at = 0
    for path in (one for one in folder.rglob("*") if one.is_file()):
        for what, data in (("", path.read_bytes()), *unpacked(path)):
            looked_at += 1
            assert key.encode() not in data, f"the key stands in {path} {what}"
    assert looked_at > 10


def unpacked(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".db":
        with sqlite3.connect(path) as connection:
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table}"').fetchall():
                    yield table, b"\n".join(plain(value) for value in row)
        connection.close()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            yield from ((name, packed.read(name)) for name in packed.namelist())


def plain(value: Any) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
