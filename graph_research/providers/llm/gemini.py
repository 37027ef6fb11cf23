"""generateContent, the protocol of Google's Gemini models."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pydantic import Field

from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage, estimated
from graph_research.providers.llm.http_model import HttpModel, HttpModelConfig, ResponseModel
from graph_research.providers.llm.provider_spec import Hosting, ModelProviderSpec
from graph_research.providers.llm.structured_output import is_object, openapi_schema

URL = "https://generativelanguage.googleapis.com/v1beta"

_THINKING_ROOM_TOKENS = 16_384
"""Tokens beside the answer's own that the model may think in; `maxOutputTokens` covers both."""

_MOST_OUTPUT_TOKENS = 65_536
_TAKES_TEMPERATURE = re.compile(r"gemini-[12]\b")
_REASONS = re.compile(r"(?:models/)?gemini-[3-9]\b")
_HELD_BACK = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"}
)  # fmt: skip
_OPTIONAL = {
    "responseSchema": re.compile(r"response_?schema|schema at top-level|too many states|schema is too", re.IGNORECASE),
    "responseMimeType": re.compile(r"response_?mime_?type|json mode", re.IGNORECASE),
    "temperature": re.compile(r"temperature", re.IGNORECASE),
    "seed": re.compile(r"\bseed\b", re.IGNORECASE),
    "systemInstruction": re.compile(r"system_?instruction|developer instruction", re.IGNORECASE),
}


class _Part(ResponseModel):
    text: str | None = None
    thought: bool = False


class _Content(ResponseModel):
    parts: tuple[_Part, ...] = ()


class _Candidate(ResponseModel):
    content: _Content | None = None
    finish: str | None = Field(None, alias="finishReason")


class _Feedback(ResponseModel):
    block_reason: str | None = Field(None, alias="blockReason")


class _Usage(ResponseModel):
    prompt: int | None = Field(None, alias="promptTokenCount")
    candidates: int | None = Field(None, alias="candidatesTokenCount")
    thoughts: int | None = Field(None, alias="thoughtsTokenCount")
    cached: int | None = Field(None, alias="cachedContentTokenCount")


class _Response(ResponseModel):
    """An answer, or one event of a streamed one."""

    candidates: tuple[_Candidate, ...] = ()
    feedback: _Feedback | None = Field(None, alias="promptFeedback")
    usage: _Usage | None = Field(None, alias="usageMetadata")
    error: Any = None


@dataclass
class _Gathered:
    """An answer as it arrives."""

    text: list[str] = field(default_factory=list)
    finish: str | None = None
    blocked: str | None = None
    usage: _Usage | None = None

    @property
    def is_complete(self) -> bool:
        return self.finish is not None or self.blocked is not None

    def take(self, part: _Response, on_text: Callable[[str], None] | None) -> None:
        self.usage = part.usage or self.usage
        self.blocked = (part.feedback.block_reason if part.feedback else None) or self.blocked
        for candidate in part.candidates[:1]:
            self.finish = candidate.finish or self.finish
            for piece in candidate.content.parts if candidate.content else ():
                if piece.text and not piece.thought:
                    self.text.append(piece.text)
                    if on_text is not None:
                        on_text(piece.text)


class GeminiModel(HttpModel[_Gathered]):
    """One Gemini model. An effort is its level of thinking.

    Temperature 0 is sent only to models before Gemini 3; later ones keep their default.
    """

    protocol_name = "generateContent"
    optional = _OPTIONAL
    answer = _Gathered
    models_path = "/models"
    models_params: ClassVar[Mapping[str, str]] = {"pageSize": "1"}

    def __init__(self, config: HttpModelConfig) -> None:
        super().__init__(config)
        if not _TAKES_TEMPERATURE.match(config.model):
            self._left_out.add("temperature")
        self._model_path = f"/models/{config.model.removeprefix('models/')}"
        self.path = f"{self._model_path}:generateContent"

    def _parameters_of(self, body: Mapping[str, Any]) -> set[str]:
        return {*body, *body["generationConfig"]}

    def _stream(self, body: dict[str, Any]) -> AsyncIterator[str]:
        endpoint = replace(self._endpoint, params={**self._endpoint.params, "alt": "sse"})
        return self._http.stream(endpoint, "POST", f"{self._model_path}:streamGenerateContent", json=body)

    def _take(self, answer: _Gathered, loaded: Any, on_text: Callable[[str], None] | None) -> None:
        answer.take(self._response(loaded), on_text)

    def _body(self, request: ModelRequest, *, constrained: bool) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "maxOutputTokens": min(request.max_output_tokens + _THINKING_ROOM_TOKENS, _MOST_OUTPUT_TOKENS)
        }
        if "temperature" not in self._left_out:
            settings["temperature"] = 0
        if "seed" not in self._left_out:
            settings["seed"] = 0
        if self._effort is not None:
            settings["thinkingConfig"] = {"thinkingLevel": self._effort}
        if constrained and request.schema is not None and "responseMimeType" not in self._left_out:
            settings["responseMimeType"] = "application/json"
            wanted = openapi_schema(request.schema) if is_object(request.schema) else None
            if wanted is not None and "responseSchema" not in self._left_out:
                settings["responseSchema"] = wanted
        if "systemInstruction" in self._left_out:
            return {"contents": [_user_message(f"{request.system}\n\n{request.user}")], "generationConfig": settings}
        return {
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": [_user_message(request.user)],
            "generationConfig": settings,
        }

    def _response(self, loaded: Any) -> _Response:
        if isinstance(loaded, list) and loaded:
            loaded = loaded[0]
        part = self._parsed(_Response, loaded)
        if part.error:
            code = part.error.get("code") if isinstance(part.error, dict) else None
            raise self._errors.of(code if isinstance(code, int) else 500, loaded) or self._endpoint.unavailable(
                f"an error {code or ''} while the answer was written"
            )
        if not part.candidates and part.feedback is None and part.usage is None:
            raise self._unreadable()
        return part

    def _reply(self, answer: _Gathered, request: ModelRequest) -> ModelReply:
        text = "".join(answer.text)
        held_back = answer.blocked or (answer.finish if answer.finish in _HELD_BACK else None)
        usage = _counted(answer.usage, request, text)
        if held_back and not text:
            what = "the question" if answer.blocked else "the answer"
            raise self._withheld(f"blocked {what}: {held_back[:60]}", usage)
        cut = answer.finish == "MAX_TOKENS" or held_back is not None
        return ModelReply(text=text, usage=usage, model=self.spec, cut=cut)


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


def _counted(usage: _Usage | None, request: ModelRequest, text: str) -> Usage:
    """The tokens of a call. Thoughts count as output, as they are billed."""
    guess = estimated(request, text)
    if usage is None:
        return guess
    output = (usage.candidates or 0) + (usage.thoughts or 0)
    return Usage(
        input_tokens=usage.prompt or guess.input_tokens,
        output_tokens=output or guess.output_tokens,
        cached_input_tokens=usage.cached or 0,
    )


_HOSTING = Hosting(
    kind="gemini",
    key="GEMINI_API_KEY",
    base_url=URL,
    key_headers=lambda key: {"x-goog-api-key": key},
    is_reasoning=lambda model, _: _REASONS.match(model) is not None,
    protocol=GeminiModel,
    strong_model="gemini-3.1-pro-preview",
    default_model="gemini-3.7-flash",
    cheap_model="gemini-3.1-flash-lite",
)
SPEC = ModelProviderSpec(
    name="gemini",
    usage="gemini:MODEL",
    summary="a Gemini model of Google",
    needs="GEMINI_API_KEY",
    build=_HOSTING.build,
    hosting=_HOSTING,
)
