"""The child process that reads foreign formats: bytes in on standard input, documents out as JSON on standard output.

Run as a script by `limited.py`, with the folders of the packages that it needs and the bytes of memory that it may
take as its arguments. Each request is a line `{"bytes", "media_type", "name", "limits"}`, then the bytes; each answer
is a line `{"name", "media_type", "text", "layout", "error"}` for every part as soon as it is read, then a line
`{"peak_bytes"}`: the most memory that the process has taken so far, 0 where the system does not tell.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from contextlib import suppress
from typing import Any


def main() -> None:
    """Answer requests until standard input ends."""
    sys.path.extend(json.loads(sys.argv[1]))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    from graph_research.text.readers.foreign.formats import read_parts, warm_up
    from graph_research.text.readers.limits import Limits

    warm_up()
    status = _open_status()
    _confine(int(sys.argv[2]))
    _send("")  # ready: what a file may take counts from here
    while header := sys.stdin.buffer.readline():
        request = json.loads(header)
        limits = Limits(**request["limits"])
        _limit_cpu(limits.seconds)
        data = sys.stdin.buffer.read(request["bytes"])
        for part in read_parts(data, request["media_type"], request["name"], limits):
            _send(json.dumps(_as_json(part)))
        _send(json.dumps({"peak_bytes": _peak_bytes(status)}))


def _send(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _as_json(part: Any) -> dict[str, Any]:
    answer = {"name": part.name, "media_type": part.media_type, "error": part.error}
    if part.document is not None:
        answer |= {"text": part.document.text, "layout": part.document.layout()}
    return answer


def _confine(memory_bytes: int) -> None:
    """From here on: no new file or socket, no child process, bounded memory."""
    try:
        import resource
    except ImportError:
        return
    limits = [("RLIMIT_NOFILE", 0), ("RLIMIT_NPROC", 0), ("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0)]
    for name, value in [*limits, ("RLIMIT_AS", _address_space() + memory_bytes)]:
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def _address_space() -> int:
    """Bytes of address space in use; a generous guess where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 -- pathlib is not loaded here
            return int(statm.read().split()[0]) * 4096
    except OSError:
        return 256 * 1024 * 1024


def _open_status() -> int | None:
    """What the system tells of this process, open from before files are forbidden."""
    try:
        return os.open("/proc/self/status", os.O_RDONLY)
    except OSError:
        return None


def _peak_bytes(status: int | None) -> int:
    """Not `ru_maxrss`, which begins with the memory of the process that started this one."""
    if status is None:
        return 0
    lines = os.pread(status, 1 << 14, 0).splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(b"VmHWM:")), 0)


def _limit_cpu(seconds: float) -> None:
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
