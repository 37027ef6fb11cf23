"""The audit log: what a run did, one JSON line an event, without the sources' texts and without keys."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from graph_research.errors import GraphResearchError

_TEXT_CHARS = 500
_SECRET_WORDS = ("key", "token", "secret", "password", "authorization")
_PLAIN = frozenset({int, float, bool, type(None)})
_COUNTS = ("_tokens", "tokens", "tokens_used")


class AuditUnwritable(GraphResearchError):
    """The audit log cannot be written."""


class AuditLog:
    """Appends a run's events to a file of mode 0600, each once. Long texts are cut, values under names of secrets left
    out. `last_seq` is the number of the last event in the file; a line that a crash cut short is removed on opening."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last_seq = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            self._file = self.path.open("a+b")
            self.path.chmod(0o600)
            self._read_end(self._file)
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with suppress(OSError):  # what a failed `write` has left; the failure is on its way
                self._file.close()

    def write(self, event: Mapping[str, Any]) -> None:
        """Append an event with its `seq`; one that is in the file already is left alone."""
        assert self._file is not None, "the log is written inside its `with` block"
        if event["seq"] <= self.last_seq:
            return
        try:
            self._file.write(orjson.dumps(_clean(event), option=orjson.OPT_NON_STR_KEYS) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error
        self.last_seq = event["seq"]

    def _read_end(self, file: BinaryIO) -> None:
        file.seek(0)
        whole = 0
        for line in file:
            if not line.endswith(b"\n"):
                file.truncate(whole)
                return
            whole += len(line)
            self.last_seq = orjson.loads(line)["seq"]

    def _unwritable(self, error: OSError) -> AuditUnwritable:
        return AuditUnwritable(
            f"the audit log {self.path} cannot be written: {error.strerror or error}",
            help="make room or correct its permissions, then resume the run",
        )


def _clean(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return value if len(value) <= _TEXT_CHARS else f"{value[:_TEXT_CHARS]}… ({len(value)} characters)"
    if isinstance(value, (dict, Mapping)):
        return {
            name: inner if type(inner) in _PLAIN else _clean(inner)
            for name, inner in value.items()
            if not _is_secret(str(name))
        }
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]
    return value


@lru_cache(maxsize=1_000)
def _is_secret(name: str) -> bool:
    lowered = name.lower()
    return not lowered.endswith(_COUNTS) and any(word in lowered for word in _SECRET_WORDS)
