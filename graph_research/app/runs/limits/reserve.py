"""What of a run's limits is kept for analyzing and writing, and the least limits with which a report can be made.

Of a limit L (tokens, USD, or seconds), where planning is estimated to take p, and one round a for analysis, w for
writing and v for verification, with M = max(L - p, L / 2):

    kept = max(min(a + w, 0.6 M), min(a + w + v, 0.5 M))
    planning, writing and verification may use all of L
    gathering, reviews and refinement may use L - kept
    analysis may use L - kept w / (a + w)

So gathering ends in time, verification is given what writing leaves, and an estimate that is far off leaves gathering
two fifths. A further round begins only while gathering's part has room for one more sub-query, and a step is repeated
only while its part has room for what it is estimated to take. What the rounds so far took on average stands in the
place of the estimates when a further round is decided on, but for a stage of which a call was held back. Of the
seconds, planning may use half of gathering's part, and min(10, 1 + L / 10) are given to nobody: in that time code
writes what no model has written. Where models take longer for their answers than was estimated, so many times as long
is kept for what they have yet to do.

A run whose limits hold less than its settings ask for is planned smaller from the start: its report has as many words,
in hundreds, as writing takes at most 0.45 L for, but those of a brief one; it has no more sub-queries than there is
room for, but 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph_research.app.runs.limits.estimate import Amount, Shape, Stage
from graph_research.errors import Action, Hint, UserMistake
from graph_research.providers.errors import TO_KEEP_WITHIN
from graph_research.research.models.report_options import LENGTHS, ReportOptions
from graph_research.research.report.labels.languages import left_out

_MOST_KEPT, _KEPT_WITH_VERIFICATION, _MOST_WRITING = 0.6, 0.5, 0.45
_LEAST_SUB_QUERIES = 2
_STEP = 100
_MOST_MARGIN_SECONDS = 10.0

_STAGES_OF_AGENTS: Mapping[str, Stage] = {
    "clarifier": Stage.PLANNING,
    "planner": Stage.PLANNING,
    "decomposer": Stage.PLANNING,
    "supervisor": Stage.GATHERING,
    "refiner": Stage.GATHERING,
    "comparer": Stage.ANALYSIS,
    "verifier": Stage.VERIFICATION,
}
_STAGES_OF_ROLES: Mapping[str, Stage] = {
    "summarization": Stage.GATHERING,
    "compression": Stage.GATHERING,
    "reflection": Stage.GATHERING,
    "report": Stage.WRITING,
    "verification": Stage.VERIFICATION,
}


class LimitTooSmall(UserMistake):
    """A limit that leaves no room for any report."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may take; None where it is not limited. `cost` is in USD."""

    tokens: float | None = None
    cost: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reserve:
    """By stage, up to where the limits may be used by a call of it; and what each stage and one more sub-query take.
    `total_seconds` is the limit of time, None where there is none."""

    tokens: Mapping[Stage, float]
    cost: Mapping[Stage, float]
    total_seconds: float | None
    stages: Mapping[Stage, Amount]
    topic: Amount

    @classmethod
    def of(cls, shape: Shape, limits: Limits) -> Reserve:
        """The parts of the limits; empty for what is not limited."""
        stages = {stage: shape.stage(stage) for stage in Stage}
        return cls(
            tokens=_parts({stage: amount.tokens for stage, amount in stages.items()}, limits.tokens),
            cost=_parts({stage: amount.cost or 0.0 for stage, amount in stages.items()}, limits.cost),
            total_seconds=limits.seconds,
            stages=stages,
            topic=shape.topic(),
        )

    def corrected(self, taken: Mapping[Stage, Amount], rounds: int, topics: int) -> Reserve:
        """The parts of the tokens and the cost by what `rounds` rounds and their `topics` took, instead of estimates; a
        stage that is not in `taken` is estimated as before."""
        stages = {stage: _measured(amount, taken.get(stage), rounds) for stage, amount in self.stages.items()}
        return replace(
            self,
            tokens=_parts({stage: amount.tokens for stage, amount in stages.items()}, self.tokens.get(Stage.WRITING)),
            cost=_parts({stage: amount.cost or 0.0 for stage, amount in stages.items()}, self.cost.get(Stage.WRITING)),
            stages=stages,
            topic=_measured(self.topic, taken.get(Stage.GATHERING), topics),
        )

    def seconds(self, slowness: float) -> dict[Stage, float]:
        """The parts of the time where models take `slowness` times as long as estimated; empty without a limit."""
        needed = {stage: slowness * amount.seconds for stage, amount in self.stages.items()}
        return _with_time_to_search(_parts(needed, _usable(self.total_seconds)))


def stage_of(agent: str, role: str) -> Stage:
    """The stage that a call of a model belongs to."""
    return _STAGES_OF_AGENTS.get(agent) or _STAGES_OF_ROLES.get(role, Stage.ANALYSIS)


def check_least(shape: Shape, limits: Limits) -> None:
    """Raise `LimitTooSmall`, with the least that works, where a limit leaves no room for a report."""
    least = shape.least()
    found = (
        ("max_tokens", limits.tokens, least.tokens, "tokens"),
        ("max_cost", limits.cost, least.cost or 0.0, "USD"),
        ("timeout_seconds", limits.seconds, least.seconds, "seconds"),
    )
    for option, limit, needed, unit in found:
        if limit is not None and limit < needed:
            raise LimitTooSmall(
                f"{limit:,g} {unit} are too little for any report; the least that works is about {needed:,.6g}",
                help="a report of some length takes several times as much; allow at least",
                hint=Hint(Action.SET_OPTION, options={option: needed}),
            )


def planned_within(
    inputs: Mapping[str, Any], shape: Shape, limits: Limits
) -> tuple[dict[str, Any], Shape, tuple[str, ...]]:
    """The inputs of a run and its shape, smaller where the limits hold less than is asked for; and what was made
    smaller, in words."""
    wanted = ReportOptions.model_validate(inputs.get("report_options") or {})
    changed, said = dict(inputs), []
    for options in (wanted, *_shorter(wanted)):
        shape = shape.with_words(options)
        if not _exceeds(shape.stage(Stage.WRITING), limits, _MOST_WRITING):
            break
    if options != wanted:
        changed["report_options"] = options.to_json()
        said.append(f"{left_out('length')}{TO_KEEP_WITHIN}{_named(limits)}")
    if (count := _affordable(shape, limits)) < shape.sub_queries:
        changed["max_sub_queries"] = count
        shape = replace(shape, sub_queries=count)
        said.append(f"{left_out('sub_queries')}{TO_KEEP_WITHIN}{_named(limits)}")
    return changed, shape, tuple(said)


def _parts(stages: Mapping[Stage, float], limit: float | None) -> dict[Stage, float]:
    if limit is None:
        return {}
    analysis, writing = stages[Stage.ANALYSIS], stages[Stage.WRITING]
    rest = max(limit - stages[Stage.PLANNING], limit / 2)
    both = analysis + writing
    all_three = both + stages[Stage.VERIFICATION]
    kept = max(min(both, _MOST_KEPT * rest), min(all_three, _KEPT_WITH_VERIFICATION * rest))
    for_writing = kept * writing / both if both else 0.0
    return {
        Stage.PLANNING: limit,
        Stage.GATHERING: limit - kept,
        Stage.ANALYSIS: limit - for_writing,
        Stage.WRITING: limit,
        Stage.VERIFICATION: limit,
    }


def _measured(estimated: Amount, taken: Amount | None, times: int) -> Amount:
    """What something takes, by how much so many of it took; its time is estimated."""
    if taken is None or not times:
        return estimated
    return replace(estimated, tokens=math.ceil(taken.tokens / times), cost=(taken.cost or 0.0) / times)


def _with_time_to_search(parts: dict[Stage, float]) -> dict[Stage, float]:
    return {**parts, Stage.PLANNING: parts[Stage.GATHERING] / 2} if parts else {}


def _usable(seconds: float | None) -> float | None:
    return None if seconds is None else seconds - min(_MOST_MARGIN_SECONDS, 1 + seconds / 10)


def _shorter(options: ReportOptions) -> list[ReportOptions]:
    """The same with fewer words, in hundreds, down to a brief report; none where it is asked for or less."""
    brief, asked = (sum(words) // 2 for words in (LENGTHS["brief"], options.words))
    lengths = [str(words) for words in range((asked - 1) // _STEP * _STEP, brief, -_STEP)] + ["brief"] * (asked > brief)
    return [options.model_copy(update={"length": length}) for length in lengths]


def _exceeds(amount: Amount, limits: Limits, share: float) -> bool:
    tokens = limits.tokens is not None and amount.tokens > share * limits.tokens
    return tokens or (limits.cost is not None and (amount.cost or 0.0) > share * limits.cost)


def _affordable(shape: Shape, limits: Limits) -> int:
    """How many sub-queries there is room for, at least two unless fewer are asked for."""
    rooms = [shape.sub_queries]
    reserve, planning = Reserve.of(shape, limits), shape.stage(Stage.PLANNING)
    if reserve.tokens and reserve.topic.tokens:
        rooms.append(int((reserve.tokens[Stage.GATHERING] - planning.tokens) / reserve.topic.tokens))
    if reserve.cost and reserve.topic.cost:
        rooms.append(int((reserve.cost[Stage.GATHERING] - (planning.cost or 0.0)) / reserve.topic.cost))
    return max(min(rooms), min(_LEAST_SUB_QUERIES, shape.sub_queries))


def _named(limits: Limits) -> str:
    """The limits on spending in words."""
    named = [] if limits.tokens is None else [f"{limits.tokens:,.0f} tokens"]
    return " and ".join([*named, *([] if limits.cost is None else [f"{limits.cost:g} USD"])])
