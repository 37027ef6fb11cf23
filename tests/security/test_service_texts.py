"""The texts of one user are read by no other, not even by one who knows their hashes, which shared reports show."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.service.service_client import JOBS, ServiceClient, service_client

DOCUMENTS = "/api/library/documents"
SECRET = "The code of the harbour is nine four seven."
MINE = "Tide mills gave power twice a day. They store water behind a dam."
CHANNELS = ("sources", "evidence", "findings", "draft", "topics")


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[ServiceClient]:
    async with service_client(make_user(tmp_path), "ada", "bert") as client:
        yield client


async def two_jobs(service: ServiceClient) -> tuple[str, str]:
    """A finished job of `ada`, and the hash of a text that one of `bert` has read."""
    jobs = {}
    for user, text in (("ada", MINE), ("bert", f"{MINE} {SECRET}")):
        headers = service.as_user(user)
        await service.http.put(f"{DOCUMENTS}/{user}s.md", content=text.encode(), headers=headers)
        jobs[user] = await service.submitted(QUESTION, headers=headers)
    await service.drive()
    [source] = [row for row in (await service.app.store.state(jobs["bert"]))["sources"] if row["title"] == "berts.md"]
    return jobs["ada"], source["archive_hash"]


async def state_at(service: ServiceClient, job: str, node: str) -> tuple[int, dict[str, Any]]:
    ada = service.as_user("ada")
    steps = (await service.get(f"{JOBS}/{job}/history", headers=ada)).json()["steps"]
    step = next(row["step"] for row in steps if row["node"] == node)
    return step, (await service.get(f"{JOBS}/{job}/history/{step}", headers=ada)).json()["state"]


@pytest.mark.parametrize("node", ["review_gather", "decide"])
async def test_a_fork_whose_state_names_the_text_of_another_user_does_not_read_it(
    shared: ServiceClient, node: str
) -> None:
    job, foreign = await two_jobs(shared)
    step, state = await state_at(shared, job, node)
    own = {row["archive_hash"] for row in state["sources"]}
    stolen = json.dumps({name: state[name] for name in CHANNELS if state.get(name)})
    for name in own:
        stolen = stolen.replace(name, foreign)
    ada = shared.as_user("ada")
    forked = await shared.post(f"{JOBS}/{job}/forks", {"step": step, "set": json.loads(stolen)}, headers=ada)
    assert forked.status_code == 202, forked.text
    await shared.drive()
    path = f"{JOBS}/{forked.json()['id']}"
    for name in ("", "/result", "/report.json", "/report.html", "/verification", "/bundle", "/history", "/events"):
        answer = await shared.get(f"{path}{name}", headers=ada)
        assert SECRET.encode() not in answer.content, name
        assert answer.status_code in (200, 409, 422, 500), answer.text
    assert (await shared.get(path, headers=ada)).json()["error"]["code"] == "store-damaged"


async def test_what_looks_like_a_reference_to_a_text_is_a_value(shared: ServiceClient) -> None:
    job, foreign = await two_jobs(shared)
    step, _ = await state_at(shared, job, "review_gather")
    reference = {"$type": "text", "value": foreign.removeprefix("sha256:")}
    ada, values = shared.as_user("ada"), {"metadata": {"note": reference}}
    forked = await shared.post(f"{JOBS}/{job}/forks", {"step": step, "set": values}, headers=ada)
    assert forked.status_code == 202, forked.text
    at = (await shared.get(f"{JOBS}/{forked.json()['id']}/history/{step + 1}", headers=ada)).json()
    assert at["state"]["metadata"]["note"] == reference
