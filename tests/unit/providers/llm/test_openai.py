"""Chat Completions: what is sent to OpenAI's own models and to other servers, and what each may refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from graph_research.providers.errors import ContextExceeded, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.client import HttpClient
from graph_research.providers.llm.openai import is_reasoning
from tests.support.network.http_server import Answer, Received, WireServer
from tests.support.providers.model_protocols import OPENAI, asked

PATH = OPENAI.path
STRICT = {
    "type": "object",
    "required": ["answer"],
    "properties": {"answer": {"type": "string", "minLength": 1}},
}


def said(content: Any, **message: Any) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    return Answer(body={"choices": [choice]})


def refusing_what_is_in(names: Mapping[str, str]) -> Any:
    """A server that refuses the first of these that the request has."""

    def react(request: Received) -> Answer:
        for name, message in names.items():
            if name in request.json():
                return Answer(status=400, body={"error": {"message": message, "param": name}})
        return Answer(body=OPENAI.whole)

    return react


async def test_a_server_of_ones_own_gets_what_all_of_them_know(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    await OPENAI.make(http, server.url).complete(asked(max_output_tokens=500))
    sent = server.received[0].json()
    assert sent["max_tokens"] == 500
    assert sent["temperature"] == 0
    assert sent["seed"] == 0
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert sent["response_format"]["type"] == "json_schema"
    assert sent["response_format"]["json_schema"]["strict"] is False


async def test_a_reasoning_model_gets_room_to_think_and_no_temperature(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    await OPENAI.make(http, server.url, model="gpt-5-mini", official=True).complete(asked(max_output_tokens=500))
    sent = server.received[0].json()
    assert sent["max_completion_tokens"] > 5_000
    assert not {"max_tokens", "temperature", "seed", "reasoning_effort"} & sent.keys()


async def test_the_effort_is_sent_where_the_user_wants_one(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    await OPENAI.make(http, server.url, model="o3", official=True, effort="low").complete(asked())
    assert server.received[0].json()["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    ("model", "thinks"),
    [("gpt-5", True), ("gpt-5.4-mini", True), ("o3-mini", True), ("gpt-10", True), ("gpt-4o", False),
     ("gpt-4.1", False), ("gpt-5-chat-latest", False)],
)  # fmt: skip
def test_reasoning_models_are_known_by_their_names(model: str, thinks: bool) -> None:
    assert is_reasoning(model) == thinks


async def test_what_a_server_does_not_take_is_left_out_and_remembered(http: HttpClient, server: WireServer) -> None:
    server.on(
        PATH,
        refusing_what_is_in(
            {
                "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
                "seed": "Unrecognized request argument supplied: seed",
            }
        ),
    )
    model = OPENAI.make(http, server.url)
    reply = await model.complete(asked())
    assert json.loads(reply.text) == {"a": 1}
    assert len(server.received) == 4
    await model.complete(asked())
    assert len(server.received) == 5
    assert server.received[-1].json()["max_completion_tokens"] == 4096


async def test_the_schema_gives_way_to_json_and_then_to_nothing(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, refusing_what_is_in({"response_format": "response_format is not supported"}))
    model = OPENAI.make(http, server.url)
    await model.complete(asked())
    sent = [one.json().get("response_format", {}).get("type") for one in server.received]
    assert sent == ["json_schema", "json_object", None]
    await model.complete(asked())
    assert "response_format" not in server.received[-1].json()


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (500, "The model produced output that does not match the expected peg-native format"),
        (400, "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."),
    ],
    ids=["llama.cpp", "Groq"],
)
async def test_an_answer_that_the_server_could_not_bend_into_the_schema_is_asked_for_without(
    status: int, message: str, http: HttpClient, server: WireServer
) -> None:
    def react(request: Received) -> Answer:
        if "response_format" in request.json():
            return Answer(status=status, body={"error": {"message": message}})
        return said('{"a')

    server.on(PATH, react)
    model = OPENAI.make(http, server.url)
    assert (await model.complete(asked())).text == '{"a'
    await model.complete(asked())
    assert ["response_format" in one.json() for one in server.received] == [True, False, True, False]


async def test_a_request_that_is_wrong_in_itself_is_not_sent_for_ever(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(status=400, body={"error": {"message": "temperature, seed, response_format: no"}}))
    with pytest.raises(ProviderRefused):
        await OPENAI.make(http, server.url).complete(asked())
    assert len(server.received) <= 6


async def test_a_model_without_a_system_role_gets_one_message(http: HttpClient, server: WireServer) -> None:
    def react(request: Received) -> Answer:
        if request.json()["messages"][0]["role"] == "system":
            return Answer(status=400, body={"error": {"message": "System role not supported"}})
        return Answer(body=OPENAI.whole)

    server.on(PATH, react)
    await OPENAI.make(http, server.url).complete(asked())
    (message,) = server.received[-1].json()["messages"]
    assert message["content"].startswith("You plan.\n\nWhy?")


async def test_a_schema_that_says_all_is_sent_as_strict(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    await OPENAI.make(http, server.url).complete(asked(schema=STRICT))
    described = server.received[0].json()["response_format"]["json_schema"]
    assert described["strict"] is True
    assert described["schema"] == {
        "type": "object",
        "required": ["answer"],
        "properties": {"answer": {"type": "string"}},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<think>\nMaybe {"a": 2}?\n</think>\n\n{"a": 1}', '\n\n{"a": 1}'),
        ("<think>I never come to an end", ""),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": '{"a": 1}'}], '{"a": 1}'),
        (None, ""),
        ("", ""),
    ],
    ids=["thoughts before", "thoughts only", "parts", "null", "nothing"],
)
async def test_what_stands_beside_the_answer_is_left_out(
    content: Any, text: str, http: HttpClient, server: WireServer
) -> None:
    server.on(PATH, said(content))
    assert (await OPENAI.make(http, server.url).complete(asked())).text == text


async def test_what_nobody_counted_is_estimated(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, said("x" * 400))
    usage = (await OPENAI.make(http, server.url).complete(asked(system="s" * 40, user="u" * 40))).usage
    assert (usage.input_tokens, usage.output_tokens) == (20, 100)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 502, "message": "Provider returned error"}, ProviderUnavailable),
        ({"code": 429, "message": "rate-limited upstream"}, ProviderUnavailable),
        ({"code": 400, "type": "exceed_context_size_error", "message": "too long", "n_ctx": 512}, ContextExceeded),
        ("no such model", ProviderRefused),
    ],
)
async def test_an_error_with_status_200_is_an_error(
    error: Any, kind: type[Exception], http: HttpClient, server: WireServer
) -> None:
    server.on(PATH, Answer(body={"error": error}))
    with pytest.raises(kind):
        await OPENAI.make(http, server.url).complete(asked())


async def test_an_error_in_the_middle_of_a_stream_is_an_error(http: HttpClient, server: WireServer) -> None:
    lines = ('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', 'data: {"error":{"code":503,"message":"gone"}}\n\n')
    server.on(PATH, Answer(chunks=lines, headers={"content-type": "text/event-stream"}))
    with pytest.raises(ProviderUnavailable):
        await OPENAI.make(http, server.url).complete(asked(on_text=lambda _: None))


async def test_a_server_that_does_not_stream_is_understood(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    pieces: list[str] = []
    reply = await OPENAI.make(http, server.url).complete(asked(on_text=pieces.append))
    assert json.loads(reply.text) == {"a": 1}
    assert pieces == ['{"a": 1}']


async def test_a_stream_asks_for_its_usage_where_the_server_takes_that(http: HttpClient, server: WireServer) -> None:
    def react(request: Received) -> Answer:
        if "stream_options" in request.json():
            return Answer(status=400, body={"error": {"message": "Unknown parameter: stream_options"}})
        return OPENAI.streamed()

    server.on(PATH, react)
    await OPENAI.make(http, server.url).complete(asked(on_text=lambda _: None))
    assert server.received[0].json()["stream_options"] == {"include_usage": True}
    assert server.received[1].json()["stream"] is True


async def test_json_is_named_where_the_prompt_does_not(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=OPENAI.whole))
    await OPENAI.make(http, server.url).complete(asked(user="Answer with JSON, please."))
    await OPENAI.make(http, server.url).complete(asked())
    users = [one.json()["messages"][1]["content"] for one in server.received]
    assert users == ["Answer with JSON, please.", "Why?\n\nAnswer with JSON."]
