"""Another search provider is a file with its spec and a line in the catalog: everything else follows from the spec."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graph_research.app.application import Application
from graph_research.app.diagnostics.checks import capabilities, examine
from graph_research.app.request import request_for
from graph_research.app.wiring.search import select_searches
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.providers.errors import NoProvider
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.catalog import SEARCHES
from graph_research.providers.search.http_search import HttpSearch
from graph_research.providers.search.spec import SearchSpec
from graph_research.providers.search.support.hit import RawHit, make_hits
from graph_research.settings.config import SettingInvalid
from tests.support.network.http_client_stubs import Everybody
from tests.support.network.http_server import Answer, WireServer

QUESTION = "How do salmon smolts pass tidal turbines?"
KEY = "TIDES_API_KEY"


class TidesSearch(HttpSearch):
    """A made-up provider with one document."""

    name = "tides"
    serves = frozenset({"web"})

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        text = (await self.http.ask(self.endpoint, "GET", "/find", params={"q": request.query})).text()
        raw = RawHit(title="Smolts", url="https://tides.example/smolts", body=text, extent=Extent.FULL)
        return make_hits(self.name, request, [raw])


def spec(url: str = "http://127.0.0.1:9") -> SearchSpec:
    return SearchSpec(
        adapter=TidesSearch,
        summary="everything about tides",
        content="whole pages",
        keys=(KEY,),
        in_web=True,
        endpoint=lambda clients: Endpoint(
            name="tides", base_url=url, headers={"x-key": clients.key(KEY) or ""}, secrets=(clients.key(KEY) or "-",)
        ),
    )


def workspace(folder: Path, made: SearchSpec, **environ: str) -> Workspace:
    given = {"GRAPH_RESEARCH_HOME": str(folder / "home"), **environ}
    return replace(open_workspace(given, folder, may_use=lambda _: False), more_searches=(made,))


async def test_doctor_says_what_it_lacks_and_asks_its_server(tmp_path: Path) -> None:
    http = Everybody()
    [check] = [one for one in await examine(workspace(tmp_path, spec()), http=http) if one.name == "tides"]
    assert check.text == f"{KEY} is not set; would add everything about tides"
    assert ("http://127.0.0.1:9", "/robots.txt") in [(endpoint.base_url, path) for endpoint, path in http.asked]
    [check] = await examine(workspace(tmp_path, spec(), **{KEY: "k"}), names=["tides"], http=http)
    assert (check.ok, check.text) == (True, "everything about tides (whole pages)")


def test_capabilities_list_it_with_its_keys_and_source_types(tmp_path: Path) -> None:
    known = capabilities(workspace(tmp_path, spec()))
    assert known["search"]["tides"] == f"everything about tides (whole pages); {KEY}"
    assert known["search"]["web"] == "tavily, google, semantic_scholar, tides, as far as their keys are set"
    assert (known["search_keys"]["tides"], known["search_serves"]["tides"]) == ([KEY], ["web"])


async def test_errors_name_it(tmp_path: Path) -> None:
    space = workspace(tmp_path, spec())
    with pytest.raises(NoProvider, match=r'did you mean "tides"\?.*searxng, tides, mcp:NAME'):
        await select_searches(space, ("tide",), ())
    with pytest.raises(NoProvider, match=f"tides \\({KEY} is not set\\)"):
        await select_searches(space, ("tides",), ())
    with pytest.raises(SettingInvalid, match=r"searxng, tides$"):
        await select_searches(workspace(tmp_path, spec(), GRAPH_RESEARCH_SEARCH_RATE_LIMITS="tide=1"), (), ())


async def test_a_run_searches_with_it_where_its_key_is_set(tmp_path: Path, server: WireServer) -> None:
    server.on("/find", Answer(body="Of 200 tagged salmon smolts, 183 passed the tidal turbines unharmed in 2021."))
    settings = {"GRAPH_RESEARCH_MAX_ITERATIONS": "1", "GRAPH_RESEARCH_SEARCH_RATE_LIMITS": "tides=1000"}
    space = workspace(tmp_path, spec(server.url), **{KEY: "tides-secret"}, **settings)
    assert (await select_searches(space, (), ())).names == ("semantic_scholar", "tides")
    asked = replace(request_for(space, QUESTION), search=("tides",), models=("extractive",))
    async with Application(space) as app:
        run_id = await app.create(asked)
        async for _ in app.drive(run_id):
            pass
        await app.write_report(await app.report(run_id), tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [source["url"] for source in report["sources"]] == ["https://tides.example/smolts"]
    assert {request.headers["x-key"] for request in server.received} == {"tides-secret"}


def test_names_are_unique() -> None:
    assert len(set(SEARCHES.names)) == len(SEARCHES.names)
