"""Chat Completions: OpenAI itself, and every server that speaks its protocol (Ollama, vLLM, llama.cpp, OpenRouter, …).

Servers differ in what they take. A request starts with everything that is useful; what a server refuses is left out
from then on, for as long as the model object lives.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_research.providers.errors import ProviderError
from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage, estimated
from graph_research.providers.llm.http_model import HttpModel, HttpModelConfig, ResponseModel
from graph_research.providers.llm.provider_spec import Hosting, ModelProviderSpec
from graph_research.providers.llm.structured_output import is_object, refers_outside, sent_schema, strict_schema

URL = "https://api.openai.com/v1"

_REASONS = re.compile(r"(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*-chat)")
_REASONING_ROOM_TOKENS = 16_384
"""Tokens beside the answer's own that a reasoning model may think in; the limit that is sent covers both."""

_FORMATS = ("json_schema", "json_object", "text")
_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_REFUSED = r"(?:unsupported|not supported|unrecognized|unknown|extra|not permitted)"
_OPTIONAL: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in (
        (
            "max_tokens",
            rf"\bmax_tokens\b.{{0,60}}(?:{_REFUSED}|max_completion_tokens)|{_REFUSED}.{{0,60}}\bmax_tokens\b",
        ),
        ("temperature", r"temperature"),
        ("seed", r"\bseed\b"),
        ("stream_options", r"stream_options|include_usage"),
        (
            "system",
            r"system (?:role|message|prompt).{0,40}not supported|not support .{0,20}system|roles must alternate",
        ),
        ("response_format", r"response_format|json_schema|json_object|json mode|structured output|grammar|guided"),
    )
}
"""The optional parameters, each with a pattern of the errors about it."""


class _CachedTokens(ResponseModel):
    cached_tokens: int | None = None


class _Usage(ResponseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None


class _Message(ResponseModel):
    content: str | list[Any] | None = None
    refusal: str | None = None


class _Choice(ResponseModel):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None


class _Completion(ResponseModel):
    """An answer, or one event of a streamed one."""

    choices: tuple[_Choice, ...] = ()
    usage: _Usage | None = None
    error: Any = None


@dataclass
class _Gathered:
    """An answer as it arrives."""

    text: list[str] = field(default_factory=list)
    refusal: str = ""
    finish: str | None = None
    usage: _Usage | None = None
    ended: bool = False

    @property
    def is_complete(self) -> bool:
        return self.ended or self.finish is not None

    def take(self, part: _Completion, on_text: Callable[[str], None] | None) -> None:
        self.usage = part.usage or self.usage
        for choice in part.choices[:1]:
            message = choice.delta or choice.message or _Message()
            piece = _text_of(message.content)
            self.text.append(piece)
            self.refusal += message.refusal or ""
            self.finish = choice.finish_reason or self.finish
            if piece and on_text is not None:
                on_text(piece)


class OpenAIModel(HttpModel[_Gathered]):
    """One model of one server. `official` is OpenAI's own, whose reasoning models take other parameters.

    Temperature 0 and a seed are sent where the server accepts them, so that the same request gets the same answer
    as far as the server can. An empty answer is returned, not raised as an error.
    """

    protocol_name = "Chat Completions"
    optional = _OPTIONAL
    answer = _Gathered
    path = "/chat/completions"
    models_path = "/models"

    def __init__(self, config: HttpModelConfig) -> None:
        super().__init__(config)
        self._reasons = config.official and is_reasoning(config.model)
        if self._reasons:
            self._left_out |= {"temperature", "seed"}
        self._format = 0
        self._limit_name = "max_completion_tokens" if config.official else "max_tokens"

    def _stream(self, body: dict[str, Any]) -> AsyncIterator[str]:
        options = {} if "stream_options" in self._left_out else {"stream_options": {"include_usage": True}}
        return self._http.stream(self._endpoint, "POST", self.path, json={**body, "stream": True, **options})

    def _take(self, answer: _Gathered, loaded: Any, on_text: Callable[[str], None] | None) -> None:
        if loaded is None:
            answer.ended = True
        else:
            answer.take(self._completion(loaded), on_text)

    def _body(self, request: ModelRequest, *, constrained: bool) -> dict[str, Any]:
        room = _REASONING_ROOM_TOKENS if self._reasons else 0
        body: dict[str, Any] = {
            "model": self._model,
            "messages": self._messages(request),
            self._limit_name: request.max_output_tokens + room,
        }
        if "temperature" not in self._left_out:
            body["temperature"] = 0
        if "seed" not in self._left_out:
            body["seed"] = 0
        if self._effort is not None:
            body["reasoning_effort"] = self._effort
        wanted = self._response_format(request.schema if constrained else None)
        return body if wanted is None else {**body, "response_format": wanted}

    def _messages(self, request: ModelRequest) -> list[dict[str, str]]:
        system, user = request.system, request.user
        if request.schema is not None and "json" not in f"{system}{user}".lower():
            user = f"{user}\n\nAnswer with JSON."
        if "system" in self._left_out:
            return [{"role": "user", "content": f"{system}\n\n{user}"}]
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]

    def _response_format(self, schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
        wanted = _FORMATS[self._format]
        if schema is None or wanted == "text" or not is_object(schema):
            return None
        if wanted == "json_object" or refers_outside(schema):
            return {"type": "json_object"}
        sent = sent_schema(schema)
        strict = strict_schema(sent)
        described = {"name": "answer", "strict": strict is not None, "schema": strict or sent}
        return {"type": "json_schema", "json_schema": described}

    def _leave_out(self, parameter: str, body: Mapping[str, Any]) -> bool:
        """A stricter format gives way to a looser one, and `max_tokens` to its newer name."""
        if parameter == "response_format":
            if "response_format" not in body:
                return False
            self._format = _FORMATS.index(body["response_format"]["type"]) + 1
            return True
        if parameter == "max_tokens":
            changed = self._limit_name != "max_completion_tokens"
            self._limit_name = "max_completion_tokens"
            return changed
        return super()._leave_out(parameter, body)

    def _parameters_of(self, body: Mapping[str, Any]) -> set[str]:
        return {*body, "system", "stream_options"}

    def _completion(self, loaded: Any) -> _Completion:
        """The response, or the error that it holds in spite of status 200."""
        part = self._parsed(_Completion, loaded)
        if part.error:
            raise self._stream_error(loaded)
        if not part.choices and part.usage is None and "choices" not in loaded:
            raise self._unreadable()
        return part

    def _stream_error(self, loaded: Mapping[str, Any]) -> ProviderError:
        error = loaded["error"]
        code = error.get("code") if isinstance(error, Mapping) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 400
        return self._errors.of(status, loaded) or self._endpoint.unavailable(f"an error {status} in place of an answer")

    def _reply(self, answer: _Gathered, request: ModelRequest) -> ModelReply:
        text = _THINKING.sub("", "".join(answer.text))
        usage = _counted(answer.usage, request, text)
        if answer.refusal and not text.strip():
            raise self._withheld(f"declined to answer: {answer.refusal[:200]}", usage)
        if answer.finish == "content_filter" and not text.strip():
            raise self._withheld("held the answer back with a filter", usage)
        cut = answer.finish in ("length", "content_filter")
        return ModelReply(text=text, usage=usage, model=self.spec, cut=cut)


def is_reasoning(model: str) -> bool:
    """Whether a model of OpenAI's own thinks before it answers, by its name."""
    return _REASONS.match(model) is not None


def _text_of(content: str | list[Any] | None) -> str:
    """The text of a content, which some servers give in parts with their thoughts among them."""
    if not isinstance(content, list):
        return content or ""
    texts = (part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text")
    return "".join(text for text in texts if isinstance(text, str))


def _counted(usage: _Usage | None, request: ModelRequest, text: str) -> Usage:
    guess = estimated(request, text)
    if usage is None:
        return guess
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens or guess.input_tokens,
        output_tokens=guess.output_tokens if usage.completion_tokens is None else usage.completion_tokens,
        cached_input_tokens=(details.cached_tokens or 0) if details else 0,
    )


_HOSTING = Hosting(
    kind="openai",
    key="OPENAI_API_KEY",
    base_url=URL,
    key_headers=lambda key: {"Authorization": f"Bearer {key}"},
    is_reasoning=lambda model, official: official and is_reasoning(model),
    protocol=OpenAIModel,
    strong_model="gpt-5.5",
    default_model="gpt-5.4-mini",
    cheap_model="gpt-5.4-nano",
)
SPEC = ModelProviderSpec(
    name="openai",
    usage="openai:MODEL or openai:MODEL@URL",
    summary="a model of OpenAI, or of any server that speaks its protocol: Ollama, vLLM, llama.cpp, OpenRouter, …",
    needs="OPENAI_API_KEY at OpenAI, the address at others",
    build=_HOSTING.build,
    hosting=_HOSTING,
)
