"""What a user types at the terminal."""

from __future__ import annotations

import asyncio
import sys


async def typed_line(prompt: str = "") -> str:
    """The line that is typed after `prompt`, with its end; empty at the end of the input. Waiting for it can be
    cancelled, unlike a read in a thread, which would hold the process until a line comes."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()
