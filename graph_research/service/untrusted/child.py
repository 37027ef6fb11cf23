"""The child process that checks what a user brings. A bundle: its run is replayed, its citations are verified. A graph:
what is wrong with it, and its picture.

Run by `checking.py` in a folder of its own, without keys. Its arguments are what is checked, the bytes of memory and
the seconds of the processor that it may take, and the format of a graph's picture. It writes one JSON object: what it
found, or `{"error": {"message", "help"}}`.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from graph_research.cycle_collection import look_less_often

BUNDLE, GRAPH = "bundle.grb", "graph.yaml"
"""The files that are checked."""
_MOST_FILE_BYTES = 1 << 24


def main() -> None:
    """Check the file in the working directory."""
    look_less_often()
    from graph_research.errors import GraphResearchError

    file, memory_bytes, seconds, picture = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
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
        found = asyncio.run(_check(file, picture))
    except GraphResearchError as error:
        found = {"error": {"message": error.message, "help": error.help}}
    sys.stdout.write(json.dumps(found))


async def _check(file: str, picture: str) -> dict[str, Any]:
    from graph_research.app.workspace import open_workspace

    workspace = open_workspace(os.environ, Path.cwd(), may_use=lambda _: False)
    if file == BUNDLE:
        from graph_research.app.runs.bundles import check_bundle

        return await check_bundle(workspace, file)
    from graph_research.app.graphs import GraphFormat
    from graph_research.app.graphs.render import check_definition

    return await check_definition(workspace, file, GraphFormat(picture) if picture else None)


if __name__ == "__main__":
    main()
