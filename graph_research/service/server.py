"""The service as a process: its socket, its worker, its shutdown."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from functools import partial

import uvicorn

from graph_research.app.application import Application
from graph_research.app.graphs.catalog import graph_file
from graph_research.app.store import connections_to
from graph_research.app.workspace import Workspace
from graph_research.jobs.backends import open_jobs
from graph_research.providers.http.host_names import is_loopback
from graph_research.service.api import create_api
from graph_research.service.backend import Backend
from graph_research.service.errors import AddressUnusable, TokensUnusable
from graph_research.service.feeds import Feeds
from graph_research.service.http.connections import Connection
from graph_research.service.http.guard import PageAccess
from graph_research.service.libraries import check_shared_folders
from graph_research.service.metrics import ServiceMetrics
from graph_research.service.users import Users
from graph_research.service.worker import WorkerThread

_SHUTDOWN_SECONDS = 5
_BACKLOG = 2048
_PATIENCE_SECONDS = 5.0
"""How long a request waits for a database that goes away: less than clients wait for an answer."""
_SWITCH_SECONDS = 0.0005
"""After which a thread that computes lets another one run: a request changes threads some ten times, and waits as often
for the worker's."""


class Service:
    """The service at an address. `AddressUnusable` where it cannot listen there, `TokensUnusable` where others than
    this machine could reach it without a token, `UnknownGraph` where one that it offers is not there; and what
    `check_shared_folders` raises."""

    def __init__(self, workspace: Workspace, users: Users, *, host: str, port: int) -> None:
        if not users.need_tokens and not is_loopback(host):
            raise TokensUnusable(
                f"{host} can be reached by others, and no tokens file is set",
                help="name one in GRAPH_RESEARCH_TOKENS_FILE; `graph-research token USER` writes it",
            )
        check_shared_folders(workspace)
        for graph in workspace.settings.service_graphs:
            graph_file(workspace, graph)
        self._workspace = workspace
        self._users = users
        self._socket = listen(host, port)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._socket.getsockname()[1]}"
        self._server: _Server | None = None

    async def run(self, on_ready: Callable[[], None], offer_page: Callable[[str], None]) -> None:
        """Answer requests and drive jobs until `stop` is called. The jobs that are driven then go back into the queue,
        and their runs can go on. `offer_page` is given the address that opens the page of a service without tokens in
        one browser, and another one once it was used."""
        sys.setswitchinterval(_SWITCH_SECONDS)
        home = replace(self._workspace.home, patience_seconds=_PATIENCE_SECONDS)
        async with (
            open_jobs(home.runs_db, partial(connections_to, home)) as jobs,
            Application(replace(self._workspace, home=home)) as app,
        ):
            await app.store.run_rows(None, 1)  # makes the file or the tables that both stores are in
            await jobs.counts()  # refuses what a newer version has made
            feeds, metrics = Feeds(app, jobs), ServiceMetrics()
            page = None if self._users.need_tokens else PageAccess(self.url, offer_page)

            def ready() -> None:
                on_ready()
                if page is not None:
                    page.offer()

            with WorkerThread(self._workspace, metrics=metrics.runs) as worker:
                backend = Backend(
                    app=app,
                    jobs=jobs,
                    users=self._users,
                    page=page,
                    feeds=feeds,
                    metrics=metrics,
                    notify=worker.notify,
                    is_working=lambda: worker.is_working,
                )
                self._server = _Server(create_api(backend), ready, feeds.close)
                await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        """Take no more requests, finish those that are under way, and end `run`."""
        if self._server is not None:
            self._server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, api: object, on_ready: Callable[[], None], close_streams: Callable[[], Awaitable[None]]) -> None:
        config = uvicorn.Config(
            api,  # type: ignore[arg-type]  # -- its alias of ASGI applications takes none of Starlette's
            http=Connection,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        super().__init__(config)
        self._on_ready = on_ready
        self._close_streams = close_streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._close_streams()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield  # the command does that


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address. `AddressUnusable`."""
    listening = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        listening = socket.socket(family, kind, protocol)  # with its protocol: else asyncio leaves Nagle's delay on
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        if listening is not None:
            listening.close()
        raise AddressUnusable(
            f"the service cannot listen at {host} port {port}: {getattr(error, 'strerror', None) or error}",
            help="choose another port, or another one of the machine's addresses",
        ) from error
    return listening
