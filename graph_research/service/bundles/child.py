"""The child process that checks a bundle, which comes from anywhere: its run is replayed, its citations are verified.

Run by `checking.py` in a folder of its own, without keys. Its arguments are the bytes of memory and the seconds of the
processor that it may take. It writes one JSON object: what it found, or `{"error": {"message", "help"}}`.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

BUNDLE = "bundle.grb"
_MOST_FILE_BYTES = 1 << 24


def main() -> None:
    """Check the bundle in the working directory."""
    from graph_research.errors import GraphResearchError

    memory_bytes, seconds = map(int, sys.argv[1:3])
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {
        resource.RLIMIT_AS: used + memory_bytes,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: _MOST_FILE_BYTES,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    try:
        found = asyncio.run(_check())
    except GraphResearchError as error:
        found = {"error": {"message": error.message, "help": error.help}}
    sys.stdout.write(json.dumps(found))


async def _check() -> dict[str, Any]:
    from graph_research.app.runs.bundles import check_bundle
    from graph_research.app.workspace import open_workspace

    workspace = open_workspace(os.environ, Path.cwd(), may_use=lambda _: False)
    return await check_bundle(workspace, BUNDLE)


if __name__ == "__main__":
    main()
