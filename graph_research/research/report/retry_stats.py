"""Requests that had to be sent again, counted from what a run's events tell of the wire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from graph_research.graph.events import Event, Note
from graph_research.research.report.model import Retries

__all__ = ["RETRIED", "retries_in_words", "retries_of"]

RETRIED = "wire:retried"
"""The note of a try that failed and is made again."""


def retries_of(events: Iterable[Event]) -> list[Retries]:
    """By kind, provider and role, the most often first. The reasons are left out: they are a server's own words."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        if isinstance(event, Note) and event.name == RETRIED:
            told = event.data
            counts[str(told.get("kind") or "request"), str(told.get("peer") or ""), str(told.get("role") or "")] += 1
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [
        Retries(kind=kind, provider=provider, role=role or None, requests=number)
        for (kind, provider, role), number in rows
    ]


def retries_in_words(retries: Iterable[Retries]) -> list[str]:
    """Such as `3 to 127.0.0.1:8080 (model, report)` and `1 to searxng (search)`."""
    return [f"{one.requests} to {one.provider} ({one.kind}{f', {one.role}' if one.role else ''})" for one in retries]
