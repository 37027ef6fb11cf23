"""A job as one file that names nothing of the service's machine, and the check of a file that anybody brings."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph_research.app.job_runner import JobRequest
from graph_research.service.untrusted.checking import Allowance, BundleRefused, check_bundle
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.network.fake_services import Faults, open_world
from tests.support.service.service_client import JOBS, ServiceClient, service_client

ENOUGH = Allowance(memory_bytes=1 << 30, cpu_seconds=60, seconds=60)
BUNDLES = "/api/research/bundles"


@pytest.fixture
async def users(user: User) -> AsyncIterator[ServiceClient]:
    async with service_client(user, "ada", "bert") as client:
        yield client


async def bundle_of(service: ServiceClient, job_id: str, **more: Any) -> bytes:
    answer = await service.get(f"{JOBS}/{job_id}/bundle", **more)
    assert answer.status_code == 200, answer.text
    return answer.content


async def check(service: ServiceClient, data: bytes, **more: Any) -> httpx.Response:
    return await service.http.post(BUNDLES, content=data, **more)


async def test_a_bundle_replays_and_verifies_and_names_no_folder_of_the_service(users: ServiceClient) -> None:
    ada, bert = users.as_user("ada"), users.as_user("bert")
    await users.http.put("/api/library/documents/mine.md", content=b"Tide mills gave power twice a day.", headers=ada)
    job_id = await users.submitted(QUESTION, headers=ada)
    await users.drive()
    data = await bundle_of(users, job_id, headers=ada)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    home, folder = str(users.app.workspace.home.path), str(users.app.workspace.folder)
    assert not any(home in text or folder in text for text in texts)
    assert any("/shared/" in text for text in texts)
    found = (await check(users, data, headers=bert)).json()
    assert (found["run_id"], found["question"], found["replay"]["identical"]) == (job_id, QUESTION, True)
    assert found["replay"]["steps"] > 10
    assert found["verification"]["valid"] == found["verification"]["citations"] > 0


OF_THE_MACHINE, OF_ANOTHER = "127.0.0.1", "0.0.0.0"
"""Two addresses of the same server; the second one tells which it is, as that of another machine would."""


TOO_SMALL = Faults(context_errors=frozenset({"analyzer", "extractor", "outliner"}), broken_json=frozenset({"planner"}))
OUT_OF_ORDER = Faults(deaf_agents=frozenset({"source_summarizer", "reflector"}), rate=0.2)


@pytest.mark.parametrize(
    ("host", "faults", "status"),
    [
        (OF_THE_MACHINE, TOO_SMALL, "COMPLETED"),
        (OF_ANOTHER, Faults(), "COMPLETED"),
        (OF_ANOTHER, TOO_SMALL, "COMPLETED"),
        (OF_ANOTHER, OUT_OF_ORDER, "FAILED"),
    ],
)
async def test_the_address_of_a_model_is_a_label_in_a_bundle(
    user: User, tmp_path: Path, host: str, faults: Faults, status: str
) -> None:
    """Also where the run notes in its state which model failed and why, and condenses sources for two of one name."""
    with open_world(tmp_path / "calls", faults=faults) as world:
        address = f"http://{host}:{world.port}/v1"
        models = (f"openai:world@http://{host}:{world.port}/wrong", f"openai:world@{address}")
        options = {"default_provider": models, "deep_research_digest_policy": "always"}
        async with service_client(user, **options) as service:
            job_id = await service.submitted(QUESTION)
            await service.drive()
            assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == status
            data = await bundle_of(service, job_id)
    async with service_client(user) as service:
        found = (await check(service, data)).json()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert any(f"{host}:{world.port}" in text for text in texts) == (host == OF_THE_MACHINE)
    assert any("openai:world@http://192.0.2.1/v1" in text for text in texts) == (host == OF_ANOTHER)
    assert found["replay"]["identical"], found


async def test_a_run_whose_own_words_name_a_server_of_the_operators_has_no_bundle(user: User) -> None:
    async with service_client(user, default_provider=("openai:m@http://models.example/v1",)) as service:
        job_id = await service.submitted("What does models.example serve?")
        await service.post(f"{JOBS}/{job_id}/cancel")
        await service.app.create(
            JobRequest.from_json((await service.jobs.get("local", job_id)).request).run, run_id=job_id
        )
        refused = await service.get(f"{JOBS}/{job_id}/bundle")
        assert (refused.status_code, refused.json()["code"]) == (422, "bundle-not-shareable")


async def test_a_run_that_notes_the_address_of_a_search_has_no_bundle(user: User) -> None:
    options = {"searxng_url": "http://0.0.0.0:9", "search_providers": ("searxng", "local")}
    async with service_client(user, **options) as service:
        job_id = await service.submitted(QUESTION)
        await service.drive()
        assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == "COMPLETED"
        refused = await service.get(f"{JOBS}/{job_id}/bundle")
        assert (refused.status_code, refused.json()["code"]) == (422, "bundle-not-shareable")


@pytest.mark.parametrize("least", [{"memory_bytes": 1 << 20}, {"seconds": 0.01}])
async def test_a_bundle_that_takes_too_much_is_given_up(service: ServiceClient, tmp_path: Path, least: Any) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    (tmp_path / "bundle.grb").write_bytes(await bundle_of(service, job_id))
    with pytest.raises(BundleRefused, match="too much"):
        await check_bundle(tmp_path, allowance=replace(ENOUGH, **least))


async def test_a_bundle_of_a_further_question_and_of_a_fork_replays(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    asked = await service.post(f"{JOBS}/{job_id}/questions", {"question": "How high is the tidal range?"})
    forked = await service.post(f"{JOBS}/{job_id}/forks", {"step": 3})
    await service.drive()
    for answer in (asked, forked):
        found = (await check(service, await bundle_of(service, answer.json()["id"]))).json()
        assert found["replay"]["identical"], found


async def test_nothing_of_a_checked_bundle_is_kept(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    data = await bundle_of(service, job_id)
    await service.http.delete(f"{JOBS}/{job_id}")
    answer = await check(service, data)
    assert answer.json()["replay"]["identical"]
    assert answer.headers["RateLimit"].startswith('"jobs";r=8;')
    assert await service.app.store.run_rows(None, None) == []
    assert (await service.get(JOBS)).json()["jobs"] == []


async def test_a_job_that_has_not_ended_has_no_bundle(service: ServiceClient) -> None:
    job_id = await service.submitted()
    assert (await service.get(f"{JOBS}/{job_id}/bundle")).status_code == 409
    await service.post(f"{JOBS}/{job_id}/cancel")
    never_begun = await service.get(f"{JOBS}/{job_id}/bundle")
    assert (never_begun.status_code, never_begun.json()["code"]) == (409, "nothing-yet")


async def test_what_is_no_bundle_is_refused_and_counts(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    data = await bundle_of(service, job_id)
    changed = data[:500] + bytes([data[500] ^ 1]) + data[501:]
    for hostile in (b"", b"PK", b"not a bundle", data[:-1], changed, _bomb()):
        refused = await check(service, hostile)
        assert (refused.status_code, refused.json()["code"]) == (422, "bundle-refused"), refused.text
        assert "/tmp" not in refused.text
    too_large = await service.http.post(BUNDLES, content=b"", headers={"Content-Length": "20000001"})
    assert too_large.status_code == 413
    for _ in range(3):
        await check(service, b"")
    assert (await check(service, data)).status_code == 429


def _bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("texts.jsonl", bytes(10_000_000))
    return file.getvalue()
