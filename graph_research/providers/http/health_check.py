"""Health check: one request, free of charge, that shows whether a server answers and accepts the key."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from graph_research.providers.errors import ProviderError
from graph_research.providers.http.client import Http
from graph_research.providers.http.endpoint import Endpoint, Response

PROBE_SECONDS = 5.0
"""Time limit of a health check."""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """`GET path` of an endpoint. If the path `tells_key`, the key is sent, and the response shows whether it is
    accepted. Otherwise no key is sent, and any response counts but one with a status in `refusals`, which holds the
    reason."""

    endpoint: Endpoint
    path: str = "/robots.txt"
    params: Mapping[str, str] = field(default_factory=dict)
    tells_key: bool = False
    refusals: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class HealthResult:
    """The result of a probe: milliseconds until the response, None without one; `refused` if the server answers but
    does not serve this user; `text` says what is wrong or worth knowing."""

    latency_ms: int | None
    refused: bool = False
    text: str = ""

    @property
    def reachable(self) -> bool:
        """Whether there was a response."""
        return self.latency_ms is not None


async def check_health(
    http: Http, probe: Probe, *, clock: Callable[[], float] = time.monotonic, seconds: float = PROBE_SECONDS
) -> HealthResult:
    """Send the probe once. A failure is part of the result; nothing is raised for it."""
    answers: list[Response] = []

    def keep(reply: Response) -> ProviderError | None:
        answers.append(reply)
        return None

    endpoint = replace(_as_sent(probe), classify=keep, attempts=1, timeout_seconds=seconds, budget_seconds=seconds)
    began = clock()
    try:
        await http.ask(endpoint, "GET", probe.path, params=probe.params)
    except ProviderError as error:
        message = endpoint.redact(error.message.removesuffix(" (tried once)"))
        if not answers:
            return HealthResult(latency_ms=None, text=f"{message}; {error.help}" if error.help else message)
        return _judged(probe, answers[0], message, _milliseconds(clock() - began))
    text = "key accepted" if probe.tells_key else ""
    return HealthResult(latency_ms=_milliseconds(clock() - began), text=text)


def _as_sent(probe: Probe) -> Endpoint:
    """The endpoint, without its key if the path does not check it."""
    if probe.tells_key:
        return probe.endpoint
    headers = {name: text for name, text in probe.endpoint.headers.items() if name.lower() == "user-agent"}
    return replace(probe.endpoint, headers=headers, params={})


def _judged(probe: Probe, answer: Response, message: str, latency_ms: int) -> HealthResult:
    """The result for a response with an error status. If no key is checked, any status below 500 means reachable."""
    if answer.status in probe.refusals:
        return HealthResult(latency_ms=latency_ms, refused=True, text=probe.refusals[answer.status])
    if not probe.tells_key and answer.status < 500:
        return HealthResult(latency_ms=latency_ms)
    refused = answer.status in (401, 403) or (answer.status == 400 and "API key" in answer.text())
    if probe.tells_key and refused:
        remedy = probe.endpoint.remedy
        return HealthResult(latency_ms=latency_ms, refused=True, text=f"{message}; {remedy}" if remedy else message)
    return HealthResult(latency_ms=latency_ms, text=message)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
