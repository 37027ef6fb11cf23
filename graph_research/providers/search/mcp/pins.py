"""Pins: the hashes of the MCP tool definitions that the user has accepted, in a file of the data home."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orjson

from graph_research.errors import UserMistake, why_unreadable
from graph_research.settings.home import Home


class PinsUnusable(UserMistake):
    """The file of pins cannot be read or written, so changes of tools cannot be detected."""


@dataclass(frozen=True)
class HomePins:
    """The pins of a data home; a pin is on disk when `pin` returns. Raises `PinsUnusable`.

    With `read_only`, nothing is pinned; with `accept_new`, no earlier pin counts, so a changed definition replaces it.
    """

    home: Home
    read_only: bool = False
    accept_new: bool = False

    def pinned(self, name: str) -> str | None:
        return None if self.accept_new else self._all().get(name)

    def pin(self, name: str, digest: str) -> None:
        if self.read_only:
            return
        pins = self._all() | {name: digest}
        try:
            descriptor, written = tempfile.mkstemp(dir=self.home.path, prefix="mcp-pins-")
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(pins, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
            Path(written).replace(self.home.pins_file)
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}", "make the data home writable") from error

    def _all(self) -> dict[str, str]:
        """All pins by name. An invalid file is an error, since it could hide a changed definition."""
        try:
            stored = orjson.loads(self.home.pins_file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, orjson.JSONDecodeError) as error:
            why = why_unreadable(error) if isinstance(error, OSError) else "it is not valid JSON"
            raise self._unusable(f"cannot be read: {why}", "remove it; every tool is then pinned anew") from error
        if not isinstance(stored, dict):
            raise self._unusable("holds no table", "remove it; every tool is then pinned anew")
        return {str(name): str(digest) for name, digest in stored.items()}

    def _unusable(self, what: str, help: str) -> PinsUnusable:
        return PinsUnusable(f"the list of MCP tools that you use {what}", help=help, file=str(self.home.pins_file))
