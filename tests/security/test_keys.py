"""Keys stay secret: a research over a server that repeats its key in every error leaves no trace of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli.cli_process import Done, User
from tests.support.cli.secret_scan import assert_no_trace
from tests.support.network import fake_model
from tests.support.network.http_server import Answer, Received, WireServer

KEY = "sk-MARKED-4f1c9a7be2d05836"
LIBRARY = Path(__file__).parents[2] / "examples" / "library"
PATH = "/v1/chat/completions"

Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, server: WireServer) -> Run:
    """A command of a user whose key for the loopback server stands in MY_KEY."""
    user = User(folder=tmp_path, home=tmp_path / "home")
    environ = {"GRAPH_RESEARCH_MODEL_KEYS": f"127.0.0.1:{server.port}=MY_KEY", "MY_KEY": KEY}
    return lambda *arguments, expect=0: user.run(*arguments, environ=environ, expect=expect)


def start(run: Run, server: WireServer, run_id: str, *more: str, expect: int = 0) -> Done:
    return run(
        *("run", "What did the lagoon cost?", "--llm", f"openai:m@{server.url}/v1", "--search", "local"),
        *("--library", str(LIBRARY), "--max-iterations", "1", "--run-id", run_id, "--out", run_id, *more),
        expect=expect,
    )


def answered(request: Received) -> Answer:
    asked = request.json()
    prompt = "\n\n".join(message["content"] for message in asked["messages"])
    schema = fake_model.schema_of(asked, prompt)
    text = json.dumps(fake_model.answer(fake_model.agent_of(schema), schema, prompt, {"always_gaps": False}))
    return Answer(body={"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


def echoing(status: int) -> Answer:
    """An error that repeats the key in the body and in a header."""
    body = {"error": {"message": f"Bearer {KEY} is what I was sent", "type": "x", "code": KEY}}
    return Answer(status=status, body=body, headers={"x-request-authorization": f"Bearer {KEY}"})


def test_a_research_over_a_server_that_repeats_its_key_leaves_no_trace_of_it(
    run: Run, server: WireServer, tmp_path: Path
) -> None:
    server.on(PATH, echoing(500), answered, echoing(429), answered)
    done = start(run, server, "whole", "--json")
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in server.received)
    packed = run("export-run", "whole", "-o", "whole.grb", "--json")
    commands = {
        "run": done,
        "export-run": packed,
        "status": run("status", "whole", "--json"),
        "history": run("history", "whole", "--json"),
        "config show": run("config", "show", "--json"),
        "doctor": run("doctor", f"openai:m@{server.url}/v1", expect=None),
        "capabilities": run("capabilities", "--json"),
    }
    for name, command in commands.items():
        assert KEY not in command.out + command.err, name
    assert_no_trace(KEY, tmp_path)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_research_that_fails_over_its_key_tells_so_without_it(
    status: int, run: Run, server: WireServer, tmp_path: Path
) -> None:
    server.on(PATH, echoing(status))
    done = start(run, server, "failed", "--json", expect=1)
    assert "failed" in done.out
    assert KEY not in done.out + done.err
    assert_no_trace(KEY, tmp_path)
