"""No answer of the service says where the operator's folders stand."""

from __future__ import annotations

import shutil

from tests.support.cli.cli_process import User
from tests.support.service.service_client import JOBS, ServiceClient

ROUTES = ("", "/events", "/history", "/outputs", "/result", "/graph.svg", "/report.json", "/versions")


async def test_a_job_whose_shared_folder_is_gone_fails_without_its_path(service: ServiceClient, user: User) -> None:
    job_id = await service.submitted()
    shutil.move(user.folder / "library", user.folder / "gone")
    await service.drive()
    job = (await service.get(f"{JOBS}/{job_id}")).json()
    assert job["status"] == "FAILED"
    answers = [await service.get(f"{JOBS}/{job_id}{path}") for path in ROUTES]
    answers += [await service.get(JOBS), await service.get(f"/v1/responses/{job_id}")]
    assert [answer.url for answer in answers if str(user.folder) in answer.text] == []
    assert "library" in job["error"]["message"]


async def test_a_job_that_finds_a_damaged_index_fails_without_its_path(service: ServiceClient, user: User) -> None:
    await service.submitted()
    await service.drive()
    (user.home / "index" / "library.db").write_bytes(b"no index" * 1_000)
    job_id = await service.submitted("What is salt?")
    await service.drive()
    job = await service.get(f"{JOBS}/{job_id}")
    assert job.json()["error"]["code"] == "provider-refused"
    assert str(user.home) not in job.text
