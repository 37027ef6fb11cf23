"""Who served which role of a run, what it took and cost, and who was passed over: read from the run's journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from graph_research.research.report.model import ModelFailure, RoleUse
from graph_research.research.report.run_metadata import Price

__all__ = ["JournalledCall", "roles_served"]

_WHY: Mapping[str, str] = {
    "ProviderUnavailable": "did not answer",
    "ProviderRefused": "refused the request",
    "TimeoutError": "took too long",
}
_TOO_LONG = "found the prompt too long"
_WITHHELD = "declined to answer"


class JournalledCall(Protocol):
    """A call as the journal keeps it; `request` is what was sent, `answer` of a failed one `{type, message}`."""

    @property
    def kind(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def request(self) -> Any: ...
    @property
    def answer(self) -> Any: ...


def roles_served(calls: Iterable[JournalledCall], price: Price) -> dict[str, RoleUse]:
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
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

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
        tokens_in, tokens_out = int(answer.get("input_tokens") or 0), int(answer.get("output_tokens") or 0)
        self.input_tokens += tokens_in
        self.output_tokens += tokens_out
        cached = int(answer.get("cached_input_tokens") or 0)
        cost = 0.0 if model == "extractive" else price(model, tokens_in, tokens_out, cached)
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost

    def use(self) -> RoleUse:
        return RoleUse(
            models=dict(self.models),
            calls=sum(self.models.values()),
            repair_turns=self.repair_turns,
            too_long=self.too_long,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=None if self.cost_usd is None else round(self.cost_usd, 6),
            failures=[
                ModelFailure(model=model, reason=reason, calls=count)
                for (model, reason), count in self.failures.items()
            ],
        )
