"""The run of a job over HTTP, step by step: states, differences, a replay, and a job that goes on from a step."""

from __future__ import annotations

import pytest

from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient


@pytest.fixture
async def job(service: ServiceClient) -> str:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    return job_id


async def test_every_step_has_its_state(service: ServiceClient, job: str) -> None:
    steps = (await service.get(f"{JOBS}/{job}/history")).json()["steps"]
    planned = next(step for step in steps if step["node"] == "plan")
    moment = (await service.get(f"{JOBS}/{job}/history/{planned['step']}")).json()
    assert (moment["node"], moment["hash"]) == ("plan", planned["hash"])
    assert moment["state"]["sub_queries"] and not moment["state"].get("findings")
    query = moment["state"]["sub_queries"][0]["query"]
    path = f"{JOBS}/{job}/history/{planned['step']}?path="
    assert (await service.get(f"{path}sub_queries.0.query")).json()["state"] == {"sub_queries.0.query": query}
    wrong = await service.get(f"{path}sub_queries.99.query")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "input-invalid")


async def test_it_is_said_where_a_run_stands(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    early = await service.get(f"{JOBS}/{job_id}/standing")
    assert (early.status_code, early.json()["code"]) == (409, "nothing-yet")
    await service.drive()
    standing = (await service.get(f"{JOBS}/{job_id}/standing")).json()
    assert (standing["job_id"], standing["phase"], standing["usage"]) == (job_id, "synthesis", [])
    assert min(standing[name] for name in ("iteration", "step", "sources", "findings")) > 0
    assert standing["content_fidelity"]["items"]


async def test_a_step_that_is_not_there_is_said(service: ServiceClient, job: str) -> None:
    answer = await service.get(f"{JOBS}/{job}/history/100000")
    assert (answer.status_code, answer.json()["code"]) == (422, "input-invalid")


async def test_a_job_that_has_not_begun_has_no_steps(service: ServiceClient) -> None:
    job_id = await service.submitted()
    answer = await service.get(f"{JOBS}/{job_id}/history")
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing-yet")


async def test_a_replay_has_the_same_steps(service: ServiceClient, job: str) -> None:
    replayed = (await service.post(f"{JOBS}/{job}/replay")).json()
    assert (replayed["identical"], replayed["first_difference"]) == (True, None)
    assert replayed["steps"] > 10
    current = (await service.post(f"{JOBS}/{job}/replay?current=true")).json()
    assert (current["identical"], current["steps"]) == (True, replayed["steps"])


async def test_a_fork_is_a_job_that_goes_on_with_another_state(service: ServiceClient, job: str) -> None:
    steps = (await service.get(f"{JOBS}/{job}/history")).json()["steps"]
    at = next(step["step"] for step in steps if step["node"] == "plan")
    query = "How much power did tide mills give?"
    forked = await service.post(f"{JOBS}/{job}/forks", {"step": at, "set": {"sub_queries.0.query": query}})
    assert forked.status_code == 202, forked.text
    fork = forked.json()["id"]
    await service.drive()
    assert (await service.get(f"{JOBS}/{fork}")).json()["status"] == "COMPLETED"
    differences = (await service.get(f"{JOBS}/{job}/diff/{fork}")).json()
    assert {"sub_queries"} <= {change["path"].partition(".")[0] for change in differences["state"]}
    same = (await service.get(f"{JOBS}/{job}/diff/{fork}", params={"at": "1", "other_at": "1"})).json()
    assert same["state"] == []


@pytest.mark.parametrize(
    ("path", "body"), [("forks", {"step": 1}), ("questions", {"question": "How much power did tide mills give?"})]
)
async def test_the_run_of_a_fork_and_of_a_question_is_as_old_as_its_job(
    service: ServiceClient, job: str, path: str, body: dict[str, object]
) -> None:
    made = (await service.post(f"{JOBS}/{job}/{path}", body)).json()["id"]
    created_at = (await service.jobs.find(made) or pytest.fail("no job")).created_at
    assert (await service.app.store.run(made)).created_at == created_at, "whatever the clock of `serve` says"


async def test_a_fork_with_the_same_key_is_the_same_job(service: ServiceClient, job: str) -> None:
    key = {"Idempotency-Key": "fork"}
    first, second = [await service.post(f"{JOBS}/{job}/forks", {"step": 1}, headers=key) for _ in range(2)]
    assert (second.status_code, second.json()["id"]) == (202, first.json()["id"])
    other = await service.post(f"{JOBS}/{job}/forks", {"step": 2}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key-reused")
    of_another = await service.post(f"{JOBS}/{first.json()['id']}/forks", {"step": 1}, headers=key)
    assert of_another.json()["code"] == "key-reused"


DEEP = "[" * 300 + "]" * 300


@pytest.mark.parametrize(
    "value", [r'"\ud800"', "9" * 40, "1e400", DEEP, f'{{"x": {DEEP}}}', "[" * 985 + "]" * 985, r'"a\u0000"']
)
async def test_a_value_that_no_state_can_have_is_said(service: ServiceClient, job: str, value: str) -> None:
    body = f'{{"step": 0, "set": {{"sub_queries": {value}}}}}'
    answer = await service.http.post(f"{JOBS}/{job}/forks", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("wanted", [{"step": 100_000}, {"step": 1, "set": {"no_such_channel": 1}}])
async def test_a_fork_that_cannot_be_is_said_and_queues_nothing(
    service: ServiceClient, job: str, wanted: dict[str, object]
) -> None:
    answer = await service.post(f"{JOBS}/{job}/forks", wanted)
    assert (answer.status_code, answer.json()["code"]) == (422, "input-invalid")
    assert len((await service.get(JOBS)).json()["jobs"]) == 1


async def test_a_job_that_was_cancelled_goes_on_as_a_fork_with_limits_of_its_own(service: ServiceClient) -> None:
    submitted = await service.post(JOBS, {"question": QUESTION, "plan_first": True, "timeout_seconds": 300})
    job_id = submitted.json()["id"]
    await service.drive()
    assert (await service.post(f"{JOBS}/{job_id}/cancel")).json()["status"] == "CANCELLED"
    changed = await service.post(f"{JOBS}/{job_id}/forks", {"set": {"max_iterations": 1}})
    assert (changed.status_code, changed.json()["code"]) == (422, "input-invalid"), "of which step?"
    forked = await service.post(f"{JOBS}/{job_id}/forks", {"timeout_seconds": 600})
    fork = forked.json()["id"]
    await service.drive()
    assert (await service.get(f"{JOBS}/{fork}")).json()["status"] == "AWAITING_INPUT", "it was to wait with its plan"
    await service.post(f"{JOBS}/{fork}/answer", {"answer": "yes"})
    await service.drive()
    assert (await service.get(f"{JOBS}/{fork}")).json()["status"] == "COMPLETED"
    assert (await service.app.request(fork)).timeout_seconds == 600


async def test_a_fork_takes_models_that_are_offered_only(service: ServiceClient, job: str) -> None:
    wanted = {"step": 1, "roles": {"report": "extractive"}}
    assert (await service.post(f"{JOBS}/{job}/forks", wanted)).status_code == 202
    refused = await service.post(f"{JOBS}/{job}/forks", {**wanted, "roles": {"report": "openai:m@http://10.0.0.1/v1"}})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
    unknown = await service.post(f"{JOBS}/{job}/forks", {**wanted, "roles": {"no role": "extractive"}})
    assert unknown.status_code == 422


async def test_a_fork_goes_on_with_another_graph_that_is_offered(service: ServiceClient, job: str) -> None:
    steps = (await service.get(f"{JOBS}/{job}/history")).json()["steps"]
    at = next(step["step"] for step in steps if step["node"] == "plan")
    for other in ("follow_up", "own.yaml"):
        refused = await service.post(f"{JOBS}/{job}/forks", {"step": at, "graph": other})
        assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
    forked = await service.post(f"{JOBS}/{job}/forks", {"step": at, "graph": "deep_research"})
    assert forked.status_code == 202, forked.text
    assert (await service.app.request(forked.json()["id"])).graph == "deep_research"
    cannot = await service.post(f"{JOBS}/{job}/forks", {"step": at, "graph": "pipeline"})
    assert cannot.status_code == 422, "it has no such node"


async def test_a_fork_takes_no_longer_lists_than_a_plan_would_add(service: ServiceClient, job: str) -> None:
    """A graph makes calls for each entry."""
    steps = (await service.get(f"{JOBS}/{job}/history")).json()["steps"]
    step = next(row["step"] for row in steps if row["node"] == "review_plan")
    [first, *rest] = (await service.get(f"{JOBS}/{job}/history/{step}")).json()["state"]["sub_queries"]
    more = [{**first, "id": f"sq-9-{number}"} for number in range(9)]
    allowed = await service.post(
        f"{JOBS}/{job}/forks", {"step": step, "set": {"sub_queries": [first, *rest, *more[1:]]}}
    )
    assert allowed.status_code == 202, allowed.text
    refused = await service.post(f"{JOBS}/{job}/forks", {"step": step, "set": {"sub_queries": [first, *rest, *more]}})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
