"""Pins: the definitions of MCP servers' tools that the user works with, by hash, in a file of the data home."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import orjson

from graph_research.errors import UserMistake, why_unreadable
from graph_research.settings.home import Home


class PinsUnusable(UserMistake):
    """The file of pins cannot be read or written, so that nobody can tell whether a tool has changed."""

    code = "pins-unusable"


@dataclass(frozen=True)
class HomePins:
    """The pins of a data home; what is pinned is on disk when `pin` returns. Raises `PinsUnusable`."""

    home: Home

    def pinned(self, name: str) -> str | None:
        return self._all().get(name)

    def pin(self, name: str, digest: str) -> None:
        pins = self._all() | {name: digest}
        try:
            descriptor, written = tempfile.mkstemp(dir=self.home.path, prefix="mcp-pins-")
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(pins, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
            Path(written).replace(self.home.pins_file)
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}", "make the data home writable") from error

    def _all(self) -> dict[str, str]:
        """Every pin by name. A file that is none counts for nothing less than an error: it may hide a change."""
        try:
            stored = orjson.loads(self.home.pins_file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, orjson.JSONDecodeError) as error:
            why = why_unreadable(error) if isinstance(error, OSError) else "it is no JSON"
            raise self._unusable(f"cannot be read: {why}", "remove it; every tool is then pinned anew") from error
        if not isinstance(stored, dict):
            raise self._unusable("holds no table", "remove it; every tool is then pinned anew")
        return {str(name): str(digest) for name, digest in stored.items()}

    def _unusable(self, what: str, help: str) -> PinsUnusable:
        return PinsUnusable(f"the list of MCP tools that you use {what}", help=help, file=str(self.home.pins_file))


@dataclass(frozen=True)
class OnlyLooking:
    """Pins for who only looks at a server: a change is told, a first sight pins nothing."""

    pins: HomePins

    def pinned(self, name: str) -> str | None:
        return self.pins.pinned(name)

    def pin(self, name: str, digest: str) -> None:
        """Not now: the first search pins."""


@dataclass(frozen=True)
class NewPins:
    """Pins for who accepts a server as it is now: nothing counts as known, and what is seen is pinned."""

    pins: HomePins

    def pinned(self, name: str) -> str | None:  # noqa: ARG002 -- as `Pins` has it
        return None

    def pin(self, name: str, digest: str) -> None:
        self.pins.pin(name, digest)
