"""An answer's body while it arrives: decompressed as its header says, and never more of it than was asked for."""

from __future__ import annotations

import zlib
from typing import Protocol

ACCEPTED_ENCODINGS = "gzip, deflate"
"""The requested encodings. Another encoding in a response is reported as a broken body."""


class BodyBroken(Exception):
    """The bytes are not what the header calls them, or end too early."""


class BodyTooLong(Exception):
    """More bytes than the limit, before or after decompression."""


class Body:
    """Collects at most `most_bytes`, counted as they arrive and again decompressed, whatever the header promised."""

    def __init__(self, *, encoding: str, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._arrived = 0
        self._decoded = 0
        self._decoder = _decoder(encoding)

    def feed(self, data: bytes) -> bytes:
        """What `data` adds to the decompressed body."""
        self._arrived += len(data)
        decoded = self._decoder.decode(data, self._most_bytes - self._decoded + 1)
        self._decoded += len(decoded)
        if max(self._arrived, self._decoded) > self._most_bytes:
            raise BodyTooLong(f"longer than {self._most_bytes:,} bytes")
        return decoded

    def end(self) -> None:
        """Nothing more arrives; `BodyBroken` where the compressed body is not at its end."""
        if not self._decoder.complete():
            raise BodyBroken("the compressed body ends too early")


class _Decoder(Protocol):
    def decode(self, data: bytes, most_bytes: int) -> bytes: ...

    def complete(self) -> bool: ...


class _Plain:
    def decode(self, data: bytes, most_bytes: int) -> bytes:
        return data[:most_bytes]

    def complete(self) -> bool:
        return True


class _Inflating:
    """gzip, of one or several members, and deflate, with or without the header that RFC 9110 (8.4.1.2) demands."""

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._stream = zlib.decompressobj(window_bits)
        self._begun = False

    def decode(self, data: bytes, most_bytes: int) -> bytes:
        if not self._begun and data and self._window_bits == zlib.MAX_WBITS and data[0] & 0x0F != zlib.DEFLATED:
            self._window_bits = -zlib.MAX_WBITS
            self._stream = zlib.decompressobj(self._window_bits)
        self._begun = self._begun or bool(data)
        parts: list[bytes] = []
        left = most_bytes
        try:
            while data and left > 0:
                if self._stream.eof:
                    self._stream = zlib.decompressobj(self._window_bits)
                parts.append(self._stream.decompress(data, left))
                left -= len(parts[-1])
                data = self._stream.unused_data if self._stream.eof else b""
        except zlib.error as error:
            raise BodyBroken(f"the body is not compressed as its header says ({error})") from None
        return b"".join(parts)

    def complete(self) -> bool:
        return self._stream.eof or not self._begun


def _decoder(encoding: str) -> _Decoder:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return _Plain()
    if name in ("gzip", "x-gzip"):
        return _Inflating(zlib.MAX_WBITS | 16)
    if name == "deflate":
        return _Inflating(zlib.MAX_WBITS)
    raise BodyBroken(f"the body is encoded as {encoding[:40]!r}, which was not asked for")
