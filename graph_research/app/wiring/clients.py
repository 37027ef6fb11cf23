"""The clients of a run: HTTP connections and the page reader, set up by the user's settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MappingProxyType

from graph_research.app.workspace import Workspace
from graph_research.providers.clients import Clients
from graph_research.providers.http.circuit_breaker import BreakerPolicy
from graph_research.providers.http.client import Http, HttpClient
from graph_research.providers.search.tavily import TavilyOptions, TavilySearch, tavily_endpoint
from graph_research.providers.search.tavily_pages import TavilyPages
from graph_research.providers.web.fetcher import Fetcher, FetchLimits, Validators
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import PageReader, WebPages
from graph_research.providers.web.url_guard import AddressInvalid
from graph_research.settings.config import SettingInvalid, Settings


@asynccontextmanager
async def open_clients(
    workspace: Workspace, known: Mapping[str, Validators] = MappingProxyType({})
) -> AsyncIterator[Clients]:
    """Nothing is connected before the first request; what was opened is closed at the end. Pages at `known` addresses
    are asked for only where they are other versions."""
    async with AsyncExitStack() as stack:
        settings = workspace.settings
        breaker = BreakerPolicy(cooldown_seconds=settings.provider_cooldown)
        http = await stack.enter_async_context(HttpClient(breaker=breaker))
        fetcher = await stack.enter_async_context(_fetcher(settings, known))
        web = await stack.enter_async_context(WebPages(fetcher, pdfs=settings.fetch_pdfs))
        pages = await stack.enter_async_context(KeptPages(_reader(web, http, settings, workspace.environ)))
        yield Clients(http=http, pages=pages, settings=settings, environ=workspace.environ, closing=stack)


def _reader(web: WebPages, http: Http, settings: Settings, environ: Mapping[str, str]) -> PageReader:
    """Pages are read by this program itself, unless the user would have Tavily do it and has its key."""
    key = environ.get("TAVILY_API_KEY")
    if not settings.tavily_extract or not key:
        return web
    options = TavilyOptions.from_settings(settings)
    return TavilyPages(tavily=TavilySearch(http=http, endpoint=tavily_endpoint(key), options=options), otherwise=web)


def _fetcher(settings: Settings, known: Mapping[str, Validators]) -> Fetcher:
    limits = FetchLimits(seconds=settings.page_timeout, most_bytes=settings.page_max_bytes)
    try:
        return Fetcher(own_hosts=settings.fetch_allow_hosts, known=known, limits=limits)
    except AddressInvalid as error:
        raise SettingInvalid(
            f"setting fetch_allow_hosts: {error}", help="name hosts as `wiki.example` or `wiki.example:8080`"
        ) from error
