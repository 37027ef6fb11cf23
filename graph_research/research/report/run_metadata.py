"""What a run's store knows beside its state: ids, models, times, and its calls summed up by role and by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import Event, Note
from graph_research.research.llm.usage import Price, Spending, phase_of_path, spending_of, total
from graph_research.research.report.model import ModelFailure, Retries, RoleUse, Usage

RETRIED = "wire:retried"
"""The note of a try that failed and is made again."""

_WHY: Mapping[str, str] = {
    "ProviderUnavailable": "did not answer",
    "ProviderRefused": "refused the request",
    "TimeoutError": "took too long",
}
_TOO_LONG = "found the prompt too long"
_WITHHELD = "declined to answer"


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the caller knows of the run from its store.

    `models` maps role to the spec that serves it, `search` names the providers, `skipped_searches` those that
    could not be asked, each with the reason. `status` and `cause` are the run's.
    Times are ISO 8601 in UTC. `possibly_paid_twice` counts calls that had been sent when a process died.
    """

    run_id: str
    question: str
    graph: str = "deep_research"
    status: str = "completed"
    cause: str | None = None
    error: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    search: Sequence[str] = ()
    skipped_searches: Sequence[str] = ()
    started_at: str | None = None
    finished_at: str | None = None
    wall_seconds: float = 0.0
    searches: int = 0
    usage: Sequence[Usage] = ()
    retries: Sequence[Retries] = ()
    model_roles: Mapping[str, RoleUse] = field(default_factory=dict)
    possibly_paid_twice: int = 0


def usage_of(calls: Iterable[CallRecord], price: Price = lambda _model, _input, _output, _cached: None) -> list[Usage]:
    """Answered model calls summed by role and phase: phases as they first happened, roles by name within one.

    The phase is the root node of the call's path: `gather` of `gather[0]/reflect`. `extractive` costs nothing.
    """
    rows: dict[tuple[str, str], list[tuple[Spending, float]]] = {}
    for call in calls:
        if call.kind == "model" and (spending := spending_of(call.answer, price)) is not None:
            key = (str(call.answer.get("role", "")), phase_of_path(call.path))
            rows.setdefault(key, []).append((spending, call.seconds or 0.0))
    phases = list(dict.fromkeys(phase for _, phase in rows))
    table = [_usage(role, phase, taken) for (role, phase), taken in rows.items()]
    return sorted(table, key=lambda row: (phases.index(row.phase), row.role))


def _usage(role: str, phase: str, taken: Sequence[tuple[Spending, float]]) -> Usage:
    spent = total(spending for spending, _ in taken)
    return Usage(
        role=role,
        phase=phase,
        calls=spent.calls,
        seconds=round(sum(seconds for _, seconds in taken), 6),
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        cost_usd=spent.cost_usd,
    )


def roles_served(calls: Iterable[CallRecord], price: Price) -> dict[str, RoleUse]:
    """By role, in the order in which they were first asked. No error's own words are in it, which may hold paths."""
    tallies: dict[str, _Tally] = {}
    for call in calls:
        if call.kind != "model" or not isinstance(call.request, Mapping):
            continue
        tally = tallies.setdefault(str(call.request.get("role") or ""), _Tally())
        if call.status == "answered" and isinstance(call.answer, Mapping):
            tally.answered(call.request, call.answer, price)
        elif call.status == "failed" and isinstance(call.answer, Mapping):
            told = str(call.answer.get("type"))
            tally.failures[str(call.request.get("model")), _WHY.get(told, f"failed ({told})")] += 1
    return {role: tally.use() for role, tally in tallies.items()}


@dataclass
class _Tally:
    """One role's numbers while they are added up."""

    models: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    repair_turns: int = 0
    too_long: int = 0
    spendings: list[Spending] = field(default_factory=list)

    def answered(self, request: Mapping[str, Any], answer: Mapping[str, Any], price: Price) -> None:
        model = str(answer.get("model") or request.get("model"))
        if "exceeded" in answer:
            self.failures[model, _TOO_LONG] += 1
            self.too_long += 1
            return
        if "withheld" in answer:
            self.failures[model, _WITHHELD] += 1
        else:
            self.models[model] += 1
        self.repair_turns += int(request.get("attempt") or 1) > 1
        self.spendings += filter(None, [spending_of({"input_tokens": 0, **answer, "model": model}, price)])

    def use(self) -> RoleUse:
        spent = total(self.spendings)
        return RoleUse(
            models=dict(self.models),
            calls=sum(self.models.values()),
            repair_turns=self.repair_turns,
            too_long=self.too_long,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=None if spent.cost_usd is None else round(spent.cost_usd, 6),
            failures=[
                ModelFailure(model=model, reason=reason, calls=count)
                for (model, reason), count in self.failures.items()
            ],
        )


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
