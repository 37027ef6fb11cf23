"""The lease of a run: a file lock of the operating system, which is released when its owner ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from graph_research.errors import check_name
from graph_research.graph.errors import RunBusy, StoreDamaged


class FileLease:
    """Holds the lock of one run from its making until `release`. Raises `RunBusy` when somebody else has it."""

    def __init__(self, folder: Path, run_id: str) -> None:
        self._path = folder / f"{check_name(run_id, 'run')}.lock"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._file = self._locked(run_id)
        except OSError as problem:
            raise StoreDamaged(
                f"the lock {self._path} of run {run_id} cannot be taken: {problem.strerror}",
                help="the data home must be writable and on a disk with room",
            ) from problem

    def release(self) -> None:
        """Let others drive the run."""
        with contextlib.suppress(OSError):
            self._path.unlink()
        os.close(self._file)

    def _locked(self, run_id: str) -> int:
        """A locked descriptor of the file that stands at the path: another owner may have removed the one we opened."""
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_at_path(file):
                    os.truncate(file, 0)
                    os.write(file, str(os.getpid()).encode())
                    return file
            except BlockingIOError:
                owner = os.pread(file, 20, 0).decode(errors="replace") or "unknown"
                os.close(file)
                raise RunBusy.by(run_id, owner) from None
            except OSError:
                os.close(file)
                raise
            os.close(file)

    def _is_at_path(self, file: int) -> bool:
        with contextlib.suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(file), self._path.stat())
        return False
