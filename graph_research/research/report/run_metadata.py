"""What a run's store knows beside its state: ids, models, times, and its calls summed up by role and by phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from graph_research.graph.checkpoint.records import CallRecord
from graph_research.graph.events import Event, Note
from graph_research.graph.statuses import CallStatus, RunStatus
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import BudgetReached
from graph_research.providers.http.telemetry import RETRIED_NOTE
from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.llm.usage import (
    ModelFailure,
    Price,
    Retries,
    RoleUse,
    Spending,
    Usage,
    phase_of_path,
    spending_of,
    total,
)

_FAILURES: Mapping[str, str] = {
    "ProviderUnavailable": "did not answer",
    "ProviderRefused": "refused the request",
    "TimeoutError": "took too long",
    "exceeded": "found the prompt too long",
    "withheld": "declined to answer",
}
"""By the type of an error, or by the key of a recorded answer without a text."""


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the caller knows of the run from its store.

    `models` maps role, and phase that has models of its own, to the specs that serve it, `search` names the providers,
    `skipped_searches` those that could not be asked, each with the reason; `saved` is what was left out to keep within
    the limits of the run. `status` and `cause` are the run's, `error` is what went wrong, also of one that completed;
    `archive_error` is why files of the archive could not be written.
    Times are ISO 8601 in UTC. `possibly_paid_twice` counts calls that had been sent when a process died.
    """

    run_id: str
    question: str
    graph: str = "deep_research"
    graph_hash: str = ""
    status: str = RunStatus.COMPLETED
    cause: str | None = None
    error: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    search: Sequence[str] = ()
    skipped_searches: Sequence[str] = ()
    saved: Sequence[str] = ()
    started_at: str | None = None
    finished_at: str | None = None
    wall_seconds: float = 0.0
    searches: int = 0
    usage: Sequence[Usage] = ()
    retries: Sequence[Retries] = ()
    model_roles: Mapping[str, RoleUse] = field(default_factory=dict)
    possibly_paid_twice: int = 0
    archive_error: str = ""

    @property
    def is_partial(self) -> bool:
        """Whether the run did not complete, or completed without what it was to write."""
        return self.status != RunStatus.COMPLETED or self.error is not None


def asks_outside(call: CallRecord) -> bool:
    """Whether the call asks a model outside of this process."""
    return call.kind == CallKind.MODEL and _model(call) != EXTRACTIVE


def usage_of(calls: Iterable[CallRecord], price: Price = lambda _model, _input, _output, _cached: None) -> list[Usage]:
    """Answered model calls summed by role and phase: phases as they first happened, roles by name within one.

    The phase is the root node of the call's path: `gather` of `gather[0]/reflect`. `extractive` costs nothing.
    """
    spendings: dict[tuple[str, str], list[Spending]] = {}
    seconds: dict[tuple[str, str], float] = {}
    for call in calls:
        if call.kind == CallKind.MODEL and (spending := spending_of(call.answer, price)) is not None:
            key = (phase_of_path(call.path), str(call.answer.get("role", "")))
            spendings.setdefault(key, []).append(spending)
            seconds[key] = seconds.get(key, 0.0) + (call.seconds or 0.0)
    phases = list(dict.fromkeys(phase for phase, _ in spendings))
    return [
        Usage(role=role, phase=phase, seconds=round(seconds[phase, role], 6), **asdict(total(spendings[phase, role])))
        for phase, role in sorted(spendings, key=lambda key: (phases.index(key[0]), key[1]))
    ]


def savings_of(calls: Iterable[CallRecord]) -> list[str]:
    """What was left out to keep within the limits of the run, in words, in the order in which it happened. What was
    refused and made after all, when the run went on with more, is not in it."""
    calls = list(calls)
    made = {_place(call) for call in calls if call.status == CallStatus.ANSWERED}
    refused = (words for call in calls if (words := _saving(call)) and (_is_asked(call) or _place(call) not in made))
    return list(dict.fromkeys(refused))


def _is_asked(call: CallRecord) -> bool:
    """Whether the call asks what there is room for."""
    return call.kind == CallKind.ALLOWANCE


def _place(call: CallRecord) -> tuple[str, int, int | None, str]:
    return call.path, call.visit, call.item, call.request_hash


def _saving(call: CallRecord) -> str | None:
    """What the call left out, None where it was made."""
    if _is_asked(call):
        return call.answer if isinstance(call.answer, str) else None
    if call.status != CallStatus.FAILED or not isinstance(call.answer, Mapping):
        return None
    return str(call.answer.get("message")) if call.answer.get("type") == BudgetReached.__name__ else None


def roles_served(calls: Iterable[CallRecord], price: Price) -> dict[str, RoleUse]:
    """By role, in the order in which they were first asked. No error's own words are in it, which may hold paths."""
    by_role: dict[str, list[CallRecord]] = {}
    for call in calls:
        if call.kind == CallKind.MODEL and isinstance(call.request, Mapping):
            by_role.setdefault(str(call.request.get("role") or ""), []).append(call)
    return {role: _role_use(of_role, price) for role, of_role in by_role.items()}


def _role_use(calls: Sequence[CallRecord], price: Price) -> RoleUse:
    ended = (CallStatus.ANSWERED, CallStatus.FAILED)
    calls = [call for call in calls if call.status in ended and isinstance(call.answer, Mapping) and not _saving(call)]
    failures = Counter((_model(call), reason) for call in calls if (reason := _failure(call)))
    replies = [call for call in calls if call.status == CallStatus.ANSWERED and "exceeded" not in call.answer]
    models = Counter(_model(call) for call in replies if not call.answer.keys() & {"withheld", "shared"})
    answers = [{"input_tokens": 0, **call.answer, "model": _model(call)} for call in replies]
    spent = total(filter(None, (spending_of(answer, price) for answer in answers)))
    return RoleUse(
        **spent.rounded() | {"calls": models.total()},
        models=dict(models),
        repair_turns=sum(int(call.request.get("attempt") or 1) > 1 for call in replies),
        too_long=sum(call.status == CallStatus.ANSWERED and "exceeded" in call.answer for call in calls),
        failures=[
            ModelFailure(model=model, reason=reason, calls=number) for (model, reason), number in failures.items()
        ],
    )


def _model(call: CallRecord) -> str:
    return str(call.answer.get("model") or call.request.get("model"))


def _failure(call: CallRecord) -> str:
    """Why the call gave no answer, in a few words; empty where it gave one."""
    if call.status == CallStatus.FAILED:
        error = str(call.answer.get("type"))
        return _FAILURES.get(error, f"failed ({error})")
    return next((reason for key, reason in _FAILURES.items() if key in call.answer), "")


def retries_of(events: Iterable[Event]) -> list[Retries]:
    """By kind, provider and role, the most often first. The reasons are left out: they are a server's own words."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        if isinstance(event, Note) and event.name == RETRIED_NOTE:
            data = event.data
            counts[str(data.get("kind") or "request"), str(data.get("peer") or ""), str(data.get("role") or "")] += 1
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [
        Retries(kind=kind, provider=provider, role=role or None, requests=number)
        for (kind, provider, role), number in rows
    ]
