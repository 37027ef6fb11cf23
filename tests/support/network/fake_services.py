"""Fake services on loopback, in a process of its own: a model over the OpenAI protocol that quotes what it is shown,
a SearXNG with the pages behind it, and faults on demand. Tests and benchmarks run the real program against it.

Every request becomes a line of the log: `{kind, key, started, ended, status, agent}`; `key` is the hash of the body.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import html
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from tests.support.network.fake_model import agent_of, answer, schema_of

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "examples" / "library"
_WORD = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What goes wrong. `rate` of the model calls and searches answer `status` (seeded by the request's own body, so
    that the same request fails the same number of times); a prompt of more than `window_chars` is refused."""

    rate: float = 0.0
    status: int = 500
    first_calls: bool = False
    """The first call of each agent and the first search answer `status`: as many failures whatever the timing."""
    window_chars: int | None = None
    broken_json: frozenset[str] = frozenset()
    """The first answer of each of these agents is cut in the middle of its JSON."""
    context_errors: frozenset[str] = frozenset()
    """The first call of each of these agents is refused as too long, whatever its length."""
    deaf_agents: frozenset[str] = frozenset()
    """These agents' calls always answer 500."""
    deaf_queries: frozenset[str] = frozenset()
    """Searches for a query with one of these words always answer 500."""
    prose: bool = False
    """The model answers in prose, never in JSON."""


@dataclass(frozen=True)
class Call:
    """One line of the log."""

    kind: str
    key: str
    started: float
    ended: float
    status: int
    agent: str


class World:
    """The running world: `model_url`, `search_url`, and its log. Made by `open_world`."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log
        self._calls: list[Call] = []
        self._read_bytes = 0

    @property
    def model(self) -> str:
        """The model spec that reaches it."""
        return f"openai:world@http://127.0.0.1:{self.port}/v1"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def search_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environ(self) -> dict[str, str]:
        """The settings under which the program searches and reads here."""
        return {"GRAPH_RESEARCH_SEARXNG_URL": self.search_url, "GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": self.host}

    def calls(self, kind: str | None = None) -> list[Call]:
        """What was asked so far, in the order of the answers."""
        if self._log.exists():
            with self._log.open("rb") as log:
                log.seek(self._read_bytes)
                for line in log:
                    if line.endswith(b"\n"):
                        self._calls.append(Call(**json.loads(line)))
                        self._read_bytes += len(line)
        return [call for call in self._calls if kind in (None, call.kind)]

    def forget(self) -> None:
        """Begin a new log."""
        self._log.write_text("")
        self._calls, self._read_bytes = [], 0


@contextlib.contextmanager
def open_world(
    log: Path,
    *,
    model_seconds: float = 0.0,
    search_seconds: float = 0.0,
    page_seconds: float = 0.0,
    faults: Faults | None = None,
    always_gaps: bool = False,
    long_pages: bool = False,
    long_sections: bool = False,
    objects: bool = False,
) -> Iterator[World]:
    """Start the world and stop it at the end. Latencies are in seconds and the same for every call of a kind.

    With `always_gaps` the analyzer never finds everything; with `long_pages` every page goes on for 20,000 characters;
    with `long_sections` the writer gives the length, tables and analysis that it is asked for; with `objects` the
    verifier objects to the first sentence of each section, and the editor finds the first one of all to contradict the
    last.
    """
    faults = faults or Faults()
    options = {
        "log": str(log.resolve()),
        "model_seconds": model_seconds,
        "search_seconds": search_seconds,
        "page_seconds": page_seconds,
        "always_gaps": always_gaps,
        "long_pages": long_pages,
        "long_sections": long_sections,
        "objects": objects,
        "faults": {
            name: sorted(value) if isinstance(value, frozenset) else value for name, value in vars(faults).items()
        },
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.network.fake_services", json.dumps(options)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        yield World(process, int(process.stdout.readline()), log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# ── The server ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Server:
    def __init__(self, options: Mapping[str, Any]) -> None:
        raw = options["faults"]
        sets = {name: frozenset(value) for name, value in raw.items() if isinstance(value, list)}
        self.faults = Faults(**{**raw, **sets})
        self.options = options
        self.log = Path(options["log"])
        self.pages = dict(_pages(_ANNEX if options["long_pages"] else ""))
        self.seen: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.searched = 0

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                target = head.decode("latin-1").split(" ", 2)[1]
                length = re.search(r"\r\ncontent-length: *(\d+)", head.decode("latin-1"), re.IGNORECASE)
                body = await reader.readexactly(int(length[1]) if length else 0)
                status, kind, content = await self.answer(target, body)
                payload = content if isinstance(content, bytes) else json.dumps(content).encode()
                later = "Retry-After: 0\r\n" if status >= 429 else ""
                told = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(payload)}\r\n{later}\r\n"
                writer.write(told.encode() + payload)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, target: str, body: bytes) -> tuple[int, str, Any]:
        started = time.monotonic()
        path, _, query = target.partition("?")
        agent = ""
        if path.endswith("/chat/completions"):
            kind = "model"
            status, content, agent = self.complete(json.loads(body))
            await self.rest_of("model_seconds", started)
        elif path == "/search":
            kind = "search"
            status, content = self.search(query)
            await self.rest_of("search_seconds", started)
        else:
            kind = "robots" if path == "/robots.txt" else "page"
            page = self.pages.get(path)
            status, content = (200, page) if page else (404, b"nothing here")
            await self.rest_of("page_seconds", started)
        key = hashlib.sha256(target.encode() + b"\n" + body).hexdigest()[:16]
        call = Call(kind, key, started, time.monotonic(), status, agent)
        with self.log.open("a") as log:
            log.write(json.dumps(vars(call)) + "\n")
        if isinstance(content, bytes):
            streamed = kind == "model"
            return status, "text/event-stream" if streamed else "text/html; charset=utf-8", content
        return status, "application/json", content

    async def rest_of(self, latency: str, started: float) -> None:
        """Wait until an answer has taken its latency, what it took to make it included."""
        await asyncio.sleep(max(0.0, started + self.options[latency] - time.monotonic()))

    def fails(self, key: str) -> bool:
        self.seen[key] += 1
        draw = hashlib.sha256(f"{key}/{self.seen[key]}".encode()).digest()
        return int.from_bytes(draw[:4]) / 2**32 < self.faults.rate

    def complete(self, request: Mapping[str, Any]) -> tuple[int, Any, str]:
        texts = [message["content"] for message in request["messages"]]
        prompt = "\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts)
        schema = schema_of(request, prompt)
        agent = agent_of(schema)
        self.asked[agent] += 1
        first = self.asked[agent] == 1
        key = hashlib.sha256(prompt.encode()).hexdigest()
        if agent in self.faults.deaf_agents:
            return 500, {"error": {"message": "the model is out of order", "type": "server_error"}}, agent
        too_long = self.faults.window_chars is not None and len(prompt) > self.faults.window_chars
        if too_long or (first and agent in self.faults.context_errors):
            return 400, _too_long(prompt), agent
        if self.fails(key) or (first and self.faults.first_calls):
            return self.faults.status, {"error": {"message": "injected", "type": "server_error"}}, agent
        said = "I would rather not say." if self.faults.prose else answer(agent, schema, prompt, self.options)
        text = said if isinstance(said, str) else json.dumps(said)
        if first and agent in self.faults.broken_json:
            text = text[: len(text) // 2]
        make = _streamed if request.get("stream") else _completion
        return 200, make(request, prompt, text), agent

    def search(self, query: str) -> tuple[int, Any]:
        asked = parse_qs(query).get("q", [""])[0]
        self.searched += 1
        deaf = any(word in asked for word in self.faults.deaf_queries)
        first = self.faults.first_calls and self.searched == 1
        if deaf or first or self.fails("search " + asked):
            return self.faults.status, {"error": "injected"}
        words = set(_WORD.findall(asked.lower()))
        scored = []
        for path, page in sorted(self.pages.items()):
            text = page.decode()
            if path == "/robots.txt":
                continue
            hits = len(words & set(_WORD.findall(text.lower())))
            title = re.search(r"<title>(.*?)</title>", text)
            scored.append((-hits, path, html.unescape(title[1] if title else path), _best_paragraph(text, words)))
        port = self.options["port"]
        results = [
            {
                "url": f"http://127.0.0.1:{port}{path}",
                "title": title,
                "content": content[:300],
                "engine": "world",
                "engines": ["world"],
                "score": 1.0 / (rank + 1),
                "category": "general",
            }
            for rank, (hits, path, title, content) in enumerate(sorted(scored)[:10])
            if hits < 0
        ]
        return 200, {"query": asked, "number_of_results": len(results), "results": results}


def _best_paragraph(page: str, words: set[str]) -> str:
    plain = [re.sub(r"<[^>]+>", "", one) for one in re.findall(r"<p[^>]*>(.*?)</p>", page, re.DOTALL)]
    return html.unescape(max(plain, key=lambda one: len(words & set(_WORD.findall(one.lower()))), default=""))


def _too_long(prompt: str) -> dict[str, Any]:
    return {
        "error": {
            "message": "This model's maximum context length was exceeded. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }
    }


def _completion(request: Mapping[str, Any], prompt: str, text: str) -> dict[str, Any]:
    used = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


def _streamed(request: Mapping[str, Any], prompt: str, text: str) -> bytes:
    whole = _completion(request, prompt, text)
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    pieces = [text[place : place + 200] for place in range(0, len(text), 200)]
    chunks: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces
    ]
    chunks.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({**frame, "choices": [], "usage": whole["usage"]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


_ANNEX = "".join(
    f"<p>Annex {number}: the gauge at pier {number} of the lagoon read {number * 7 % 90 + 10} centimetres on day "
    f"{number}, and the keeper of pier {number} signed the log of the lagoon's gauges.</p>\n"
    for number in range(1, 140)
)


def _pages(annex: str) -> Iterator[tuple[str, bytes]]:
    """The example library as web pages, each with the annex at its end."""
    yield "/robots.txt", b"User-agent: *\nAllow: /\n"
    for file in sorted(LIBRARY.rglob("*")):
        if file.suffix in (".md", ".txt"):
            text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            lines = [line.lstrip("# ").strip() for line in text.split("\n\n")]
            paragraphs = "\n".join(f"<p>{html.escape(' '.join(line.split()))}</p>" for line in lines if line)
            title = html.escape(lines[0].splitlines()[0][:120])
            page = f"<!doctype html><html><head><title>{title}</title></head><body>{paragraphs}\n{annex}</body></html>"
            yield f"/pages/{file.stem}.html", page.encode()
        elif file.suffix == ".html":
            yield f"/pages/{file.name}", file.read_bytes().replace(b"</body>", annex.encode() + b"</body>")


async def _serve(options: dict[str, Any]) -> None:
    world = _Server(options)
    server = await asyncio.start_server(world.connection, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    options["port"] = server.sockets[0].getsockname()[1]
    print(options["port"], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(json.loads(sys.argv[1])))
