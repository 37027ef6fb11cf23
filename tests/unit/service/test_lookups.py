"""What is looked up beside jobs: what the operator offers, passages of documents, the audit of a report."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.cli.cli_process import User
from tests.support.service.service_client import JOBS, ServiceClient, service_client

DOCUMENTS, PASSAGES, AUDITS = "/api/library/documents", "/api/library/passages", "/api/library/audits"
REPORT = "# Mills\n\nTide mills gave power for about three hours after each high tide.\n\nLocomotives burn coal.\n"


@pytest.fixture
async def users(user: User) -> AsyncIterator[ServiceClient]:
    """Two users, and no folder for both."""
    async with service_client(user, "ada", "bert", library=[]) as client:
        yield client


async def test_a_client_reads_what_it_may_submit(service: ServiceClient) -> None:
    options = (await service.get("/api/research/options")).json()
    assert options["libraries"] == ["library", "uploads"]
    assert "deep_research" in options["graphs"] and options["models"] == ["extractive"]
    assert {"local", "web", "arxiv"} <= set(options["searches"])
    assert not {"tavily", "searxng"} & set(options["searches"]), "their key and address are not set"
    submission = {"question": "How high are tides?", "model": options["models"][0], "library": ["library"]}
    assert (await service.post(JOBS, {**submission, "graph": options["graphs"][0]})).status_code == 202


@pytest.mark.parametrize(
    ("format", "begin"), [("svg", "<svg"), ("json", "{"), ("mermaid", "flowchart"), ("html", "<!doctype html>")]
)
async def test_an_offered_graph_is_drawn(service: ServiceClient, format: str, begin: str) -> None:
    drawn = await service.get(f"/api/research/graphs/deep_research.{format}")
    assert (drawn.status_code, drawn.text.lower().startswith(begin)) == (200, True)
    assert drawn.headers["Content-Security-Policy"].startswith("sandbox")


async def test_a_graph_is_not_drawn_in_a_format_that_holds_up_other_requests(service: ServiceClient) -> None:
    refused = await service.get("/api/research/graphs/deep_research.png")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize("name", ["topic_research", "..%2fsecret", "mine.yaml"])
async def test_a_graph_that_is_not_offered_is_refused(service: ServiceClient, name: str) -> None:
    assert (await service.get(f"/api/research/graphs/{name}.svg")).status_code in (404, 422)


async def test_passages_are_found_in_what_the_user_may_search(service: ServiceClient) -> None:
    found = (await service.get(PASSAGES, params={"text": "power after high tide", "limit": 2})).json()["passages"]
    assert found[0]["path"] == "power.html" and "three hours" in found[0]["text"]
    assert len(found) == 2
    other = await service.get(PASSAGES, params={"text": "tide", "library": "/etc"})
    assert (other.status_code, other.json()["code"]) == (422, "request-invalid")


async def test_passages_of_another_users_documents_are_not_found(users: ServiceClient) -> None:
    ada, bert = users.as_user("ada"), users.as_user("bert")
    await users.http.put(f"{DOCUMENTS}/secret.md", content=b"The vault opens with a green key.", headers=ada)
    assert (await users.get(PASSAGES, params={"text": "vault key"}, headers=ada)).json()["passages"]
    empty = await users.get(PASSAGES, params={"text": "vault key"}, headers=bert)
    assert (empty.status_code, empty.json()["code"]) == (422, "library-empty")
    await users.http.put(f"{DOCUMENTS}/mine.md", content=b"Tides rise twice a day.", headers=bert)
    own = await users.get(PASSAGES, params={"text": "vault key"}, headers=bert)
    assert "vault" not in own.text
    foreign = await users.post(AUDITS, {"document": "secret.md"}, headers=bert)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "unknown-document")


async def test_a_report_is_audited_against_a_library(service: ServiceClient) -> None:
    await service.http.put(f"{DOCUMENTS}/report.md", content=REPORT.encode())
    answer = await service.post(AUDITS, {"document": "report.md", "library": "library"})
    assert answer.headers["RateLimit"].startswith('"jobs";r=9;')
    audit = answer.json()
    assert (audit["file"], audit["counts"]["supported"], audit["counts"]["not_found"]) == ("report.md", 1, 1)
    [supported] = [row for row in audit["sentences"] if row["verdict"] == "supported"]
    assert supported["quote"]["path"] == "power.html"


@pytest.mark.parametrize(("format", "begin"), [("md", "# Audit of"), ("html", "<!doctype html>")])
async def test_an_audit_is_written_to_be_read(service: ServiceClient, format: str, begin: str) -> None:
    await service.http.put(f"{DOCUMENTS}/report.md", content=REPORT.encode())
    written = await service.post(f"{AUDITS}?format={format}", {"document": "report.md", "library": "library"})
    assert (written.status_code, written.text.lower().startswith(begin.lower())) == (200, True), written.text[:200]
    assert "Locomotives burn coal" in written.text
    assert written.headers["RateLimit"].startswith('"jobs";r=9;')
    assert written.headers["Content-Security-Policy"].startswith("sandbox")


async def test_an_audit_is_judged_by_an_offered_model(user: User) -> None:
    async with service_client(user, service_models=[user.script("judge.json", {"*": [{}]})]) as service:
        [judge, _] = (await service.get("/api/research/options")).json()["models"]
        await service.http.put(f"{DOCUMENTS}/report.md", content=REPORT.encode())
        wanted = {"document": "report.md", "library": "library"}
        refused = await service.post(AUDITS, {**wanted, "model": "openai:m@http://10.0.0.1/v1"})
        assert (refused.status_code, refused.json()["code"]) == (422, "request-invalid")
        audit = await service.post(AUDITS, {**wanted, "roles": {"verification": judge}})
    assert audit.json()["counts"]["supported"] == 1
    [log] = (user.home / "audit").glob("check-*.jsonl")
    assert '"call_recorded"' in log.read_text(), "the model was asked"


async def test_what_can_not_be_read_is_called_as_the_user_knows_it(service: ServiceClient) -> None:
    for name, content in (("report.md", REPORT.encode()), ("bad.pdf", b"not a PDF")):
        await service.http.put(f"{DOCUMENTS}/{name}", content=content)
    refused = await service.post(AUDITS, {"document": "bad.pdf", "library": "library"})
    assert (refused.status_code, refused.json()["code"]) == (422, "report-unreadable")
    assert refused.json()["detail"].startswith("uploads/bad.pdf cannot be read")
    audit = (await service.post(AUDITS, {"document": "report.md", "library": "uploads"})).json()
    assert [line.partition(":")[0] for line in audit["unread"]] == ["uploads/bad.pdf"]
    both = await service.post(AUDITS, {"document": "report.md", "library": ["library", "uploads"]})
    assert both.json()["documents"] > audit["documents"] and both.json()["counts"]["supported"] == 1


async def test_a_shared_folder_that_is_gone_is_called_by_its_name(service: ServiceClient, user: User) -> None:
    (user.folder / "library").rename(user.folder / "elsewhere")
    for answer in (
        await service.post(JOBS, {"question": "How high are tides?", "library": ["library"]}),
        await service.get(PASSAGES, params={"text": "tides", "library": "library"}),
    ):
        assert answer.status_code == 422, answer.text
        assert "library" in answer.json()["detail"]
        assert str(user.folder) not in answer.text
