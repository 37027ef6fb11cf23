"""What the span of a recorded call says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from graph_research.app.telemetry.conventions import Name, Operation
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.statuses import CallStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import UnknownModel
from graph_research.providers.llm.model_spec import CLI, EXTRACTIVE, SCRIPTED, parse_spec
from graph_research.providers.search.base import LOCAL
from graph_research.research.llm.usage import Price, spending_of

_PROVIDERS = {"gemini": "gcp.gemini"}
"""The conventions' names of model providers that they name otherwise."""


def call_attributes(call: CallRecord, price: Price) -> tuple[str, bool, dict[Name, Any]]:
    """The name of a call's span, whether the call leaves the process, and its attributes with their content."""
    request = call.request if isinstance(call.request, Mapping) else {}
    answer = call.answer if isinstance(call.answer, Mapping) else {}
    attributes: dict[Name, Any] = {Name.CALL: call.kind}
    if call.status == CallStatus.FAILED:
        attributes |= {Name.ERROR: answer.get("type", "error"), Name.ERROR_MESSAGE: answer.get("message", "")}
    if call.kind == CallKind.MODEL:
        return _model_call(request, answer if call.status == CallStatus.ANSWERED else {}, price, attributes)
    if call.kind == CallKind.SEARCH:
        source = str(request.get("provider", ""))
        attributes |= {Name.OPERATION: Operation.RETRIEVAL, Name.DATA_SOURCE: source, Name.QUERY: request.get("query")}
        if isinstance(call.answer, list):
            attributes[Name.RESULTS] = len(call.answer)
        return f"{Operation.RETRIEVAL} {source}", source != LOCAL, attributes
    if call.kind == CallKind.FETCH:
        attributes |= {Name.OPERATION: Operation.TOOL, Name.TOOL: call.kind, Name.ARGUMENTS: _json(request)}
        return f"{Operation.TOOL} {call.kind}", True, attributes
    return call.kind, False, attributes


def message_of(role: str, text: Any, **more: str) -> str:
    """A text as messages in the JSON of the conventions."""
    return _json([{"role": role, "parts": [_text(text)], **more}])


def _model_call(
    request: Mapping[str, Any], answer: Mapping[str, Any], price: Price, attributes: dict[Name, Any]
) -> tuple[str, bool, dict[Name, Any]]:
    provider, model, url = _named(str(request.get("model", "")))
    attributes |= {
        Name.OPERATION: Operation.CHAT,
        Name.PROVIDER: provider,
        Name.REQUEST_MODEL: model,
        Name.AGENT: request.get("agent"),
        Name.ROLE: request.get("role"),
        Name.TURN: request.get("attempt"),
        Name.MAX_TOKENS: request.get("max_output_tokens"),
        Name.OUTPUT_TYPE: "text" if request.get("schema") is None else "json",
        Name.SYSTEM: _json([_text(request.get("system"))]),
        Name.INPUT: message_of("user", request.get("user")),
    }
    if url is not None:
        parts = urlsplit(url)
        default_port = 443 if parts.scheme == "https" else 80
        attributes |= {Name.SERVER_ADDRESS: parts.hostname, Name.SERVER_PORT: parts.port or default_port}
    spending = spending_of(answer, price)
    if spending is not None:
        reason = "length" if answer.get("cut") else "stop"
        attributes |= {
            Name.RESPONSE_MODEL: _named(str(answer.get("model", "")))[1],
            Name.INPUT_TOKENS: spending.input_tokens,
            Name.OUTPUT_TOKENS: spending.output_tokens,
            Name.CACHED_TOKENS: answer.get("cached_input_tokens"),
            Name.COST: spending.cost_usd,
            Name.FINISH_REASONS: [reason],
            Name.OUTPUT: message_of("assistant", answer.get("text"), finish_reason=reason),
        }
    for refusal, error in (("exceeded", "ContextExceeded"), ("withheld", "AnswerWithheld")):
        if refusal in answer:
            del attributes[Name.FINISH_REASONS], attributes[Name.OUTPUT]
            attributes[Name.ERROR] = error
    return f"{Operation.CHAT} {model}", provider not in (EXTRACTIVE, SCRIPTED), attributes


def _named(spec: str) -> tuple[str, str, str | None]:
    """Provider, model and address of a model spec."""
    try:
        parsed = parse_spec(spec)
    except UnknownModel:
        return "_OTHER", spec.partition("@")[0], None
    provider = parsed.command if parsed.kind == CLI else _PROVIDERS.get(parsed.kind, parsed.kind)
    is_file = parsed.kind == SCRIPTED
    return provider, provider if is_file else parsed.model or provider, parsed.url


def _text(text: Any) -> dict[str, str]:
    return {"type": "text", "content": str(text or "")}


def _json(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
