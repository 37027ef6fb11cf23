"""Sends the spans of a run to an OpenTelemetry receiver. OpenTelemetry is loaded only where there is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from importlib.util import find_spec

from graph_research.app.store import Store, question_of
from graph_research.app.workspace import Workspace
from graph_research.research.llm.usage import Price

_SECONDS = 2.0
"""What a receiver may take for a batch where the user has set nothing else: the command ends after that."""
_EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_log = logging.getLogger(__name__)
_said: ContextVar[list[str] | None] = ContextVar("said", default=None)
"""What the exporter has logged while a trace was sent."""


async def send_traces(workspace: Workspace, store: Store, run_id: str, price: Price) -> None:
    """Send what was not sent of a run that ended or waits, where the extra is installed and the environment names a
    receiver of traces. What cannot be sent is logged and left out."""
    if not _has_receiver(workspace.environ) or not _is_installed():
        return
    record = await store.run(run_id)
    events, calls = await store.events(run_id), await store.calls(run_id)

    def send() -> Sequence[str]:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        from graph_research.app.telemetry.export import export
        from graph_research.app.telemetry.spans import unsent_drives

        said: list[str] = []
        _said.set(said)
        logging.getLogger(_EXPORTER).addFilter(_keep)
        drives = unsent_drives(run_id, record.graph, question_of(record) or "", events, calls, price)
        exporter = OTLPSpanExporter(timeout=None if _is_set(workspace.environ, "TIMEOUT") else _SECONDS)
        export(exporter, drives, with_content=workspace.settings.telemetry_content)
        return said

    try:
        said = await asyncio.to_thread(send)
    except Exception as error:  # noqa: BLE001 -- a trace never fails its run
        said = [f"{type(error).__name__}: {error}"]
    if said:
        _log.warning("the trace of run %s was not sent: %s", run_id, " ".join(said))


def _keep(record: logging.LogRecord) -> bool:
    """Keep what the exporter logs of a trace of ours, which is said in a line."""
    said = _said.get()
    if said is not None:
        said.append(record.getMessage())
    return said is None


def _has_receiver(environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environ.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp":
        return False
    return _is_set(environ, "ENDPOINT")


def _is_set(environ: Mapping[str, str], name: str) -> bool:
    return any(environ.get(f"OTEL_EXPORTER_OTLP_{signal}{name}") for signal in ("", "TRACES_"))


def _is_installed() -> bool:
    """Whether the extra is there; the receiver may be named for other programs."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False
