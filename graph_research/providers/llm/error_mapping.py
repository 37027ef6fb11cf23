"""Maps the error responses of model servers to errors: exceeded window, key, quota, refused parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from graph_research.providers.errors import ContextExceeded, ProviderError, ProviderRefused
from graph_research.providers.http.endpoint import Response
from graph_research.providers.http.status_errors import find_message
from graph_research.text.deferred_patterns import deferred
from graph_research.text.wording import one_line, shortened

_MOST_CHARS = 300
_MOST_DEPTH = 40
"""No server nests its errors deeper; what lies below is not read."""

_N = r"(\d[\d,]{0,11})(?!\d|,\d)"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"tokens > {_N} maximum",
        rf"exceeds? (?:the )?context limit: *\d+ *\+ *\d+ *> *{_N}",
        rf"maximum number of tokens allowed \({_N}\)",
        rf"available context size \({_N} tokens",
        rf"context length (?:is|of)(?: only)? {_N}",
        rf"\(context length {_N}\)",
        rf"context window (?:is|of|size)(?: only)?[ (]*{_N}",
        rf"configured limit of {_N} tokens",
        rf"too long and exceeds limit of {_N}",
        rf"request too large .{{0,400}}?\bTPM\)?: *limit {_N}, *requested",
        rf"max_model_len\D{{0,20}}{_N}",
    )
)
"""Where the servers write the limit: Anthropic (2), Gemini, llama.cpp, OpenAI, vLLM and OpenRouter, vLLM (3),
llama-cpp-python, OpenAI, vLLM, Groq, vLLM."""

_CONTEXT = deferred(
    r"context_length_exceeded|exceed_context_size_error|model_context_window_exceeded|string_above_max_length"
    r"|prompt is too long|prompt is longer than|exceeds? (?:the |this model's )?(?:maximum |available )?context"
    r"|maximum context length|context (?:length|window|size) (?:is )?exceeded|input length exceeds"
    r"|input length and `?max_tokens`? exceed|max_tokens must be at least 1, got -|request_too_large"
    r"|input token count .{0,40}exceeds|too many (?:input )?tokens"
    r"|reduce the length of (?:the|your) (?:messages|prompt|input)"
    r"|is too long to fit into the model|too long and exceeds limit|request too large .{0,400} tokens",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing_hard_limit|billing_not_active|credit balance is too low"
    r"|insufficient (?:credits?|balance|funds)|requires more credits|out of credits?|payment required",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"api[_ ]key[_ ]?(?:not valid|invalid|expired)|invalid[_ ]api[_ ]key|invalid x-api-key", re.IGNORECASE
)
_GIVEN_UP = re.compile(
    r"not match the expected .{0,40}format|json_validate_failed|failed to generate json", re.IGNORECASE
)
"""llama.cpp and Groq, of an answer that was cut or bent out of its JSON."""

_TRY_LATER = frozenset({408, 409, 425, 429})


class ConstraintFailed(ProviderRefused):
    """The server discarded an answer that did not fit the schema it enforces."""

    code = ProviderRefused.code


class ParameterRefused(ProviderRefused):
    """The server refuses the optional parameter `parameter`."""

    code = ProviderRefused.code

    def __init__(self, message: str, *, provider: str, parameter: str) -> None:
        super().__init__(message, provider=provider)
        self.parameter = parameter


@dataclass(frozen=True, kw_only=True)
class ErrorMapper:
    """Maps the error responses of one provider; its `__call__` is a `Classify`.

    `key_name` is the environment variable of the key, empty if none is sent. `parameters` are the optional parameters,
    each with a pattern of the errors about it.
    """

    provider: str
    model: str
    key_name: str = ""
    parameters: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    def __call__(self, reply: Response) -> ProviderError | None:
        return self.of(reply.status, _loaded(reply))

    def of(self, status: int, error: Any) -> ProviderError | None:
        """The error for an HTTP status and the response's JSON or text; None for a temporary fault of the server, which
        the status alone describes."""
        text = _flat(error)
        detail = shortened(one_line(find_message(error)), _MOST_CHARS) or "no reason given"
        if (exceeded := context_error(text, self.provider, error)) is not None:
            return exceeded
        if status == 413:
            return ContextExceeded(f"{self.provider}: the request is too large", provider=self.provider)
        if status == 401 or _KEY.search(text):
            return self._refused("does not accept the key", self._key_help())
        if status == 402 or _QUOTA.search(text):
            return self._refused(f"has no quota left: {detail}", "see the plan and the billing of the account")
        if _GIVEN_UP.search(text):
            return ConstraintFailed(f"{self.provider} gave the answer up: {detail}", provider=self.provider)
        if status in (400, 422, 500, 501) and (named := self._parameter(text)) is not None:
            message = f"{self.provider} does not take {named}: {detail}"
            return ParameterRefused(message, provider=self.provider, parameter=named)
        if status >= 500 or status in _TRY_LATER:
            return None
        if status == 403:
            return self._refused(f"does not allow this: {detail}", self._key_help())
        if status == 404:
            return self._refused(
                f"does not know {self.model!r}, or nothing is served at this address: {detail}",
                "check the model's name; an address of your own mostly ends in /v1",
            )
        return self._refused(f"answered {status}: {detail}", "")

    def _parameter(self, text: str) -> str | None:
        return next((name for name, pattern in self.parameters.items() if pattern.search(text)), None)

    def _refused(self, what: str, help: str) -> ProviderRefused:
        return ProviderRefused(f"{self.provider} {what}", provider=self.provider, help=help)

    def _key_help(self) -> str:
        if self.key_name:
            return f"check the key in {self.key_name}"
        return "name the variable of its key for this host in the setting `model_keys`"


def context_error(text: str, provider: str, error: Any = None) -> ContextExceeded | None:
    """The error of a prompt that exceeds the window, if `text` is about that; `error` may hold the limit as a field."""
    limit = _limit(text) or _field(error, "n_ctx")
    if limit is None and not _CONTEXT.search(text):
        return None
    size = f"{limit:,} tokens" if limit else "of unknown size"
    return ContextExceeded(
        f"{provider}: the prompt is longer than the window ({size})", provider=provider, limit_tokens=limit
    )


def _limit(text: str) -> int | None:
    for pattern in _LIMITS:
        if (found := pattern.search(text)) is not None and (number := int(found[1].replace(",", ""))) > 0:
            return number
    return None


def _loaded(reply: Response) -> Any:
    try:
        return reply.json()
    except ValueError:
        return reply.text()


def _flat(error: Any) -> str:
    """The error as text with its codes and types, but without the input that it repeats."""
    return error if isinstance(error, str) else orjson.dumps(_unechoed(error), option=orjson.OPT_NON_STR_KEYS).decode()


def _unechoed(error: Any, depth: int = _MOST_DEPTH) -> Any:
    if not depth:
        return None
    if isinstance(error, Mapping):
        return {key: _unechoed(value, depth - 1) for key, value in error.items() if key != "input"}
    return [_unechoed(item, depth - 1) for item in error] if isinstance(error, list) else error


def _field(error: Any, name: str) -> int | None:
    inner = error.get("error") if isinstance(error, Mapping) else None
    value = inner.get(name) if isinstance(inner, Mapping) else None
    return value if isinstance(value, int) and value > 0 else None
