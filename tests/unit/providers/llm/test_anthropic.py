"""Messages: the tool that holds the answer, the cached system prompt, and what newer models do not take."""

from __future__ import annotations

import json

import pytest

from graph_research.providers.errors import ProviderRefused, ProviderUnavailable
from graph_research.providers.http.client import HttpClient
from tests.support.network.http_server import Answer, Received, WireServer
from tests.support.providers.model_protocols import ANTHROPIC, SCHEMA, asked

PATH = ANTHROPIC.path


async def test_the_answer_is_the_input_of_a_tool_that_must_be_called(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=ANTHROPIC.whole))
    await ANTHROPIC.make(http, server.url).complete(asked(max_output_tokens=500))
    sent = server.received[0].json()
    assert server.received[0].headers["anthropic-version"] == "2023-06-01"
    assert sent["max_tokens"] == 500
    assert sent["tools"][0]["input_schema"] == SCHEMA
    assert sent["tool_choice"] == {"type": "tool", "name": sent["tools"][0]["name"]}


async def test_the_system_prompt_is_kept_by_the_provider(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=ANTHROPIC.whole))
    await ANTHROPIC.make(http, server.url).complete(asked())
    assert server.received[0].json()["system"] == [
        {"type": "text", "text": "You plan.", "cache_control": {"type": "ephemeral"}}
    ]


@pytest.mark.parametrize(
    ("model", "sent"),
    [("claude-3-5-haiku-latest", True), ("claude-haiku-4-5", True), ("claude-opus-4-6", True),
     ("claude-opus-4-7", False), ("claude-sonnet-5-5", False), ("claude-fable-5", False)],
)  # fmt: skip
async def test_temperature_goes_only_to_the_models_that_take_it(
    model: str, sent: bool, http: HttpClient, server: WireServer
) -> None:
    server.on(PATH, Answer(body=ANTHROPIC.whole))
    await ANTHROPIC.make(http, server.url, model=model).complete(asked())
    assert ("temperature" in server.received[0].json()) == sent


async def test_a_model_that_cannot_be_made_to_call_a_tool_is_asked_to(http: HttpClient, server: WireServer) -> None:
    def react(request: Received) -> Answer:
        if request.json()["tool_choice"]["type"] == "tool":
            message = "Thinking may not be enabled when tool_choice forces tool use."
            return Answer(status=400, body={"error": {"type": "invalid_request_error", "message": message}})
        return Answer(body=ANTHROPIC.whole)

    server.on(PATH, react)
    model = ANTHROPIC.make(http, server.url)
    assert json.loads((await model.complete(asked())).text) == {"a": 1}
    assert "calling the tool" in server.received[1].json()["messages"][0]["content"]
    await model.complete(asked())
    assert len(server.received) == 3


async def test_an_answer_in_words_is_taken_where_the_tool_was_not_called(http: HttpClient, server: WireServer) -> None:
    whole = {**ANTHROPIC.whole, "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "So."}]}
    server.on(PATH, Answer(body=whole))
    assert (await ANTHROPIC.make(http, server.url).complete(asked())).text == "So."


async def test_the_effort_is_sent_where_the_user_wants_one(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=ANTHROPIC.whole))
    await ANTHROPIC.make(http, server.url, model="claude-opus-5", effort="low").complete(asked())
    assert server.received[0].json()["output_config"] == {"effort": "low"}


@pytest.mark.parametrize(
    ("kind", "error"), [("overloaded_error", ProviderUnavailable), ("authentication_error", ProviderRefused)]
)
async def test_an_error_in_the_middle_of_a_stream_means_what_it_means_elsewhere(
    kind: str, error: type[Exception], http: HttpClient, server: WireServer
) -> None:
    events = (*ANTHROPIC.events[:3], {"type": "error", "error": {"type": kind, "message": "Overloaded"}})
    lines = tuple(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    server.on(PATH, Answer(chunks=lines, headers={"content-type": "text/event-stream"}))
    with pytest.raises(error):
        await ANTHROPIC.make(http, server.url).complete(asked(on_text=lambda _: None))
