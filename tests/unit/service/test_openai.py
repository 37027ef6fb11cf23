"""Jobs in the shapes of OpenAI's API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import Message

from graph_research.jobs.job import JobError, JobStatus
from tests.support.cli.cli_user import QUESTION
from tests.support.service.service_client import JOBS, ServiceClient


async def answered(service: ServiceClient, path: str, body: dict[str, Any]) -> Any:
    """The answer to a request that waits for its job, which is driven meanwhile."""
    async with asyncio.TaskGroup() as group:
        answer = group.create_task(service.post(path, body))
        while not service.notified:  # noqa: ASYNC110 -- the request is under way
            await asyncio.sleep(0.01)
        await service.drive()
    return answer.result()


def data_of(text: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


async def test_the_models_are_the_graphs_that_are_offered(service: ServiceClient) -> None:
    models = (await service.get("/v1/models")).json()
    assert (models["object"], [model["id"] for model in models["data"]]) == ("list", ["deep_research", "pipeline"])


async def test_a_response_in_the_background_is_looked_up_and_cancelled(service: ServiceClient) -> None:
    created = (await service.post("/v1/responses", {"input": QUESTION, "background": True})).json()
    assert (created["object"], created["status"], created["output"]) == ("response", "queued", [])
    assert (await service.get(f"{JOBS}/{created['id']}")).json()["question"] == QUESTION
    await service.drive()
    done = (await service.get(f"/v1/responses/{created['id']}")).json()
    assert (done["status"], done["model"]) == ("completed", "deep_research")
    [message] = done["output"]
    result = (await service.get(f"{JOBS}/{created['id']}/result")).json()
    assert message["content"] == [{"type": "output_text", "text": result["markdown"], "annotations": []}]
    used = [result["tokens"][name] for name in ("input_tokens", "output_tokens")]
    assert list(done["usage"].values()) == [*used, sum(used)]
    other = (await service.post("/v1/responses", {"input": QUESTION, "background": True})).json()
    assert (await service.post(f"/v1/responses/{other['id']}/cancel")).json()["status"] == "cancelled"


async def test_a_response_waits_for_its_report(service: ServiceClient) -> None:
    messages = [
        {"role": "user", "content": "An earlier question?"},
        {"role": "assistant", "content": "An answer."},
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
    ]
    body = {"model": "pipeline", "input": messages, "temperature": 0, "tools": [], "store": False}
    response = (await answered(service, "/v1/responses", body)).json()
    assert (response["status"], response["model"], response["background"]) == ("completed", "pipeline", False)
    assert "# " in response["output"][0]["content"][0]["text"]
    assert (await service.get(f"{JOBS}/{response['id']}")).json()["question"] == QUESTION


async def test_a_response_is_streamed(service: ServiceClient) -> None:
    answer = await answered(service, "/v1/responses", {"input": QUESTION, "stream": True})
    events = data_of(answer.text)
    kinds = [event["type"] for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
    assert text == events[-1]["response"]["output"][0]["content"][0]["text"]


async def test_a_conversation_is_completed(service: ServiceClient) -> None:
    body = {"model": "deep_research", "messages": [{"role": "user", "content": QUESTION}]}
    completion = (await answered(service, "/v1/chat/completions", body)).json()
    [choice] = completion["choices"]
    assert (completion["object"], choice["finish_reason"]) == ("chat.completion", "stop")
    result = (await service.get(f"{JOBS}/{completion['id']}/result")).json()
    assert choice["message"] == {"role": "assistant", "content": result["markdown"]}
    assert completion["usage"]["prompt_tokens"] == result["tokens"]["input_tokens"]


async def test_a_completion_is_streamed(service: ServiceClient) -> None:
    body = {"model": "deep_research", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    *chunks, done = data_of((await answered(service, "/v1/chat/completions", body)).text)
    assert done == "[DONE]"
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["usage"]["total_tokens"] > 0
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert text == (await service.get(f"{JOBS}/{chunks[0]['id']}/result")).json()["markdown"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_failed_job_says_why(service: ServiceClient, stream: bool) -> None:
    body = {"messages": [{"role": "user", "content": QUESTION}], "stream": stream}
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(service.post("/v1/chat/completions", body))
        while not service.notified:  # noqa: ASYNC110 -- the request is under way
            await asyncio.sleep(0.01)
        await service.finish(JobStatus.FAILED, error=JobError(code="error", message="no model answered"))
    assert "no model answered" in asked.result().text
    assert asked.result().status_code == (200 if stream else 409)
    body = data_of(asked.result().text)[-2] if stream else asked.result().json()
    assert (body["error"]["code"], body["error"]["type"]) == ("error" if stream else "nothing-yet", "server_error")
    if not stream:
        assert asked.result().headers["x-should-retry"] == "false", "OpenAI's clients would submit another job"


@pytest.mark.parametrize(
    "body",
    [
        {"input": ""},
        {"input": [{"role": "system", "content": "Be brief."}]},
        {"input": "x", "model": "gpt-5"},
        {"input": "x", "model": "openai:m@http://10.0.0.1"},
        {"input": "x\x00"},
    ],
)
async def test_what_is_no_question_or_no_graph_is_refused(service: ServiceClient, body: dict[str, Any]) -> None:
    assert (await service.post("/v1/responses", body)).status_code == 422
    assert (await service.get(JOBS)).json()["jobs"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", rb'{"input": "\ud800"}'),
        ("/v1/chat/completions", rb'{"messages": [{"role": "user", "content": "\ud800"}]}'),
    ],
)
async def test_a_question_with_half_a_character_is_refused(service: ServiceClient, path: str, body: bytes) -> None:
    answer = await service.http.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (422, "invalid_request_error")


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/v1/responses/nobody", None, (404, "unknown-job", None)),
        ("POST", "/v1/responses", {"input": 5}, (422, "invalid", "input")),
        (
            "POST",
            "/v1/responses",
            {"input": "x", "model": "gpt-5"},
            (422, "request-invalid", None),
        ),
        ("POST", "/v1/responses", {"input": "x" * 1_000_001}, (413, "body-too-large", None)),
        ("POST", "/v1/embeddings", {}, (404, "not-found", None)),
        ("DELETE", "/v1/models", None, (405, "method-not-allowed", None)),
    ],
)
async def test_errors_have_the_shape_of_openai(
    service: ServiceClient, method: str, path: str, body: Any, expected: tuple[int, str, str | None]
) -> None:
    answer = await service.http.request(method, path, json=body)
    assert answer.headers["Content-Type"] == "application/json"
    [error] = answer.json().values()
    assert (answer.status_code, error["code"], error["param"]) == expected
    assert error["type"] == "invalid_request_error" and error["message"]
    assert len(error) == 4


async def test_the_document_has_the_errors_of_openais_routes_in_their_shape(service: ServiceClient) -> None:
    for path, methods in service.api.openapi()["paths"].items():
        for operation in methods.values():
            errors = {status: answer for status, answer in operation["responses"].items() if status >= "4"}
            [schema] = {
                (kind, content["schema"]["$ref"].rpartition("/")[2])
                for answer in errors.values()
                for kind, content in answer["content"].items()
            }
            of_openai = ("application/json", "ErrorBody")
            assert schema == (of_openai if path.startswith("/v1/") else ("application/problem+json", "Problem")), path


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"input": QUESTION}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}]}),
    ],
)
async def test_a_request_whose_client_has_gone_is_not_waited_for(
    service: ServiceClient, path: str, body: dict[str, Any]
) -> None:
    received = iter([{"type": "http.request", "body": json.dumps(body).encode()}])
    sent = list[Message]()

    async def receive() -> Message:
        return next(received, {"type": "http.disconnect"})

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1:8420"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    async with asyncio.timeout(20):
        await service.api(scope, receive, send)
    assert service.feeds.open_streams == 0
    [job] = (await service.get(JOBS)).json()["jobs"]
    assert job["status"] == "QUEUED"
