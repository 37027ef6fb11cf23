"""Traces: the spans that a run becomes, what they say of it, and what they leave out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from graph_research.app.application import Application
from graph_research.app.request import request_for
from graph_research.app.telemetry.calls import call_attributes
from graph_research.app.telemetry.conventions import CONTENT, CONVENTIONS_VERSION, Name
from graph_research.app.telemetry.export import export
from graph_research.app.telemetry.spans import unsent_drives
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import (
    Event,
    InputRequested,
    ItemFinished,
    NodeFailed,
    NodeFinished,
    NodeStarted,
    RunEnded,
    RunResumed,
    RunStarted,
)
from tests.support.cli.cli_process import NOW, ROOT, User
from tests.support.cli.cli_user import QUESTION

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ReadableSpan]]:
    """What reaches the exporter."""
    spans: list[ReadableSpan] = []

    class Receiver(InMemorySpanExporter):
        def __init__(self, *, timeout: float | None) -> None:
            super().__init__()

        def export(self, batch: Sequence[ReadableSpan]) -> Any:
            spans.extend(batch)
            return super().export(batch)

    monkeypatch.setattr("opentelemetry.exporter.otlp.proto.http.trace_exporter.OTLPSpanExporter", Receiver)
    yield spans


def workspace(user: User, **options: Any) -> Workspace:
    environ = {"GRAPH_RESEARCH_HOME": str(user.home), "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    return open_workspace(environ, user.folder, may_use=lambda _: False, options={"library": ["library"], **options})


async def drive(space: Workspace, run_id: str, *, until: str | None = None) -> None:
    """Create the run where it is new, and drive it to its end or to the first event of a type."""
    async with Application(space) as app:
        if until is not None:
            await app.create(request_for(space, QUESTION, now=NOW), run_id=run_id)
        async with aclosing(app.drive(run_id)) as events:
            async for event in events:
                if event.type == until:
                    return


def parents(spans: Sequence[ReadableSpan]) -> dict[str, str | None]:
    names = {span.context.span_id: span.name for span in spans if span.context}
    return {span.name: names[span.parent.span_id] if span.parent else None for span in spans}


def values(spans: Sequence[ReadableSpan]) -> str:
    texts = [str(dict(span.attributes or {})) for span in spans]
    return "\n".join(texts + [str(dict(event.attributes or {})) for span in spans for event in span.events])


async def test_a_run_is_one_trace_of_nodes_items_and_calls(user: User, sent: list[ReadableSpan]) -> None:
    await drive(workspace(user), "mills", until="none")
    above = parents(sent)
    assert [name for name, parent in above.items() if parent is None] == ["invoke_workflow deep_research"]
    assert above["plan"] == "invoke_workflow deep_research"
    assert (above["gather[0]"], above["search"], above["retrieval local"]) == ("gather", "gather[0]", "search")
    assert len({span.context.trace_id for span in sent if span.context}) == 1
    chat = next(span for span in sent if span.name == "chat extractive" and span.attributes)
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.provider.name"] == "extractive"
    assert chat.attributes["gen_ai.conversation.id"] == "mills"
    assert chat.kind is SpanKind.INTERNAL
    run = next(span for span in sent if span.parent is None)
    assert run.attributes is not None and run.attributes["graph_research.run.status"] == "completed"
    assert run.status.status_code is StatusCode.UNSET
    for span in sent:
        assert (run.start_time or 0) <= (span.start_time or 0) <= (span.end_time or 0) <= (run.end_time or 0)


async def test_content_is_sent_only_where_it_is_turned_on(user: User, sent: list[ReadableSpan]) -> None:
    await drive(workspace(user), "closed", until="none")
    assert "tide" not in values(sent).lower()
    assert not {name.value for name in CONTENT} & {key for span in sent for key in span.attributes or {}}
    sent.clear()
    await drive(workspace(user, telemetry_content=True), "open", until="none")
    run = next(span for span in sent if span.parent is None)
    assert (run.attributes or {})["gen_ai.input.messages"] == json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}], separators=(",", ":")
    )
    keys = {key for span in sent for key in span.attributes or {}}
    assert {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.retrieval.query.text"} <= keys


async def test_an_interrupted_run_is_sent_when_it_goes_on_as_a_trace_of_its_own(
    user: User, sent: list[ReadableSpan]
) -> None:
    await drive(workspace(user), "halted", until="call_recorded")
    assert sent == []
    await drive(workspace(user), "halted")
    first, second = (span for span in sent if span.parent is None)
    assert first.context is not None and second.context is not None
    assert (first.attributes or {})["error.type"] == "interrupted"
    assert first.status.status_code is StatusCode.ERROR
    assert "error.type" not in (second.attributes or {})
    assert first.context.trace_id != second.context.trace_id
    assert [(link.context.trace_id, link.context.span_id) for link in second.links] == [
        (first.context.trace_id, first.context.span_id)
    ]
    assert len({(span.context.trace_id, span.context.span_id) for span in sent if span.context}) == len(sent)


async def test_nothing_is_sent_without_a_receiver_or_where_it_is_turned_off(
    user: User, sent: list[ReadableSpan]
) -> None:
    receiver = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}
    for number, environ in enumerate(
        ({}, {**receiver, "OTEL_SDK_DISABLED": "true"}, {**receiver, "OTEL_TRACES_EXPORTER": "none"})
    ):
        environ = {"GRAPH_RESEARCH_HOME": str(user.home), **environ}
        space = open_workspace(environ, user.folder, may_use=lambda _: False, options={"library": ["library"]})
        await drive(space, f"quiet-{number}", until="none")
    assert sent == []


def at(seconds: float) -> dict[str, Any]:
    return {"run_id": "r1", "seq": int(seconds * 10) + 1, "at": BEGIN + timedelta(seconds=seconds)}


def call(kind: str = "model", **fields: Any) -> CallRecord:
    record: dict[str, Any] = {"seq": 1, "path": "plan", "visit": 1, "item": None, "attempt": 1, "kind": kind}
    record |= {"request_hash": "", "status": "answered", "started_at": BEGIN, "seconds": 2.0}
    return CallRecord(**{**record, "request": {}, "answer": {}, **fields})


def no_price(model: str, *tokens: int) -> float | None:
    return 0.25 if model.startswith("openai:") and tokens == (100, 20, 60) else None


def exported(events: Sequence[Event], calls: Sequence[CallRecord] = ()) -> list[ReadableSpan]:
    kept: list[ReadableSpan] = []

    class Receiver(InMemorySpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> Any:
            kept.extend(spans)
            return super().export(spans)

    export(Receiver(), unsent_drives("r1", "g", "why?", events, calls, no_price), with_content=False)
    return kept


def test_a_model_call_says_provider_model_tokens_and_cost() -> None:
    request = {
        "agent": "planner",
        "role": "research",
        "model": "openai:gpt-x@http://127.0.0.1:8080/v1",
        "system": "Plan.",
        "user": "Why?",
        "schema": {},
        "max_output_tokens": 500,
        "attempt": 2,
    }
    answer = {"model": request["model"], "text": "So.", "input_tokens": 100, "output_tokens": 20}
    name, leaves, attributes = call_attributes(
        call(request=request, answer={**answer, "cached_input_tokens": 60, "cut": True}), no_price
    )
    assert (name, leaves) == ("chat gpt-x", True)
    assert {key.value: value for key, value in attributes.items() if key not in CONTENT} == {
        "graph_research.call.kind": "model",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.response.model": "gpt-x",
        "gen_ai.agent.name": "planner",
        "gen_ai.request.max_tokens": 500,
        "gen_ai.output.type": "json",
        "gen_ai.response.finish_reasons": ["length"],
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "server.address": "127.0.0.1",
        "server.port": 8080,
        "graph_research.model.role": "research",
        "graph_research.model.turn": 2,
        "graph_research.cost_usd": 0.25,
    }
    assert json.loads(attributes[Name.OUTPUT]) == [
        {"role": "assistant", "parts": [{"type": "text", "content": "So."}], "finish_reason": "length"}
    ]


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("anthropic:claude-x", "anthropic", "chat claude-x"),
        ("gemini:flash-x", "gcp.gemini", "chat flash-x"),
        ("[cli]claude:haiku", "claude", "chat haiku"),
        ("[cli]codex", "codex", "chat codex"),
        ("scripted:/home/me/answers.json", "scripted", "chat scripted"),
    ],
)
def test_providers_have_the_names_of_the_conventions_and_no_path_is_sent(model: str, provider: str, name: str) -> None:
    shown, _, attributes = call_attributes(call(request={"model": model}), no_price)
    assert (shown, attributes[Name.PROVIDER]) == (name, provider)
    assert "/home" not in str(attributes)


def test_calls_of_a_graph_of_ones_own_have_their_kind_and_values_of_any_type() -> None:
    assert call_attributes(call("weather", request=["Lough"], answer=None), no_price)[:2] == ("weather", False)
    _, _, attributes = call_attributes(call("fetch", request={"url": b"x"}), no_price)
    assert json.loads(attributes[Name.ARGUMENTS]) == {"url": "b'x'"}


def test_failed_calls_attempts_and_items_are_errors_without_their_messages() -> None:
    error = {"type": "ProviderUnavailable", "message": "Why? was asked in vain"}
    place: dict[str, Any] = {"path": "plan", "node": "plan", "visit": 1}
    events: list[Event] = [
        RunStarted(**at(0), graph="g"),
        NodeStarted(**at(0.1), **place),
        NodeFailed(**at(1), **place, error=error, will_retry=True),
        NodeFinished(**at(3), **place, seconds=2.9),
        NodeStarted(**at(3), path="each", node="each", visit=1),
        NodeFailed(**at(4), path="each[1]", node="each", visit=1, item=1, error=error, will_retry=False),
        ItemFinished(**at(4), path="each", node="each", visit=1, item=1, status="failed", seconds=0.5),
        RunEnded(**at(5), status="aborted", cause="timeout"),
    ]
    moment = BEGIN + timedelta(seconds=0.5)
    spans = exported(
        events,
        [call(status="failed", answer=error, started_at=moment, seconds=0.4, request={"model": "openai:m"})],
    )
    shown = {span.name: span for span in spans}
    errors = {name: (span.attributes or {}).get("error.type") for name, span in shown.items()}
    assert errors == {
        "invoke_workflow g": "timeout",
        "plan": None,
        "each": "timeout",
        "each[1]": "ProviderUnavailable",
        "chat m": "ProviderUnavailable",
    }
    assert [event.name for event in shown["plan"].events] == ["exception"]
    assert shown["each[1]"].start_time == int((BEGIN.timestamp() + 3.5) * 1e9)
    assert "in vain" not in values(spans)


def test_a_node_that_an_earlier_drive_began_has_a_span_where_it_goes_on() -> None:
    inner: dict[str, Any] = {"path": "gather[2]/search", "node": "search", "visit": 1}
    begun: list[Event] = [RunStarted(**at(0), graph="g"), NodeStarted(**at(1), **inner)]
    ended: list[Event] = [
        RunResumed(**at(10), status="running"),
        NodeFinished(**at(13), **inner, seconds=2.0),
        RunEnded(**at(14), status="completed"),
    ]
    first, second = parents(exported(begun)), exported([*begun, *ended])[-4:]
    way = {"search": "gather[2]", "gather[2]": "gather", "gather": "invoke_workflow g", "invoke_workflow g": None}
    assert (first, parents(second)) == (way, way)
    search = next(span for span in second if span.name == "search")
    assert (search.end_time or 0) - (search.start_time or 0) == 2 * 10**9


def test_the_documentation_names_every_attribute_and_the_version_of_the_conventions() -> None:
    page = (ROOT / "docs" / "how-to" / "trace-runs.md").read_text()
    named = set(re.findall(r"`((?:gen_ai|server|error|exception|graph_research)\.[a-z_.]+)`", page))
    assert named == {name.value for name in Name}
    assert f"release {CONVENTIONS_VERSION}" in page


def test_what_was_sent_before_is_not_sent_again_and_lost_calls_end_with_the_drive() -> None:
    place: dict[str, Any] = {"path": "plan", "node": "plan", "visit": 1}
    asked: list[Event] = [RunStarted(**at(0), graph="g"), InputRequested(**at(1), path="ask", question="why?")]
    killed: list[Event] = [RunResumed(**at(100), status="awaiting_input"), NodeStarted(**at(101), **place)]
    ended: list[Event] = [RunResumed(**at(200), status="running"), RunEnded(**at(201), status="completed")]
    lost = call(status="lost", started_at=BEGIN + timedelta(seconds=100.5), answer=None, seconds=0.0)
    runs = [span for span in exported([*asked, *killed, *ended], [lost]) if span.parent is None]
    assert [(span.start_time or 0) // 10**9 - int(BEGIN.timestamp()) for span in runs] == [100, 200]
    assert [len(span.links) for span in runs] == [1, 1]
    spans = {span.name: span for span in exported([*asked, *killed], [lost])}
    assert "".join(name for name in spans if name.startswith("chat")) == "chat "
    assert (spans["chat "].attributes or {})["error.type"] == "interrupted"
    assert spans["chat "].end_time == spans["invoke_workflow g"].end_time
    [waiting] = exported(asked)
    assert dict(waiting.attributes or {})["graph_research.run.status"] == "awaiting_input"
    assert waiting.status.status_code is StatusCode.UNSET
