"""Where the process starts: `graph-research`, and `python -m graph_research`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType

from graph_research.cycle_collection import look_less_often


def main() -> None:
    """Load the command line and run it. Ctrl-C before that is done ends the process in a line; SIGTERM ends it as it
    ends any process, which supervisors take for a clean end."""
    signal.signal(signal.SIGINT, _leave)
    look_less_often()
    skip_unused_imports()
    from graph_research import cli

    try:
        cli.main()
    finally:
        gc.freeze()  # the end of a process frees its memory without a look for cycles


def skip_unused_imports() -> None:
    """Keep the libraries from loading what a command never uses: httpx its own command line, which needs rich and
    pygments, and pydantic plug-ins, for which it reads the metadata of all installed packages."""
    sys.modules["httpx._main"] = None  # type: ignore[assignment]  # -- what httpx takes for missing
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"graph-research: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
