"""Facts about a run that its state does not hold: ids, models, times, calls and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.research.report.model import Retries, RoleUse, Usage

__all__ = ["Price", "RecordedCall", "RunFacts", "usage_of"]

Price = Callable[[str, int, int, int], float | None]
"""USD of a call by model, input tokens, output tokens, and those of the input that were cached; None where the price is
not known."""


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


class RecordedCall(Protocol):
    """A call as the journal keeps it."""

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def answer(self) -> Any: ...


def usage_of(
    calls: Iterable[RecordedCall], price: Price = lambda _model, _input, _output, _cached: None
) -> list[Usage]:
    """Answered model calls summed by role and phase: phases as they first happened, roles by name within one.

    The phase is the root node of the call's path: `gather` of `gather[0]/reflect`. `extractive` costs nothing.
    """
    rows: dict[tuple[str, str], Usage] = {}
    for call in calls:
        if call.kind != "model" or not isinstance(call.answer, Mapping):
            continue
        role, phase = str(call.answer.get("role", "")), call.path.split("/")[0].split("[")[0]
        row = rows.get((role, phase)) or Usage(
            role=role, phase=phase, calls=0, seconds=0.0, input_tokens=0, output_tokens=0, cost_usd=0.0
        )
        rows[role, phase] = _with(row, call, price)
    phases = list(dict.fromkeys(phase for _, phase in rows))
    return sorted(rows.values(), key=lambda row: (phases.index(row.phase), row.role))


def _with(row: Usage, call: RecordedCall, price: Price) -> Usage:
    answer = call.answer
    model = str(answer.get("model", ""))
    tokens_in, tokens_out = int(answer.get("input_tokens") or 0), int(answer.get("output_tokens") or 0)
    cached = int(answer.get("cached_input_tokens") or 0)
    cost = 0.0 if model == "extractive" else price(model, tokens_in, tokens_out, cached)
    return Usage(
        role=row.role,
        phase=row.phase,
        calls=row.calls + 1,
        seconds=round(row.seconds + (call.seconds or 0.0), 6),
        input_tokens=row.input_tokens + tokens_in,
        output_tokens=row.output_tokens + tokens_out,
        cost_usd=None if cost is None or row.cost_usd is None else row.cost_usd + cost,
    )
