"""The digestor: at the start of the analysis, long sources become digests, each once a run."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.errors import BudgetReached, ProviderError
from graph_research.providers.http.circuit_breaker import BreakerOpen, CircuitBreaker
from graph_research.providers.http.redaction import redact
from graph_research.research.digest.cache import digest_key
from graph_research.research.digest.digestor import Condensed, DigestResult, make_digest
from graph_research.research.digest.eligibility import (
    DigestPolicy,
    SkipReason,
    in_digest_order,
    skip_reason,
)
from graph_research.research.digest.payload import query_hash, serialize_payload
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.phase_budget import material_chars
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.digest import (
    DIGEST_CONTENT_TYPE,
    MOST_KEY_POINT_CHARS,
    MOST_KEY_POINTS,
    MOST_SUMMARY_CHARS,
    DigestPayload,
)
from graph_research.research.models.fidelity import FidelityLevel, FidelityRecord, fidelity_record
from graph_research.research.models.source import Source
from graph_research.research.retrieval.reading import Reading, aspects_of, chars_of_each
from graph_research.text.document import Document

ROLE = "digest"
"""The model role of digests, where one is configured; else the analyzer's models condense."""

_MOST_CHARS = 50_000
"""How much of a text is condensed, around what it says to the question."""

_LEAST_CHARS = 2_000
_OUTPUT_TOKENS = 2_048
_PHASE = "analysis"
_REASON = "digest_compression"


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What became of one source: the digested one, or why there is none."""

    source: Source | None = None
    record: FidelityRecord
    problem: str = ""


def digestor(services: Services) -> Handler:
    """Ranks the sources on their whole texts, chooses those to digest, and replaces their content by the digest. A
    source whose digest fails keeps its content; the text in the archive never changes.

    With the policy `auto` only such texts are digested as the analyzer could not be shown whole.
    """

    async def digest(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        run = _Digests(services, handoff, ctx)
        chosen = run.chosen()
        outcomes = await run.digest(chosen) if chosen else []
        return {
            "sources": [outcome.source.to_json() for outcome in outcomes if outcome.source is not None],
            "content_fidelity": [outcome.record.to_json() for outcome in outcomes],
            "degraded": [
                {"node": ctx.path, "agent": "digestor", "reason": outcome.problem}
                for outcome in outcomes
                if outcome.problem
            ],
        }

    return digest


class _Digests:
    """The digests of one round: a breaker and a time limit of their own."""

    def __init__(self, services: Services, handoff: Mapping[str, Any], ctx: Context) -> None:
        self._services = services
        self._handoff = handoff
        self._ctx = ctx
        self._cache = services.digests
        self._options = services.settings.digest
        self._question: str = handoff["original_query"]
        self._breaker = CircuitBreaker(clock=lambda: ctx.now().timestamp())
        self._slots = asyncio.Semaphore(self._options.max_concurrent)

    def chosen(self) -> list[Source]:
        """The sources to digest, best first; for each other one an event says why not."""
        sources = [Source.model_validate(row) for row in self._handoff["sources"]]
        reasons = {source.id: skip_reason(source, self._options) for source in sources}
        eligible = in_digest_order(source for source in sources if reasons[source.id] is None)
        if self._options.policy is DigestPolicy.AUTO:
            eligible = self._not_shown_whole(eligible)
        chosen = eligible[: self._options.max_sources]
        names = {source.id for source in chosen}
        for source in sources:
            if source.id not in names and source.iteration == self._handoff.get("iteration", 1):
                self._skipped(source, reasons[source.id] or SkipReason.NOT_ELIGIBLE)
        return chosen

    async def digest(self, sources: Sequence[Source]) -> list[_Outcome]:
        """Each source's outcome, in the order given, within the time limit of the whole batch."""
        documents = await read_documents(sources, self._ctx)
        summarizer = self._summarizer()
        batch = self._options.timeout * math.ceil(len(sources) / self._options.max_concurrent)

        async def limited(source: Source) -> _Outcome:
            async with self._slots:
                return await self._one(source, documents[source.id], summarizer)

        tasks = [asyncio.create_task(limited(source)) for source in sources]
        try:
            await asyncio.wait(tasks, timeout=batch)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [
            self._failed(source, documents[source.id], TimeoutError("the batch took too long"))
            if task.cancelled()
            else task.result()
            for source, task in zip(sources, tasks, strict=True)
        ]

    async def _one(self, source: Source, document: Document, summarizer: str) -> _Outcome:
        key = digest_key(source, self._question, self._options, summarizer)
        began = self._ctx.now()
        cached = await self._cached(key)
        if cached is not None:
            return self._digested(source, DigestResult(payload=cached, cache_hit=True, duration_ms=self._ms(began)))
        try:
            with self._attempt():
                payload = await self._made(source, document)
        except BreakerOpen:
            self._skipped(source, SkipReason.BREAKER_OPEN)
            return self._kept(source, document, "digest_skipped: too many digests failed")
        except BudgetReached as error:
            return self._kept(source, document, f"digest_skipped: {error.message}")
        except (ProviderError, TimeoutError) as error:
            return self._failed(source, document, error)
        self._cache.put(key, payload)
        return self._digested(source, DigestResult(payload=payload, cache_hit=False, duration_ms=self._ms(began)))

    @contextmanager
    def _attempt(self) -> Iterator[None]:
        """An attempt that the breaker counts, with an event where it opens the breaker."""
        was_open = True
        try:
            with self._breaker.attempt(failing=(ProviderError,)):
                try:
                    yield
                finally:
                    was_open = self._breaker.is_open  # another attempt may have opened it meanwhile
        finally:
            if self._breaker.is_open and not was_open:
                self._ctx.emit(
                    "digest.circuit_breaker_triggered",
                    window_failures=self._breaker.window.failures,
                    window_size=self._breaker.window.attempts,
                )

    async def _made(self, source: Source, document: Document) -> DigestPayload:
        self._ctx.emit(
            "digest.started",
            source_id=source.id,
            content_size=len(document.text),
            policy=self._options.policy.value,
            query_hash=query_hash(self._question),
        )
        async with asyncio.timeout(self._options.timeout):
            return await make_digest(source, document, self._question, self._options, self._condense)

    async def _cached(self, key: str) -> DigestPayload | None:
        """What the cache holds, as the journal has it, so that a replay finds the same."""

        async def look_up() -> dict[str, Any] | None:
            payload = self._cache.get(key)
            return None if payload is None else payload.to_json()

        found = await self._ctx.call("digest_cache", {"key": key}, look_up, at_hand=True)
        return None if found is None else DigestPayload.model_validate(found)

    async def _condense(self, source: Source, document: Document) -> Condensed:
        """What the role's model makes of a text; of one that is too long for it, of the passages about the question."""

        def shorter(_row: Mapping[str, Any], most_chars: int) -> str:
            return self._shown(source, document, most_chars)

        result = await _agent(self._services, shorter).call(
            self._services,
            self._material([{"id": source.id, "title": source.title, "text": shorter({}, _MOST_CHARS)}]),
            self._ctx,
            local={"document": document},
            windows=self._handoff.get("model_windows"),
        )
        return Condensed(summary=result.output["summary"], key_points=result.output["key_points"])

    def _shown(self, source: Source, document: Document, most_chars: int) -> str:
        return Reading([source], {source.id: document}, aspects_of([self._question])).text(source.id, most_chars)

    def _material(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            **prompt_context(self._handoff.get("report_options"), self._ctx),
            "question": self._question,
            "sources": list(rows),
            "most_summary_chars": MOST_SUMMARY_CHARS,
            "most_key_points": MOST_KEY_POINTS,
            "most_key_point_chars": MOST_KEY_POINT_CHARS,
        }

    def _summarizer(self) -> str:
        """What identifies who condenses: the models and the prompt without a source."""
        render = self._services.prompts.render
        schema = self._services.schemas.get("digestor.answer").schema
        material = {**self._material([{"id": "", "title": "", "text": ""}]), "schema": schema}
        prompt = render("digestor/system", material) + render("digestor/user", material)
        models = self._services.models
        names = map(models.name_of, models.models(_role(self._services), _PHASE))
        return hashlib.sha256("\n".join([*names, prompt]).encode()).hexdigest()

    def _not_shown_whole(self, sources: Sequence[Source]) -> list[Source]:
        """Those that neither a topic's notes cover nor the analyzer's prompt could show as they are."""
        services = self._services
        room = material_chars(services, "research", _PHASE, self._handoff.get("model_windows"))
        if room is None:
            return []
        read = {name for topic in self._handoff.get("topics") or [] for name in topic.get("read_ids") or ()}
        unread = [row["characters"] for row in self._handoff["sources"] if row["id"] not in read]
        most = chars_of_each(services.settings, unread, room)
        return [source for source in sources if source.id not in read and source.characters > most]

    def _digested(self, source: Source, result: DigestResult) -> _Outcome:
        payload = result.payload
        self._ctx.emit(
            "digest.completed",
            source_id=source.id,
            original_chars=payload.original_chars,
            digest_chars=payload.digest_chars,
            compression_ratio=payload.compression_ratio,
            cache_hit=result.cache_hit,
            duration_ms=result.duration_ms,
            policy=self._options.policy.value,
            evidence_snippets=len(payload.evidence_snippets),
        )
        record = fidelity_record(
            source.id, "digest", payload.original_chars, payload.digest_chars, FidelityLevel.DIGEST, reason=_REASON
        )
        metadata = {
            **source.metadata,
            "media_type": source.media_type,
            "_digest_archive_hash": source.archive_hash,
            "_digest_cache_hit": result.cache_hit,
        }
        update = {
            "content": serialize_payload(payload),
            "content_type": DIGEST_CONTENT_TYPE,
            "fidelity": FidelityLevel.DIGEST.value,
            "metadata": metadata,
        }
        return _Outcome(source=source.model_copy(update=update), record=record)

    def _failed(self, source: Source, document: Document, error: Exception) -> _Outcome:
        reason = redact(error.message) if isinstance(error, ProviderError) else "it took too long"
        self._ctx.emit("digest.error", source_id=source.id, error_type=type(error).__name__, message=reason)
        return self._kept(source, document, f"digest_failed: {reason}")

    def _kept(self, source: Source, document: Document, problem: str) -> _Outcome:
        chars = len(document.text)
        record = fidelity_record(source.id, "digest", chars, chars, FidelityLevel.FULL, warning=problem)
        return _Outcome(record=record, problem=f"{source.id} keeps its text: {problem}")

    def _skipped(self, source: Source, reason: SkipReason) -> None:
        self._ctx.emit("digest.skipped", source_id=source.id, reason=reason.value)

    def _ms(self, began: datetime) -> int:
        return round((self._ctx.now() - began).total_seconds() * 1_000)


def _role(services: Services) -> str:
    return ROLE if ROLE in services.models.roles else "research"


def _agent(services: Services, shorter: Callable[[Mapping[str, Any], int], str]) -> Agent:
    text = Section(name="sources", noun="source", text="text", least_chars=_LEAST_CHARS, shorten=shorter)
    return Agent(
        name="digestor", role=_role(services), phase=_PHASE, max_output_tokens=_OUTPUT_TOKENS, sections=(text,)
    )
