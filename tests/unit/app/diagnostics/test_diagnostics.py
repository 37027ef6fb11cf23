"""`doctor` and `capabilities`: what is set up, which servers answer how soon, and what a missing key would add."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from graph_research.app.diagnostics.checks import Check, examine
from graph_research.app.diagnostics.providers import Provider, check_providers, name_of_model, providers_of, with_names
from graph_research.app.library import open_library
from graph_research.app.wiring.clients import open_clients
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.providers.errors import NoProvider
from graph_research.providers.http.health_check import HealthResult
from graph_research.providers.keys import KEYS
from tests.support.cli.cli_process import PATIENCE_SECONDS, User
from tests.support.network.http_client_stubs import Everybody, Nobody
from tests.support.network.http_server import Answer, WireServer

SECRET = "sk-MARKED-4f1c9a7be2d05836"
LIBRARY = Path(__file__).parents[3] / "support" / "providers" / "mcp_server.py"


def workspace(folder: Path, **environ: str) -> Workspace:
    given = {"GRAPH_RESEARCH_HOME": str(folder / "home"), **environ}
    return open_workspace(given, folder, may_use=lambda _: False)


async def asked_of(space: Workspace) -> Everybody:
    """Who is asked for a sign of life, and how."""
    http = Everybody()
    async with open_clients(space) as clients:
        await check_providers(providers_of(space, ()), replace(clients, http=http), network=True)
    return http


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


async def test_every_provider_is_looked_for_with_a_request_that_costs_nothing(tmp_path: Path) -> None:
    space = workspace(tmp_path, GRAPH_RESEARCH_SEARXNG_URL="http://127.0.0.1:8080/sx")
    asked = {endpoint.name: (endpoint.base_url, path) for endpoint, path in (await asked_of(space)).asked}
    assert asked == {
        "openai": ("https://api.openai.com/v1", "/models"),
        "anthropic": ("https://api.anthropic.com", "/v1/models"),
        "gemini": ("https://generativelanguage.googleapis.com/v1beta", "/models"),
        "tavily": ("https://api.tavily.com", "/usage"),
        "google": ("https://www.googleapis.com", "/robots.txt"),
        "semantic_scholar": ("https://api.semanticscholar.org", "/robots.txt"),
        "arxiv": ("https://export.arxiv.org", "/robots.txt"),
        "openalex": ("https://api.openalex.org", "/robots.txt"),
        "crossref": ("https://api.crossref.org", "/robots.txt"),
        "pubmed": ("https://eutils.ncbi.nlm.nih.gov", "/robots.txt"),
        "wikipedia": ("https://en.wikipedia.org", "/robots.txt"),
        "searxng": ("http://127.0.0.1:8080/sx", "/search"),
    }


async def test_a_key_is_sent_to_its_own_host_and_only_where_the_answer_tells_of_it(tmp_path: Path) -> None:
    http = await asked_of(workspace(tmp_path, **{name: f"secret-of-{name}" for name in KEYS}))
    sent = {
        urlsplit(endpoint.base_url).hostname: [
            name for name in KEYS if f"secret-of-{name}" in f"{endpoint.headers}{endpoint.params}"
        ]
        for endpoint, _ in http.asked
    }
    assert {host: names for host, names in sent.items() if names} == {
        "api.openai.com": ["OPENAI_API_KEY"],
        "api.anthropic.com": ["ANTHROPIC_API_KEY"],
        "generativelanguage.googleapis.com": ["GEMINI_API_KEY"],
        "api.tavily.com": ["TAVILY_API_KEY"],
    }


async def test_what_is_missing_is_reported_with_what_it_would_add(tmp_path: Path) -> None:
    checks = by_name(await examine(workspace(tmp_path, PATH="/nowhere"), network=False))
    for name, key in (("openai", "OPENAI_API_KEY"), ("tavily", "TAVILY_API_KEY"), ("searxng", "searxng_url")):
        assert (checks[name].ok, checks[name].configured, checks[name].optional) == (False, False, True)
        assert f"{key} is not set; would add {checks[name].adds}" == checks[name].text
        assert checks[name].adds
    assert "GOOGLE_API_KEY and GOOGLE_CSE_ID are not set" in checks["google"].text
    assert "more with OPENALEX_API_KEY: ten times" in checks["openalex"].text
    assert "the program claude is not on this machine" in checks["[cli]claude"].text
    assert all(check.reachable is None and check.latency_ms is None for check in checks.values())


async def test_files_of_the_library_that_were_not_read_are_named_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for n in range(4):
        (folder / f"torn{n}.pdf").write_text("<html>")
    space = workspace(tmp_path)
    await open_library(space).add([folder])
    told = by_name(await examine(space, http=Nobody()))["library index"].text
    assert "4 files not read, or only in part: " in told
    assert f"{folder}/torn0.pdf: it is not a PDF" in told
    assert told.endswith("; and 1 more")


async def test_command_lines_are_found_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "ask").write_text("#!/bin/sh\n")
    (tmp_path / "ask").chmod(0o755)
    space = workspace(tmp_path, PATH=str(tmp_path), GRAPH_RESEARCH_CLI_COMMANDS='{"mine": ["ask"]}')
    check = by_name(await examine(space, names=["[cli]mine"]))["[cli]mine"]
    assert (check.ok, check.configured, check.reachable) == (True, True, None)
    assert str(tmp_path / "ask") in check.text


def test_a_server_of_ones_own_is_asked_with_its_own_key(user: User, server: WireServer) -> None:
    server.on("/v1/models", Answer(body={"data": []}))
    environ = {
        "GRAPH_RESEARCH_DEFAULT_PROVIDER": f"openai:m@{server.url}/v1",
        "GRAPH_RESEARCH_MODEL_KEYS": f"127.0.0.1:{server.port}=MY_KEY",
        "MY_KEY": SECRET,
    }
    done = user.run("doctor", f"openai:m@{server.url}/v1", "--json", environ=environ)
    (check,) = done.json["checks"]
    assert (check["ok"], check["reachable"], check["text"]) == (True, True, "key accepted")
    assert check["latency_ms"] > 0
    assert server.received[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(status=401, body={"error": {"message": f"{SECRET} is wrong"}}), "401"),
        (Answer(fault="reset"), "broke off"),
        (Answer(fault="garbage"), "does not speak HTTP"),
    ],
)
def test_a_named_provider_that_does_not_serve_fails_without_showing_the_key(
    answer: Answer, told: str, user: User, server: WireServer
) -> None:
    server.on("/v1/models", answer)
    environ = {"GRAPH_RESEARCH_MODEL_KEYS": f"127.0.0.1:{server.port}=MY_KEY", "MY_KEY": SECRET}
    done = user.run("doctor", f"openai:m@{server.url}/v1", environ=environ, expect=1)
    assert told in done.out
    assert "FAILS" in done.out
    assert "not usable" in done.err
    assert SECRET not in done.out + done.err


def test_a_search_server_of_ones_own_is_asked_whether_it_gives_json_and_nothing_else(
    user: User, server: WireServer
) -> None:
    server.on("/search", Answer(status=400, body={"error": "No query"}))
    done = user.run("doctor", "searxng", "--json", environ={"GRAPH_RESEARCH_SEARXNG_URL": server.url})
    assert done.json["checks"][0]["reachable"] is True
    assert [(one.path, one.query) for one in server.received] == [("/search", {"format": "json"})]


@pytest.mark.parametrize(
    ("status", "told"), [(403, "add `- json`"), (404, "check searxng_url"), (429, "`limiter: false`")]
)
def test_a_search_server_that_would_not_serve_is_reported_with_the_remedy(
    status: int, told: str, user: User, server: WireServer
) -> None:
    server.on("/search", Answer(status=status, body="<html></html>"))
    done = user.run("doctor", "searxng", environ={"GRAPH_RESEARCH_SEARXNG_URL": server.url}, expect=1)
    assert told in done.out


def test_an_mcp_server_that_says_nothing_is_left_after_some_seconds(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph_research.app.diagnostics.providers.PROBE_SECONDS", 0.5)
    silent = {"mute": {"command": [sys.executable, "-c", "import time; time.sleep(600)"]}}
    began = time.monotonic()
    done = user.run("doctor", "mcp:mute", expect=1, environ={"GRAPH_RESEARCH_MCP_SERVERS": json.dumps(silent)})
    assert "no answer within 0.5 s" in done.out
    assert time.monotonic() - began < PATIENCE_SECONDS


def test_offline_nobody_is_asked_and_nothing_is_started(user: User, server: WireServer) -> None:
    touched = user.folder / "touched"
    environ = {
        "GRAPH_RESEARCH_SEARXNG_URL": server.url,
        "GRAPH_RESEARCH_MCP_SERVERS": json.dumps({"one": {"command": ["touch", str(touched)]}}),
    }
    done = user.run("doctor", "--offline", environ=environ)
    assert "mcp:one" in done.out
    assert not server.received
    assert not touched.exists()


async def test_all_are_looked_for_at_the_same_time(tmp_path: Path) -> None:
    space = workspace(tmp_path)
    together = asyncio.Barrier(20)

    async def check(_: object) -> HealthResult:
        await together.wait()
        return HealthResult(latency_ms=1)

    async with open_clients(space) as clients, asyncio.timeout(10):
        found = await check_providers(
            [Provider(name=str(one), kind="search", check=check) for one in range(20)], clients, network=True
        )
    assert all(one.works for one in found)


LOADS = """
import asyncio, sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from graph_research.app.wiring.clients import open_clients
from graph_research.app.diagnostics.providers import providers_of, check_providers, with_names
from graph_research.app.workspace import open_workspace
from graph_research.providers.http.transport import _certificates
from graph_research.providers.http.client import HttpClient

class Watched(HttpClient):
    async def ask(self, *arguments, **more):
        before = set(sys.modules)
        assert _certificates.cache_info().currsize == 1
        reply = await super().ask(*arguments, **more)
        print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
        return reply

async def main(home, url):
    environ = {"GRAPH_RESEARCH_HOME": home, "GRAPH_RESEARCH_SEARXNG_URL": url}
    space = open_workspace(environ, Path(home), may_use=lambda _: False)
    async with open_clients(space) as clients, Watched() as http:
        named = with_names(space, ["searxng"], providers_of(space, ()))
        await check_providers(named, replace(clients, http=http), network=True)

asyncio.run(main(*sys.argv[1:]))
"""


def test_what_asks_is_loaded_before_the_milliseconds_are_counted(user: User, server: WireServer) -> None:
    server.on("/search", Answer(status=400, body={"error": "No query"}))
    done = subprocess.run(
        [sys.executable, "-c", LOADS, str(user.home), server.url], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {"_queue", "queue", "sniffio"}


async def test_models_in_force_of_which_none_answers_are_something_missing(tmp_path: Path, server: WireServer) -> None:
    spec = f"openai:m@{server.url}/v1"
    server.on("/v1/models", Answer(fault="reset"))
    space = workspace(tmp_path, GRAPH_RESEARCH_DEFAULT_PROVIDER=spec)
    async with open_clients(space) as clients:
        (found,) = await check_providers(with_names(space, [spec], providers_of(space, [spec])), clients, network=True)
    assert not found.works
    assert name_of_model(spec) == spec
    assert name_of_model("anthropic:claude-x?effort=low") == "anthropic"
    assert name_of_model("[cli]claude:haiku") == "[cli]claude"


async def test_where_nobody_answers_the_main_job_is_still_possible(tmp_path: Path) -> None:
    checks = by_name(await examine(workspace(tmp_path), http=Nobody()))
    assert checks["arxiv"].reachable is False
    assert "network" in checks["arxiv"].text
    assert all(check.ok or check.optional for check in checks.values())


@pytest.mark.parametrize(
    ("environ", "broken"),
    [
        ({"GRAPH_RESEARCH_DEFAULT_PROVIDER": "openai:m@http://127.0.0.1:9/v1"}, "models"),
        ({"OPENAI_API_KEY": SECRET}, "models"),
        ({"GRAPH_RESEARCH_SEARCH_PROVIDERS": "arxiv,wikipedia"}, "search"),
        ({"GRAPH_RESEARCH_DEFAULT_PROVIDER": "openai:m@http://"}, "models"),
    ],
)
async def test_where_none_of_those_that_were_chosen_answers_no_run_works(
    environ: dict[str, str], broken: str, tmp_path: Path
) -> None:
    checks = await examine(workspace(tmp_path, **environ), http=Nobody())
    assert [check.name for check in checks if not check.ok and not check.optional] == [broken]
    assert SECRET not in repr(checks)


async def test_one_model_that_answers_is_enough_for_a_role(tmp_path: Path) -> None:
    both = "openai:m@http://127.0.0.1:9/v1, extractive"
    checks = by_name(await examine(workspace(tmp_path, GRAPH_RESEARCH_DEFAULT_PROVIDER=both), http=Nobody()))
    assert checks["models"].ok
    assert not checks["openai:m@http://127.0.0.1:9/v1"].ok


async def test_where_everybody_answers_all_that_is_set_up_is_reachable(tmp_path: Path) -> None:
    space = workspace(tmp_path, **dict.fromkeys(KEYS, SECRET), GRAPH_RESEARCH_SEARXNG_URL="http://127.0.0.1:8080")
    checks = await examine(space, http=Everybody())
    providers = [check for check in checks if check.kind != "machine" and not check.name.startswith("[cli]")]
    assert [check.name for check in providers if not check.ok] == []
    accepted = {check.name for check in providers if check.text.startswith("key accepted")}
    assert accepted == {"openai", "anthropic", "gemini", "tavily"}
    assert by_name(checks)["models"].text.startswith("anthropic:")
    assert SECRET not in repr(checks)


async def test_an_unknown_provider_is_reported_with_the_nearest_one(tmp_path: Path) -> None:
    for name, near in (("tavly", "tavily"), ("openia", "openai"), ("mcp:x", "config.toml"), ("", "extractive")):
        with pytest.raises(NoProvider) as caught:
            await examine(workspace(tmp_path), names=[name], network=False)
        assert near in caught.value.help


def test_capabilities_tell_windows_prices_and_what_searches_serve(user: User) -> None:
    server = {"library": {"command": [sys.executable, str(LIBRARY)], "serves": ["academic"]}}
    environ = {
        "GRAPH_RESEARCH_MCP_SERVERS": json.dumps(server),
        "GRAPH_RESEARCH_MODEL_CONTEXT_OVERRIDES": "mine=1000",
        "GRAPH_RESEARCH_MODEL_PRICE_OVERRIDES": '{"mine": {"input": 1, "output": 2}}',
    }
    known = user.run("capabilities", "--json", environ=environ).json
    assert known["windows"]["mine"] == 1000
    assert known["windows"]["gpt-4o"] == 128_000
    assert known["prices"]["mine"] == {"input": 1.0, "output": 2.0}
    assert known["prices"]["openai:gpt-5"]["cached_input"] == 0.125
    assert known["search_serves"]["mcp:library"] == ["academic"]
    assert known["search_serves"]["arxiv"] == ["academic"]
    assert known["search_keys"]["google"] == ["GOOGLE_API_KEY", "GOOGLE_CSE_ID"]
    assert known["mcp_servers"] == ["library"]
    assert {"png", "html"} <= set(known["graph_formats"])
    assert "\nwindows:\n" in user.run("capabilities", environ=environ).out


async def test_nothing_is_left_running_when_a_look_is_broken_off(tmp_path: Path) -> None:
    silent = {"mute": {"command": [sys.executable, "-c", "import time; time.sleep(60)"]}}
    space = workspace(tmp_path, GRAPH_RESEARCH_MCP_SERVERS=json.dumps(silent))
    async with AsyncExitStack() as stack:
        clients = await stack.enter_async_context(open_clients(space))
        known = with_names(space, ["mcp:mute"], providers_of(space, ()))
        looking = asyncio.ensure_future(check_providers(known, clients, network=True))
        await asyncio.sleep(0)
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking
    assert len(asyncio.all_tasks()) == 1


def test_who_has_no_key_of_googles_search_is_reported_that_there_is_none_to_be_had(user: User) -> None:
    told = user.run("doctor", "--offline", "google", expect=1).out
    assert "not set" in told
    assert "Google takes no new ones, and ends it on 2027-01-01" in told
