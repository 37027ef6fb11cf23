"""The service against its OpenAPI document: requests made from it, valid and not, get answers that it describes.

schemathesis is imported by the test, since it takes a second, which every process that collects tests would spend.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import hypothesis
from hypothesis import strategies

from tests.support.cli.cli_process import PATIENCE_SECONDS, wait_until
from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.service.service_process import client_of, serving

JOBS = "/api/research/jobs"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "ignored_auth",
)
FEW = hypothesis.settings(
    max_examples=15,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


def test_generated_requests_get_documented_answers(tmp_path: Path) -> None:
    import schemathesis
    from schemathesis.checks import CHECKS as KNOWN_CHECKS
    from schemathesis.checks import load_all_checks

    user = make_user(tmp_path)
    headers = {"Authorization": f"Bearer {user.run('token', 'ada', '--metrics', '--file', 'tokens').out.strip()}"}
    load_all_checks()
    checks = [KNOWN_CHECKS.get_one(name) for name in CHECKS]
    answers: Counter[str] = Counter()
    environ = {"GRAPH_RESEARCH_TOKENS_FILE": "tokens"}
    with (
        serving(user, "--library", "library", environ=environ) as (_, url),
        client_of(url, headers=headers) as http,
    ):
        job_id = http.post(JOBS, json={"question": QUESTION}).json()["id"]
        wait_until(lambda: http.get(f"{JOBS}/{job_id}").json()["finished_at"] is not None)
        own = {"job_id": job_id, "other_id": job_id, "response_id": job_id}
        for found in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations():
            operation = found.ok()
            cases = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

            @FEW
            @hypothesis.given(case=strategies.one_of(*cases), names_own=strategies.booleans())
            def check(case: schemathesis.Case, names_own: bool) -> None:
                if names_own and case.path_parameters and case.method != "DELETE":
                    case.path_parameters.update((name, own[name]) for name in own.keys() & case.path_parameters.keys())
                response = case.call_and_validate(headers=headers, checks=checks, timeout=PATIENCE_SECONDS)
                answers[f"{case.operation.label} {response.status_code}"] += 1

            check()
    assert {label.rpartition(" ")[0] for label in answers} >= {f"GET {JOBS}", f"POST {JOBS}", "POST /v1/responses"}
    for path in ("", "/events", "/result", "/sources", "/graph.svg", "/verification", "/versions", "/history"):
        assert answers[f"GET {JOBS}/{{job_id}}{path} 200"], answers
        assert answers[f"GET {JOBS}/{{job_id}}{path} 404"], answers
