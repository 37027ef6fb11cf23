"""The clients of a run: HTTP connections and the page reader, set up by the user's settings."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType

from graph_research.app.store import connections_to
from graph_research.app.workspace import Workspace
from graph_research.providers.clients import Clients
from graph_research.providers.http.circuit_breaker import BreakerPolicy
from graph_research.providers.http.client import Http, HttpClient
from graph_research.providers.limits.base import Limits
from graph_research.providers.limits.postgres import PostgresLimits, migrations
from graph_research.providers.limits.shared import SharedLimits
from graph_research.providers.limits.sqlite import SqliteLimits
from graph_research.providers.search.tavily import TavilyOptions, TavilySearch, tavily_endpoint
from graph_research.providers.search.tavily_pages import TavilyPages
from graph_research.providers.web.fetcher import Fetcher, FetchLimits, Validators
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import PageReader, WebPages
from graph_research.providers.web.url_guard import AddressInvalid
from graph_research.settings.config import SettingInvalid, Settings
from graph_research.settings.home import Home


@asynccontextmanager
async def open_clients(
    workspace: Workspace, known: Mapping[str, Validators] = MappingProxyType({})
) -> AsyncIterator[Clients]:
    """Nothing is connected before the first request; what was opened is closed at the end. Rate limits, the patience
    that servers ask for and circuit breakers are shared with all who use the data home or its database. Pages at
    `known` addresses are asked for only where they are other versions."""
    async with AsyncExitStack() as stack:
        settings = workspace.settings
        breaker = BreakerPolicy(cooldown_seconds=settings.provider_cooldown)
        limits = _shared_limits(workspace.home)
        stack.push_async_callback(limits.close)
        http = await stack.enter_async_context(HttpClient(breaker=breaker, limits=limits))
        fetcher = await stack.enter_async_context(_fetcher(settings, known, limits))
        web = await stack.enter_async_context(WebPages(fetcher, pdfs=settings.fetch_pdfs))
        pages = await stack.enter_async_context(KeptPages(_reader(web, http, settings, workspace.environ)))
        yield Clients(http=http, pages=pages, settings=settings, environ=workspace.environ, closing=stack)


def _shared_limits(home: Home) -> Limits:
    connections = connections_to(home, part="limits", migrations=migrations(), most=1)
    shared = SqliteLimits(home.limits_db) if connections is None else PostgresLimits(connections)
    return SharedLimits(shared, SqliteLimits(clock=time.monotonic))


def _reader(web: WebPages, http: Http, settings: Settings, environ: Mapping[str, str]) -> PageReader:
    """Pages are read by this program itself, unless the user would have Tavily do it and has its key."""
    key = environ.get("TAVILY_API_KEY")
    if not settings.tavily_extract or not key:
        return web
    options = TavilyOptions.from_settings(settings)
    return TavilyPages(tavily=TavilySearch(http=http, endpoint=tavily_endpoint(key), options=options), otherwise=web)


def _fetcher(settings: Settings, known: Mapping[str, Validators], pauses: Limits) -> Fetcher:
    limits = FetchLimits(seconds=settings.page_timeout, most_bytes=settings.page_max_bytes)
    try:
        return Fetcher(own_hosts=settings.fetch_allow_hosts, known=known, limits=limits, pauses=pauses)
    except AddressInvalid as error:
        raise SettingInvalid(
            f"setting fetch_allow_hosts: {error}", help="name hosts as `wiki.example` or `wiki.example:8080`"
        ) from error
