"""The protocols of the models, as the providers document them: how each answers, streams and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.llm.anthropic import AnthropicModel
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.providers.llm.gemini import GeminiModel
from graph_research.providers.llm.http_model import HttpModelConfig
from graph_research.providers.llm.openai import OpenAIModel
from tests.support.network.http_server import Answer

KEY = "sk-MARKED-0123456789abcdef"

SCHEMA = {
    "type": "object",
    "required": ["answer"],
    "properties": {"answer": {"type": "string", "minLength": 1}, "sure": {"type": "boolean"}},
}


def asked(**changes: Any) -> ModelRequest:
    whole = {"agent": "planner", "role": "research", "system": "You plan.", "user": "Why?", "schema": SCHEMA}
    return ModelRequest(**{**whole, **changes})


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """`make` builds the model; `whole` and `events` are an answer of two texts in a row that together are `{"a": 1}`,
    with 100 tokens read, 60 of them from the cache, and 7 written. `usage` counts what a model thought as written."""

    name: str
    path: str
    stream_path: str
    make: Callable[..., Model]
    whole: Mapping[str, Any]
    events: Sequence[Any]
    cut: Mapping[str, Any]
    blocked: Mapping[str, Any]
    context_error: Mapping[str, Any]
    limit_tokens: int
    key_header: str
    error: Callable[[str], Any] = field(default=lambda text: {"error": {"message": text}})

    def streamed(self, *, until: int | None = None) -> Answer:
        lines = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in self.events[:until]]
        return Answer(headers={"content-type": "text/event-stream"}, chunks=tuple(lines))


def endpoint(url: str, headers: Mapping[str, str], **changes: Any) -> Endpoint:
    whole: dict[str, Any] = {"name": "tested", "base_url": url, "headers": headers, "secrets": (KEY,), "attempts": 3}
    return Endpoint(**{**whole, **changes})


def _openai(http: HttpClient, url: str, **changes: Any) -> Model:
    headers = {"Authorization": f"Bearer {KEY}"}
    return OpenAIModel(_service(http, url + "/v1", headers, "openai", "some-model", **changes))


def _anthropic(http: HttpClient, url: str, **changes: Any) -> Model:
    return AnthropicModel(_service(http, url, {"x-api-key": KEY}, "anthropic", "claude-sonnet-5-5", **changes))


def _gemini(http: HttpClient, url: str, **changes: Any) -> Model:
    headers = {"x-goog-api-key": KEY}
    return GeminiModel(_service(http, url + "/v1beta", headers, "gemini", "gemini-3.7-flash", **changes))


def _service(
    http: HttpClient, url: str, headers: Mapping[str, str], kind: str, usual_model: str, **changes: Any
) -> HttpModelConfig:
    model, effort = changes.pop("model", usual_model), changes.pop("effort", None)
    official = changes.pop("official", False)
    return HttpModelConfig(
        http=http,
        endpoint=endpoint(url, headers, **changes),
        spec=f"{kind}:{model}",
        model=model,
        effort=effort,
        official=official,
        key_name=f"{kind.upper()}_API_KEY",
    )


def _chat(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "some-model-2026-01-01",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
    }


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice], "usage": None}


OPENAI = Dialect(
    name="openai",
    path="/v1/chat/completions",
    stream_path="/v1/chat/completions",
    make=_openai,
    whole=_chat('{"a": 1}'),
    events=[
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"content": '{"a"'}),
        _chunk({"content": ": 1}"}),
        _chunk({}, "stop"),
        {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": _chat("")["usage"]},
        "[DONE]",
    ],
    cut=_chat('{"a', "length"),
    blocked=_chat(None, refusal="I cannot help with that."),
    context_error={
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 "
            "tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }
    },
    limit_tokens=8192,
    key_header="authorization",
)


def _message(content: Sequence[Mapping[str, Any]], stop: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 60,
            "output_tokens": 7,
        },
    }


def _tool(value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": "give_answer", "input": value}


def _piece(text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}}


ANTHROPIC = Dialect(
    name="anthropic",
    path="/v1/messages",
    stream_path="/v1/messages",
    make=_anthropic,
    whole=_message([_tool({"a": 1})], "tool_use"),
    events=[
        {"type": "message_start", "message": {**_message([], ""), "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**_tool({})}},
        {"type": "ping"},
        _piece('{"a"'),
        _piece(": 1}"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ],
    cut=_message([{"type": "text", "text": '{"a'}], "max_tokens"),
    blocked=_message([], "refusal"),
    context_error={
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "prompt is too long: 207791 tokens > 200000 maximum"},
    },
    limit_tokens=200_000,
    key_header="x-api-key",
)


def _generated(text: str | None, finish: str | None) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]} if text is not None else {}
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 60,
        },
        "modelVersion": "gemini-3.7-flash",
    }


GEMINI = Dialect(
    name="gemini",
    path="/v1beta/models/gemini-3.7-flash:generateContent",
    stream_path="/v1beta/models/gemini-3.7-flash:streamGenerateContent",
    make=_gemini,
    whole=_generated('{"a": 1}', "STOP"),
    events=[_generated('{"a"', None), _generated(": 1}", "STOP")],
    cut=_generated('{"a', "MAX_TOKENS"),
    blocked={"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 100}},
    context_error={
        "error": {
            "code": 400,
            "message": "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
            "status": "INVALID_ARGUMENT",
        }
    },
    limit_tokens=1_048_576,
    key_header="x-goog-api-key",
)

DIALECTS = (OPENAI, ANTHROPIC, GEMINI)
