"""Shipped graphs, prompts and schemas, and how a name finds its text among them and a user's own folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal

from graph_research.errors import UserMistake

__all__ = [
    "FolderResolver",
    "Kind",
    "ResourceUnreadable",
    "graph_resolver",
    "prompt_resolver",
    "schema_resolver",
    "shipped",
    "starters",
]

Kind = Literal["graphs", "prompts", "schemas"]

_PART = r"[a-z0-9][a-z0-9_-]{0,63}"
_NAME = re.compile(rf"_?{_PART}(?:[./]{_PART}){{0,3}}")
_SCHEMA_FOLDERS = (".", "handoffs", "tools")
_MOST_BYTES = 4_000_000


class ResourceUnreadable(UserMistake):
    """A graph, prompt or schema file that is there and gives no text."""

    code = "resource-unreadable"


def shipped(kind: Kind) -> Path:
    """The folder of the shipped graphs, prompts or schemas: inside the package in a wheel, at the top of a checkout."""
    package = Path(str(files("graph_research")))
    inside = package / "data" / kind
    return inside if inside.is_dir() else package.parent / kind


def starters() -> Path:
    """The folder of the example graphs that a new graph can begin with, each in a folder of its own."""
    package = Path(str(files("graph_research")))
    inside = package / "data" / "starters"
    return inside if inside.is_dir() else package.parent / "examples" / "graphs"


class FolderResolver:
    """Finds `NAME` as `FOLDER/NAME{suffix}`; of several folders the last that has it wins.

    A name is one to four parts of `a-z 0-9 _ -` joined by `.` or `/`, and links that lead out are not followed, so
    that a name never leaves its folder. A folder that does not exist holds nothing. The file name that `find` shows
    is relative to the working directory where the file is below it. What was found once is not looked for again.
    """

    def __init__(self, *folders: Path, suffix: str) -> None:
        self.folders = folders
        self.suffix = suffix
        self._found: dict[str, tuple[str, str]] = {}

    def find(self, name: str) -> tuple[str, str] | None:
        """`(text, file name to show)`, or None. `ResourceUnreadable` for a file that cannot be read as UTF-8."""
        found = self._found.get(name)
        if found is None and (path := self.path(name)) is not None:
            found = self._found[name] = (_read(path), _shown(path))
        return found

    def path(self, name: str) -> Path | None:
        """The file that `find` would read, or None."""
        if not _NAME.fullmatch(name):
            return None
        for folder in reversed(self.folders):
            candidate = folder / f"{name}{self.suffix}"
            if candidate.is_file() and _stays_inside(candidate, self._whole[folder]):
                return candidate
        return None

    @cached_property
    def _whole(self) -> dict[Path, Path]:
        """The folders as they are without links."""
        return {folder: folder.resolve() for folder in self.folders}

    def names(self) -> list[str]:
        """Every name that `find` would answer, sorted."""
        return sorted({name for folder in self.folders for name in self._names_in(folder)})

    def _names_in(self, folder: Path) -> list[str]:
        found = (path.relative_to(folder) for path in folder.rglob(f"*{self.suffix}"))
        names = (path.as_posix().removesuffix(self.suffix) for path in found)
        return [name for name in names if _NAME.fullmatch(name)]


class _SchemaResolver(FolderResolver):
    """Schemas go by their bare name: `planner.input`, not `handoffs/planner.input`."""

    def __init__(self, *folders: Path) -> None:
        super().__init__(*(folder / part for folder in folders for part in _SCHEMA_FOLDERS), suffix=".json")

    def names(self) -> list[str]:
        return [name for name in super().names() if "/" not in name]


def graph_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Graphs by name, from the shipped folder and then a user's `own` folders, which win. Folders `beside` a graph add
    names and never take one."""
    return FolderResolver(*beside, shipped("graphs"), *own, suffix=".yaml")


def schema_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Schemas by bare name, from `schemas/`, `schemas/handoffs/` and `schemas/tools/`, as `graph_resolver` has them."""
    return _SchemaResolver(*beside, shipped("schemas"), *own)


def prompt_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Prompt templates such as `planner/system`, as `graph_resolver` has them."""
    return FolderResolver(*beside, shipped("prompts"), *own, suffix=".j2")


def _stays_inside(path: Path, folder: Path) -> bool:
    """False for a symbolic link that leads out of the folder, which is given without links."""
    return path.resolve().is_relative_to(folder)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ResourceUnreadable(
                f"the file is larger than {_MOST_BYTES:,} bytes", help="make it smaller", file=_shown(path)
            )
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ResourceUnreadable(
            f"not UTF-8 text (byte {error.start})", help="save it as UTF-8", file=_shown(path)
        ) from error
    except OSError as error:
        raise ResourceUnreadable(
            f"cannot be read: {error.strerror}", help="check its permissions", file=_shown(path)
        ) from error


def _shown(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return str(path)
