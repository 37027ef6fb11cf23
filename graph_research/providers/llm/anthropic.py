"""Messages, the protocol of Anthropic's models: answers as the input of a tool that must be called, prompts cached."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import orjson

from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage, estimated
from graph_research.providers.llm.http_model import HttpModel, HttpModelConfig, ResponseModel
from graph_research.providers.llm.provider_spec import Hosting, ModelProviderSpec
from graph_research.providers.llm.structured_output import is_object, refers_outside, sent_schema

URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"
"""The version of the protocol that is spoken; what it takes of temperature depends on the model."""

_TOOL = "give_answer"
_TAKES_TEMPERATURE = re.compile(r"claude-(?:3|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:-\d{8}|-latest)?\Z)")
_REASONS = re.compile(r"claude-(?:opus-4-[5-9]|sonnet-4-[6-9]|[a-z]+-[5-9])\b")
_OPTIONAL = {
    "temperature": re.compile(r"temperature"),
    "tool_choice": re.compile(r"tool_choice"),
    "tools": re.compile(r"\btools?\b|input_schema"),
}
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status of each error type, for errors inside a stream."""


class _Usage(ResponseModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Block(ResponseModel):
    type: str
    text: str | None = None
    input: Any = None


class _Message(ResponseModel):
    content: tuple[_Block, ...] = ()
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Delta(ResponseModel):
    text: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class _Event(ResponseModel):
    """One event of a streamed answer."""

    type: str
    message: _Message | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: Any = None


@dataclass
class _Gathered:
    """An answer as it arrives: `tool` holds the arguments of the tool call, `text` the text beside it."""

    text: list[str] = field(default_factory=list)
    tool: list[str] = field(default_factory=list)
    stop: str | None = None
    usage: _Usage = field(default_factory=_Usage)

    @property
    def is_complete(self) -> bool:
        return self.stop is not None

    def take_whole(self, message: _Message) -> None:
        for block in message.content:
            if block.type == "text":
                self.text.append(block.text or "")
            elif block.type == "tool_use":
                self.tool.append(orjson.dumps(block.input).decode())
        self.count(message.usage)
        self.stop = message.stop_reason or self.stop

    def take(self, event: _Event, on_text: Callable[[str], None]) -> None:
        if event.message is not None:
            self.count(event.message.usage)
        self.count(event.usage)
        if event.delta is None:
            return
        self.stop = event.delta.stop_reason or self.stop
        for piece, pieces in ((event.delta.text, self.text), (event.delta.partial_json, self.tool)):
            if piece:
                pieces.append(piece)
                on_text(piece)

    def count(self, usage: _Usage | None) -> None:
        """Later counts of a stream replace earlier ones."""
        if usage is not None:
            self.usage = self.usage.model_copy(update=usage.model_dump(exclude_none=True))


class AnthropicModel(HttpModel[_Gathered]):
    """One of Anthropic's models.

    The system prompt is marked for caching: it is the same for all calls of an agent. Reasoning models cannot be forced
    to call a tool; after the server's first refusal the prompt asks for the call instead.
    """

    protocol_name = "Messages"
    optional = _OPTIONAL
    answer = _Gathered
    path = "/v1/messages"
    models_path = "/v1/models"
    models_params: ClassVar[Mapping[str, str]] = {"limit": "1"}

    def __init__(self, config: HttpModelConfig) -> None:
        super().__init__(config)
        if not _TAKES_TEMPERATURE.match(config.model):
            self._left_out.add("temperature")
        self._endpoint = replace(
            self._endpoint, headers={**self._endpoint.headers, "anthropic-version": ANTHROPIC_VERSION}
        )

    def _stream(self, body: dict[str, Any]) -> AsyncIterator[str]:
        return self._http.stream(self._endpoint, "POST", self.path, json={**body, "stream": True})

    def _take(self, answer: _Gathered, loaded: Any, on_text: Callable[[str], None] | None) -> None:
        if on_text is not None:
            event = self._parsed(_Event, loaded)
            if event.type == "error":
                raise self._stream_error(loaded)
            answer.take(event, on_text)
            return
        message = self._parsed(_Message, loaded)
        if message.stop_reason is None:
            raise self._unreadable()
        answer.take_whole(message)

    def _body(self, request: ModelRequest, *, constrained: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_output_tokens,
            "messages": [{"role": "user", "content": request.user}],
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]
        if "temperature" not in self._left_out:
            body["temperature"] = 0
        if self._effort is not None:
            body["output_config"] = {"effort": self._effort}
        schema = request.schema if constrained else None
        if schema is None or not is_object(schema) or refers_outside(schema) or "tools" in self._left_out:
            return body
        described = "Give the answer. Call this once, with the whole answer."
        body["tools"] = [{"name": _TOOL, "description": described, "input_schema": sent_schema(schema)}]
        forced = "tool_choice" not in self._left_out
        body["tool_choice"] = {"type": "tool", "name": _TOOL} if forced else {"type": "auto"}
        if not forced:
            body["messages"][0]["content"] += f"\n\nAnswer by calling the tool {_TOOL}."
        return body

    def _stream_error(self, loaded: Any) -> Exception:
        error = loaded.get("error") or {}
        kind = error.get("type") if isinstance(error, dict) else None
        return self._errors.of(_STATUS.get(str(kind), 500), loaded) or self._endpoint.unavailable(
            f"{kind or 'an error'} while the answer was written"
        )

    def _reply(self, answer: _Gathered, request: ModelRequest) -> ModelReply:
        text = answer.tool[0] if len(answer.tool) == 1 else "".join(answer.tool or answer.text)
        usage = _counted(answer.usage, request, text)
        if answer.stop == "refusal":
            raise self._withheld("declined to answer", usage)
        return ModelReply(
            text=text,
            usage=usage,
            model=self.spec,
            cut=answer.stop in ("max_tokens", "model_context_window_exceeded"),
        )


def _counted(usage: _Usage, request: ModelRequest, text: str) -> Usage:
    """The tokens of a call. Input includes cache writes and reads, which the server counts separately."""
    guess = estimated(request, text)
    cached = usage.cache_read_input_tokens or 0
    input_tokens = (usage.input_tokens or 0) + (usage.cache_creation_input_tokens or 0) + cached
    return Usage(
        input_tokens=input_tokens or guess.input_tokens,
        output_tokens=guess.output_tokens if usage.output_tokens is None else usage.output_tokens,
        cached_input_tokens=cached,
    )


_HOSTING = Hosting(
    kind="anthropic",
    key="ANTHROPIC_API_KEY",
    base_url=URL,
    key_headers=lambda key: {"x-api-key": key},
    is_reasoning=lambda model, _: _REASONS.match(model) is not None,
    protocol=AnthropicModel,
    strong_model="claude-opus-5-5",
    default_model="claude-sonnet-5-5",
    cheap_model="claude-haiku-4-5",
)
SPEC = ModelProviderSpec(
    name="anthropic",
    usage="anthropic:MODEL",
    summary="a model of Anthropic",
    needs="ANTHROPIC_API_KEY",
    build=_HOSTING.build,
    hosting=_HOSTING,
)
