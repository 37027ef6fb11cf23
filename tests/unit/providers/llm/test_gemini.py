"""generateContent: the schema in Gemini's own words, blocked answers, keys that are no keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_research.providers.errors import AnswerWithheld, ProviderRefused
from graph_research.providers.http.client import HttpClient
from tests.support.network.http_server import Answer, Received, WireServer
from tests.support.providers.model_protocols import GEMINI, KEY, asked

PATH = GEMINI.path


def generated(*parts: Any, finish: str = "STOP") -> Answer:
    return Answer(body={"candidates": [{"content": {"parts": parts}, "finishReason": finish}]})


async def test_the_schema_and_the_system_prompt_stand_where_gemini_looks(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, Answer(body=GEMINI.whole))
    await GEMINI.make(http, server.url).complete(asked(max_output_tokens=500))
    sent = server.received[0].json()
    assert sent["systemInstruction"] == {"parts": [{"text": "You plan."}]}
    assert sent["contents"] == [{"role": "user", "parts": [{"text": "Why?"}]}]
    settings = sent["generationConfig"]
    assert settings["responseMimeType"] == "application/json"
    assert settings["responseSchema"]["properties"]["answer"] == {"type": "string", "minLength": 1}
    assert settings["maxOutputTokens"] > 5_000
    assert "temperature" not in settings


async def test_a_stream_is_asked_for_as_events(http: HttpClient, server: WireServer) -> None:
    server.on(GEMINI.stream_path, GEMINI.streamed())
    await GEMINI.make(http, server.url).complete(asked(on_text=lambda _: None))
    assert server.received[0].query == {"alt": "sse"}


async def test_what_the_model_thought_is_no_answer(http: HttpClient, server: WireServer) -> None:
    server.on(PATH, generated({"text": "Let me see", "thought": True}, {"text": '{"a"'}, {"text": ": 1}"}))
    assert json.loads((await GEMINI.make(http, server.url).complete(asked())).text) == {"a": 1}


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
async def test_a_blocked_answer_says_why(reason: str, http: HttpClient, server: WireServer) -> None:
    server.on(PATH, generated(finish=reason))
    with pytest.raises(AnswerWithheld, match=f"blocked the answer: {reason}"):
        await GEMINI.make(http, server.url).complete(asked())


async def test_an_invalid_key_is_reported_with_its_variable(http: HttpClient, server: WireServer) -> None:
    error = {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"reason": "API_KEY_INVALID"}],
    }
    server.on(PATH, Answer(status=400, body={"error": error}))
    with pytest.raises(ProviderRefused, match="GEMINI_API_KEY") as caught:
        await GEMINI.make(http, server.url).complete(asked())
    assert KEY not in str(caught.value)


async def test_a_schema_that_is_too_much_gives_way_to_json(http: HttpClient, server: WireServer) -> None:
    def react(request: Received) -> Answer:
        if "responseSchema" in request.json()["generationConfig"]:
            message = "The specified schema produces a constraint that has too many states for serving."
            return Answer(status=400, body={"error": {"code": 400, "message": message}})
        return Answer(body=GEMINI.whole)

    server.on(PATH, react)
    await GEMINI.make(http, server.url).complete(asked())
    assert server.received[1].json()["generationConfig"]["responseMimeType"] == "application/json"


async def test_the_effort_is_sent_where_the_user_wants_one(http: HttpClient, server: WireServer) -> None:
    server.on("*", Answer(body=GEMINI.whole))
    await GEMINI.make(http, server.url, effort="low").complete(asked())
    assert server.received[0].json()["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "low"}
