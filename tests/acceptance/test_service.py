"""The service as a process on loopback: from a submission to a report, stopped, killed, and started again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph_research.cli.jobs.signals import STOP_SECONDS
from tests.support.cli.cli_process import PATIENCE_SECONDS, User, wait_until
from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.postgres import Wire, postgres_server
from tests.support.service.service_process import client_of, serving

JOBS = "/api/research/jobs"


def job_of(http: httpx.Client, job_id: str) -> dict[str, Any]:
    job: dict[str, Any] = http.get(f"{JOBS}/{job_id}").raise_for_status().json()
    return job


@pytest.fixture
def user(tmp_path: Path) -> User:
    return make_user(tmp_path)


@pytest.mark.requirement("21.1")
def test_a_job_from_its_submission_to_its_report(user: User) -> None:
    with serving(user, "--library", "library") as (process, url), client_of(url) as http:
        submitted = http.post(JOBS, json={"question": QUESTION})
        assert submitted.status_code == 202, submitted.text
        job_id = submitted.json()["id"]
        wait_until(lambda: job_of(http, job_id)["finished_at"] is not None)
        job = job_of(http, job_id)
        assert (job["status"], job["progress"], job["stage"]) == ("COMPLETED", 1.0, "synthesis")
        result = http.get(f"{JOBS}/{job_id}/result").json()
        report = {form: http.get(f"{JOBS}/{job_id}/report.{form}") for form in ("md", "html", "json")}
        assert {answer.status_code for answer in report.values()} == {200}
        assert report["md"].text == result["markdown"]
        assert report["json"].json()["question"] == QUESTION
        assert report["html"].headers["Content-Security-Policy"].startswith("sandbox ")
        sources = http.get(f"{JOBS}/{job_id}/sources").json()["sources"]
        assert {source["url"] for source in sources} <= {"mills.md", "history.txt", "power.html"}
        assert len(sources) == result["source_count"] > 0
        assert http.get(f"{JOBS}/{job_id}/graph.svg").text.startswith("<svg")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS) == 0
    assert user.run("verify", job_id, "--json").json["invalid"] == 0


def test_two_services_share_the_jobs_in_one_database(user: User) -> None:
    with (
        postgres_server() as postgres,
        serving(user, "--library", "library", "--db", postgres.url) as (_, first),
        serving(user, "--library", "library", "--db", postgres.url, log="second.log") as (_, second),
    ):
        ids = [
            httpx.post(f"{url}{JOBS}", json={"question": QUESTION}, timeout=PATIENCE_SECONDS)
            .raise_for_status()
            .json()["id"]
            for url in (first, second)
        ]
        with client_of(second) as http:
            for job_id in ids:
                events = http.get(f"{JOBS}/{job_id}/events").text
                assert job_of(http, job_id)["status"] == "COMPLETED"
                assert events.count("event: run_ended") == 1
                assert (
                    http.get(f"{JOBS}/{job_id}/report.md").text
                    == http.get(f"{JOBS}/{job_id}/result").json()["markdown"]
                )
                assert http.get(f"{JOBS}/{job_id}/graph.svg").status_code == 200
            assert [job["id"] for job in http.get(JOBS).json()["jobs"]] == ids[::-1]
            assert http.post(JOBS, json={"question": QUESTION}).headers["RateLimit"].startswith('"jobs";r=7;')


def test_a_service_that_is_killed_goes_on_with_its_jobs(user: User) -> None:
    with serving(user, "--library", "library", short_leases=True) as (process, url), client_of(url) as http:
        job_id = http.post(JOBS, json={"question": QUESTION}).json()["id"]
        wait_until(lambda: job_of(http, job_id)["stage"] is not None)
        process.kill()
        process.wait()
    with serving(user, "--library", "library") as (process, url), client_of(url) as http:
        wait_until(lambda: job_of(http, job_id)["finished_at"] is not None)
        assert job_of(http, job_id)["status"] == "COMPLETED"
        ends = [event for event in user.audit(job_id) if event["type"] == "run_ended"]
        assert len(ends) == 1
        assert len(http.get(JOBS).json()["jobs"]) == 1


def test_a_service_that_is_stopped_gives_its_jobs_back(user: User) -> None:
    slow = user.script("slow.json", {"*": [{"delay_seconds": 60, "text": "{}"}]})
    environ = {"GRAPH_RESEARCH_DEFAULT_PROVIDER": slow}
    with serving(user, "--library", "library", environ=environ) as (process, url), client_of(url) as http:
        job_id = http.post(JOBS, json={"question": QUESTION}).json()["id"]
        wait_until(lambda: job_of(http, job_id)["stage"] is not None)
        with http.stream("GET", f"{JOBS}/{job_id}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: run_started"
            process.send_signal(signal.SIGINT)
            assert list(lines)[-1] == "", "the stream is closed between two events"
        assert process.wait(PATIENCE_SECONDS) == 0
        assert "after a signal" not in (user.folder / "serve.log").read_text(), "it need not be ended as it is"
    status = json.loads(user.run("status", job_id, "--json").out)
    assert status["status"] == "queued"


def test_a_service_whose_database_does_not_answer_stops_in_time_and_its_job_goes_on(user: User, tmp_path: Path) -> None:
    sockets = tmp_path / "wire"
    sockets.mkdir()
    with postgres_server() as postgres:
        wire = Wire(postgres, sockets)
        with (
            serving(user, "--library", "library", "--db", wire.url, short_leases=True) as (process, url),
            client_of(url) as http,
        ):
            wire.hold_answer_to(b"research_sources")
            job_id = http.post(JOBS, json={"question": QUESTION}).json()["id"]
            assert wire.holds_answer.wait(PATIENCE_SECONDS)
            process.send_signal(signal.SIGTERM)
            assert process.wait(STOP_SECONDS + 10) == 0
        wire.close()
        with (
            serving(user, "--library", "library", "--db", postgres.url, log="second.log") as (_, url),
            client_of(url) as http,
        ):
            wait_until(lambda: job_of(http, job_id)["finished_at"] is not None)
            assert job_of(http, job_id)["status"] == "COMPLETED"
            assert http.get(f"{JOBS}/{job_id}/events").text.count("event: run_ended") == 1


def test_a_service_whose_database_was_killed_says_so_soon_and_its_streams_go_on(user: User) -> None:
    with (
        postgres_server() as postgres,
        serving(user, "--library", "library", "--db", postgres.url) as (_, url),
        client_of(url) as http,
    ):
        job_id = http.post(JOBS, json={"question": QUESTION}).json()["id"]
        with http.stream("GET", f"{JOBS}/{job_id}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: run_started"
            postgres.kill()
            refused = http.get(JOBS, timeout=20)
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
            postgres.start()
            events = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
        assert events[-3:] == ["run_ended", "research:progress", "job"]
        assert job_of(http, job_id)["status"] == "COMPLETED"


def test_others_than_this_machine_need_tokens(user: User) -> None:
    refused = user.run("serve", "--host", "0.0.0.0", "--port", "0", expect=2)
    assert "GRAPH_RESEARCH_TOKENS_FILE" in refused.err
    token = user.run("token", "ada", "--file", "tokens").out.strip()
    environ = {"GRAPH_RESEARCH_TOKENS_FILE": "tokens"}
    with (
        serving(user, "--host", "0.0.0.0", "--library", "library", environ=environ) as (_, url),
        client_of(url.replace("0.0.0.0", "127.0.0.1")) as http,
    ):
        assert http.get(JOBS).status_code == 401
        answer = http.get(JOBS, headers={"Authorization": f"Bearer {token}", "Host": "research.example"})
        assert answer.json() == {"jobs": [], "next": None}


def test_a_port_that_is_taken_is_said(user: User) -> None:
    with serving(user, "--library", "library") as (_, url):
        refused = user.run("serve", "--port", url.rpartition(":")[2], expect=2)
    assert "cannot listen at 127.0.0.1" in refused.err


LAGOONS = (
    "Tidal lagoons change estuaries: behind a wall of a lagoon mud settles, and its estuary loses a tenth of flats.",
    "How tidal lagoons change estuaries was measured in 2020: the lagoons raised low water in both estuaries by 0.4 m.",
)


def test_the_examples_of_the_page_about_the_api_work_one_after_another(user: User) -> None:
    for number, text in enumerate(LAGOONS):
        user.write(f"library/lagoons-{number}.md", f"# Lagoons {number}\n\n{text}\n")
    with serving(user, "--library", "library") as (_, url), client_of(url) as http:
        page = http.get("/docs").text
        examples = [unescape(text) for text in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)]
        script = "set -euo pipefail\n" + "\n".join(
            example.replace("curl -sS", "curl -sS --retry 0 -w '\\n%{http_code} %{method} %{url}\\n'")
            if "=$(" not in example
            else example
            for example in examples
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=user.folder, timeout=120)
        assert done.returncode == 0, done.stderr
        codes = re.findall(r"^(\d{3}) (\w+) \S+?(?:jobs/)?([\w.-]*)$", done.stdout, re.MULTILINE)
    assert [code for code in codes if not code[0].startswith("2")] == []
    assert len(codes) >= len(examples) - 4
