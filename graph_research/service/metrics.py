"""Metrics of the service for Prometheus. No label names a user."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_research.app.metrics import RunMetrics
from graph_research.jobs.store import JobStore
from graph_research.service.feeds import Feeds

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
_UNLOGGED = frozenset({"/healthz", "/readyz", "/metrics"})
_log = logging.getLogger("graph_research.service")


class ServiceMetrics:
    """Those of runs, `runs`, and of the service: `http_requests_total{method, route, status}`,
    `http_request_duration_seconds{method, route}`, `research_jobs{status}`, `research_event_streams`."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.runs = RunMetrics(self._registry)
        self.requests = Counter(
            "http_requests", "Requests by their route", ("method", "route", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "http_request_duration_seconds",
            "Time until an answer begins",
            ("method", "route"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self._jobs = Gauge("research_jobs", "Jobs by their status", ("status",), registry=self._registry)
        self._streams = Gauge("research_event_streams", "Streams of events that are open", registry=self._registry)

    async def render(self, jobs: JobStore, feeds: Feeds) -> bytes:
        """Everything in the text format of Prometheus."""
        for status, number in (await jobs.counts()).items():
            self._jobs.labels(status=status).set(number)
        self._streams.set(feeds.open_streams)
        return generate_latest(self._registry)


class RequestLog:
    """ASGI middleware: counts every request by its route, and logs it with the job that it names."""

    def __init__(self, app: ASGIApp, *, metrics: ServiceMetrics, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.monotonic() - began)
            await send(message)

        await self._app(scope, receive, counted)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = self._route_of(scope)
        method = scope["method"] if route != "unknown" else "unknown"
        self._metrics.requests.labels(method=method, route=route, status=str(status)).inc()
        self._metrics.seconds.labels(method=method, route=route).observe(seconds)
        if route in _UNLOGGED:
            return
        job_id = scope.get("path_params", {}).get("job_id") if status != 404 else None
        ids = {"job_id": job_id, "run_id": job_id} if job_id else {}
        extra = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1), **ids}
        _log.info("%s %s %d", method, route, status, extra=extra)

    def _route_of(self, scope: Scope) -> str:
        """The path of the route, with the names of its parameters; also of a request that is refused before it got
        there, such as for the size of its body."""
        route = scope.get("route")
        if route is None:
            route = next((each for each in self._routes if each.matches(scope)[0] is Match.FULL), None)
        return getattr(route, "path_format", "unknown")
