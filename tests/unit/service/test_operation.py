"""What operators see: metrics, logs, and the page about the API."""

from __future__ import annotations

import io
import json
import logging
import re
from pathlib import Path

import pytest

from graph_research.errors import GraphResearchError
from graph_research.graph.errors import StoreUnreachable
from graph_research.jobs.errors import JobStoreUnusable
from graph_research.service.http.problems import problem_response
from graph_research.service.logs import logged_to
from graph_research.service.users import add_token
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient

ROOT = Path(__file__).parents[3]


@pytest.mark.requirement("22.2")
async def test_metrics_count_jobs_and_requests_and_name_no_user(shared: ServiceClient, user: User) -> None:
    watcher = {"Authorization": f"Bearer {add_token(user.folder / 'tokens', 'watcher', reads_metrics=True)}"}
    job_id = await shared.submitted(headers=shared.as_user("ada"))
    await shared.get(f"{JOBS}/{job_id}", headers=shared.as_user("ada"))
    await shared.get("/nowhere/ada")
    refused = await shared.get("/metrics", headers=shared.as_user("ada"))
    assert (refused.status_code, refused.json()["code"]) == (403, "not-allowed")
    text = (await shared.get("/metrics", headers=watcher)).text
    assert 'research_jobs{status="QUEUED"} 1.0' in text
    assert f'http_requests_total{{method="GET",route="{JOBS}/{{job_id}}",status="200"}} 1.0' in text
    assert 'http_requests_total{method="unknown",route="unknown",status="404"} 1.0' in text
    for name in (
        "digest_duration_seconds",
        "digest_sources_processed_total",
        "digest_compression_ratio",
        "digest_cache_hits_total",
        "digest_evidence_snippets",
        "http_request_duration_seconds",
        "research_event_streams",
    ):
        assert f"# TYPE {name.removesuffix('_total')}" in text
    assert not [secret for secret in ("ada", "bert", job_id) if secret in text]


async def test_a_request_that_is_refused_for_its_size_counts_for_its_route(service: ServiceClient) -> None:
    refused = await service.http.post(JOBS, content=b" " * 1_000_001)
    assert refused.status_code == 413
    counted = f'http_requests_total{{method="POST",route="{JOBS}",status="413"}} 1.0'
    assert counted in (await service.get("/metrics")).text


@pytest.mark.parametrize("error", [JobStoreUnusable("db.internal is away"), StoreUnreachable("db.internal is away")])
def test_a_database_that_does_not_answer_makes_the_service_unavailable(error: GraphResearchError) -> None:
    answer = problem_response("/healthz", error)
    assert answer.status_code == 503
    assert b"db.internal" not in bytes(answer.body), "what fails within is for the log"


async def test_a_line_of_the_log_has_the_ids_of_job_and_run(service: ServiceClient) -> None:
    stream = io.StringIO()
    with logged_to(stream):
        job_id = await service.submitted(QUESTION)
        await service.drive()
        await service.get(f"{JOBS}/{job_id}", headers={"Authorization": "Bearer secret"})
        await service.get("/healthz")
        await service.get("/openapi.json")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {(line["job_id"], line["run_id"]) for line in lines if "job_id" in line} == {(job_id, job_id)}
    [request] = [line for line in lines if line.get("route") == f"{JOBS}/{{job_id}}"]
    assert (request["method"], request["status"], request["job_id"]) == ("GET", 200, job_id)
    assert "GET /openapi.json 200" in [line["message"] for line in lines]
    assert [line["message"] for line in lines if line["logger"] == "graph_research.jobs.worker"][-1].endswith(
        "COMPLETED"
    )
    assert "secret" not in stream.getvalue()
    assert QUESTION not in stream.getvalue()
    assert "healthz" not in stream.getvalue()


@pytest.mark.parametrize("logger", ["graph_research.service", "uvicorn.error", "asyncio"])
def test_an_exception_is_a_field_of_its_line_whichever_library_logs_it(logger: str) -> None:
    stream = io.StringIO()
    with logged_to(stream):
        logging.getLogger(logger).error("it failed", exc_info=ValueError("a\nb"))
    [line] = stream.getvalue().splitlines()
    assert "ValueError: a\nb" in json.loads(line)["exception"]


async def test_the_page_about_the_api_shows_every_route_and_loads_nothing(service: ServiceClient) -> None:
    answer = await service.get("/docs")
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert not re.findall(r"<script|<link|<img|@import|url\(|src=", answer.text)
    for path, methods in (await service.get("/openapi.json")).json()["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in answer.text
    assert not re.findall(r"</h2>\s*<h2", answer.text), "each group has a route"


async def test_the_reference_of_the_api_has_every_route_and_no_other(service: ServiceClient) -> None:
    page = (ROOT / "docs" / "reference" / "rest.md").read_text()
    cells = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    told = {
        route if " " in route else f"GET {route}" for cell in cells for route in re.findall(r"`([^`]*/[^`]*)`", cell)
    }
    paths = (await service.get("/openapi.json")).json()["paths"]
    assert told == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


async def test_the_page_about_the_api_has_no_example_that_is_refused(
    service: ServiceClient, shared: ServiceClient
) -> None:
    assert [
        ("search_twice" in (await each.get("/docs")).text.split("<h2>Bodies")[0]) for each in (service, shared)
    ] == [
        True,
        False,
    ]


async def test_the_page_about_the_api_renders_markdown_and_names_what_bodies_hold(service: ServiceClient) -> None:
    page = (await service.get("/docs")).text
    assert "`" not in page
    assert "<code>research:progress</code>" in page
    document = (await service.get("/openapi.json")).json()
    for name, schema in document["components"]["schemas"].items():
        assert f'id="{name}"' in page
        assert all(f"<code>{field}</code>" in page for field in schema.get("properties", ()))
    assert {*re.findall(r'href="#(\w+)"', page)} <= {*re.findall(r'id="(\w+)"', page)}


async def test_the_page_shows_no_markup_of_its_address(service: ServiceClient) -> None:
    answer = await service.get("/docs", headers={"Host": 'localhost"><script>alert(1)</script>'})
    assert "<script" not in answer.text
