"""A real local model, however bad: a llama.cpp server with a small GGUF through the whole of `deep_research`.

Skipped unless GRAPH_RESEARCH_TEST_LLAMA_SERVER names the server's program and GRAPH_RESEARCH_TEST_GGUF a model.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).with_name("graph-research")
SERVER = os.environ.get("TEST_LLAMA_SERVER", "")
MODEL = os.environ.get("TEST_GGUF", "")
WINDOW_TOKENS = 16_384
MOST_ANSWER_TOKENS = 1_024
"""What the server itself allows; a bad model writes until it is stopped."""

START_SECONDS = 120
RUN_SECONDS = 3_000

pytestmark = pytest.mark.skipif(
    not (SERVER and MODEL), reason="GRAPH_RESEARCH_TEST_LLAMA_SERVER and GRAPH_RESEARCH_TEST_GGUF name no local model"
)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("llama") / "log"
    limits = ["-c", str(WINDOW_TOKENS), "-np", "1", "-n", str(MOST_ANSWER_TOKENS)]
    arguments = [SERVER, "-m", MODEL, "--host", "127.0.0.1", "--port", str(port), *limits]
    libraries = os.pathsep.join([str(Path(SERVER).parent), os.environ.get("LD_LIBRARY_PATH", "")])
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, stdout=out, stderr=out, env={**os.environ, "LD_LIBRARY_PATH": libraries}, start_new_session=True
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_healthy(port):
            assert process.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < deadline, "the server did not come up"
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def command(folder: Path, *arguments: str, expect: Sequence[int] = (0,)) -> Any:
    done = subprocess.run(
        [str(SCRIPT), *arguments, "--json"],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GRAPH_RESEARCH_HOME": str(folder / "home"),
            "GRAPH_RESEARCH_MODEL_CONTEXT_OVERRIDES": f"openai:local={WINDOW_TOKENS}",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode in expect, f"exit {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)


def test_a_local_model_comes_to_a_report_with_proved_citations_however_bad_it_is(llama: str, tmp_path: Path) -> None:
    question = (ROOT / "examples" / "question.txt").read_text().strip()
    result = command(
        tmp_path,
        *("run", question, "--llm", f"openai:local@{llama}", "--search", "local", "--run-id", "local"),
        *("--library", str(ROOT / "examples" / "library"), "--max-iterations", "1", "--out", "out"),
    )
    assert result["status"] == "completed"
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["model"].startswith("openai:local@")
    assert sum(row["calls"] for row in report["statistics"]["usage"]) > 5
    assert sum(row["output_tokens"] for row in report["statistics"]["usage"]) > 0
    assert report["sources"]
    proved = command(tmp_path, "verify", "local")
    assert proved["invalid"] == 0
    steps = command(tmp_path, "history", "local")
    done = {step["node"] for step in steps}
    assert {"clarify", "plan", "gather", "analyze", "synthesize", "decide"} <= done
    assert all(step["status"] == "finished" for step in steps)
