"""The audit log: what a run did, one JSON line an event, without the sources' texts and without keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from graph_research.errors import GraphResearchError

__all__ = ["AuditLog", "AuditUnwritable"]

_TEXT_CHARS = 500
_SECRET_WORDS = ("key", "token", "secret", "password", "authorization")
_COUNTS = ("_tokens", "tokens", "tokens_used")


class AuditUnwritable(GraphResearchError):
    """The audit log cannot be written."""

    code = "audit-unwritable"


class AuditLog:
    """Appends events to a file of mode 0600. Long texts are cut, values under names of secrets are left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        try:
            self._file = self.path.open("ab")
            self.path.chmod(0o600)
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one event, complete or not at all."""
        assert self._file is not None, "the log is written inside its `with` block"
        try:
            self._file.write(orjson.dumps(_clean(event), option=orjson.OPT_NON_STR_KEYS) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> AuditUnwritable:
        return AuditUnwritable(
            f"the audit log {self.path} cannot be written: {error.strerror or error}",
            help="make room or mend its permissions, then resume the run",
        )


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clean(inner) for name, inner in value.items() if not _is_secret(str(name))}
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]
    if isinstance(value, str) and len(value) > _TEXT_CHARS:
        return f"{value[:_TEXT_CHARS]}… ({len(value)} characters)"
    return value


def _is_secret(name: str) -> bool:
    lowered = name.lower()
    return not lowered.endswith(_COUNTS) and any(word in lowered for word in _SECRET_WORDS)
