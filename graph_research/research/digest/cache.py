"""The cache of digests, in memory: the same text, question and settings are condensed once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import orjson

from graph_research.research.digest.eligibility import DigestOptions
from graph_research.research.digest.payload import query_hash
from graph_research.research.models.digest import DigestPayload
from graph_research.research.models.source import Source

IMPLEMENTATION_VERSION = "1.0"
"""Raised when a change of the method makes earlier digests stale."""

MOST_ENTRIES = 100
MOST_CACHES = 100


class DigestCache:
    """At most `MOST_ENTRIES` digests by key; where it is full, the older half goes."""

    def __init__(self) -> None:
        self._entries: dict[str, DigestPayload] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> DigestPayload | None:
        """The digest stored under `key`."""
        return self._entries.get(key)

    def put(self, key: str, payload: DigestPayload) -> None:
        """Store a whole digest."""
        if key not in self._entries and len(self._entries) >= MOST_ENTRIES:
            for oldest in list(self._entries)[: MOST_ENTRIES // 2]:
                del self._entries[oldest]
        self._entries[key] = payload


class DigestCaches:
    """A cache for each user: a digest from that of another user would tell that somebody asked the same question of the
    same text. At most `MOST_CACHES` are kept; the least recently used one is dropped first."""

    def __init__(self) -> None:
        self._caches: OrderedDict[str, DigestCache] = OrderedDict()

    def of(self, user: str) -> DigestCache:
        """The cache of a user."""
        cache = self._caches.setdefault(user, DigestCache())
        self._caches.move_to_end(user)
        if len(self._caches) > MOST_CACHES:
            self._caches.popitem(last=False)
        return cache


def digest_key(source: Source, question: str, options: DigestOptions, summarizer: str) -> str:
    """`digest:VERSION:SOURCE:CONTENT:QUESTION:SETTINGS`, the last three as the beginnings of SHA-256 hashes.

    The content is the canonical text. `summarizer` identifies the models and the prompt that condense.
    """
    settings = orjson.dumps(
        [
            options.policy,
            options.min_chars,
            options.max_sources,
            options.include_evidence,
            options.evidence_max_chars,
            options.max_evidence_snippets,
            summarizer,
        ]
    )
    content = source.archive_hash.removeprefix("sha256:")[:16]
    config = hashlib.sha256(settings).hexdigest()[:8]
    return f"digest:{IMPLEMENTATION_VERSION}:{source.id}:{content}:{query_hash(question)}:{config}"
