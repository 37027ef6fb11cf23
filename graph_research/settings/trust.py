"""Folder trust: what a working directory brings along is used only after the user agreed to its very content."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

from graph_research.errors import UserMistake, why_unreadable
from graph_research.settings.home import Home
from graph_research.settings.shipped_files import SUFFIXES, Kind, shipped
from graph_research.settings.sources import FOLDER_FILE

_MOST_FILES = 2_000
_MOST_BYTES = 20_000_000


class NothingToTrust(UserMistake):
    """The folder brings nothing of its own."""


class TrustRefused(UserMistake):
    """The folder's own files are too many or too large to agree to, or cannot be read."""


@dataclass(frozen=True, kw_only=True)
class FolderOffer:
    """What a folder brings along beyond the shipped files: settings, or graphs, prompts and schemas that override."""

    folder: Path
    files: tuple[str, ...]
    """Paths relative to the folder, sorted; files equal to the shipped ones are not among them."""
    hash: str

    @property
    def settings_file(self) -> Path | None:
        return self.folder / FOLDER_FILE if FOLDER_FILE in self.files else None

    def overrides(self, kind: Kind) -> Path | None:
        """The folder of this kind, if it brings anything of its own."""
        return self.folder / kind if any(name.startswith(f"{kind}/") for name in self.files) else None


def find_offer(folder: Path) -> FolderOffer | None:
    """What `folder` offers, or None where that is nothing, or nothing but the shipped files themselves."""
    found = {path.relative_to(folder).as_posix(): path for path in _candidates(folder)}
    sizes: Counter[str] = Counter()
    for name, path in found.items():
        sizes[name.partition("/")[0]] += path.stat().st_size
    if len(found) > _MOST_FILES or sizes.total() > _MOST_BYTES:
        largest = folder / sizes.most_common(1)[0][0]
        raise TrustRefused(
            f"{folder} brings more than {_MOST_FILES:,} files or {_MOST_BYTES:,} bytes of graphs, prompts and schemas",
            help=f"move what no graph needs out of {largest}, or work in another folder",
        )
    digests = {name: _digest(path) for name, path in sorted(found.items()) if not _is_shipped(name, path)}
    if not digests:
        return None
    whole = hashlib.sha256(orjson.dumps(sorted(digests.items()))).hexdigest()
    return FolderOffer(folder=folder, files=tuple(digests), hash=whole)


def is_trusted(offer: FolderOffer, home: Home) -> bool:
    """Whether the user agreed to exactly this content before."""
    return offer.hash in _agreed(home)


def agree(offer: FolderOffer, home: Home) -> None:
    """Remember that the user agreed to this content; a later change of any of the files asks again."""
    agreed = _agreed(home) | {offer.hash: str(offer.folder)}
    descriptor, name = tempfile.mkstemp(dir=home.path, prefix="trust-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(orjson.dumps(agreed, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    Path(name).replace(home.trust_file)


def _candidates(folder: Path) -> Iterator[Path]:
    """The folder's own files. Links that lead out of the folder are skipped."""
    root = folder.resolve()
    found = [folder / FOLDER_FILE]
    for kind, suffix in SUFFIXES.items():
        if (folder / kind).resolve().is_relative_to(root):
            found.extend(islice(_files_in(folder / kind, suffix), _MOST_FILES + 1))
    for path in sorted(found):
        if _is_file(path) and path.resolve().is_relative_to(root):
            yield path


def _files_in(folder: Path, suffix: str) -> Iterator[Path]:
    for below, _, names in os.walk(folder, onerror=_refuse_closed):
        yield from (Path(below, name) for name in names if name.endswith(suffix))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError as error:
        raise _unreadable(error) from error


def _refuse_closed(error: OSError) -> None:
    """Refuse a folder that may not be entered: what it holds could override what is shipped."""
    if isinstance(error, PermissionError):
        raise _unreadable(error)


def _unreadable(error: OSError) -> TrustRefused:
    return TrustRefused(
        f"cannot be read: {why_unreadable(error)}",
        help="check its permissions, or run in another folder",
        file=str(error.filename),
    )


def _is_shipped(name: str, path: Path) -> bool:
    kind, _, rest = name.partition("/")
    if kind not in SUFFIXES:
        return False
    original = shipped(kind) / rest
    if not original.is_file():
        return False
    return path.samefile(original) or _digest(path) == _digest(original)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise _unreadable(error) from error


def _agreed(home: Home) -> dict[str, str]:
    try:
        stored = orjson.loads(home.trust_file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, orjson.JSONDecodeError) as error:
        why = why_unreadable(error) if isinstance(error, OSError) else "it is not valid JSON"
        raise TrustRefused(
            f"the list of trusted folders cannot be read: {why}", help="remove it", file=str(home.trust_file)
        ) from error
    return {str(key): str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}
