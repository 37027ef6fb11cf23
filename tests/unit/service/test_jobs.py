"""Jobs over HTTP: submitted, listed, looked at, answered and cancelled."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest

from graph_research.jobs.job import JobError, JobStatus, SourceRow
from graph_research.service.api import create_api
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient, service_client

SOURCE = SourceRow(
    source_id="s1",
    title="Tides",
    url="tides.md",
    published_at=None,
    provider="local",
    retrieval_method="local",
    tier="primary",
    authority=90.0,
    recency=0.5,
    relevance=0.75,
    credibility=1.0,
    composite=0.8,
)


@pytest.mark.requirement("21.1")
async def test_a_submitted_job_is_queued_and_has_an_address(service: ServiceClient) -> None:
    answer = await service.post(JOBS, {"question": "How high are tides?"})
    job = answer.json()
    assert (answer.status_code, job["status"], job["progress"]) == (202, "QUEUED", 0.0)
    assert answer.headers["Location"] == f"{JOBS}/{job['id']}"
    assert service.notified == [None]
    assert (await service.get(answer.headers["Location"])).json() == job
    request = (await service.jobs.get("local", job["id"])).request
    assert request["folder"] is None, "jobs of the service have the settings of the service"


@pytest.mark.requirement("21.1")
async def test_a_completed_job_has_its_result_and_sources(service: ServiceClient) -> None:
    job_id = await service.submitted()
    claim = await service.claimed()
    assert (await service.get(f"{JOBS}/{job_id}/sources")).json() == {"job_id": job_id, "sources": []}
    pending = await service.get(f"{JOBS}/{job_id}/result")
    assert (pending.status_code, pending.json()["code"]) == (409, "nothing-yet")
    await service.jobs.put_sources(claim, [SOURCE])
    await service.jobs.release(claim)
    await service.finish()
    result = (await service.get(f"{JOBS}/{job_id}/result")).json()
    assert (result["job_id"], result["markdown"]) == (job_id, "# Tides")
    assert (await service.get(f"{JOBS}/{job_id}/sources")).json()["sources"] == [vars(SOURCE)]


async def test_a_job_says_whether_it_has_a_report(service: ServiceClient) -> None:
    for question, status in (("With?", JobStatus.COMPLETED), ("Without?", JobStatus.FAILED)):
        await service.submitted(question)
        await service.finish(status)
        service.clock.advance(1)
    listed = (await service.get(JOBS)).json()["jobs"]
    assert [(job["question"], job["has_report"]) for job in listed] == [("Without?", False), ("With?", True)]
    results = [await service.get(f"{JOBS}/{job['id']}/result") for job in listed]
    assert [result.status_code for result in results] == [409, 200]


async def test_jobs_are_listed_a_page_at_a_time_the_newest_first(service: ServiceClient) -> None:
    submitted = []
    for number in range(5):
        submitted.append(await service.submitted(f"Question {number}?"))
        service.clock.advance(1)
    first = (await service.get(JOBS, params={"limit": 3})).json()
    assert [job["id"] for job in first["jobs"]] == submitted[:1:-1]
    second = (await service.get(JOBS, params={"limit": 3, "before": first["next"]})).json()
    assert [job["id"] for job in second["jobs"]] == submitted[1::-1]
    assert second["next"] is None
    assert (await service.get(JOBS, params={"before": "run-1"})).status_code == 422


async def test_a_page_follows_a_job_that_was_removed_meanwhile(service: ServiceClient) -> None:
    for number in range(2):
        await service.submitted(f"Question {number}?")
        await service.finish(JobStatus.FAILED)
        service.clock.advance(1)
    first = (await service.get(JOBS, params={"limit": 1})).json()
    assert (await service.http.delete(f"{JOBS}/{first['jobs'][0]['id']}")).status_code == 204
    second = (await service.get(JOBS, params={"limit": 1, "before": first["next"]})).json()
    assert [job["question"] for job in second["jobs"]] == ["Question 0?"]


async def test_a_failed_job_says_why(service: ServiceClient) -> None:
    job_id = await service.submitted()
    await service.finish(JobStatus.FAILED, error=JobError(code="error", message="no model answered"))
    job = (await service.get(f"{JOBS}/{job_id}")).json()
    assert (job["status"], job["error"]) == ("FAILED", {"code": "error", "message": "no model answered"})


@pytest.mark.requirement("21.1")
async def test_a_queued_job_is_cancelled_at_once_and_once(service: ServiceClient) -> None:
    job_id = await service.submitted()
    for _ in range(2):
        assert (await service.post(f"{JOBS}/{job_id}/cancel")).json()["status"] == "CANCELLED"


async def test_an_answer_puts_a_waiting_job_back_into_the_queue(service: ServiceClient) -> None:
    job_id = await service.submitted(question="Which tides?")
    early = await service.post(f"{JOBS}/{job_id}/answer", {"answer": "spring tides"})
    assert (early.status_code, early.json()["code"]) == (409, "job-not-waiting")
    await service.finish(JobStatus.AWAITING_INPUT, waiting_for="spring or neap?")
    assert (await service.get(f"{JOBS}/{job_id}")).json()["waiting_for"] == "spring or neap?"
    blank = await service.post(f"{JOBS}/{job_id}/answer", {"answer": "  \n"})
    assert (blank.status_code, blank.json()["code"]) == (422, "invalid")
    answered = await service.post(f"{JOBS}/{job_id}/answer", {"answer": "spring tides"})
    assert answered.json()["status"] == "QUEUED"
    assert (await service.jobs.get("local", job_id)).answer == "spring tides"


@pytest.mark.requirement("21.1")
async def test_the_queue_is_summed_up_by_status(service: ServiceClient) -> None:
    await service.submitted()
    await service.submitted()
    await service.finish()
    summary = (await service.get("/api/research/queue/summary")).json()
    assert (summary["jobs"]["QUEUED"], summary["jobs"]["COMPLETED"], summary["max_concurrency"]) == (1, 1, 3)


@pytest.mark.requirement("21.1")
async def test_ten_jobs_may_be_submitted_in_fifteen_minutes(service: ServiceClient) -> None:
    for left in range(9, -1, -1):
        answer = await service.post(JOBS, {"question": "How high are tides?"})
        assert answer.headers["RateLimit"].startswith(f'"jobs";r={left};')
        service.clock.advance(10)
    refused = await service.post(JOBS, {"question": "How high are tides?"})
    assert (refused.status_code, refused.json()["code"]) == (429, "too-many-jobs")
    assert refused.headers["RateLimit-Policy"] == '"jobs";q=10;w=900'
    service.clock.advance(int(refused.headers["Retry-After"]))
    assert (await service.post(JOBS, {"question": "How high are tides?"})).status_code == 202


async def test_requests_at_the_same_time_are_counted_too(service: ServiceClient) -> None:
    answers = await asyncio.gather(*(service.post(JOBS, {"question": "How high are tides?"}) for _ in range(15)))
    assert sorted(answer.status_code for answer in answers) == [202] * 10 + [429] * 5


async def test_requests_to_two_services_on_one_store_are_counted_together(service: ServiceClient) -> None:
    other = replace(service.api.state.backend)
    transport = httpx.ASGITransport(create_api(other))
    async with httpx.AsyncClient(transport=transport, base_url=service.http.base_url) as http:
        both = [client.post(JOBS, json={"question": "How high are tides?"}) for client in [service.http, http] * 8]
        answers = await asyncio.gather(*both)
    assert sorted(answer.status_code for answer in answers) == [202] * 10 + [429] * 6


async def test_a_key_submits_one_job(service: ServiceClient) -> None:
    key = {"Idempotency-Key": "monday"}
    first = await service.submitted(headers=key)
    assert await service.submitted(headers=key) == first
    other = await service.post(JOBS, {"question": "Another question?"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key-reused")
    assert (await service.get("/api/research/queue/summary")).json()["jobs"]["QUEUED"] == 1
    for _ in range(9):
        await service.submitted()
    assert await service.submitted(headers=key) == first, "no quota is left, and none is needed"


async def test_a_job_without_a_run_has_no_report_but_a_graph(service: ServiceClient) -> None:
    job_id = await service.submitted()
    early = await service.get(f"{JOBS}/{job_id}/report.md")
    assert (early.status_code, early.json()["code"]) == (409, "nothing-yet")
    picture = await service.get(f"{JOBS}/{job_id}/graph.svg")
    assert (picture.status_code, picture.headers["Content-Type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"question": ""}, "/body/question"),
        ({"question": "x", "llm": "openai:m@http://10.0.0.1"}, "/body/llm"),
        ({"question": "x", "max_iterations": 99}, "/body/max_iterations"),
        ({"question": "x", "source_rules": {"alow_domains": []}}, "/body/source_rules/alow_domains"),
        ({"question": "x", "source_rules": {"published_from": "soon"}}, "/body/source_rules/published_from"),
    ],
)
async def test_a_body_that_is_not_valid_is_refused_with_the_place(
    service: ServiceClient, body: dict[str, object], where: str
) -> None:
    answer = await service.post(JOBS, body)
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")
    assert [invalid["pointer"] for invalid in answer.json()["errors"]] == [where]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('{"question": ', "/body: not JSON: Expecting value at character 13"),
        (
            '{"question": "x", "length": "tiny"}',
            "/body/length: choose brief, standard, long, or a number of words from 100 to 50,000",
        ),
        (
            '{"question": "x", "source_rules": {"deny_domains": ["a b"], "published_from": "2020\\n"}}',
            "/body/source_rules/deny_domains/0: a domain is wanted, such as who.int; "
            "/body/source_rules/published_from: a year, month or day is wanted, such as 2020, 2020-06 or 2020-06-30",
        ),
    ],
)
async def test_what_is_wrong_with_a_body_is_said_in_words(service: ServiceClient, body: str, error: str) -> None:
    answer = await service.http.post(JOBS, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["detail"]) == (422, error)


@pytest.mark.parametrize("sent", ["application/x-www-form-urlencoded", "text/json", "", None])
@pytest.mark.parametrize("path", [JOBS, "/v1/responses"])
async def test_a_body_of_another_type_is_not_read(service: ServiceClient, path: str, sent: str | None) -> None:
    headers = {} if sent is None else {"Content-Type": sent}
    answer = await service.http.post(path, content='{"question": "How high are tides?"}', headers=headers)
    body = answer.json()
    assert (answer.status_code, answer.headers["Accept"]) == (415, "application/json")
    assert body.get("error", body)["code"] == "unsupported-media-type"
    assert "415" in service.api.openapi()["paths"][path]["post"]["responses"]


async def test_an_error_names_the_request_that_goes_on(service: ServiceClient) -> None:
    small = await service.post(JOBS, {"question": "How high are tides?", "timeout_seconds": 0.5})
    assert small.json()["code"] == "limit-too-small"
    assert re.search(r": timeout_seconds \d+(\.\d+)?$", small.json()["help"])
    job_id = (await service.post(JOBS, {"question": QUESTION, "plan_first": True})).json()["id"]
    await service.drive()
    waiting = await service.get(f"{JOBS}/{job_id}/report.md")
    assert (waiting.status_code, waiting.json()["code"]) == (409, "nothing-yet")
    assert waiting.json()["detail"].endswith("is AWAITING_INPUT and has no report yet")
    await service.post(f"{JOBS}/{job_id}/cancel")
    missing = await service.get(f"{JOBS}/{job_id}/report.md")
    assert (missing.status_code, missing.json()["code"]) == (409, "no-report")
    assert missing.json()["help"].endswith(f": POST {JOBS}/{job_id}/forks")
    beyond = await service.get(f"{JOBS}/{job_id}/history/999")
    assert beyond.json()["help"].endswith(f"; GET {JOBS}/{job_id}/history")


async def test_a_job_has_rules_for_sources_of_its_own_beside_those_of_the_operator(user: User) -> None:
    rules = {"deny_domains": ["B.org"], "media_types": "pdf, docx", "published_until": "2024"}
    configured = {"deny_domains": ["a.org"], "published_from": "2020", "media_types": ["html"]}
    async with service_client(user, **configured) as service:
        answer = await service.post(JOBS, {"question": QUESTION, "source_rules": rules, "max_iterations": 1})
        job_id = answer.json()["id"]
        await service.drive()
        settings = (await service.app.request(job_id)).settings
        report = (await service.get(f"{JOBS}/{job_id}/report.json")).json()
    named = {name: settings[name] for name in ("deny_domains", "media_types", "published_from", "published_until")}
    assert named == {
        "deny_domains": ["a.org", "b.org"],
        "media_types": ["pdf", "docx"],
        "published_from": "2020",
        "published_until": "2024",
    }
    assert set(report["statistics"]["gathering"]["excluded"]) == {"media_type"}
    assert report["sources"] == []


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"media_types": ["word"]}, "media-type-unknown"),
        ({"published_until": "2019"}, "period-empty"),
        ({"source_kinds": ["academic"]}, "no-provider"),
    ],
)
async def test_rules_for_sources_that_nothing_fits_are_refused(user: User, rules: dict[str, object], code: str) -> None:
    async with service_client(user, published_from="2020") as service:
        answer = await service.post(JOBS, {"question": "How high are tides?", "source_rules": rules})
        assert (answer.status_code, answer.json()["code"]) == (422, code)


@pytest.mark.parametrize(
    "named",
    [
        {"graph": "../../etc/passwd"},
        {"graph": "evil.yaml"},
        {"graph": "follow_up"},
        {"model": "openai:gpt@http://10.0.0.1/v1"},
        {"model": "scripted:/etc/passwd"},
        {"model": "extractive,scripted:/etc/passwd"},
        {"roles": {"report": "scripted:/etc/passwd"}},
        {"roles": {"cook": "extractive"}},
        {"model": "[cli]claude"},
        {"search": ["scripted:/etc/passwd"]},
        {"search": ["mcp:files"]},
        {"library": ["/etc"]},
        {"library": ["../ada"]},
    ],
)
async def test_a_body_names_nothing_but_what_the_operator_offers(
    service: ServiceClient, named: dict[str, object]
) -> None:
    answer = await service.post(JOBS, {"question": "How high are tides?", **named})
    assert (answer.status_code, answer.json()["code"]) == (422, "request-invalid")
    assert (await service.get(JOBS)).json()["jobs"] == []


async def test_the_operator_offers_models(user: User) -> None:
    async with service_client(user, service_models=[user.script("model.json", {"*": [{}]})]) as service:
        [offered] = service.app.workspace.settings.service_models
        job_id = await service.submitted()
        chosen = await service.post(JOBS, {"question": "How high are tides?", "model": offered})
        assert chosen.status_code == 202
        models = [
            (await service.jobs.get("local", job)).request["run"]["models"] for job in (job_id, chosen.json()["id"])
        ]
    assert models == [["extractive"], [offered]]


async def test_a_clock_that_is_fixed_gives_the_same_report_twice(service: ServiceClient) -> None:
    asked = {"question": QUESTION, "now": "2026-01-31T12:00:00Z"}
    jobs = [(await service.post(JOBS, asked)).json()["id"] for _ in range(2)]
    await service.drive()
    first, second = [(await service.get(f"{JOBS}/{job}/report.html")).text.replace(job, "") for job in jobs]
    assert first == second and "31 January 2026" in first
    refused = await service.post(JOBS, {**asked, "now": "yesterday"})
    assert (refused.status_code, "yesterday" in refused.json()["detail"]) == (422, True)


async def test_a_submission_names_models_by_role_and_as_fallback_orders(user: User) -> None:
    offered = [user.script(f"{name}.json", {"*": [{}]}) for name in ("small", "large")]
    async with service_client(user, service_models=offered) as service:
        [small, large, extractive] = (await service.get("/api/research/options")).json()["models"]
        chosen = {"model": f"{large},{extractive}", "roles": {"summarization": small, "report": f"{large},{small}"}}
        answer = await service.post(JOBS, {"question": "How high are tides?", **chosen})
        assert answer.status_code == 202, answer.text
        run = (await service.jobs.get("local", answer.json()["id"])).request["run"]
    assert run["models"] == [large, extractive]
    assert (run["roles"]["summarization"], run["roles"]["report"]) == ([small], [large, small])


async def test_without_documents_the_library_of_others_is_not_searched(user: User) -> None:
    """The index has documents, those of the operator, and the user may search none of them."""
    await asyncio.to_thread(user.run, "library", "add", "library")
    async with service_client(user, library=[]) as service:
        answer = await service.post(JOBS, {"question": "How high are tides?", "search": ["local"]})
        assert (answer.status_code, answer.json()["code"]) == (422, "library-empty")
        job_id = await service.submitted()
        request = (await service.jobs.get("local", job_id)).request["run"]
    assert "local" not in request["search"]
    assert "web" in request["search"]


async def test_without_documents_the_other_searches_of_the_operator_are_asked(user: User) -> None:
    async with service_client(user, library=[], search_providers=("local", "arxiv")) as service:
        job_id = await service.submitted()
        assert (await service.jobs.get("local", job_id)).request["run"]["search"] == ["arxiv"]


async def test_the_service_is_ready_while_it_has_a_worker(service: ServiceClient) -> None:
    assert (await service.get("/healthz")).json() == {"status": "ok"}
    assert (await service.get("/readyz")).json() == {"status": "ok"}
    assert [(await service.http.head(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]
    service.working[0] = False
    answer = await service.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
    assert (await service.http.head("/readyz")).status_code == 503


@pytest.mark.parametrize(
    ("path", "allowed"),
    [(JOBS, "GET, POST"), ("/api/library/documents/tides.md", "DELETE, GET, PUT"), ("/healthz", "GET, HEAD")],
)
async def test_a_method_that_is_not_allowed_is_answered_with_all_that_are(
    service: ServiceClient, path: str, allowed: str
) -> None:
    answer = await service.http.patch(path)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)


async def test_a_store_that_does_not_answer_makes_the_service_unready_soon(service: ServiceClient) -> None:
    """Nor does it end at once when it is cancelled, as a statement of psycopg."""
    over = asyncio.Event()

    async def waits() -> dict[JobStatus, int]:
        with suppress(asyncio.CancelledError):
            await over.wait()
        await over.wait()
        return {}

    service.jobs.counts = waits  # type: ignore[assignment,method-assign]
    async with asyncio.timeout(10):
        answer = await service.get("/readyz")
    assert (answer.status_code, answer.json()["code"]) == (503, "not-ready")
    assert answer.json()["detail"] == "the store does not answer"
    over.set()


async def test_a_plan_is_looked_at_changed_and_approved(service: ServiceClient) -> None:
    answer = await service.post(JOBS, {"question": QUESTION, "plan_first": True})
    job = f"{JOBS}/{answer.json()['id']}"
    early = await service.get(f"{job}/plan")
    assert (early.status_code, early.json()["code"]) == (409, "nothing-yet")
    await service.drive()
    assert (await service.get(job)).json()["status"] == "AWAITING_INPUT"
    plan = (await service.get(f"{job}/plan")).json()
    assert plan["sub_queries"]
    assert plan["estimate"]
    assert (plan["providers"], plan["models"]) == (["local"], {"default": ["extractive"]})
    changed = {"sub_queries": [{"query": "How did tide mills grind grain?", "priority": 1}]}
    put = await service.http.put(f"{job}/plan", json=changed)
    assert [row["query"] for row in put.json()["sub_queries"]] == ["How did tide mills grind grain?"]
    wishes = await service.post(f"{job}/wishes", {"wish": "Look at islands, too."})
    assert wishes.json()["wishes"] == ["Look at islands, too."]
    await service.post(f"{job}/answer", {"answer": "go on"})
    await service.drive()
    assert (await service.get(job)).json()["status"] == "COMPLETED"
    state = await service.app.store.state(answer.json()["id"])
    assert [row["query"] for row in state["sub_queries"]][:1] == ["How did tide mills grind grain?"]
    late = await service.post(f"{job}/wishes", {"wish": "Too late."})
    assert (late.status_code, late.json()["code"]) == (409, "nothing-yet")


async def test_a_command_says_that_a_user_of_the_service_waits_for_a_run(service: ServiceClient, user: User) -> None:
    job_id = (await service.post(JOBS, {"question": QUESTION, "plan_first": True})).json()["id"]
    await service.drive()
    shown = (await asyncio.to_thread(user.run, "status", job_id)).out
    assert "the run waits with its plan" in shown
    assert "a user of the service waits for it: local" in shown
    assert "resume" not in shown, "it would be refused"
    assert "there" in (await asyncio.to_thread(user.run, "resume", job_id, expect=2)).err


async def test_a_job_of_the_service_is_not_pruned(service: ServiceClient, user: User) -> None:
    job_id = await service.submitted(QUESTION)
    await service.drive()
    assert (await asyncio.to_thread(user.run, "prune", "--keep", "0", "--json")).json["runs"] == []
    assert (await service.get(f"{JOBS}/{job_id}/report.md")).status_code == 200


async def test_a_plan_that_can_not_be_used_is_refused(service: ServiceClient) -> None:
    answer = await service.post(JOBS, {"question": QUESTION, "plan_first": True})
    await service.drive()
    plan = f"{JOBS}/{answer.json()['id']}/plan"
    rows = [{"query": "x", "priority": "soon"}, {"query": "x", "rationale": "\ud800"}, {"query": "x\0"}]
    for body in ({"sub_queries": []}, *({"sub_queries": [row]} for row in rows)):
        refused = await service.http.put(plan, content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) in ((422, "invalid"), (422, "plan-invalid")), refused.text


async def test_a_job_that_has_ended_is_removed_with_its_run(service: ServiceClient) -> None:
    job_id = await service.submitted(QUESTION)
    early = await service.http.delete(f"{JOBS}/{job_id}")
    assert (early.status_code, early.json()["code"]) == (409, "nothing-yet")
    await service.drive()
    assert (await service.http.delete(f"{JOBS}/{job_id}")).status_code == 204
    for path in ("", "/result", "/report.md"):
        assert (await service.get(f"{JOBS}/{job_id}{path}")).status_code == 404
    assert await service.app.store.run_rows(None, None) == []


async def test_a_removed_job_still_counts_for_the_limit(service: ServiceClient) -> None:
    for _ in range(10):
        job_id = await service.submitted()
        await service.post(f"{JOBS}/{job_id}/cancel")
        assert (await service.http.delete(f"{JOBS}/{job_id}")).status_code == 204
    assert (await service.post(JOBS, {"question": "How high are tides?"})).status_code == 429
