"""The service and an endpoint of FastAPI that does nothing, as processes of their own, and how long their answers take
when they are asked in turns."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from engine import Table

SCRIPT = Path(sys.executable).with_name("graph-research")
LIBRARY = Path(__file__).parents[1] / "examples" / "library"
PROBE_SECONDS = 0.05

BARE = """
import socket, uvicorn
from fastapi import FastAPI
api = FastAPI()

@api.get("/status")
async def status(): return {"status": "QUEUED"}

listening = socket.create_server(("127.0.0.1", 0))
print(f"serving at http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(api, log_level="warning", access_log=False)).run(sockets=[listening])
"""


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


@dataclass
class Served:
    """A process that answers at `url`."""

    url: str
    pid: int

    @property
    def megabytes(self) -> float:
        """Of its resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1000

    @property
    def cpu_seconds(self) -> float:
        """Of the process with its children that have ended."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(command: Sequence[str], folder: Path, name: str) -> Iterator[Served]:
    """A process that says in its log where it serves, ended afterwards."""
    log = folder / f"{name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, env=environ_in(folder), stdout=output, stderr=output)
        try:
            while "serving at " not in log.read_text():
                if process.poll() is not None:
                    raise SystemExit(f"{name} has ended:\n{log.read_text()}")
                time.sleep(0.05)
            yield Served(log.read_text().split("serving at ")[1].split()[0], process.pid)
        finally:
            process.terminate()
            process.wait(30)


def environ_in(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "GRAPH_RESEARCH_HOME": str(folder / "home")}


def commanding(folder: Path, database: str) -> Callable[..., subprocess.Popen[bytes]]:
    """Starts commands whose runs stand in a database."""
    environ = {**environ_in(folder), "GRAPH_RESEARCH_DATABASE": database}

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        log = subprocess.DEVNULL
        return subprocess.Popen([str(SCRIPT), *arguments], cwd=folder, env=environ, stdout=log, stderr=log)

    return start


def serving_service(folder: Path) -> AbstractContextManager[Served]:
    """The service with the example library."""
    return serving([str(SCRIPT), "serve", "--port", "0", "--library", str(LIBRARY)], folder, "service")


def serving_bare(folder: Path) -> AbstractContextManager[Served]:
    """An endpoint that does nothing."""
    return serving([sys.executable, "-c", BARE], folder, "bare")


@contextmanager
def both(folder: Path) -> Iterator[tuple[Served, Served]]:
    with serving_service(folder) as service, serving_bare(folder) as bare:
        yield service, bare


@dataclass
class Latencies:
    """Seconds that an answer took, of the service and of the endpoint that does nothing, asked in turns."""

    service: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)

    def show(self, table: Table, what: str) -> None:
        for name, values in ((what, self.service), ("bare FastAPI", self.bare)):
            table.fact(f"{name}: median", f"{statistics.median(values) * 1000:.1f} ms")
            table.fact(f"{name}: p95", f"{percentile(values, 95) * 1000:.1f} ms")
        ratio = percentile(self.service, 95) / percentile(self.bare, 95)
        table.fact(f"{what} / bare FastAPI, p95", f"{ratio:.1f} x")


@asynccontextmanager
async def probed(address: str, bare: Served) -> AsyncIterator[Latencies]:
    """Both are asked again and again while the context is entered."""
    latencies = Latencies()
    async with httpx.AsyncClient(timeout=60) as http:

        async def ask() -> None:
            while True:
                for url, seconds in (
                    (address, latencies.service),
                    (f"{bare.url}/status", latencies.bare),
                ):
                    started = time.perf_counter()
                    try:
                        answer = await http.get(url)
                    except (httpx.NetworkError, httpx.RemoteProtocolError):  # the server has closed an idle one
                        answer = await http.get(url)
                    answer.raise_for_status()
                    seconds.append(time.perf_counter() - started)
                await asyncio.sleep(PROBE_SECONDS)

        asking = asyncio.create_task(ask())
        try:
            yield latencies
        finally:
            asking.cancel()
            await asyncio.wait({asking})
            if not asking.cancelled():
                asking.result()
