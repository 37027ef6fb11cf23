"""Which searches a run gets, what is said of those that it does not get, and a run over a search server."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_research.app.application import Application
from graph_research.app.request import RunRequest, request_for
from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.search import build_searches, select_searches, serves_of, with_searches
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.providers.errors import NoProvider
from graph_research.providers.search.tavily import TavilySearch
from graph_research.providers.search.wikipedia import WikipediaSearch
from graph_research.settings.config import SettingInvalid
from tests.support.cli.cli_process import User
from tests.support.network.http_server import Answer, WireServer

TAVILY = {"TAVILY_API_KEY": "tvly-secret"}
GOOGLE = {"GOOGLE_API_KEY": "google-secret", "GOOGLE_CSE_ID": "cx"}
SCHOLAR = {"SEMANTIC_SCHOLAR_API_KEY": "s2-secret"}
PACES = {
    "tavily": [1.6, 1.6],
    "google": [1.6, 1.6],
    "semantic_scholar": [1.0, 1.0],
    "arxiv": [0.33, 0.33],
    "openalex": [10.0, 10.0],
    "crossref": [1.0, 3.0],
    "pubmed": [3.0, 10.0],
    "wikipedia": [5.0, 5.0],
    "searxng": [5.0, 5.0],
}
"""Requests a second, without and with what raises them."""
QUESTION = "How do salmon smolts pass tidal turbines?"
RESULTS = {
    "results": [
        {
            "url": "https://river.example/smolts",
            "title": "Smolts at the lagoon",
            "content": "Of 200 tagged salmon smolts, 183 passed the tidal turbines of the lagoon unharmed in 2021.",
        },
        {
            "url": "https://sea.example/turbines",
            "title": "Turbines and fish",
            "content": "Salmon smolts pass tidal turbines mostly by night, when the turbines turn slowly.",
        },
    ]
}


def workspace(folder: Path, environ: dict[str, str] | None = None, **options: Any) -> Workspace:
    given = {"GRAPH_RESEARCH_HOME": str(folder / "home"), **(environ or {})}
    return open_workspace(given, folder, may_use=lambda _: False, options=options)


async def with_documents(folder: Path) -> None:
    (folder / "papers").mkdir()
    (folder / "papers" / "a.md").write_text("# Smolts\n\nSmolts pass tidal turbines.\n")
    space = workspace(folder)
    async with open_clients(space) as clients:
        searches = build_searches(space, ["local"], ["papers"], clients)
        await searches.prepare(space, index=True)


@pytest.mark.requirement("16.2")
@pytest.mark.parametrize(
    ("environ", "names", "skipped"),
    [
        ({}, ("semantic_scholar",), 2),
        (TAVILY, ("tavily", "semantic_scholar"), 1),
        ({**SCHOLAR, **TAVILY, **GOOGLE}, ("tavily", "google", "semantic_scholar"), 0),
        ({"GOOGLE_API_KEY": "one of two"}, ("semantic_scholar",), 2),
    ],
)
async def test_without_names_and_documents_every_web_search_that_lacks_no_key_is_asked(
    environ: dict[str, str], names: tuple[str, ...], skipped: int, tmp_path: Path
) -> None:
    chosen = await select_searches(workspace(tmp_path, environ), (), ())
    assert (chosen.names, len(chosen.skipped)) == (names, skipped)


@pytest.mark.requirement("16.2")
async def test_documents_are_searched_beside_the_web_where_a_key_of_the_web_is_set(tmp_path: Path) -> None:
    await with_documents(tmp_path)
    assert (await select_searches(workspace(tmp_path, TAVILY), (), ())).names == ("local", "tavily", "semantic_scholar")
    assert (await select_searches(workspace(tmp_path, SCHOLAR), (), ())).names == ("local", "semantic_scholar")
    assert (await select_searches(workspace(tmp_path), (), ())).names == ("local",)


async def test_a_library_that_is_named_is_searched_alone(tmp_path: Path) -> None:
    chosen = await select_searches(workspace(tmp_path, TAVILY), (), ("papers",))
    assert (chosen.names, chosen.skipped) == (("local",), ())


@pytest.mark.requirement("16.2", "B6")
async def test_named_searches_without_their_key_are_left_out_as_long_as_one_remains(tmp_path: Path) -> None:
    chosen = await select_searches(workspace(tmp_path), ("google", "wikipedia", "searxng"), ())
    assert chosen.names == ("wikipedia",)
    assert chosen.skipped == (
        "google (GOOGLE_API_KEY and GOOGLE_CSE_ID are not set)",
        "searxng (searxng_url is not set)",
    )
    with pytest.raises(NoProvider, match=r"google .*set what is missing.*wikipedia"):
        await select_searches(workspace(tmp_path), ("google", "tavily"), ())


@pytest.mark.requirement("16.2")
async def test_the_web_is_tavily_google_and_semantic_scholar_in_this_order(tmp_path: Path) -> None:
    space = workspace(tmp_path, {**GOOGLE, **TAVILY})
    assert (await select_searches(space, ("web",), ())).names == ("tavily", "google", "semantic_scholar")
    chosen = await select_searches(workspace(tmp_path), ("web", "local", "web"), ())
    assert (chosen.names, len(chosen.skipped)) == (("semantic_scholar", "local"), 2)


@pytest.mark.parametrize("name", ["wikipedi", "tavily:x", "", "scripted:", "http://10.0.0.1/"])
async def test_an_unknown_name_is_reported_with_the_known_ones(name: str, tmp_path: Path) -> None:
    with pytest.raises(NoProvider, match=r"scripted:FILE"):
        await select_searches(workspace(tmp_path), (name,), ())


async def test_a_rate_for_a_search_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    space = workspace(tmp_path, {"GRAPH_RESEARCH_SEARCH_RATE_LIMITS": "tavly=1"})
    with pytest.raises(SettingInvalid, match="tavly"):
        await select_searches(space, (), ())


async def test_the_searches_of_a_run_are_kept_with_it(tmp_path: Path) -> None:
    space = workspace(tmp_path, TAVILY)
    asked = request_for(space, QUESTION)
    assert asked.search == ()
    request = await with_searches(space, asked)
    again = RunRequest.from_json(request.to_json())
    assert again == request
    assert again.search == ("tavily", "semantic_scholar")
    assert again.skipped[0] == "google (GOOGLE_API_KEY and GOOGLE_CSE_ID are not set)"


async def test_a_run_whose_rules_for_sources_allow_none_of_its_searches_is_refused(tmp_path: Path) -> None:
    space = workspace(tmp_path, {"GRAPH_RESEARCH_SOURCE_KINDS": "web,news"})
    (tmp_path / "papers").mkdir()
    request = replace(request_for(space, QUESTION), search=("local",), library=("papers",))
    async with Application(space) as app:
        with pytest.raises(NoProvider, match="allows news, web only, and no search of the run finds that: local"):
            await app.create(request)
        await app.create(replace(request, search=("local", "wikipedia")))


async def test_every_kind_can_be_built_from_its_settings_and_keys(tmp_path: Path) -> None:
    environ = {
        **TAVILY,
        **GOOGLE,
        "GRAPH_RESEARCH_SEARXNG_URL": "http://127.0.0.1:8080/searxng",
        "GRAPH_RESEARCH_SEARCH_RATE_LIMITS": "crossref=0.5, wikipedia=2",
        "GRAPH_RESEARCH_WIKIPEDIA_LANGUAGE": "de",
        "GRAPH_RESEARCH_TAVILY_SEARCH_DEPTH": "advanced",
        "GRAPH_RESEARCH_TAVILY_INCLUDE_DOMAINS": "a.example, b.example",
    }
    space = workspace(tmp_path, environ)
    names = ["local", *space.searches.names]
    async with open_clients(space) as clients:
        built = build_searches(space, names, (), clients).providers
    assert [provider.name for provider in built] == names
    assert all(provider.serves == serves_of(provider.name, space) for provider in built)
    tavily = next(one for one in built if isinstance(one, TavilySearch))
    assert tavily.options.body()["include_domains"] == ["a.example", "b.example"]
    wikipedia = next(one for one in built if isinstance(one, WikipediaSearch))
    assert (wikipedia.endpoint.base_url, wikipedia.endpoint.per_second) == ("https://de.wikipedia.org", 2)
    assert "secret" not in repr(built)


async def test_each_service_is_asked_no_faster_than_its_page_says(tmp_path: Path) -> None:
    keys = {**TAVILY, **GOOGLE, "GRAPH_RESEARCH_SEARXNG_URL": "http://127.0.0.1:8080"}
    more = {**keys, "GRAPH_RESEARCH_CONTACT_EMAIL": "me@example.org", "NCBI_API_KEY": "x"}
    rates = {}
    for environ in (keys, more):
        space = workspace(tmp_path, environ)
        async with open_clients(space) as clients:
            built = build_searches(space, list(PACES), (), clients).providers
        for provider in built:
            rates.setdefault(provider.name, []).append(round(getattr(provider, "endpoint").per_second, 2))  # noqa: B009
    assert rates == PACES
    page = (Path(__file__).parents[4] / "docs" / "how-to" / "search-the-web.md").read_text()
    table = page.split("\n## How fast\n", 1)[1]
    assert all(f"| `{name}` | " in table for name in PACES)


async def test_a_run_that_goes_on_needs_the_key_that_it_began_with(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    async with open_clients(space) as clients:
        with pytest.raises(NoProvider, match="TAVILY_API_KEY is not set"):
            build_searches(space, ["tavily", "wikipedia"], (), clients)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "127.0.0.1:8080", "http://me:pass@127.0.0.1/", "http://a/?x=1"])
def test_an_address_of_a_search_server_that_is_none_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="searxng_url"):
        workspace(tmp_path, {"GRAPH_RESEARCH_SEARXNG_URL": url})


def test_a_research_over_a_search_server_has_sources_of_the_web(tmp_path: Path, server: WireServer) -> None:
    server.on("/search", Answer(body=RESULTS))
    user = User(folder=tmp_path, home=tmp_path / "home")
    environ = {
        "GRAPH_RESEARCH_SEARXNG_URL": server.url,
        "GRAPH_RESEARCH_FOLLOW_LINKS": "false",
        "TAVILY_API_KEY": "tvly-secret",
    }
    options = ("--search", "google,searxng", "--llm", "extractive", "--max-iterations", "1", "--run-id", "web")
    done = user.run("run", QUESTION, *options, environ=environ)
    assert "searches left out: google (GOOGLE_API_KEY and GOOGLE_CSE_ID are not set)" in done.err
    report = user.run("report", "web", "--format", "json").json
    assert {source["url"] for source in report["sources"]} == {
        "https://river.example/smolts",
        "https://sea.example/turbines",
    }
    assert report["search"] == ["searxng"]
    assert "Search providers that could not be used: google." in report["limitations"]
    assert user.run("verify", "web", "--json").json["invalid"] == 0
    assert not [file for file in (tmp_path / "home").rglob("*") if file.is_file() and b"secret" in file.read_bytes()]


def test_why_pages_were_not_read_is_said_once_for_each_reason(tmp_path: Path, server: WireServer) -> None:
    found = [{"url": f"{server.url}/{n}", "title": f"Smolts {n}", "content": "Smolts pass."} for n in range(3)]
    server.on("/search", Answer(body={"query": "q", "results": found}))
    user = User(folder=tmp_path, home=tmp_path / "home")
    environ = {"GRAPH_RESEARCH_SEARXNG_URL": server.url}
    options = ("--search", "searxng", "--llm", "extractive", "--max-iterations", "1", "--run-id", "shut")
    told = user.run("run", QUESTION, *options, environ=environ).err.splitlines()
    [line] = [one for one in told if one.startswith("page")]
    assert line.startswith(f"page not read: {server.url}/0 is not fetched: port ")
    assert line.endswith("fetch_allow_hosts if it is your own (2 more likewise)")


@pytest.mark.requirement("B6")
def test_a_research_whose_searches_all_fail_ends_and_says_so(tmp_path: Path) -> None:
    user = User(folder=tmp_path, home=tmp_path / "home")
    environ = {"GRAPH_RESEARCH_SEARXNG_URL": "http://127.0.0.1:9"}
    options = ("--search", "searxng", "--llm", "extractive", "--max-iterations", "1", "--run-id", "alone")
    assert "no search answered" in user.run("run", QUESTION, *options, environ=environ).err
    report = user.run("report", "alone", "--format", "json").json
    assert report["sources"] == []
    assert report["notice"].startswith("No search provider answered")
    assert any(one.startswith("Failed searches: searxng on “") for one in report["limitations"])
    assert report["confidence"]["value"] == 0
