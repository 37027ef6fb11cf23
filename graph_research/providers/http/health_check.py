"""A health check: one small request that tells, without money or quota, whether a server is there and takes the key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from graph_research.providers.errors import ProviderError
from graph_research.providers.http.client import Http, Peer, Reply

__all__ = ["PROBE_SECONDS", "HealthResult", "Probe", "check_health"]

PROBE_SECONDS = 5.0
"""How long a server may take to show that it is there."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """`GET path` of a peer. Where the path `tells_key` the peer's key is sent along and judged by the answer; else no
    key is sent, and any answer will do but a status of `refusals`, which says what is wrong then."""

    peer: Peer
    path: str = "/robots.txt"
    params: Mapping[str, str] = field(default_factory=dict)
    tells_key: bool = False
    refusals: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class HealthResult:
    """What came of a probe: the milliseconds until an answer, None where there was none; `refused` where the server is
    there and will not serve this user; `text` says what is wrong or worth knowing."""

    latency_ms: int | None
    refused: bool = False
    text: str = ""

    @property
    def reachable(self) -> bool:
        """Whether anybody answered."""
        return self.latency_ms is not None


async def check_health(
    http: Http, probe: Probe, *, clock: Callable[[], float] = time.monotonic, seconds: float = PROBE_SECONDS
) -> HealthResult:
    """Send the probe once. Whatever fails is told in the result."""
    answers: list[Reply] = []

    def heard(reply: Reply) -> ProviderError | None:
        answers.append(reply)
        return None

    peer = replace(_as_sent(probe), classify=heard, attempts=1, timeout_seconds=seconds, budget_seconds=seconds)
    began = clock()
    try:
        await http.ask(peer, "GET", probe.path, params=probe.params)
    except ProviderError as error:
        message = peer.black_out(error.message.removesuffix(" (tried once)"))
        if not answers:
            return HealthResult(latency_ms=None, text=f"{message}; {error.help}" if error.help else message)
        return _judged(probe, answers[0], message, _milliseconds(clock() - began))
    text = "key accepted" if probe.tells_key else ""
    return HealthResult(latency_ms=_milliseconds(clock() - began), text=text)


def _as_sent(probe: Probe) -> Peer:
    """The peer, without its key where that would tell nothing."""
    if probe.tells_key:
        return probe.peer
    told = {name: text for name, text in probe.peer.headers.items() if name.lower() == "user-agent"}
    return replace(probe.peer, headers=told, params={})


def _judged(probe: Probe, answer: Reply, message: str, latency_ms: int) -> HealthResult:
    """What an error status means for who wants to know whether the server would serve them. Without a key to judge, a
    server that answers is there, whatever it says."""
    if answer.status in probe.refusals:
        return HealthResult(latency_ms=latency_ms, refused=True, text=probe.refusals[answer.status])
    if not probe.tells_key and answer.status < 500:
        return HealthResult(latency_ms=latency_ms)
    refused = answer.status in (401, 403) or (answer.status == 400 and "API key" in answer.text())
    if probe.tells_key and refused:
        remedy = probe.peer.remedy
        return HealthResult(latency_ms=latency_ms, refused=True, text=f"{message}; {remedy}" if remedy else message)
    return HealthResult(latency_ms=latency_ms, text=message)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
