"""Where something is written: a place in a file, and an expression with its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def file_name(self) -> str:
        """The file without its folder. Errors of a run use it: they may become state, which must not depend on the
        folder."""
        return PurePath(self.file).name


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression as it is written. `compile_expression` makes it callable."""

    text: str
    place: Place
    key: Place | None = None
    """Where the key stands that it is the value of, such as the channel's name under `set`."""
    written: Literal["exact", "folded", "literal"] = "exact"
    """`exact`: the text stands at its place character for character. `folded`: over lines, or with escapes. `literal`:
    the YAML holds a value that is not a string, which is a constant."""
