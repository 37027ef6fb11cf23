"""Keys stay where they are: a research over a server that repeats its key in every error leaves no trace of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.cli.secret_scan import assert_no_trace
from tests.support.network import fake_model
from tests.support.network.http_server import Answer, Received, WireServer

KEY = "sk-MARKED-4f1c9a7be2d05836"
LIBRARY = Path(__file__).parents[2] / "examples" / "library"
SCRIPT = Path(sys.executable).with_name("graph-research")
PATH = "/v1/chat/completions"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, server: WireServer) -> Run:
    """A command of a user whose key for the loopback server stands in MY_KEY."""

    def command(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SCRIPT), *arguments],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                "HOME": str(tmp_path),
                "GRAPH_RESEARCH_HOME": str(tmp_path / "home"),
                "GRAPH_RESEARCH_MODEL_KEYS": f"127.0.0.1:{server.port}=MY_KEY",
                "MY_KEY": KEY,
                **environ,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return command


def start(run: Run, server: WireServer, run_id: str, *more: str) -> subprocess.CompletedProcess[str]:
    return run(
        *("run", "What did the lagoon cost?", "--llm", f"openai:m@{server.url}/v1", "--search", "local"),
        *("--library", str(LIBRARY), "--max-iterations", "1", "--run-id", run_id, "--out", run_id, *more),
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
    assert done.returncode == 0, done.stderr
    assert all(one.headers["authorization"] == f"Bearer {KEY}" for one in server.received)
    packed = run("export-run", "whole", "-o", "whole.grb", "--json")
    assert packed.returncode == 0, packed.stderr
    told: Mapping[str, subprocess.CompletedProcess[str]] = {
        "run": done,
        "export-run": packed,
        "status": run("status", "whole", "--json"),
        "history": run("history", "whole", "--json"),
        "config show": run("config", "show", "--json"),
        "doctor": run("doctor", f"openai:m@{server.url}/v1"),
        "capabilities": run("capabilities", "--json"),
    }
    for name, command in told.items():
        assert KEY not in command.stdout + command.stderr, name
    assert_no_trace(KEY, tmp_path)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_a_research_that_fails_over_its_key_tells_so_without_it(
    status: int, run: Run, server: WireServer, tmp_path: Path
) -> None:
    server.on(PATH, echoing(status))
    done = start(run, server, "failed", "--json")
    assert done.returncode == 1, done.stderr
    assert "failed" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert_no_trace(KEY, tmp_path)
