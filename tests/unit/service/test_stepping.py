"""Jobs that pause before nodes: one after the other, on to the next named one, and what else is asked of them then."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.app.job_runner import ResearchJobRunner
from graph_research.jobs.worker import Worker
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient

PAUSES = ["analyze", "synthesize"]


async def paused(service: ServiceClient, **more: Any) -> str:
    """A job that has come to its first pause."""
    body = {"question": QUESTION, "max_sub_queries": 2, "pause_before": PAUSES, **more}
    answer = await service.post(JOBS, body)
    assert answer.status_code == 202, answer.text
    await service.drive()
    return str(answer.json()["id"])


async def go_on(service: ServiceClient, job_id: str, how: str) -> Any:
    """The job where it stands after it went on."""
    answer = await service.post(f"{JOBS}/{job_id}/{how}")
    assert (answer.status_code, answer.json()["status"]) == (200, "QUEUED"), answer.text
    await service.drive()
    return (await service.get(f"{JOBS}/{job_id}")).json()


async def test_a_job_pauses_where_it_was_asked_to_and_replays_as_it_ran(service: ServiceClient) -> None:
    job_id = await paused(service)
    job = (await service.get(f"{JOBS}/{job_id}")).json()
    assert (job["status"], job["waiting_for"]) == ("AWAITING_INPUT", "the run pauses before analyze")
    steps = (await service.get(f"{JOBS}/{job_id}/history")).json()["steps"]
    state = (await service.get(f"{JOBS}/{job_id}/history/{steps[-1]['step']}")).json()["state"]
    assert state["sources"] and not state["findings"]
    while job["status"] == "AWAITING_INPUT":
        assert job["waiting_for"].removeprefix("the run pauses before ") in PAUSES
        job = await go_on(service, job_id, "continue")
    assert job["status"] == "COMPLETED"
    assert (await service.post(f"{JOBS}/{job_id}/replay")).json()["identical"]
    assert (await service.get(f"{JOBS}/{job_id}/result")).status_code == 200


async def test_a_step_goes_on_to_the_next_node_in_whichever_process(service: ServiceClient) -> None:
    job_id = await paused(service)
    assert (await go_on(service, job_id, "step"))["waiting_for"] == "the run pauses before review_analyze"
    await service.post(f"{JOBS}/{job_id}/step")
    claim = await service.claimed()
    drive = service.app.drive(job_id, steps=True)
    await anext(drive)  # the process ends after it has stored that it steps
    await drive.aclose()
    assert (await service.app.request(job_id)).steps
    await service.jobs.progress(claim, "scoring", 0.5)
    service.clock.advance(60)
    await Worker(service.jobs, ResearchJobRunner(service.app), name="other").run(until_idle=True)
    job = (await service.get(f"{JOBS}/{job_id}")).json()
    assert job["status"] == "AWAITING_INPUT"
    assert job["waiting_for"] not in ("the run pauses before review_analyze", "the run pauses before synthesize")


@pytest.mark.parametrize("how", ["step", "continue"])
async def test_only_a_job_that_pauses_goes_on(service: ServiceClient, how: str) -> None:
    queued = await service.submitted()
    early = await service.post(f"{JOBS}/{queued}/{how}")
    assert (early.status_code, early.json()["code"]) == (409, "nothing-yet")
    await service.post(f"{JOBS}/{queued}/cancel")
    job_id = await paused(service)
    await service.post(f"{JOBS}/{job_id}/continue")
    twice = await service.post(f"{JOBS}/{job_id}/{how}")
    assert (twice.status_code, twice.json()["code"]) == (409, "job-not-waiting")


async def test_what_is_made_of_a_job_that_pauses(service: ServiceClient) -> None:
    """A fork pauses as it does, and is where its state can be changed; a further question has other nodes."""
    job_id = await paused(service, pause_before=["synthesize"])
    steps = (await service.get(f"{JOBS}/{job_id}/history")).json()["steps"]
    forked = (await service.post(f"{JOBS}/{job_id}/forks", {"step": steps[-1]["step"], "set": {"gaps": []}})).json()[
        "id"
    ]
    await service.drive()
    assert (await service.get(f"{JOBS}/{forked}")).json()["waiting_for"] == "the run pauses before synthesize"
    while (await go_on(service, job_id, "continue"))["status"] == "AWAITING_INPUT":
        pass
    asked = (await service.post(f"{JOBS}/{job_id}/questions", {"question": "How high is the tidal range?"})).json()[
        "id"
    ]
    await service.drive()
    assert (await service.get(f"{JOBS}/{asked}")).json()["status"] == "COMPLETED"


async def test_a_node_that_the_graph_has_not_is_refused(service: ServiceClient) -> None:
    refused = await service.post(JOBS, {"question": QUESTION, "pause_before": ["analyse"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
    assert "did you mean" in refused.json()["help"]
    assert (await service.get(JOBS)).json()["jobs"] == []


async def test_a_node_that_ends_the_run_is_refused(service: ServiceClient) -> None:
    refused = await service.post(JOBS, {"question": QUESTION, "pause_before": ["completed"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
    assert "ends the run" in refused.json()["detail"]


async def test_a_cancelled_job_that_pauses_ends(service: ServiceClient) -> None:
    job_id = await paused(service)
    await service.post(f"{JOBS}/{job_id}/cancel")
    assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == "CANCELLED"
    assert (await service.app.status(job_id)).cause == "cancelled"
