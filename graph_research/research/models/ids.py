"""Ids that derive from content, so that the same thing has the same id in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def evidence_id(archive_hash: str, locator: str) -> str:
    """`ev-` and 10 hex digits of the archived text's hash and the place in it."""
    return _derived("ev", archive_hash, locator)


def finding_id(content: str) -> str:
    """`find-` and 10 hex digits of what the finding says; case and spacing do not count."""
    return _derived("find", _plain(content))


def gap_id(description: str) -> str:
    """`gap-` and 10 hex digits of what is missing; case and spacing do not count."""
    return _derived("gap", _plain(description))


def contradiction_id(kind: str, topic: str, evidence_ids: list[str]) -> str:
    """`con-` and 10 hex digits of its kind, topic and the evidence on all sides, in any order."""
    return _derived("con", kind, _plain(topic), *sorted(evidence_ids))


def comparison_id(about: Sequence[str]) -> str:
    """`cmp-` and 10 hex digits of the ids of what is compared, in any order."""
    return _derived("cmp", *sorted(about))


def sub_query_id(iteration: int, number: int) -> str:
    """`sq-ITERATION-NUMBER`, both counted from 1."""
    return f"sq-{iteration}-{number}"


def _derived(kind: str, *parts: str) -> str:
    return f"{kind}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:10]}"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
