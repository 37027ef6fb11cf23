"""A server as one client sees it: the outcomes of its latest requests, and whether its circuit breaker is open."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from graph_research.providers.http.circuit_breaker import BreakerPolicy, FailureWindow
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.host_names import is_loopback
from graph_research.providers.limits.base import Server


class Host:
    """One for each endpoint name. The endpoint of the first request sets the rate limit."""

    def __init__(self, endpoint: Endpoint, policy: BreakerPolicy) -> None:
        self.server = Server(name=_shared_name(endpoint), per_second=endpoint.per_second)
        self.window = FailureWindow(policy)
        self.is_open = False
        self.was_asked = False


@dataclass
class Attempt:
    """A request with all its retries. `was_sent` where at least one of them went out; `is_probe` where the circuit
    breaker was open meanwhile."""

    host: Host
    was_sent: bool = field(default=False, init=False)
    is_probe: bool = field(default=False, init=False)


def _shared_name(endpoint: Endpoint) -> str:
    """The name by which several machines know a server. Each has its own on its loopback interface."""
    host = urlsplit(endpoint.base_url).hostname or ""
    return f"{endpoint.name} on {socket.gethostname()}" if is_loopback(host) else endpoint.name
