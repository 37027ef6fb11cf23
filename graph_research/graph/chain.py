"""The chain of hashes: each step's covers what led to it, apart from time."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import cache

__all__ = ["digest", "joined"]


def digest(*parts: bytes) -> bytes:
    """SHA-256 of the parts and their lengths."""
    lengths = _lengths(len(parts))(*map(len, parts))
    return hashlib.sha256(b"".join((lengths, *parts))).digest()


@cache
def _lengths(count: int) -> Callable[..., bytes]:
    return struct.Struct(f">{count}Q").pack


def joined(chain: bytes, hashes: Sequence[bytes]) -> bytes:
    """The chain after the nodes with these hashes; that of one alone chains its predecessor itself."""
    if len(hashes) == 1:
        return hashes[0]
    return digest(chain, *hashes) if hashes else chain
