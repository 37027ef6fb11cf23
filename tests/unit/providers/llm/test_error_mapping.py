"""What servers say when a prompt is too long, a key is wrong, a quota is used up or a parameter is not known."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graph_research.providers.errors import ContextExceeded, ProviderRefused
from graph_research.providers.llm.error_mapping import ErrorMapper, ParameterRefused

TOO_LONG: dict[str, tuple[int, Any, int | None]] = {
    "OpenAI": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in "
                "204308 tokens. Please reduce the length of the messages.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
        128_000,
    ),
    "OpenAI, reasoning models": (
        400,
        {
            "error": {
                "message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
                "300012 tokens. Please reduce the length of the messages.",
                "code": "context_length_exceeded",
            }
        },
        272_000,
    ),
    "OpenAI, without a number": (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, None),
    "OpenAI, a text beyond the longest": (
        400,
        {"error": {"message": "Invalid 'messages[0].content': string too long.", "code": "string_above_max_length"}},
        None,
    ),
    "Anthropic": (
        400,
        {"error": {"type": "invalid_request_error", "message": "prompt is too long: 207791 tokens > 200000 maximum"}},
        200_000,
    ),
    "Anthropic, with the answer": (
        400,
        {
            "error": {
                "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease "
                "input length or `max_tokens` and try again",
            }
        },
        200_000,
    ),
    "Anthropic, too many bytes": (413, {"error": {"type": "request_too_large", "message": "Request too large"}}, None),
    "Gemini": (
        400,
        {
            "error": {
                "code": 400,
                "message": "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
                "status": "INVALID_ARGUMENT",
            }
        },
        1_048_576,
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 14429,
                "n_ctx": 8192,
            }
        },
        8_192,
    ),
    "llama.cpp, with status 500": (
        500,
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing the context size or enable "
                "context shift",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 1407,
                "n_ctx": 256,
            }
        },
        256,
    ),
    "llama-cpp-python": (
        400,
        {"error": {"message": "Requested tokens (2285) exceed context window of 2048", "code": None}},
        2_048,
    ),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens "
            "(112946 in the messages, 10000 in the completion). Please reduce the length of the messages.",
            "type": "BadRequestError",
            "code": 400,
        },
        16_384,
    ),
    "vLLM, newer": (
        400,
        {
            "error": {
                "message": "You passed 4097 input tokens and requested 1 output tokens. However, the model's context "
                "length is only 4096 tokens, resulting in a maximum input length of 4095 tokens.",
                "type": "BadRequestError",
            }
        },
        4_096,
    ),
    "vLLM, at the encoder": (
        400,
        {
            "message": "The decoder prompt (length 25938) is too long to fit into the model (context length 4096). "
            "Make sure that `max_model_len` is no smaller than the number of text tokens."
        },
        4_096,
    ),
    "vLLM, no room for an answer": (400, {"message": "max_tokens must be at least 1, got -186."}, None),
    "Ollama": (
        400,
        {
            "error": '{"error":{"code":400,"message":"request (351 tokens) exceeds the available context size (256 '
            'tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}}'
        },
        256,
    ),
    "Ollama, in words": (400, {"error": "the input length exceeds the context length"}, None),
    "OpenRouter": (
        400,
        {
            "error": {
                "message": "This endpoint's maximum context length is 131072 tokens. However, you requested about "
                "138956 tokens (7884 of text input, 131072 in the output). Please reduce the length of either one, "
                'or use the "middle-out" transform to compress your prompt automatically.',
                "code": 400,
            }
        },
        131_072,
    ),
    "OpenRouter, repeating a provider": (
        502,
        {
            "error": {
                "message": "Provider returned error",
                "code": 502,
                "metadata": {
                    "raw": "This model's maximum context length is 16000 tokens. However, you requested 17165"
                },
            }
        },
        16_000,
    ),
    "Groq": (
        413,
        {
            "error": {
                "message": "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit "
                "6000, Requested 9821, please reduce your message size and try again.",
                "code": "rate_limit_exceeded",
            }
        },
        6_000,
    ),
    "a server that answers with text": (400, "context length exceeded", None),
}

PASSING = {
    "a rate limit": (429, {"error": {"message": "Rate limit reached for m", "code": "rate_limit_exceeded"}}),
    "Gemini's limit of a minute": (
        429,
        {
            "error": {
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "status": "RESOURCE_EXHAUSTED",
            }
        },
    ),
    "overload": (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "a gateway": (502, "<html>bad gateway</html>"),
    "a model that still loads": (503, {"error": {"message": "Loading model", "type": "unavailable_error"}}),
}

FOR_THE_USER = {
    "OpenAI's quota": (429, {"error": {"message": "You exceeded it", "code": "insufficient_quota"}}, "quota"),
    "Anthropic's credit": (
        400,
        {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}},
        "quota",
    ),
    "OpenRouter's credit": (402, {"error": {"message": "This request requires more credits", "code": 402}}, "quota"),
    "a wrong key": (401, {"error": {"message": "Incorrect API key: sk-abc***", "code": "invalid_api_key"}}, "key"),
    "Gemini's wrong key": (
        400,
        {
            "error": {
                "code": 400,
                "message": "API key not valid. Please pass a valid API key.",
                "details": [{"reason": "API_KEY_INVALID"}],
            }
        },
        "key",
    ),
    "a model that is not there": (404, {"error": {"message": "The model `m` does not exist"}}, "does not know"),
    "a request that is wrong": (400, {"error": {"message": "messages: at least one is required"}}, "at least one"),
    "FastAPI's own words": (422, {"detail": [{"loc": ["body", "x"], "msg": "field required"}]}, "field required"),
    "a redirect": (302, "", "answered 302"),
}  # fmt: skip

READ = ErrorMapper(provider="tested", model="m", key_name="TESTED_KEY", parameters={"seed": re.compile(r"\bseed\b")})


@pytest.mark.requirement("14.1")
@pytest.mark.parametrize("name", TOO_LONG)
def test_a_prompt_that_is_too_long_is_an_error_of_its_own_with_the_reported_limit(name: str) -> None:
    status, told, limit = TOO_LONG[name]
    error = READ.of(status, told)
    assert isinstance(error, ContextExceeded)
    assert error.limit_tokens == limit


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_left_to_its_status(name: str) -> None:
    assert READ.of(*PASSING[name]) is None


@pytest.mark.parametrize("name", FOR_THE_USER)
def test_errors_that_a_retry_cannot_fix_are_refused_with_the_reason(name: str) -> None:
    status, told, words = FOR_THE_USER[name]
    error = READ.of(status, told)
    assert isinstance(error, ProviderRefused)
    assert words in str(error)
    assert "sk-abc" not in str(error)


def test_the_variable_of_a_wrong_key_is_named() -> None:
    assert "TESTED_KEY" in str(READ.of(401, ""))
    assert "model_keys" in str(ErrorMapper(provider="tested", model="m").of(401, ""))


def test_a_parameter_that_is_not_known_is_named() -> None:
    error = READ.of(400, {"error": {"message": "Unrecognized request argument supplied: seed"}})
    assert isinstance(error, ParameterRefused)
    assert error.parameter == "seed"


def test_what_a_server_repeats_of_the_request_does_not_count() -> None:
    told = {"detail": [{"msg": "value is too long", "input": "What does 'maximum context length is 99 tokens' mean?"}]}
    assert not isinstance(READ.of(422, told), ContextExceeded)


def test_a_servers_words_come_on_one_line_without_control_characters() -> None:
    error = READ.of(400, {"error": {"message": "one\n\x1b[31mtwo" + "x" * 1000}})
    assert "one [31mtwo" in str(error)
    assert len(str(error)) < 400
