"""Where the process starts: `graph-research`, and `python -m graph_research`."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Load the command line and run it. Ctrl-C before that is done ends the process in a line."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, _leave)
    from graph_research import cli

    cli.main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"graph-research: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
