"""Every model over HTTP passes this: documented answers, streams, errors, and servers that misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph_research.providers.errors import (
    AnswerWithheld,
    ContextExceeded,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from graph_research.providers.http.client import HttpClient
from tests.support.network.http_server import Answer, WireServer
from tests.support.providers.model_protocols import DIALECTS, KEY, Dialect, asked

every = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


async def no_wait(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(sleep=no_wait, chance=lambda: 1.0) as transport:
        yield transport


def refusing(status: int, dialect: Dialect, text: str = "as the test says", **headers: str) -> Answer:
    return Answer(status=status, body=dialect.error(text), headers=headers)


@every
async def test_an_answer_comes_with_what_it_took(dialect: Dialect, http: HttpClient, server: WireServer) -> None:
    server.on(dialect.path, Answer(body=dialect.whole))
    model = dialect.make(http, server.url)
    reply = await model.complete(asked())
    assert json.loads(reply.text) == {"a": 1}
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens, reply.usage.output_tokens) == (100, 60, 7)
    assert reply.model == model.spec
    assert not reply.cut
    assert not model.in_process
    assert KEY in server.received[0].headers[dialect.key_header]
    assert KEY not in server.received[0].target


@every
async def test_a_streamed_answer_is_emitted_piece_by_piece_and_is_the_same(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.stream_path, dialect.streamed())
    pieces: list[str] = []
    reply = await dialect.make(http, server.url).complete(asked(on_text=pieces.append))
    assert json.loads(reply.text) == {"a": 1}
    assert pieces == ['{"a"', ": 1}"]
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens, reply.usage.output_tokens) == (100, 60, 7)


@every
async def test_the_next_streamed_answer_comes_over_the_same_connection(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.stream_path, dialect.streamed())
    model = dialect.make(http, server.url)
    for _ in range(2):
        await model.complete(asked(on_text=lambda _: None))
    assert [request.connection for request in server.received] == [1, 1]


@every
async def test_a_stream_that_breaks_off_is_no_answer(dialect: Dialect, http: HttpClient, server: WireServer) -> None:
    server.on(dialect.stream_path, dialect.streamed(until=1))
    with pytest.raises(ProviderUnavailable, match="broke off"):
        await dialect.make(http, server.url).complete(asked(on_text=lambda _: None))


@every
async def test_an_answer_that_was_cut_says_so(dialect: Dialect, http: HttpClient, server: WireServer) -> None:
    server.on(dialect.path, Answer(body=dialect.cut))
    reply = await dialect.make(http, server.url).complete(asked())
    assert reply.cut
    assert reply.text == '{"a'


@every
async def test_a_model_that_declines_is_not_asked_again(dialect: Dialect, http: HttpClient, server: WireServer) -> None:
    server.on(dialect.path, Answer(body=dialect.blocked))
    with pytest.raises(AnswerWithheld, match=r"declined|blocked"):
        await dialect.make(http, server.url).complete(asked())
    assert len(server.received) == 1


@pytest.mark.requirement("14.1")
@every
async def test_a_window_that_is_too_small_is_reported_with_its_size(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, Answer(status=400, body=dialect.context_error))
    with pytest.raises(ContextExceeded) as caught:
        await dialect.make(http, server.url).complete(asked())
    assert caught.value.limit_tokens == dialect.limit_tokens
    assert len(server.received) == 1


@every
@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_a_passing_fault_is_asked_again(
    dialect: Dialect, status: int, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, refusing(status, dialect), refusing(status, dialect), Answer(body=dialect.whole))
    reply = await dialect.make(http, server.url).complete(asked())
    assert json.loads(reply.text) == {"a": 1}
    assert len(server.received) == 3


@every
async def test_a_fault_that_stays_is_reported_with_the_servers_words(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, refusing(529, dialect, "Overloaded"))
    with pytest.raises(ProviderUnavailable, match="Overloaded"):
        await dialect.make(http, server.url).complete(asked())
    assert len(server.received) == 3


@every
async def test_a_wait_that_the_server_asks_for_is_kept(dialect: Dialect, server: WireServer) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    server.on(dialect.path, refusing(429, dialect, **{"retry-after": "7"}), Answer(body=dialect.whole))
    async with HttpClient(sleep=sleep, chance=lambda: 1.0) as http:
        await dialect.make(http, server.url).complete(asked())
    assert slept
    assert min(slept) >= 7


@every
@pytest.mark.parametrize(("status", "remedy"), [(401, "_API_KEY"), (403, "_API_KEY"), (404, "model's name")])
async def test_what_only_the_user_can_fix_is_reported_with_the_remedy(
    dialect: Dialect, status: int, remedy: str, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, refusing(status, dialect, f"wrong key {KEY}"))
    with pytest.raises(ProviderRefused) as caught:
        await dialect.make(http, server.url).complete(asked())
    assert remedy in caught.value.help
    assert KEY not in str(caught.value)
    assert len(server.received) == 1


@every
async def test_a_request_that_is_too_large_is_too_long_a_prompt(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, refusing(413, dialect))
    with pytest.raises(ContextExceeded) as caught:
        await dialect.make(http, server.url).complete(asked())
    assert caught.value.limit_tokens is None


@every
@pytest.mark.parametrize(
    "broken",
    [
        Answer(body='{"half', headers={"content-type": "application/json"}),
        Answer(body="<html>It works!</html>", headers={"content-type": "text/html"}),
        Answer(body=b"\xff\xfe\x00", headers={"content-type": "application/json; charset=utf-16"}),
        Answer(body={"something": "else"}),
        Answer(body=[]),
        Answer(body={"choices": "none", "content": "none", "candidates": "none"}),
        Answer(body={"ok": True}, fault="half"),
        Answer(fault="reset"),
        Answer(fault="close"),
        Answer(fault="garbage"),
    ],
    ids=["half-JSON", "page", "encoding", "other-JSON", "list", "wrong-types", "half", "reset", "close", "bytes"],
)
async def test_a_broken_answer_is_a_provider_that_is_unavailable(
    dialect: Dialect, broken: Answer, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, broken)
    with pytest.raises(ProviderUnavailable):
        await dialect.make(http, server.url).complete(asked())


@every
@pytest.mark.parametrize(
    "slow", [Answer(fault="hang"), Answer(body="x" * 200, drip_seconds=0.05)], ids=["hang", "drip"]
)
async def test_a_server_that_takes_too_long_is_left(
    dialect: Dialect, slow: Answer, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, slow)
    with pytest.raises(ProviderUnavailable):
        await dialect.make(http, server.url, timeout_seconds=0.2, attempts=1).complete(asked())


@every
async def test_an_untrusted_certificate_ends_the_call(
    dialect: Dialect, http: HttpClient, tls_server: WireServer
) -> None:
    tls_server.on(dialect.path, Answer(body=dialect.whole))
    with pytest.raises(ProviderError):
        await dialect.make(http, tls_server.url).complete(asked())
    assert not tls_server.received


@every
async def test_the_schema_is_left_out_from_then_on_where_the_server_refuses_it(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    def react(request: Any) -> Answer:
        sent = json.dumps(request.json())
        for name in ("response_format", "tools", "responseSchema"):
            if f'"{name}"' in sent and "json_object" not in sent:
                return Answer(status=400, body=dialect.error(f"Unknown name {name}: not supported"))
        return Answer(body=dialect.whole)

    server.on(dialect.path, react)
    model = dialect.make(http, server.url)
    await model.complete(asked())
    assert len(server.received) == 2
    await model.complete(asked())
    assert len(server.received) == 3


@every
async def test_prose_is_asked_for_without_a_schema(dialect: Dialect, http: HttpClient, server: WireServer) -> None:
    server.on(dialect.path, Answer(body=dialect.cut))
    await dialect.make(http, server.url).complete(asked(schema=None))
    sent = json.dumps(server.received[0].json())
    assert not any(word in sent for word in ("response_format", "tool", "responseSchema", "responseMimeType"))


@every
async def test_a_call_that_is_cancelled_lets_go_of_its_connection(
    dialect: Dialect, http: HttpClient, server: WireServer
) -> None:
    server.on(dialect.path, Answer(fault="hang"))
    call = asyncio.create_task(dialect.make(http, server.url).complete(asked()))
    await asyncio.to_thread(server.wait_for_request)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.to_thread(server.wait_for_close)
