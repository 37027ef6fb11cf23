"""The chain of hashes: each step's covers what led to it, apart from time."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

__all__ = ["digest", "joined"]


def digest(*parts: bytes) -> bytes:
    """SHA-256 of texts without NUL, such as JSON, and of other digests: all of one length, so no two lists of parts
    read the same."""
    return sha256(b"\0".join(parts)).digest()


def joined(chain: bytes, hashes: Sequence[bytes]) -> bytes:
    """The chain after the nodes with these hashes; that of one alone chains its predecessor itself."""
    if len(hashes) == 1:
        return hashes[0]
    return digest(chain, *hashes) if hashes else chain
