"""Metrics of runs for Prometheus, counted from their events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from graph_research.graph.events import Event, Note

_SECONDS = (0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120)
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
_SNIPPETS = (0, 1, 2, 3, 5, 8, 10)


class RunMetrics:
    """The metrics of all runs that an `Application` drives, in a registry of the caller's.

    `digest_duration_seconds{policy, cache_hit}`, `digest_sources_processed_total{outcome}` with the outcomes completed,
    skipped and error, `digest_compression_ratio`, `digest_cache_hits_total`, `digest_evidence_snippets`;
    `pdf_extraction_duration_seconds`, `pdf_extraction_pages_total` and `pdf_extraction_peak_memory_bytes` of PDFs
    behind search results, the last the most memory that a process which read them has taken.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._duration = Histogram(
            "digest_duration_seconds", "Time of a digest", ("policy", "cache_hit"), registry=registry, buckets=_SECONDS
        )
        self._sources = Counter(
            "digest_sources_processed", "Sources by what became of their digest", ("outcome",), registry=registry
        )
        self._ratio = Histogram(
            "digest_compression_ratio", "Share of a text that its digest keeps", registry=registry, buckets=_SHARES
        )
        self._hits = Counter("digest_cache_hits", "Digests that were made before", registry=registry)
        self._snippets = Histogram(
            "digest_evidence_snippets", "Quotations of a digest", registry=registry, buckets=_SNIPPETS
        )
        self._pdf_seconds = Histogram(
            "pdf_extraction_duration_seconds", "Time of reading a PDF", registry=registry, buckets=_SECONDS
        )
        self._pdf_pages = Counter("pdf_extraction_pages", "Pages of PDFs that were read", registry=registry)

        self._pdf_peak = Gauge(
            "pdf_extraction_peak_memory_bytes", "Most memory of a process that read PDFs", registry=registry
        )
        self._pdf_peak_bytes = 0

    def observe(self, event: Event) -> None:
        """Count an event of a run; those that no metric is about change nothing."""
        if not isinstance(event, Note):
            return
        if event.name == "digest.completed":
            self._completed(event.data)
        elif event.name in ("digest.skipped", "digest.error"):
            self._sources.labels(outcome=event.name.removeprefix("digest.")).inc()
        elif event.name == "pdf.extracted":
            self._pdf_seconds.observe(event.data["seconds"])
            self._pdf_pages.inc(event.data["pages"])
            self._pdf_peak_bytes = max(self._pdf_peak_bytes, event.data["peak_bytes"])
            self._pdf_peak.set(self._pdf_peak_bytes)

    def _completed(self, data: Mapping[str, Any]) -> None:
        hit = bool(data["cache_hit"])
        self._duration.labels(policy=data["policy"], cache_hit=str(hit).lower()).observe(data["duration_ms"] / 1_000)
        self._sources.labels(outcome="completed").inc()
        self._ratio.observe(data["compression_ratio"])
        self._snippets.observe(data["evidence_snippets"])
        if hit:
            self._hits.inc()
