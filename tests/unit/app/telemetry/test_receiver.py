"""Traces over the wire: a receiver on loopback, from each command that drives runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION
from tests.support.network.http_server import Answer, WireServer

RUN = ("run", QUESTION, "--library", "library", "--run-id", "mills")


def test_a_run_reaches_the_receiver_with_its_headers_and_without_its_question(user: User) -> None:
    with WireServer() as server:
        server.on("POST /v1/traces", Answer())
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=s3cret",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
        }
        user.run(*RUN, environ=environ)
    assert {request.headers["x-api-key"] for request in server.received} == {"s3cret"}
    bodies = [request.body for request in server.received]
    assert not any(b"s3cret" in body or b"tide" in body.lower() for body in bodies)
    [sent] = ExportTraceServiceRequest.FromString(bodies[0]).resource_spans
    resource = {each.key: each.value.string_value for each in sent.resource.attributes}
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("graph-research", "test")
    names = [span.name for scope in sent.scope_spans for span in scope.spans]
    assert "invoke_workflow deep_research" in names and "chat extractive" in names


def test_a_worker_sends_the_runs_of_its_queue(user: User) -> None:
    """Whichever takes the run first: the worker that `--detach` starts, or the one that is started here."""
    with WireServer() as server:
        server.on("POST /v1/traces", Answer())
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": server.url}
        user.run(*RUN, "--detach", environ=environ)
        user.run("worker", "--until-idle", environ=environ)
    sent = ExportTraceServiceRequest.FromString(server.received[0].body)
    spans = [span for resource in sent.resource_spans for scope in resource.scope_spans for span in scope.spans]
    assert "invoke_workflow deep_research" in [span.name for span in spans]


@pytest.mark.parametrize(
    ("answer", "most_requests", "reason"),
    [(Answer(status=400), 1, "code: 400"), (Answer(fault="close"), 4, "Connection aborted")],
)
def test_a_receiver_that_fails_is_named_once_after_two_attempts(
    user: User, answer: Answer, most_requests: int, reason: str
) -> None:
    """The exporter repeats a request at once where its connection breaks, and attempts more the longer it may take."""
    with WireServer() as server:
        server.on("POST /v1/traces", answer)
        done = user.run(*RUN, environ={"OTEL_EXPORTER_OTLP_ENDPOINT": server.url})
    assert 1 <= len(server.received) <= most_requests
    assert (user.folder / "research" / "mills" / "report.md").exists()
    [line] = [line for line in done.err.splitlines() if "export" in line.lower() or "trace" in line]
    assert line.startswith("the trace of run mills was not sent: ") and reason in line


@pytest.mark.parametrize("module", ["graph_research.cli", "graph_research.app.application"])
def test_without_a_receiver_opentelemetry_is_not_loaded(module: str) -> None:
    code = f"import sys, {module}; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
