"""Spans handed to an exporter of the OpenTelemetry SDK, a drive of a run as one trace."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, set_span_in_context
from opentelemetry.trace import Span as OpenSpan

from graph_research.app.telemetry.conventions import CONTENT, Name
from graph_research.app.telemetry.spans import Drive, Span

_PROGRAM = "graph-research"
_BATCH = 500
"""Spans that one request to a receiver holds at most."""


class _DriveIds(IdGenerator):
    """Ids that follow from the drive's key. So a trace links to the one before without anything being stored."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._spans = 0

    def generate_trace_id(self) -> int:
        return int.from_bytes(hashlib.sha256(self._key.encode()).digest()[:16])

    def generate_span_id(self) -> int:
        self._spans += 1
        return int.from_bytes(hashlib.sha256(f"{self._key}/{self._spans}".encode()).digest()[:8])


def export(exporter: SpanExporter, drives: Sequence[Drive], *, with_content: bool) -> None:
    """Hand over each drive until a batch of its spans is refused, then shut the exporter down."""
    try:
        for drive in drives:
            spans = _finished(drive, with_content=with_content)
            for first in range(0, len(spans), _BATCH):
                if exporter.export(spans[first : first + _BATCH]) is not SpanExportResult.SUCCESS:
                    return
    finally:
        exporter.shutdown()


def _finished(drive: Drive, *, with_content: bool) -> Sequence[ReadableSpan]:
    """The spans of a drive as the SDK has them, with the resource, limits and sampling that the environment sets."""
    finished = InMemorySpanExporter()
    provider = TracerProvider(resource=_resource(), id_generator=_DriveIds(drive.key), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(finished))
    tracer = provider.get_tracer(_PROGRAM, version(_PROGRAM))
    begun: dict[Span, OpenSpan] = {}
    for span in drive.spans:
        begun[span] = tracer.start_span(
            span.name,
            context=set_span_in_context(begun[span.parent], Context()) if span.parent else Context(),
            kind=SpanKind.CLIENT if span.leaves else SpanKind.INTERNAL,
            attributes=_sent(span.attributes, with_content=with_content),
            links=() if span.parent or drive.previous is None else (_link(drive.previous),),
            start_time=_nanoseconds(span.start),
        )
    for span, open_span in begun.items():
        for at, error in span.errors:
            open_span.add_event("exception", _sent(error, with_content=with_content), _nanoseconds(at))
        if Name.ERROR in span.attributes:
            open_span.set_status(Status(StatusCode.ERROR))
        open_span.end(_nanoseconds(span.end or span.start))
    return finished.get_finished_spans()


def _link(key: str) -> Link:
    """To the span of the run in an earlier drive."""
    ids = _DriveIds(key)
    sampled = TraceFlags(TraceFlags.SAMPLED)
    return Link(SpanContext(ids.generate_trace_id(), ids.generate_span_id(), is_remote=True, trace_flags=sampled))


def _resource() -> Resource:
    named = OTELResourceDetector().detect().attributes
    own = {SERVICE_NAME: _PROGRAM, SERVICE_VERSION: version(_PROGRAM)}
    return Resource.create({name: value for name, value in own.items() if name not in named})


def _sent(attributes: Mapping[Name, Any], *, with_content: bool) -> dict[str, Any]:
    return {
        name.value: value
        for name, value in attributes.items()
        if value not in (None, "") and (with_content or name not in CONTENT)
    }


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000
