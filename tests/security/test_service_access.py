"""Who reaches the service: every route without a token, with a wrong one, and with another user's; pages of other
sites; bodies that are too long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Route

from graph_research.jobs.job import JobStatus
from graph_research.service.errors import TokensUnusable
from graph_research.service.server import Service
from graph_research.service.users import Users
from tests.support.cli.cli_user import make_user
from tests.support.service.service_client import JOBS, ServiceClient, service_client

OPEN = {"/healthz", "/readyz", "/openapi.json", "/docs", "/", "/pages/{name}"}
"""Routes that say nothing of any user."""


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[ServiceClient]:
    async with service_client(make_user(tmp_path), "ada", "bert") as client:
        yield client


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[ServiceClient]:
    async with service_client(make_user(tmp_path)) as client:
        yield client


def routes(api: FastAPI) -> list[tuple[str, str]]:
    """Method and path of every route, also of those that the OpenAPI document leaves out."""

    def walk(found: Iterable[Any]) -> Iterator[tuple[str, str]]:
        for route in found:
            if isinstance(route, Route):
                yield from ((method, route.path) for method in route.methods or () if method != "HEAD")
            else:
                yield from walk(route.original_router.routes)

    return [*walk(api.routes)]


def example_of(document: dict[str, Any], operation: dict[str, Any]) -> Any:
    """A valid body of an operation, None where it has none."""
    if "requestBody" not in operation:
        return None
    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return document["components"]["schemas"][name]["examples"][0]


def filled(path: str, job_id: str) -> str:
    """The path with the values of a job of another user."""
    names = {"format": "md", "name": "notes.md", "graph": "deep_research", "picture": "svg", "step": 1}
    return path.format(job_id=job_id, other_id=job_id, response_id=job_id, **names)


def code_of(answer: httpx.Response) -> str:
    """The code of an error, in either shape."""
    body = answer.json()
    return str(body.get("error", body)["code"])


@pytest.mark.requirement("21.1")
async def test_no_route_but_the_open_ones_answers_without_a_valid_token(shared: ServiceClient) -> None:
    job_id = await shared.submitted(headers=shared.as_user("ada"))
    checked = 0
    for method, path in routes(shared.api):
        if path in OPEN:
            continue
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YWRhOmFkYQ=="}):
            answer = await shared.http.request(method, filled(path, job_id), headers=headers)
            assert (answer.status_code, code_of(answer)) == (401, "token-missing"), (method, path, answer.text)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            checked += 1
    assert checked == 3 * len([path for _, path in routes(shared.api) if path not in OPEN]) > 60


async def test_the_open_routes_answer_everybody(shared: ServiceClient) -> None:
    for path in OPEN:
        assert (await shared.get(path.format(name="page.js"))).status_code == 200, path


async def test_a_token_in_a_cookie_reads_and_changes_nothing(shared: ServiceClient) -> None:
    job_id = await shared.submitted(headers=shared.as_user("ada"))
    cookie = {"Cookie": f"graph-research-token={shared.tokens['ada']}"}
    assert (await shared.get(f"{JOBS}/{job_id}", headers=cookie)).status_code == 200
    checked = 0
    for method, path in routes(shared.api):
        if method == "GET":
            continue
        answer = await shared.http.request(method, filled(path, job_id), headers=cookie)
        assert (answer.status_code, code_of(answer)) == (401, "token-missing"), (method, path)
        checked += 1
    assert checked >= 15
    wrong = await shared.get(JOBS, headers={"Cookie": "graph-research-token=wrong"})
    assert wrong.status_code == 401


async def test_no_answer_is_stored_sniffed_framed_or_told_to_other_sites(shared: ServiceClient) -> None:
    ada = shared.as_user("ada")
    job_id = await shared.submitted(headers=ada)
    answers = [
        *[await shared.get(path.format(name="page.js")) for path in OPEN],
        *[await shared.get(path, headers=ada) for path in (JOBS, f"{JOBS}/{job_id}", f"{JOBS}/nothing", "/nowhere")],
        await shared.get(JOBS),
        await shared.post(JOBS, {"question": "x" * 1_000_000}, headers=ada),
    ]
    for answer in answers:
        assert answer.headers["Cache-Control"] == "no-store", answer.url
        assert answer.headers["Referrer-Policy"] == "no-referrer", answer.url
        assert answer.headers["X-Content-Type-Options"] == "nosniff", answer.url
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"], answer.url
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], answer.url


@pytest.mark.requirement("21.1")
async def test_the_job_of_another_user_is_unknown_to_every_route(shared: ServiceClient) -> None:
    job_id = await shared.submitted(headers=shared.as_user("ada"))
    await shared.finish(JobStatus.AWAITING_INPUT, waiting_for="which?")
    bert = shared.as_user("bert")
    checked = 0
    document = shared.api.openapi()
    for method, path in routes(shared.api):
        if "_id}" not in path:
            continue
        body = example_of(document, document["paths"][path][method.lower()])
        own = await shared.http.request(method, filled(path, job_id), headers=bert, json=body)
        unknown = await shared.http.request(method, filled(path, "run-0000000000"), headers=bert, json=body)
        assert (own.status_code, code_of(own)) == (404, "unknown-job"), (method, path, own.text)
        assert own.text.replace(job_id, "X") == unknown.text.replace("run-0000000000", "X")
        checked += 1
    assert checked >= 13
    assert (await shared.jobs.get("ada", job_id)).status == JobStatus.AWAITING_INPUT


async def test_lists_and_counts_are_the_users_own(shared: ServiceClient) -> None:
    job_id = await shared.submitted(headers=shared.as_user("ada"))
    bert = shared.as_user("bert")
    assert (await shared.get(JOBS, headers=bert)).json()["jobs"] == []
    behind = f"{10**16 - 1}~{job_id}"
    assert (await shared.get(JOBS, headers=bert, params={"before": behind})).json()["jobs"] == []
    assert (await shared.get("/api/research/queue/summary", headers=bert)).json()["jobs"]["QUEUED"] == 0


async def test_an_idempotency_key_is_the_users_own(shared: ServiceClient) -> None:
    key = {"Idempotency-Key": "monday"}
    ada = await shared.submitted(headers={**shared.as_user("ada"), **key})
    assert await shared.submitted(headers={**shared.as_user("bert"), **key}) != ada


async def test_a_library_can_not_be_reached_over_the_name_of_another_user(shared: ServiceClient) -> None:
    home = shared.app.workspace.home
    for name, text in (("ada", "Ada's secret."), ("bert", "Bert's notes.")):
        home.user_library(name).mkdir(parents=True)
        (home.user_library(name) / "notes.md").write_text(text)
    for library in (None, ["uploads"]):
        body = {"question": "What is secret?", "library": library}
        job = (await shared.post(JOBS, body, headers=shared.as_user("bert"))).json()
        folders = (await shared.jobs.get("bert", job["id"])).request["run"]["library"]
        assert str(home.user_library("bert")) in folders
        assert not any("ada" in Path(folder).parts for folder in folders)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8420"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": ""},
        {"Host": "[::"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_without_tokens_pages_of_other_sites_are_refused(service: ServiceClient, headers: dict[str, str]) -> None:
    for method, path in routes(service.api):
        answer = await service.http.request(method, filled(path, "x"), headers=headers)
        assert (answer.status_code, code_of(answer)) == (403, "foreign-origin"), (method, path)


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:8420", "[::1]:8420", "localhost"])
async def test_without_tokens_this_machine_is_answered(service: ServiceClient, host: str) -> None:
    assert (await service.get(JOBS, headers={"Host": host})).status_code == 200


BROWSER = [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://127.0.0.1:8420"}]


async def test_a_browser_is_answered_once_it_has_opened_the_page_with_the_one_time_token(
    service: ServiceClient,
) -> None:
    for method, path in routes(service.api):
        for headers in () if path in OPEN else (*BROWSER, {**BROWSER[0], "Cookie": "graph-research-8420=guessed"}):
            refused = await service.http.request(method, filled(path, "x"), headers=headers)
            assert (refused.status_code, code_of(refused)) == (403, "not-allowed"), (method, path)
    [address] = service.pages
    opened = await service.get(address)
    assert (opened.status_code, opened.headers["Location"]) == (303, "/")
    cookie = opened.headers["Set-Cookie"]
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert address.partition("token=")[2] not in cookie
    for headers in BROWSER:
        assert (await service.get(JOBS, headers=headers)).status_code == 200, "the cookie came along"
    assert (await service.get(address)).status_code == 303, "the browser that opened it"


async def test_the_token_of_the_page_opens_it_in_one_browser(service: ServiceClient) -> None:
    for token in ("guessed", "", "é"):
        refused = await service.get("/", params={"token": token})
        assert (refused.status_code, code_of(refused)) == (403, "not-allowed")
    await service.get(service.pages[0])
    for number in (1, 2):
        service.http.cookies.clear()
        assert (await service.get(service.pages[0])).status_code == 403
        assert "Set-Cookie" not in (await service.get("/")).headers
        assert len(service.pages) == number + 1, "another address for another browser"
        assert (await service.get(service.pages[number])).status_code == 303
    assert len(set(service.pages)) == 4


async def test_where_users_have_tokens_the_page_has_none(shared: ServiceClient) -> None:
    assert (await shared.get("/", params={"token": "x"})).status_code == 200
    assert shared.pages == []


async def test_a_form_of_another_site_submits_nothing(service: ServiceClient) -> None:
    """A form can send a text without asking first; a body must say that it is JSON."""
    answer = await service.http.post(JOBS, content=b'{"question": "x"}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert "application/json" in answer.json()["help"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_without_tokens_only_this_machine_is_listened_to(host: str) -> None:
    with pytest.raises(TokensUnusable):
        Service(None, Users(None), host=host, port=0)  # type: ignore[arg-type]  # -- it is refused first


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(service: ServiceClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b'{"question": "' + b" " * 50_000
        raise AssertionError("the body was read to its end")

    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    length = {"Content-Type": "application/json", "Content-Length": "2000000"}
    stated = await service.http.post(JOBS, content=unread(), headers=length)
    chunked = await service.http.post(JOBS, content=endless(), headers={"Content-Type": "application/json"})
    for answer in (stated, chunked):
        assert (answer.status_code, code_of(answer)) == (413, "body-too-large")


async def test_an_unexpected_error_shows_nothing_of_itself(
    service: ServiceClient, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a secret in /home/ada")

    service.jobs.get = fails  # type: ignore[assignment,method-assign]
    answer = await service.get(f"{JOBS}/x")
    assert (answer.status_code, code_of(answer)) == (500, "unexpected")
    assert "secret" not in answer.text
    assert "a secret in /home/ada" in caplog.text
