"""A user's own documents: uploaded, listed, searched by their jobs, deleted."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from graph_research.providers.search.local import Library
from graph_research.service import uploads
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import DOCUMENTS, QUESTION
from tests.support.service.service_client import JOBS, ServiceClient, service_client

LIBRARY = "/api/library/documents"


@pytest.fixture
async def users(user: User) -> AsyncIterator[ServiceClient]:
    """Two users, and no folder for both."""
    async with service_client(user, "ada", "bert", library=[]) as client:
        yield client


async def put(service: ServiceClient, name: str, text: str = "Tides.", user: str | None = None) -> int:
    headers = service.as_user(user) if user else {}
    return (await service.http.put(f"{LIBRARY}/{name}", content=text.encode(), headers=headers)).status_code


async def names(service: ServiceClient, user: str | None = None) -> list[str]:
    headers = service.as_user(user) if user else {}
    return [entry["name"] for entry in (await service.get(LIBRARY, headers=headers)).json()["documents"]]


async def test_a_document_is_uploaded_replaced_listed_and_deleted(service: ServiceClient) -> None:
    assert await put(service, "tide notes.md", "High tide.") == 201
    assert await put(service, "tide notes.md", "Low tide, again.") == 200
    document = (await service.get(f"{LIBRARY}/tide notes.md")).json()
    assert (document["name"], document["bytes"], document["media_type"]) == ("tide notes.md", 16, "text/markdown")
    assert await names(service) == ["tide notes.md"]
    deleted = await service.http.delete(f"{LIBRARY}/tide notes.md")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert await names(service) == []
    for method in ("GET", "DELETE"):
        gone = await service.http.request(method, f"{LIBRARY}/tide notes.md")
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown-document")


async def test_what_a_killed_process_left_of_an_upload_is_removed_with_the_next_one(service: ServiceClient) -> None:
    assert await put(service, "a.md") == 201
    user = service.app.workspace.home.user_library("local").parent
    for name in ("incoming-killed", "incoming-under-way"):
        (user / name).write_text("Ti")
    os.utime(user / "incoming-killed", (0, 0))
    assert await put(service, "b.md") == 201
    assert sorted(file.name for file in user.iterdir()) == ["incoming-under-way", "library"]


async def test_a_job_searches_the_documents_of_its_user_and_no_others(users: ServiceClient) -> None:
    for name, text in DOCUMENTS.items():
        assert await put(users, name, text, user="ada") == 201
    assert await put(users, "bert.md", f"{QUESTION} Tide mills store water in Bert's secret pond.", user="bert") == 201
    job_id = await users.submitted(QUESTION, headers=users.as_user("ada"))
    await users.drive()
    result = await users.get(f"{JOBS}/{job_id}/result", headers=users.as_user("ada"))
    assert "40 kilowatts" in result.json()["markdown"]
    sources = (await users.get(f"{JOBS}/{job_id}/sources", headers=users.as_user("ada"))).json()["sources"]
    assert {source["url"] for source in sources} <= DOCUMENTS.keys()
    assert "secret" not in result.text
    assert await names(users, "bert") == ["bert.md"]
    other = await users.http.delete(f"{LIBRARY}/mills.md", headers=users.as_user("bert"))
    assert other.status_code == 404
    assert "mills.md" in await names(users, "ada")


async def test_a_deleted_document_is_forgotten_at_once(service: ServiceClient) -> None:
    await put(service, "power.md", "A tide mill gave 77 kilowatts.")
    await service.submitted(QUESTION)
    await service.drive()
    library = Library(service.app.workspace.home.index / "library.db")
    folder = service.app.workspace.home.user_library("local")
    assert await library.search("kilowatts", folders=[folder], limit=9)
    await service.http.delete(f"{LIBRARY}/power.md")
    assert not await library.search("kilowatts", folders=[folder], limit=9)


async def test_a_document_that_can_not_be_read_says_why_and_one_without_a_suffix_is_text(
    service: ServiceClient,
) -> None:
    await put(service, "broken.pdf", "not a PDF")
    await put(service, "README", "Both gates are open.")
    await service.submitted(QUESTION)
    await service.drive()
    assert (await service.get(f"{LIBRARY}/broken.pdf")).json()["problem"]
    readme = (await service.get(f"{LIBRARY}/README")).json()
    assert (readme["media_type"], readme["problem"]) == ("text/plain", None)


@pytest.mark.parametrize(
    "name",
    [
        "library.toml",
        ".hidden.md",
        "..md",
        "%2e%2e%2f%2e%2e%2fconfig.md",
        "..%5Cx.md",
        "x%00.md",
        "x%0a.md",
        "a" * 129 + ".md",
        "ü" * 110 + ".md",
        "program.exe",
    ],
)
async def test_a_name_that_is_not_that_of_a_document_is_refused(service: ServiceClient, name: str) -> None:
    assert await put(service, name) in (404, 405, 422)
    home = service.app.workspace.home
    assert [file for file in home.path.rglob("*") if file.is_file() and "users" in file.parts] == []


async def test_what_a_user_may_store_is_limited(service: ServiceClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_DOCUMENTS", 2)
    monkeypatch.setattr(uploads, "MOST_LIBRARY_BYTES", 20)
    assert await put(service, "a.md", "x" * 15) == 201
    assert await put(service, "b.md", "x" * 6) == 413
    assert await put(service, "b.md", "x" * 5) == 201
    assert await put(service, "c.md", "x") == 413
    assert await put(service, "a.md", "x") == 200
    assert await names(service) == ["a.md", "b.md"]
    left = service.app.workspace.home.user_library("local").parent
    assert [file.name for file in left.iterdir()] == ["library"]


async def test_a_document_for_which_the_disk_has_no_room_is_refused_for_now(service: ServiceClient) -> None:
    assert await put(service, "tides.md") == 201
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        answer = await service.http.put(f"{LIBRARY}/long.md", content=b"Tides. " * 1_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
    assert await names(service) == ["tides.md"]


async def test_documents_that_arrive_at_once_are_limited_together(
    service: ServiceClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_LIBRARY_BYTES", 25)
    statuses = await asyncio.gather(*(put(service, f"{number}.md", "0123456789") for number in range(8)))
    assert Counter(statuses) == {201: 2, 413: 6}
    assert len(await names(service)) == 2
    assert len(list(service.app.workspace.home.user_library("local").parent.iterdir())) == 1, "nothing half stored"


async def test_a_document_that_is_deleted_while_it_is_looked_at_breaks_nothing(service: ServiceClient) -> None:
    async def churn() -> set[int]:
        statuses = set()
        for _ in range(10):
            statuses.add(await put(service, "notes.md"))
            for method, path in (("GET", LIBRARY), ("DELETE", f"{LIBRARY}/notes.md"), ("GET", f"{LIBRARY}/notes.md")):
                statuses.add((await service.http.request(method, path)).status_code)
        return statuses

    assert set().union(*await asyncio.gather(*(churn() for _ in range(6)))) <= {200, 201, 204, 404}
