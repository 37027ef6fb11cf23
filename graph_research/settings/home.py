"""The data home: one folder of the user's with the store, the index, audit logs and crash markers."""

from __future__ import annotations

import os
import stat
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graph_research.errors import UserMistake, check_name

CRASH_NOTE = "crash marker: "
"""How the note on an exception begins that names its crash marker."""

_MODE = 0o700


class HomeUnusable(UserMistake):
    """The data home cannot be made, or nothing can be written there; nothing was started."""


@dataclass(frozen=True)
class Home:
    """The folder of all files of this program, mode 0700. Nothing is touched before `prepare`."""

    path: Path
    database: str | None = field(default=None, repr=False)
    """The address of the PostgreSQL database that holds runs and jobs in the place of `runs_db`."""
    patience_seconds: float = 30.0
    """How long a database that goes away is waited for."""

    @property
    def runs_db(self) -> Path:
        return self.path / "runs.db"

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def cache(self) -> Path:
        return self.path / "cache"

    @property
    def limits_db(self) -> Path:
        """What the processes of this machine know of the servers they ask; it may be removed."""
        return self.cache / "limits.db"

    @property
    def config_file(self) -> Path:
        return self.path / "config.toml"

    @property
    def trust_file(self) -> Path:
        return self.path / "trust.json"

    @property
    def pins_file(self) -> Path:
        return self.path / "mcp-pins.json"

    @property
    def worker_lock(self) -> Path:
        """Held by the worker that ends when no job is left."""
        return self.path / "worker.lock"

    @property
    def worker_log(self) -> Path:
        """What the worker says that was started in the background."""
        return self.path / "worker.log"

    def user_library(self, user: str) -> Path:
        """The documents that a user of the service has uploaded. `NameInvalid` for an invalid name."""
        return self.path / "users" / check_name(user, "user name") / "library"

    def audit_file(self, run_id: str) -> Path:
        """The audit log of a run: JSON lines. `NameInvalid` for an invalid id."""
        return self.path / "audit" / f"{check_name(run_id, 'run id')}.jsonl"

    def crash_file(self, run_id: str) -> Path:
        """The crash marker of a run: a traceback. `NameInvalid` for an invalid id."""
        return self.path / "crash" / f"{check_name(run_id, 'run id')}.crash"

    def write_crash(self, run_id: str, error: BaseException) -> None:
        """Leave a marker with the traceback, and a note on the error that names it; neither on a full disk."""
        marker = self.crash_file(run_id)
        try:
            marker.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        except OSError:
            return
        error.add_note(f"{CRASH_NOTE}{marker}")

    def prepare(self) -> Home:
        """Make the folders, readable by the user alone, and prove that a file can be written.

        `HomeUnusable` says what stands in the way. A home that exists keeps its mode, unless others may enter it.
        """
        try:
            self.path.mkdir(mode=_MODE, parents=True, exist_ok=True)
            if stat.S_IMODE(self.path.stat().st_mode) & 0o077:
                self.path.chmod(_MODE)
            for folder in ("cache", "index", "audit", "crash"):
                (self.path / folder).mkdir(mode=_MODE, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path) as probe:
                probe.write(b"writable")
                probe.flush()
        except OSError as error:
            raise HomeUnusable(
                f"the data home {self.path} cannot be used: {error.strerror or error}",
                help="make it writable with free space, or set GRAPH_RESEARCH_HOME to a folder of yours",
            ) from error
        return self

    def look(self) -> Home:
        """The same for who only reads: a home that is there and cannot be written will do."""
        try:
            return self.prepare()
        except HomeUnusable:
            if _is_readable(self.path):
                return self
            raise


def _is_readable(folder: Path) -> bool:
    return os.access(folder, os.R_OK | os.X_OK) and folder.is_dir()


def find_home(environ: Mapping[str, str]) -> Home:
    """`$GRAPH_RESEARCH_HOME`, else `~/.graph-research`; made absolute, not made. With `$GRAPH_RESEARCH_DATABASE`."""
    base = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 -- the fallback for an empty environment
    named = environ.get("GRAPH_RESEARCH_HOME")
    path = Path(named).expanduser().absolute() if named else Path(base) / ".graph-research"
    return Home(path, environ.get("GRAPH_RESEARCH_DATABASE") or None)
