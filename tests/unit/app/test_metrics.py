"""Metrics: what events become in a registry."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import REGISTRY, CollectorRegistry

from graph_research.app.metrics import RunMetrics
from graph_research.graph.events import Note, Progress
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import Page
from graph_research.research.retrieval.page_fetch import PagePolicy, fetch_pages
from graph_research.research.retrieval.rank_fusion import fuse
from graph_research.text.document import Document
from tests.support.research.harness import PlainContext, hit

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DONE = {"policy": "auto", "cache_hit": False, "duration_ms": 2_500, "compression_ratio": 0.12, "evidence_snippets": 4}


def note(name: str, **data: Any) -> Note:
    return Note(run_id="r1", seq=1, at=NOW, name=name, data=data)


@pytest.mark.requirement("22.2")
def test_each_event_of_a_digest_is_counted() -> None:
    registry = CollectorRegistry()
    metrics = RunMetrics(registry)
    for event in (
        note("digest.started", policy="auto"),
        note("digest.completed", **DONE),
        note("digest.completed", **{**DONE, "cache_hit": True, "duration_ms": 0}),
        note("digest.skipped", reason="not_eligible"),
        note("digest.error", error_type="TimeoutError"),
        Progress(run_id="r1", seq=None, at=NOW, name="digest.completed"),
    ):
        metrics.observe(event)

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    assert value("digest_duration_seconds_sum", policy="auto", cache_hit="false") == 2.5
    assert value("digest_duration_seconds_count", policy="auto", cache_hit="true") == 1
    outcomes = {
        name: value("digest_sources_processed_total", outcome=name) for name in ("completed", "skipped", "error")
    }
    assert outcomes == {"completed": 2, "skipped": 1, "error": 1}
    assert value("digest_compression_ratio_sum") == pytest.approx(0.24)
    assert value("digest_cache_hits_total") == 1
    assert value("digest_evidence_snippets_sum") == 8


@pytest.mark.requirement("12.4")
async def test_a_pdf_that_was_read_is_counted_with_its_pages_and_its_time() -> None:
    class OnePdf:
        async def read(self, url: str) -> Page:
            text = "The Tarn plant opened in March 2016. " * 20
            document = Document(text=text, blocks=(), pages=(0, 200, 400))
            return Page(
                url=url, content_type="application/pdf", document=document, pdf_seconds=1.25, pdf_peak_bytes=70_000_000
            )

    context, registry = PlainContext(), CollectorRegistry()
    found = hit("It opened.", url="https://a.example/1", metadata={"extent": "snippet"})
    policy = PagePolicy(pages=KeptPages(OnePdf()), most=3)
    await fetch_pages(fuse([[found]]), "Tarn", context, policy)
    metrics = RunMetrics(registry)
    for name, data in context.events:
        metrics.observe(note(name, **data))
    assert registry.get_sample_value("pdf_extraction_pages_total") == 3
    assert registry.get_sample_value("pdf_extraction_duration_seconds_sum") == 1.25
    assert registry.get_sample_value("pdf_extraction_peak_memory_bytes") == 70_000_000
    metrics.observe(note("pdf.extracted", url="https://a.example/2", pages=1, seconds=0.1, peak_bytes=60_000_000))
    assert registry.get_sample_value("pdf_extraction_peak_memory_bytes") == 70_000_000


@pytest.mark.requirement("22.2")
def test_nothing_is_registered_by_an_import_and_a_command_does_not_load_the_library() -> None:
    assert not [name for name in REGISTRY._names_to_collectors if name.startswith("digest_")]
    code = "import sys, graph_research.app.application; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
