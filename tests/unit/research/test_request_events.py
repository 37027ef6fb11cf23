"""Retries and waits of requests are events of the run, at the node that made the request."""

from collections.abc import Sequence

from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.telemetry import Throttled, emit
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.registry import research_handlers
from tests.support.network.http_server import Answer, WireServer
from tests.support.research.harness import PlainContext, make_services


class Asking:
    """A search that asks a server and finds nothing."""

    name = "asking"
    serves = frozenset({"web"})

    def __init__(self, http: HttpClient, server: WireServer) -> None:
        self.http = http
        self.endpoint = Endpoint(name="asking", base_url=server.url)

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        await self.http.ask(self.endpoint, "GET", "/")
        return []


async def test_a_retried_search_is_stored_at_its_node_before_the_next_request(server: WireServer) -> None:
    server.on("/", Answer(status=429, headers={"retry-after": "2"}), Answer(body={}))
    ctx, stored = PlainContext(), []

    async def wait(seconds: float) -> None:
        stored.extend(ctx.events[: ctx.stored])

    async with HttpClient(sleep=wait, clock=lambda: 0.0, chance=lambda: 0.0) as http:
        search = research_handlers(make_services({}, search=[Asking(http, server)]))["search"]
        await search({"query": "tides"}, ctx)
    retried = {
        "kind": "search",
        "peer": "asking",
        "attempt": 1,
        "reason": "asking answered 429 (Too Many Requests)",
        "took_seconds": 0.0,
        "wait_seconds": 2.0,
    }
    assert stored[0] == ("wire:retried", retried)


async def test_without_a_listener_an_incident_is_forgotten() -> None:
    await emit(Throttled(peer="asking", asked_for=False))
