"""Requests of a client with the user's settings, in a process of its own: `python asking_process.py URL NAME PER_SECOND
COUNT` in a working folder, with the data home in the environment. It prints a line when it is ready and begins with the
first line of its input."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from graph_research.app.wiring.clients import open_clients
from graph_research.app.workspace import open_workspace
from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.client import Http
from graph_research.providers.http.endpoint import Endpoint


async def ask_at_once(http: Http, endpoint: Endpoint, count: int) -> None:
    """Send `count` requests; those that fail are over."""

    async def ask() -> None:
        with suppress(ProviderUnavailable):
            await http.ask(endpoint, "GET", "/")

    await asyncio.gather(*(ask() for _ in range(count)))


async def main(url: str, name: str, per_second: float, count: int) -> None:
    space = open_workspace(os.environ, Path.cwd(), may_use=lambda _: False)
    async with open_clients(space) as clients:
        print("ready", flush=True)
        sys.stdin.readline()
        await ask_at_once(clients.http, Endpoint(name=name, base_url=url, per_second=per_second, attempts=1), count)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])))
