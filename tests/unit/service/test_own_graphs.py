"""A job that runs a graph of the user's own: what it may name and take, and that it goes wherever its job goes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph_research.app.application import Application
from graph_research.app.job_runner import JobRequest, ResearchJobRunner
from graph_research.app.request import RunRequest
from graph_research.app.runs.bundles import import_run
from graph_research.app.runs.imported import ForeignRun
from graph_research.app.runs.run import time_limit
from graph_research.app.workspace import open_workspace
from graph_research.graph.errors import RunTooLarge, StoreDamaged
from graph_research.jobs.job import JobStatus
from graph_research.jobs.worker import Worker
from graph_research.service.models import JobSubmission
from tests.support.cli.cli_process import User
from tests.support.service.service_client import JOBS, ServiceClient, service_client

_EXAMPLE: dict[str, Any] = JobSubmission.model_config["json_schema_extra"]["examples"][-1]  # type: ignore[index, call-overload, assignment]  # -- a literal
OWN = {name: _EXAMPLE[name] for name in ("question", "definition", "inputs")}
GRAPH: str = OWN["definition"]
QUESTION = "How high are tides?"
COUNTING = """
graph: counting
version: "1"
state:
  question: {type: string, input: true}
  n: {type: integer, default: 2, input: true}
  seen: {type: array, reduce: append, default: [], output: true}
start: tick
loops: {down: {while: n > 0, most: 100000}}
nodes:
  tick: {set: {seen: "[n]", n: n - 1}}
  last: {set: {seen: "[n]"}}
  done: {end: completed}
edges:
  - {from: tick, to: tick, when: n > 0, loop: down}
  - {from: tick, to: last}
  - {from: last, to: done}
"""
LOOKING = """
graph: looking
version: "1"
state:
  question: {type: string, input: true}
  sources: {type: array, default: [], input: true}
  near: {type: array, default: [], output: true}
start: look
nodes:
  look:
    run: look_up
    input: {schema: look_up.input, with: {sources: sources, question: question}}
    output: {schema: look_up.output, into: {near: output.sources}}
  done: {end: completed}
edges:
  - {from: look, to: done}
"""
NAMESAKES = """
graph: deep_research
version: "1"
state:
  question: {type: string, input: true}
  sources: {type: array, default: [tides, salt]}
  sub_queries: {type: array, default: [tides]}
  checklist: {type: integer, default: 3}
  findings: {type: integer, default: 3}
  draft: {type: string, default: Salt., output: true}
  phase: {type: array, default: [1]}
  iteration: {type: string, default: last}
  claims: {type: array, default: [{text: Salt.}]}
  metadata: {type: string, default: none}
start: adopt_plan
nodes:
  adopt_plan: {set: {draft: question}}
  done: {end: completed}
edges:
  - {from: adopt_plan, to: done}
"""


async def submitted(service: ServiceClient, definition: str = COUNTING, **more: Any) -> str:
    answer = await service.post(JOBS, {"question": QUESTION, "definition": definition, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def test_a_graph_of_ones_own_searches_the_documents_and_says_what_it_found(service: ServiceClient) -> None:
    job_id = str((await service.post(JOBS, OWN)).json()["id"])
    await service.drive()
    assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == "COMPLETED"
    found = (await service.get(f"{JOBS}/{job_id}/outputs")).json()
    assert found["status"] == "COMPLETED"
    assert found["outputs"]["sources"], "what the library has"
    assert "search" in (await service.get(f"{JOBS}/{job_id}/graph.svg")).text
    steps = (await service.get(f"{JOBS}/{job_id}/history")).json()["steps"]
    assert [step["node"] for step in steps] == ["search", "search", "search"]
    assert (await service.post(f"{JOBS}/{job_id}/replay")).json()["identical"]
    result = await service.get(f"{JOBS}/{job_id}/result")
    assert (result.status_code, result.json()["code"]) == (409, "nothing-yet")
    assert (await service.get(f"/v1/responses/{job_id}")).json()["output"] == []


async def test_a_graph_that_asks_no_question_is_submitted_without_one(service: ServiceClient) -> None:
    definition = COUNTING.replace("  question: {type: string, input: true}\n", "")
    assert definition != COUNTING
    answer = await service.post(JOBS, {"definition": definition, "inputs": {"n": 2}})
    assert (answer.status_code, answer.json().get("question")) == (202, ""), answer.text
    await service.drive()
    outputs = (await service.get(f"{JOBS}/{answer.json()['id']}/outputs")).json()
    assert (outputs["status"], outputs["outputs"]) == ("COMPLETED", {"seen": [2, 1, 0]})
    nothing = await service.post(JOBS, {"graph": "deep_research"})
    assert nothing.status_code == 422
    assert "a question is needed" in nothing.json()["detail"]


async def test_it_is_not_forked_to_a_graph_that_has_other_bounds(service: ServiceClient) -> None:
    """A state that it made would be worked through by the shipped graph, without the limits of graphs of one's own."""
    job_id = str((await service.post(JOBS, OWN)).json()["id"])
    await service.drive()
    refused = await service.post(f"{JOBS}/{job_id}/forks", {"step": 0, "graph": "deep_research"})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
    assert "of your own" in refused.json()["detail"]


async def test_it_is_forked_with_another_text_which_is_checked(service: ServiceClient) -> None:
    broken = COUNTING.replace('last: {set: {seen: "[n]"}}', 'last: {set: {seen: "[1 / n]"}}')
    job_id = await submitted(service, broken)
    await service.drive()
    assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == "FAILED"
    forks = f"{JOBS}/{job_id}/forks"
    wrong = await service.post(forks, {"definition": COUNTING.replace("start: tick", "start: tock")})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "definition-invalid")
    forked = await service.post(forks, {"definition": COUNTING})
    assert forked.status_code == 202, forked.text
    await service.drive()
    outputs = (await service.get(f"{JOBS}/{forked.json()['id']}/outputs")).json()
    assert (outputs["status"], outputs["outputs"]) == ("COMPLETED", {"seen": [2, 1, 0]})
    offered = str((await service.post(JOBS, {"question": QUESTION})).json()["id"])
    await service.drive()
    refused = await service.post(f"{JOBS}/{offered}/forks", {"step": 0, "definition": COUNTING})
    assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")


async def test_its_text_is_kept_with_the_job_for_another_worker_its_forks_and_bundle(
    service: ServiceClient, user: User
) -> None:
    job_id = await submitted(service, inputs={"n": 3}, pause_before=["last"])
    await service.drive()
    assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == "AWAITING_INPUT"
    await service.post(f"{JOBS}/{job_id}/continue")
    elsewhere = open_workspace(user.environment(), user.folder.parent, may_use=lambda _: None)
    async with Application(elsewhere) as app:
        await Worker(service.jobs, ResearchJobRunner(app), name="other").run(until_idle=True)
    outputs = (await service.get(f"{JOBS}/{job_id}/outputs")).json()["outputs"]
    assert outputs == {"seen": [3, 2, 1, 0]}
    forked = (await service.post(f"{JOBS}/{job_id}/forks", {"step": 0, "set": {"n": 1}})).json()["id"]
    await service.drive()
    assert (await service.get(f"{JOBS}/{forked}")).json()["status"] == "AWAITING_INPUT"
    await service.post(f"{JOBS}/{forked}/continue")
    await service.drive()
    assert (await service.get(f"{JOBS}/{forked}/outputs")).json()["outputs"] == {"seen": [1, 0]}
    bundle = (await service.get(f"{JOBS}/{job_id}/bundle")).content
    checked = (await service.http.post("/api/research/bundles", content=bundle)).json()
    assert (checked["status"], checked["replay"]["identical"]) == ("completed", True)


async def test_a_graph_around_the_research_has_its_report_with_the_hash_of_the_graph(service: ServiceClient) -> None:
    shipped = (Path(__file__).parents[3] / "graphs" / "pipeline.yaml").read_text()
    job_id = await submitted(service, shipped.replace("graph: pipeline", "graph: mine"), search=["local"])
    await service.drive()
    result = await service.get(f"{JOBS}/{job_id}/result")
    assert result.status_code == 200, (await service.get(f"{JOBS}/{job_id}")).text
    report = (await service.get(f"{JOBS}/{job_id}/report.json")).json()
    assert (report["graph"], len(report["graph_hash"])) == ("mine", 64)
    assert "<svg" in (await service.get(f"{JOBS}/{job_id}/report.html")).text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            {"definition": COUNTING.replace("to: done", "to: dome")},
            'line 17, column 22: edge "last -> dome": no such node',
        ),
        ({"definition": COUNTING.replace("{set: {seen", "{run: os.system, set: {seen")}, "cannot be run"),
        ({"definition": COUNTING.replace("question:", "asked:")}, 'no input channel "question"'),
        ({"definition": COUNTING, "graph": "pipeline"}, "not both"),
        ({"definition": COUNTING, "inputs": {"n": "three"}}, 'input "n"'),
        ({"definition": COUNTING, "inputs": {"m": 1}}, '"m" of graph "counting" does not exist'),
        ({"definition": COUNTING, "search": ["local", "web"]}, "either documents or the web"),
        ({"definition": COUNTING, "pause_before": ["nowhere"]}, "has no node 'nowhere'"),
        ({"definition": "\x00"}, "cannot be run"),
        ({"definition": "[" * 49_000}, ""),
        ({"definition": "x" * 50_001}, "at most 50000"),
        ({"inputs": {"n": 1}}, "of a definition"),
    ],
)
async def test_what_cannot_be_run_is_said_at_submission(
    service: ServiceClient, more: dict[str, Any], says: str
) -> None:
    answer = await service.post(JOBS, {"question": QUESTION, **more})
    assert answer.status_code == 422
    assert says in answer.json()["detail"]
    assert (await service.get(JOBS)).json()["jobs"] == []


async def test_a_value_that_no_store_holds_is_refused(service: ServiceClient) -> None:
    for value in ("NaN", r'"\ud800"', "1e999"):
        body = json.dumps({"question": QUESTION, "definition": COUNTING, "inputs": {"n": "VALUE"}})
        body = body.replace('"VALUE"', value)
        answer = await service.http.post(JOBS, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, answer.text
    body = r'{"question": "Why?", "definition": "\ud800"}'
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    assert (await service.http.post(JOBS, content=body, headers=headers)).status_code == 422


async def test_what_the_operator_has_beside_the_shipped_graphs_cannot_be_named(service: ServiceClient) -> None:
    home = service.app.workspace.home.path
    (home / "graphs").mkdir()
    (home / "graphs" / "secret.yaml").write_text(COUNTING.replace("counting", "secret"))
    text = COUNTING.replace("{set: {seen", "{graph: secret} #")
    answer = await service.post(JOBS, {"question": QUESTION, "definition": text})
    assert answer.status_code == 422
    assert str(home) not in answer.text


async def test_documents_come_before_the_web_where_a_graph_of_ones_own_does_not_choose(user: User) -> None:
    async with service_client(user, search_providers=("web", "local")) as service:
        job_id = await submitted(service)
        request = RunRequest.from_json((await service.jobs.get("local", job_id)).request["run"])
        assert request.search == ("local",)


async def test_a_graph_that_goes_on_and_on_ends_its_job_and_no_other(service: ServiceClient) -> None:
    job_id = await submitted(service, inputs={"n": 50_000})
    other = await submitted(service)
    await service.drive()
    job = (await service.get(f"{JOBS}/{job_id}")).json()
    assert (job["status"], job["error"]["code"]) == ("FAILED", RunTooLarge.code)
    assert "2,000 steps" in job["error"]["message"]
    assert (await service.get(f"{JOBS}/{other}")).json()["status"] == "COMPLETED"


@pytest.mark.parametrize(("asked", "limit"), [(86_400, 7_200.0), (60, 60.0)])
async def test_a_graph_of_ones_own_has_two_hours_at_most(service: ServiceClient, asked: float, limit: float) -> None:
    job_id = await submitted(service, timeout_seconds=asked)
    request = JobRequest.from_json((await service.jobs.get("local", job_id)).request).run
    assert request.time_limit == limit
    assert replace(request, definition=None, timeout_seconds=None).time_limit is None
    async with service.app.prepared(request, run_id="run-x") as run:
        assert time_limit(run.graph, run.request) == limit


@pytest.mark.parametrize("place", ["set", "edges"])
async def test_a_step_evaluates_no_more_expressions_than_end_in_time(service: ServiceClient, place: str) -> None:
    names = [f"c{number}" for number in range(61)]
    channels = ", ".join(f"{name}: {{type: integer, default: 0}}" for name in names)
    assigned = ", ".join(f"{name}: {name} + 1" for name in (names if place == "set" else names[:1]))
    guards = [f'  - {{from: count, to: done, when: "{name} > 0"}}' for name in (names if place == "edges" else [])]
    graph = "\n".join(
        (
            "graph: wide",
            'version: "1"',
            f"state: {{question: {{type: string, input: true}}, {channels}}}",
            "start: count",
            "nodes:",
            f"  count: {{set: {{{assigned}}}}}",
            "  done: {end: completed}",
            "edges:",
            *guards,
            "  - {from: count, to: done}",
        )
    )
    refused = await service.post(JOBS, {"question": QUESTION, "definition": graph})
    assert (refused.status_code, refused.json()["code"]) == (422, "definition-invalid")
    assert "of 60 at most" in refused.json()["detail"]


async def test_an_idempotency_key_tells_one_graph_from_another(service: ServiceClient) -> None:
    body = {"question": QUESTION, "definition": COUNTING}
    first, again = [(await service.post(JOBS, body, headers={"Idempotency-Key": "a"})).json()["id"] for _ in range(2)]
    assert first == again
    other = {**body, "definition": COUNTING + "\n"}
    assert (await service.post(JOBS, other, headers={"Idempotency-Key": "a"})).status_code == 422


@pytest.mark.parametrize(("allowed", "status"), [(None, 422), (True, 202), (False, 422)])
async def test_where_users_have_tokens_the_operator_decides(user: User, allowed: bool | None, status: int) -> None:
    async with service_client(user, "ada", "bert", service_own_graphs=allowed) as service:
        ada, bert = service.as_user("ada"), service.as_user("bert")
        options = (await service.get("/api/research/options", headers=ada)).json()
        assert options["own_graphs"] is (status == 202)
        body = {"question": QUESTION, "definition": COUNTING, "search": ["local"]}
        answer = await service.post(JOBS, body, headers=ada)
        assert answer.status_code == status, answer.text
        if status == 202:
            await service.drive()
            job = answer.headers["Location"]
            assert (await service.get(f"{job}/outputs", headers=ada)).status_code == 200
            assert (await service.get(f"{job}/outputs", headers=bert)).status_code == 404


async def test_a_worker_of_an_earlier_version_runs_no_other_graph_in_its_place(service: ServiceClient) -> None:
    """It does not know the key of the definition."""
    job_id = await submitted(service)
    claim = await service.claimed()
    run = {name: value for name, value in claim.job.request["run"].items() if name != "definition"}
    end = ResearchJobRunner(service.app)
    with pytest.raises(Exception, match="no graph 'own graph'"):
        await end.run(
            job_id,
            {**claim.job.request, "run": run},
            submitted_at=claim.job.created_at,
            answer=None,
            on_progress=_ignored,
            on_sources=_ignored,
        )
    await service.jobs.release(claim)
    await service.drive()
    assert (await service.jobs.get("local", job_id)).status is JobStatus.COMPLETED


async def _ignored(*_: Any) -> None:
    return None


async def test_a_text_of_another_user_is_not_read_by_its_hash(user: User) -> None:
    async with service_client(user, "ada", "bert", service_own_graphs=True) as service:
        ada, bert = service.as_user("ada"), service.as_user("bert")
        location = (await service.post(JOBS, OWN, headers=ada)).headers["Location"]
        await service.drive()
        sources = (await service.get(f"{location}/outputs", headers=ada)).json()["outputs"]["sources"]
        body = {"question": QUESTION, "definition": LOOKING, "inputs": {"sources": sources}, "search": ["local"]}
        location = (await service.post(JOBS, body, headers=bert)).headers["Location"]
        await service.drive()
        job = (await service.get(location, headers=bert)).json()
        assert (job["status"], job["error"]["code"]) == ("FAILED", StoreDamaged.code)
        assert (await service.get(f"{location}/outputs", headers=bert)).json()["outputs"] == {"near": []}


async def test_a_graph_with_channels_called_like_those_of_a_research_fails_no_route(service: ServiceClient) -> None:
    job_id = await submitted(service, NAMESAKES, pause_before=["adopt_plan"])
    await service.drive()
    routes = [path for path in service.api.openapi()["paths"] if path.startswith(f"{JOBS}/{{job_id}}")]
    values = {"job_id": job_id, "other_id": job_id, "step": "0", "format": "html"}
    for status in ("AWAITING_INPUT", "COMPLETED"):
        assert (await service.get(f"{JOBS}/{job_id}")).json()["status"] == status
        for path in routes:
            if not path.endswith("/events"):
                answer = await service.get(path.format(**values))
                assert answer.status_code < 500, (path, answer.text)
        await service.post(f"{JOBS}/{job_id}/continue")
        await service.drive()


async def test_a_job_without_a_report_is_not_asked_on(service: ServiceClient) -> None:
    job_id = await submitted(service)
    await service.drive()
    answer = await service.post(f"{JOBS}/{job_id}/questions", {"question": "And salt?"})
    assert (answer.status_code, answer.json()["code"]) == (409, "no-report")
    assert [job["id"] for job in (await service.get(JOBS)).json()["jobs"]] == [job_id]


async def test_a_bundle_of_such_a_job_goes_on_elsewhere_only_once_its_graph_is_agreed_to(
    service: ServiceClient, user: User, tmp_path: Path
) -> None:
    job_id = await submitted(service)
    await service.drive()
    (user.folder / "job.grb").write_bytes((await service.get(f"{JOBS}/{job_id}/bundle")).content)
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "elsewhere")}
    elsewhere = open_workspace(environ, user.folder, may_use=lambda _: None)
    await import_run(elsewhere, Path("job.grb"))
    async with Application(elsewhere) as app:
        with pytest.raises(ForeignRun, match="would run a graph that came with it"):
            await app.fork(job_id, 1)
        forked = await app.fork(job_id, 1, assignments=["n=1"], accept_changes=True)
        async for _ in app.drive(forked, accept_changes=True):
            pass
        assert (await app.result(forked)).status == "completed"
