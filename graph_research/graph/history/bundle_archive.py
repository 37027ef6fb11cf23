"""Reading an archive that comes from anywhere: sealed, bounded, streamed, and nothing in it believed unhashed."""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from graph_research.errors import UserMistake

FORMAT = "graph-research bundle 1"

DIGEST_CHARS = 64
"""Length of the seal: the SHA-256 (hex) of all that stands before it, at the very end of the file."""

_MOST_ENTRIES = 10_000
_MOST_RATIO = 100
_MOST_BYTES = 4 << 30
_MOST_MANIFEST_BYTES = 4 << 20
_CHUNK = 1 << 16
_NAME_CHARS = 200
_END = struct.Struct("<4s4H2LH")
_MANIFEST = "manifest.json"
_NAME = re.compile(
    r"(manifest|metadata|run|snapshot)\.json|(steps|calls|events|texts|instructions)\.jsonl"
    r"|graphs/[a-z0-9_-]{1,64}\.yaml|(schemas|prompts)/[a-z0-9_-]+([./][a-z0-9_-]+){0,8}\.(json|j2)"
)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error, ValueError)
_HELP = "ask for it again, or let it be exported again"
_OTHER_FILE = "name a run by its id, or a bundle"


class BundleInvalid(UserMistake):
    """A bundle that is damaged, was changed, or holds what no bundle holds; nothing of it was used."""

    def __init__(self, message: str, *, help: str = _HELP, file: str | None = None) -> None:
        super().__init__(message, help=help, file=file)


def is_member_name(name: str) -> bool:
    """Whether a bundle may have a member of this name: known ones, relative, without `..`."""
    return len(name) <= _NAME_CHARS and _NAME.fullmatch(name) is not None


class Members:
    """The members of a sealed archive by name, each read once and checked against the manifest as it streams."""

    def __init__(self, archive: zipfile.ZipFile, size: int, sha256: str) -> None:
        self.size = size
        self.sha256 = sha256
        self._archive = archive
        self._infos = _checked(archive.infolist(), size)
        self._read: set[str] = {_MANIFEST}
        self.manifest = _manifest(b"".join(self._chunks(_MANIFEST, None)), set(self._infos))

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a member, none where it is missing."""
        parts: list[bytes] = []
        for chunk in self._checked_chunks(name):
            first, *more = chunk.split(b"\n")
            parts.append(first)
            for line in more:
                yield b"".join(parts)
                parts = [line]
        if any(parts):
            yield b"".join(parts)

    def data(self, name: str) -> bytes:
        """A member's bytes."""
        return b"".join(self._checked_chunks(name))

    def text(self, name: str) -> str:
        """A member's text."""
        try:
            return self.data(name).decode()
        except UnicodeDecodeError as problem:
            raise BundleInvalid(f"{name} is not UTF-8 text") from problem

    def check_all_read(self) -> None:
        """Raise `BundleInvalid` if a member was not read, and so not checked."""
        if left := sorted(set(self._infos) - self._read):
            raise BundleInvalid(f"there is a member too many: {left[0]}")

    def _checked_chunks(self, name: str) -> Iterator[bytes]:
        if name not in self._infos:
            raise BundleInvalid(f"{name} is missing")
        self._read.add(name)
        yield from self._chunks(name, self.manifest[name])

    def _chunks(self, name: str, promised: Mapping[str, Any] | None) -> Iterator[bytes]:
        if name not in self._infos:
            raise BundleInvalid(f"{name} is missing")
        info = self._infos[name]
        most = _MOST_MANIFEST_BYTES if promised is None else promised["bytes"]
        digest, size = hashlib.sha256(), 0
        with self._archive.open(info) as member:
            while chunk := member.read(_CHUNK):
                size += len(chunk)
                if size > most or size > _MOST_RATIO * max(info.compress_size, 1):
                    raise BundleInvalid(f"{name} is larger than it says")
                digest.update(chunk)
                yield chunk
        if promised is not None and (size, digest.hexdigest()) != (promised["bytes"], promised["sha256"]):
            raise BundleInvalid(f"the hash of {name} does not fit")


@contextmanager
def opened(path: Path) -> Iterator[Members]:
    """The members of the bundle in a file. `BundleInvalid` names the file and what is wrong."""
    try:
        with path.open("rb") as file:
            size, sha256 = _check_seal(file)
            with zipfile.ZipFile(file) as archive:
                yield Members(archive, size, sha256)
    except BundleInvalid as problem:
        raise BundleInvalid(problem.message, help=problem.help, file=str(path)) from problem
    except OSError as problem:
        raise BundleInvalid(
            f"it cannot be read: {problem.strerror or problem}", help="name a .grb file", file=str(path)
        ) from problem
    except _BROKEN as problem:
        raise BundleInvalid(f"it is not a bundle: {problem}", file=str(path)) from problem


def _check_seal(file: IO[bytes]) -> tuple[int, str]:
    """Size and SHA-256 of the file, once its seal fits and its directory is no larger than allowed."""
    if file.read(2) != b"PK":
        raise BundleInvalid("it is not a bundle", help=_OTHER_FILE)
    file.seek(0)
    digest, size, tail = hashlib.sha256(), 0, b""
    while chunk := file.read(_CHUNK):
        size += len(chunk)
        ready = tail + chunk
        digest.update(ready[:-DIGEST_CHARS])
        tail = ready[-DIGEST_CHARS:]
    if size < DIGEST_CHARS + _END.size:
        raise BundleInvalid("it was cut off: it is too short")
    file.seek(size - DIGEST_CHARS - _END.size)
    end = _END.unpack(file.read(_END.size))
    if end[0] != b"PK\x05\x06" or end[7] != DIGEST_CHARS:
        raise BundleInvalid("it was cut off, or is another archive than a bundle")
    if digest.hexdigest().encode() != tail:
        raise BundleInvalid("its checksum does not fit: it was changed or damaged")
    if end[4] > _MOST_ENTRIES:
        raise BundleInvalid(f"it has more than {_MOST_ENTRIES:,} entries")
    digest.update(tail)
    file.seek(0)
    return size, digest.hexdigest()


def _checked(infos: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    """The entries by name: plain files that a bundle has, each once, no links, not larger in all than allowed."""
    entries: dict[str, zipfile.ZipInfo] = {}
    if len(infos) > _MOST_ENTRIES:
        raise BundleInvalid(f"it has more than {_MOST_ENTRIES:,} entries")
    for info in infos:
        name = info.orig_filename
        if name in entries:
            raise BundleInvalid(f"{name[:80]!r} is in it twice")
        if not is_member_name(name):
            raise BundleInvalid(f"{name[:80]!r} is not the name of a part of a bundle")
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise BundleInvalid(f"{name} is a link or not a plain file")
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BundleInvalid(f"{name} is encrypted or compressed in an unknown way")
        if info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise BundleInvalid(f"{name} is compressed more than {_MOST_RATIO} times")
        entries[name] = info
    if sum(info.compress_size for info in infos) > size or sum(info.file_size for info in infos) > _MOST_BYTES:
        raise BundleInvalid("its entries are larger than they can be")
    return entries


def _manifest(data: bytes, names: set[str]) -> Mapping[str, Mapping[str, Any]]:
    """By name the size and hash that each member must have."""
    values = orjson.loads(data)
    members = values.get("members") if isinstance(values, dict) else None
    if not isinstance(members, dict) or values.get("format") != FORMAT:
        raise BundleInvalid("this version does not know the format of its manifest", help="update graph-research")
    for name, promised in members.items():
        if not isinstance(promised, dict) or not isinstance(promised.get("bytes"), int):
            raise BundleInvalid(f"its manifest does not describe {name[:80]!r}")
    if set(members) != names - {_MANIFEST}:
        raise BundleInvalid("its manifest names other members than it has")
    return members
