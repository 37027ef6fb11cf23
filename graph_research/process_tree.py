"""A foreign program with all that it starts, which ends with it: also what left its process group, as daemons do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

_Protocol = TypeVar("_Protocol", bound=asyncio.SubprocessProtocol)
_MARK = "STARTED_BY_GRAPH_RESEARCH"
_MOST_ROUNDS = 100
"""How often it is looked again for what was started meanwhile; a program that starts more than it can lose wins."""


class ProcessTree:
    """What one program starts. Start it with `start`, or with `environ` and as the leader of a session of its own.

    Its processes are known by a variable of their environment, which is theirs alone, and by their parents. Where the
    system has no /proc only the process group is ended. A process that both cleared its environment and was left
    by its parent, or that runs as another user, is not found.
    """

    def __init__(self) -> None:
        # A mark decides nothing but what is killed: nobody else may have it, and no replay has to repeat it.
        self._mark = secrets.token_hex(16)

    def environ(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment to start the program with: what is `given`, and the mark."""
        return {**given, _MARK: self._mark}

    async def start(
        self, protocol: Callable[[], _Protocol], command: Sequence[str], environ: Mapping[str, str], **options: Any
    ) -> tuple[asyncio.SubprocessTransport, _Protocol]:
        """Start the program without a shell; `options` are those of `loop.subprocess_exec`.

        A caller that is cancelled meanwhile leaves nothing behind either: asyncio would kill the program alone, which
        may have started others by then. Raises `OSError` if it cannot be started.
        """
        starting = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                protocol, *command, env=self.environ(environ), start_new_session=True, **options
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                transport, _ = await starting
                self.kill(transport.get_pid())
                transport.close()
            raise

    def kill(self, leader: int) -> None:
        """End everything that is left of the program `leader`, at once and without asking; it may be over itself."""
        killed: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            parents = _parents()
            found = self._found(leader, parents) - killed
            if parents.get(leader, os.getpid()) == os.getpid():
                _kill(os.killpg, leader)
            for pid in found:
                _kill(os.kill, pid)
            if not found:
                return
            killed |= found

    def _found(self, leader: int, parents: Mapping[int, int]) -> set[int]:
        """Every process that lives and has the mark, and all that descend from one of these or from the leader, as long
        as its number has not become somebody else's."""
        found = {pid for pid in parents if self._has_mark(pid)}
        if parents.get(leader) == os.getpid():
            found.add(leader)
        children: dict[int, list[int]] = {}
        for pid, parent in parents.items():
            children.setdefault(parent, []).append(pid)
        waiting = list(found)
        while waiting:
            new = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
            found.update(new)
            waiting.extend(new)
        return found

    def _has_mark(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ:  # noqa: PTH123 -- hundreds of them, a pathlib takes as long again
                return f"{_MARK}={self._mark}".encode() in environ.read().split(b"\0")
        except OSError:
            return False


def _kill(how: Callable[[int, int], None], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(number, signal.SIGKILL)


def _parents() -> dict[int, int]:
    """The parent of each process of this machine that is not dead yet; empty where the system does not tell."""
    parents = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 -- names are wanted, not paths
    except OSError:
        return {}
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 -- as above
                state, parent = stat.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state != b"Z":
            parents[int(name)] = int(parent)
    return parents
