"""A finished job over HTTP: its report verified, changed, refreshed, and asked on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from graph_research.app.job_runner import JobRequest
from graph_research.app.revisions.ask import join_follow_up
from graph_research.app.revisions.changes import edit_claim
from graph_research.jobs.job import JobStatus, NewJob
from graph_research.jobs.store import JobStore
from graph_research.service.models import JobSubmission
from graph_research.service.submission import run_request
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient, service_client

CHANGED = "Tide mills gave power for two hours after each high tide."
RANGE = "How high is the tidal range?"


class Finished:
    """A job that has ended with a report."""

    def __init__(self, service: ServiceClient, job_id: str) -> None:
        self.service, self.job_id = service, job_id

    async def get(self, path: str, **more: Any) -> Any:
        answer = await self.service.get(f"{JOBS}/{self.job_id}/{path}", **more)
        assert answer.status_code == 200, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    async def post(self, path: str, body: Any = None, expect: int = 200) -> Any:
        answer = await self.service.post(f"{JOBS}/{self.job_id}/{path}", body)
        assert answer.status_code == expect, answer.text
        return answer.json()


@pytest.fixture
async def finished(user: User) -> AsyncIterator[Finished]:
    async with service_client(user) as service:
        job_id = await service.submitted(QUESTION)
        await service.drive()
        yield Finished(service, job_id)


async def test_a_report_is_verified_now(finished: Finished) -> None:
    verification = await finished.get("verification")
    assert verification["citations"] == verification["valid"] > 0
    assert (verification["coverage"], verification["fabricated"], verification["problems"]) == (1.0, 0, [])


async def test_changes_that_two_processes_make_at_once_are_versions_one_after_the_other(finished: Finished) -> None:
    claims = [row["id"] for row in (await finished.get("report.json"))["claims"]][:2]
    space = finished.service.app.workspace
    edits = [edit_claim(space, finished.job_id, claim, confidence=0.5) for claim in claims * 2]
    made = await asyncio.gather(*edits)
    assert sorted(row.version for row in made) == [2, 3, 4, 5]
    assert [row.built.report.version for row in made] == [row.version for row in made]


async def test_an_edited_sentence_stands_in_the_report_and_the_result_until_it_is_undone(finished: Finished) -> None:
    old = (await finished.get("result"))["markdown"]
    [sentence] = {row["text"] for row in (await finished.get("report.json"))["claims"] if "three hours" in row["text"]}
    revision = await finished.post("edits", {"claim": sentence, "text": CHANGED})
    assert (revision["version"], revision["kind"], revision["calls"]) == (2, "edit", 0)
    assert CHANGED in revision["difference"]["sentences_added"]
    assert CHANGED in (await finished.get("result"))["markdown"] == await finished.get("report.md")
    assert CHANGED not in await finished.get("report.md", params={"version": 1})
    assert (await finished.post("undo"))["version"] == 3
    assert (await finished.get("result"))["markdown"] == old
    versions = (await finished.get("versions"))["versions"]
    assert [(row["version"], row["kind"], row["holds"]) for row in versions] == [
        (1, "run", True),
        (2, "edit", False),
        (3, "undo", True),
    ]


async def test_a_source_is_left_out_with_what_rests_on_it(finished: Finished) -> None:
    [source] = [row for row in (await finished.get("report.json"))["sources"] if row["n"] == 1]
    revision = await finished.post("exclusions", {"source": "1"})
    assert revision["difference"]["sources_removed"] == [source["id"]]
    assert source["url"] not in {row["url"] for row in (await finished.get("report.json"))["sources"]}


async def test_a_changed_document_touches_the_sentences_that_quote_it(finished: Finished) -> None:
    assert (await finished.post("refresh", {}))["sentences"] == []
    page = finished.service.app.workspace.folder / "library" / "power.html"
    page.write_text(page.read_text().replace("three hours", "two hours"))
    fresh = await finished.post("refresh", {"rewrite": True})
    assert any("three hours" in row["text"] for row in fresh["sentences"])
    assert {row["status"] for row in fresh["sources"] if row["url"] == "power.html"} == {"changed"}
    assert any("two hours" in text for text in fresh["revision"]["difference"]["sentences_added"])


async def test_a_further_question_is_a_job_whose_answer_joins_the_report_once(finished: Finished) -> None:
    follow_up = await finished.post("questions", {"question": RANGE, "max_tokens": 50_000}, expect=202)
    assert (follow_up["status"], follow_up["question"]) == ("QUEUED", RANGE)
    await finished.service.drive()
    job = (await finished.service.get(f"{JOBS}/{follow_up['id']}")).json()
    assert job["status"] == JobStatus.COMPLETED, job
    assert re.search(rf"^## \d\. {re.escape(RANGE)}$", await finished.get("report.md"), re.MULTILINE)
    assert [row["what"] for row in (await finished.get("versions"))["versions"]][1:] == [RANGE]


async def test_a_worker_that_lost_the_job_after_the_answer_has_joined_joins_it_not_again(finished: Finished) -> None:
    follow_up = await finished.post("questions", {"question": RANGE}, expect=202)
    app = finished.service.app
    async for _ in app.drive(follow_up["id"]):
        pass
    await join_follow_up(app, follow_up["id"])
    await finished.service.drive()
    assert len((await finished.get("versions"))["versions"]) == 2


async def test_a_further_question_with_the_same_key_is_the_same_job(finished: Finished) -> None:
    key = {"Idempotency-Key": "ask"}
    path = f"{JOBS}/{finished.job_id}/questions"
    first, second = [await finished.service.post(path, {"question": RANGE}, headers=key) for _ in range(2)]
    assert (first.status_code, second.status_code, second.json()["id"]) == (202, 202, first.json()["id"])
    other = await finished.service.post(path, {"question": "How high?"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key-reused")
    assert len(await finished.service.app.store.run_rows(None, None)) == 2
    submitted = await finished.service.post(JOBS, {"question": RANGE}, headers=key)
    assert submitted.json()["code"] == "key-reused"


async def test_a_run_made_for_a_key_that_another_process_has_used_meanwhile_is_removed(finished: Finished) -> None:
    """Two services on one database: the store says which was first."""
    jobs, key = finished.service.jobs, {"Idempotency-Key": "ask"}
    path = f"{JOBS}/{finished.job_id}/questions"
    first = (await finished.service.post(path, {"question": RANGE}, headers=key)).json()["id"]
    backend = replace(finished.service.api.state.backend, jobs=_LateJobs(jobs))
    finished.service.api.state.backend = backend
    assert (await finished.service.post(path, {"question": RANGE}, headers=key)).json()["id"] == first
    assert len(await finished.service.app.store.run_rows(None, None)) == 2


class _LateJobs:
    """Learns of what others submit only when it submits."""

    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    async def submitted_with(self, user: str, idempotency_key: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)


async def test_what_asks_pages_and_models_counts_as_a_submission(finished: Finished) -> None:
    path = f"{JOBS}/{finished.job_id}"
    answers = [await finished.service.post(f"{path}/{name}", {}) for name in ("refresh", "replay")]
    assert [answer.headers["RateLimit"].split(";")[1] for answer in answers] == ["r=8", "r=7"]
    for _ in range(7):
        assert (await finished.service.post(f"{path}/replay")).status_code == 200
    refused = [await finished.service.post(f"{path}/{name}", {}) for name in ("refresh", "replay", "questions")]
    assert [answer.status_code for answer in refused] == [429, 429, 422], "a question that is none is said first"
    assert int(refused[0].headers["Retry-After"]) > 0
    assert (await finished.service.post(JOBS, {"question": RANGE})).status_code == 429


async def test_jobs_made_of_one_that_is_removed_meanwhile_end_with_reports_of_their_own(finished: Finished) -> None:
    service = finished.service
    asked = await finished.post("questions", {"question": RANGE}, expect=202)
    forked = await finished.post("forks", {"step": 3}, expect=202)
    assert (await service.http.delete(f"{JOBS}/{finished.job_id}")).status_code == 204
    await service.drive()
    for job in (asked, forked):
        ended = (await service.get(f"{JOBS}/{job['id']}")).json()
        assert ended["status"] == JobStatus.COMPLETED, ended["error"]
        assert (await service.get(f"{JOBS}/{job['id']}/report.md")).status_code == 200
        assert (await service.post(f"{JOBS}/{job['id']}/replay")).json()["identical"]


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("edits", {"claim": "no such sentence", "drop": True}, "input-invalid"),
        ("edits", {"claim": "s1"}, "input-invalid"),
        ("edits", {"claim": "s1", "confidence": 7}, "invalid"),
        ("exclusions", {"source": "99"}, "input-invalid"),
        ("undo", None, "input-invalid"),
        ("refresh", {"rewrite": True, "model": "openai:m@http://10.0.0.1/v1"}, "request-invalid"),
        ("questions", {"question": " "}, "input-invalid"),
        ("questions", {"question": "Why?", "folder": "/etc"}, "invalid"),
    ],
)
async def test_what_does_not_fit_is_said_and_makes_no_version(
    finished: Finished, path: str, body: Any, code: str
) -> None:
    assert (await finished.post(path, body, expect=422))["code"] == code
    assert len((await finished.get("versions"))["versions"]) == 1


@pytest.mark.parametrize("path", ["verification", "versions"])
async def test_a_job_that_has_not_ended_has_no_report_to_change(service: ServiceClient, path: str) -> None:
    job_id = await service.submitted()
    answers = [await service.get(f"{JOBS}/{job_id}/{path}"), await service.post(f"{JOBS}/{job_id}/undo")]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "nothing-yet")] * 2


async def test_a_question_beyond_the_rate_limit_leaves_no_run(finished: Finished) -> None:
    for _ in range(8):
        await finished.service.submitted()
    runs = len(await finished.service.app.store.run_rows(None, None))
    path = f"{JOBS}/{finished.job_id}/questions"
    asked = await asyncio.gather(*(finished.service.post(path, {"question": RANGE}) for _ in range(3)))
    assert sorted(answer.status_code for answer in asked) == [202, 429, 429]
    runs += 1
    assert len(await finished.service.app.store.run_rows(None, None)) == runs
    assert (await finished.post("questions", {"question": RANGE}, expect=429))["code"] == "too-many-jobs"
    assert len(await finished.service.app.store.run_rows(None, None)) == runs


async def test_documents_of_another_user_are_not_read_for_a_refresh(user: User) -> None:
    """Also where a run names no folder, as one that searches the web alone, and its sources were put into its state."""
    async with service_client(user, "ada", "bert", library=[]) as service:
        ada, bert = service.as_user("ada"), service.as_user("bert")
        document = (user.folder / "library" / "power.html").read_bytes()
        await service.http.put("/api/library/documents/power.html", content=document, headers=ada)
        await service.http.put("/api/library/documents/mine.md", content=b"High tide comes twice a day.", headers=bert)
        assert (await service.get("/api/library/passages", params={"text": "tide"}, headers=ada)).status_code == 200
        workspace = service.app.workspace
        asked = run_request(workspace, JobSubmission(question=QUESTION), user="bert")
        request = JobRequest(run=replace(asked, library=())).to_json()
        await service.jobs.submit(NewJob(id="web", user="bert", question=QUESTION, request=request))
        await service.drive()
        fresh = (await service.post(f"{JOBS}/web/refresh", {}, headers=bert)).json()
        status = {row["url"]: row["status"] for row in fresh["sources"]}
        assert status["power.html"] == "not_checked", status
