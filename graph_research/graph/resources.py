"""Resolvers of graphs, schemas and prompts by name: in folders, or in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph_research.errors import UserMistake, why_unreadable

_PART = r"[a-z0-9][a-z0-9_-]{0,63}"
_NAME = re.compile(rf"_?{_PART}(?:[./]{_PART}){{0,3}}")
_SCHEMA_FOLDERS = (".", "handoffs", "tools")
_MOST_BYTES = 4_000_000


class FolderResolver:
    """Finds `NAME` as `FOLDER/NAME{suffix}`; of several folders the last that has it wins.

    A name is one to four parts of `a-z 0-9 _ -` joined by `.` or `/`, and links that lead out are not followed, so
    that a name never leaves its folder. A folder that does not exist holds nothing. The file name that `find` shows
    is relative to the working directory where the file is below it. What was found once is not looked for again.
    Of `flat` folders, which stand before the others, only the files count that lie in them and not deeper.
    """

    def __init__(self, *folders: Path, suffix: str, flat: Sequence[Path] = ()) -> None:
        self.folders = (*flat, *folders)
        self.flat = frozenset(flat)
        self.suffix = suffix
        self._entries: dict[str, tuple[str, str]] = {}
        self._resolved: dict[Path, Path] = {}

    def find(self, name: str) -> tuple[str, str] | None:
        """`(text, file name to show)`, or None. `ResourceUnreadable` for a file that cannot be read as UTF-8, or whose
        folder may not be entered."""
        entry = self._entries.get(name)
        if entry is None and (place := self._place(name)) is not None:
            path, whole = place
            shown = _shown(path, whole)
            entry = self._entries[name] = (_read(path, shown), shown)
        return entry

    def path(self, name: str) -> Path | None:
        """The file that `find` would read, or None."""
        place = self._place(name)
        return place and place[0]

    def _place(self, name: str) -> tuple[Path, Path] | None:
        """The file, and what it is without links."""
        if not _NAME.fullmatch(name):
            return None
        for folder in reversed(self.folders):
            candidate = folder / f"{name}{self.suffix}"
            if (folder in self.flat and "/" in name) or not _is_file(candidate):
                continue
            whole = candidate.resolve() if candidate.is_symlink() else self._whole(candidate.parent) / candidate.name
            if whole.is_relative_to(self._whole(folder)):
                return candidate, whole
        return None

    def _whole(self, folder: Path) -> Path:
        """The folder as it is without links."""
        known = self._resolved.get(folder)
        if known is None:
            known = self._resolved[folder] = folder.resolve()
        return known

    def names(self) -> list[str]:
        """Every name that `find` would answer, sorted."""
        return sorted({name for folder in self.folders for name in self._names_in(folder)})

    def _names_in(self, folder: Path) -> list[str]:
        listed = folder.glob if folder in self.flat else folder.rglob
        paths = (path.relative_to(folder) for path in listed(f"*{self.suffix}"))
        names = (path.as_posix().removesuffix(self.suffix) for path in paths)
        return [name for name in names if _NAME.fullmatch(name)]


class SchemaResolver(FolderResolver):
    """Schemas go by their bare name: `planner.input`, not `handoffs/planner.input`."""

    def __init__(self, *folders: Path) -> None:
        super().__init__(*(folder / part for folder in folders for part in _SCHEMA_FOLDERS), suffix=".json")

    def names(self) -> list[str]:
        return [name for name in super().names() if "/" not in name]


@dataclass(frozen=True)
class TextResolver:
    """Finds texts in memory. `files` holds the file names to show; where one is missing it is `NAME{suffix}`."""

    texts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    suffix: str = ""

    def find(self, name: str) -> tuple[str, str] | None:
        """`(text, file name to show)`, or None."""
        return (self.texts[name], self.file(name)) if name in self.texts else None

    def file(self, name: str) -> str:
        """The file name to show."""
        return self.files.get(name, f"{name}{self.suffix}")

    def names(self) -> list[str]:
        """Every name that `find` would answer, sorted."""
        return sorted(self.texts)


def beside(file: Path) -> tuple[Path, tuple[Path, ...]]:
    """Where what a graph file names is looked for: the folder whose `graphs/`, `schemas/` and `prompts/` belong to it,
    which is its own, or the one above where it lies in such a `graphs/`; and folders with graphs beside it, of which
    only the files count that lie in them."""
    folder = file.absolute().parent
    return (folder.parent, ()) if folder.name == "graphs" else (folder, (folder,))


class ResourceUnreadable(UserMistake):
    """A graph, prompt or schema file that cannot be read as text, or whose folder may not be entered."""


def _read(path: Path, shown: str) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ResourceUnreadable(
                f"the file is larger than {_MOST_BYTES:,} bytes", help="make it smaller", file=shown
            )
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ResourceUnreadable(f"not UTF-8 text (byte {error.start})", help="save it as UTF-8", file=shown) from error
    except OSError as error:
        raise ResourceUnreadable(
            f"cannot be read: {why_unreadable(error)}", help="check its permissions", file=shown
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError as error:
        raise ResourceUnreadable(
            f"cannot be read: {why_unreadable(error)}",
            help="check its permissions and those of its folder",
            file=str(path),
        ) from error


def _shown(path: Path, whole: Path) -> str:
    try:
        return whole.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return str(path)
