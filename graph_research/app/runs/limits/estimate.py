"""What a research is likely to take: calls, tokens, cost and time, from its settings, before anything is asked.

With S sub-queries, Q searches of a topic, N sources of a topic, R rounds, and a report of W words in K sections:

    Q = min(max_searches, 2)            N = max_sources_per_query Q
    R = min(max_iterations, 2)          K = max(3, W / 300)         B = W / 400
    planning      clarify + plan
    gathering     S (Q reflections + 1 extraction that reads N sources)
    analysis      1 analysis of 8 findings a sub-query + 1 comparison of 24 pairs of findings
    writing       outline + K sections + 1 edit
    verification  B batches of the sections' statements (10 words each, 50 a batch) + 1 of the summary's
                  + mending of K sections + 1 batch of what was mended
    the last round 1 extraction from what is found for open questions
    a later round refinement + its review + gathering of 2 sub-queries + analysis + half of writing and verification

The tokens of each call stand at `_WORK`: those of its prompt with what it shows, and those of its answer. They are
round numbers, good for an order of magnitude; `statistics` of a finished run has what it really took. A call of a
language model takes 2 seconds and 1 more for 50 tokens of its answer; what code in this process answers instead is no
call and takes half a second; a search takes 3 seconds. Sub-queries are researched `max_concurrent` at a time, sections
are written likewise. The price of each call is that of the first model of its role; where that is not known, neither
is the cost.

The least that works is `LEAST_CALLS` calls of `LEAST_CALL_TOKENS` tokens (clarify, plan, read, analyze, outline, two
sections, edit), and `LEAST_SECONDS` seconds, in which code does what models would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.research.models.draft import STATEMENTS_OF_A_BATCH
from graph_research.research.models.evidence import MOST_PAIRS
from graph_research.research.models.report_options import ReportOptions

LEAST_CALLS, LEAST_CALL_TOKENS = 8, 3_000
LEAST_SECONDS = 3.0

_LATER_SUB_QUERIES = 2
_FINDINGS = 8
_SOURCE_TOKENS, _FINDING_TOKENS, _NOTES_TOKENS, _TOKENS_A_WORD = 2_000, 120, 2_500, 3
_WORDS_A_SECTION, _LEAST_SECTIONS = 300, 3
_WORDS_A_STATEMENT, _STATEMENT_TOKENS, _VERDICT_TOKENS = 10, 200, 12
"""A cell of a table is a statement, too."""
_PAIR_TOKENS = 300
_CALL_SECONDS, _TOKENS_A_SECOND = 2.0, 50
_OWN_CALL_SECONDS, _SEARCH_SECONDS = 0.5, 3.0

Price = Callable[[str, int, int], float | None]
"""USD of a call by model, input and output tokens; None where the price is not known."""


class Stage(StrEnum):
    """The parts of a research, for what it spends."""

    PLANNING = "planning"
    GATHERING = "gathering"
    ANALYSIS = "analysis"
    WRITING = "writing"
    VERIFICATION = "verification"


@dataclass(frozen=True, kw_only=True)
class Amount:
    """What something takes: `calls` of language models, and `cost` in USD, None where a price is not known."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Amount(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost=cost,
            seconds=self.seconds + other.seconds,
        )

    def times(self, factor: float) -> Amount:
        """The amount multiplied."""
        return Amount(
            calls=math.ceil(self.calls * factor),
            tokens=math.ceil(self.tokens * factor),
            cost=None if self.cost is None else self.cost * factor,
            seconds=self.seconds * factor,
        )

    def to_json(self) -> dict[str, Any]:
        """Rounded: three digits of tokens, a cent's hundredth, whole seconds."""
        digits = max(len(str(self.tokens)) - 3, 0)
        return {
            "calls": self.calls,
            "tokens": round(self.tokens, -digits),
            "cost": None if self.cost is None else round(self.cost, 4),
            "seconds": round(self.seconds),
        }


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The numbers of a research that decide what it takes, and the model of each role."""

    sub_queries: int
    searches: int
    sources: int
    rounds: int
    at_once: int
    words: int
    models: Mapping[str, str]
    price: Price

    @classmethod
    def of(
        cls, inputs: Mapping[str, Any], models: Sequence[str], roles: Mapping[str, Sequence[str]], price: Price
    ) -> Shape:
        """From the input channels of a run and its models."""
        searches = min(inputs.get("max_searches") or 3, 2)
        wanted = ReportOptions.model_validate(inputs.get("report_options") or {})
        return cls(
            sub_queries=inputs.get("max_sub_queries") or 5,
            searches=searches,
            sources=(inputs.get("max_sources_per_query") or 5) * searches,
            rounds=min(inputs.get("max_iterations") or 3, 2),
            at_once=inputs.get("max_concurrent") or 3,
            words=sum(wanted.words) // 2,
            models={"": models[0], **{role: specs[0] for role, specs in roles.items() if specs}},
            price=price,
        )

    def with_words(self, options: ReportOptions) -> Shape:
        """The same with a report of another length."""
        return replace(self, words=sum(options.words) // 2)

    @property
    def sections(self) -> int:
        """How many sections the report has."""
        return max(_LEAST_SECTIONS, round(self.words / _WORDS_A_SECTION))

    def stage(self, stage: Stage) -> Amount:
        """What one round takes for a stage."""
        return sum(map(self._taken, _WORK[stage](self)), Amount(seconds=self._searching(stage, self.sub_queries)))

    def topic(self) -> Amount:
        """What one sub-query takes."""
        return replace(self, sub_queries=1).stage(Stage.GATHERING)

    def whole(self) -> Amount:
        """What the research takes."""
        first = sum(map(self.stage, Stage), self._taken(_READING_FOR_GAPS))
        if self.rounds == 1:
            return first
        later = replace(self, sub_queries=min(_LATER_SUB_QUERIES, self.sub_queries))
        refined = self._taken(_Work("research", 3_000, 600)) + self._taken(_Work("research", 2_200, 300))
        again = refined + later.stage(Stage.GATHERING) + later.stage(Stage.ANALYSIS)
        revised = (self.stage(Stage.WRITING) + self.stage(Stage.VERIFICATION)).times(0.5)
        return first + (again + revised).times(self.rounds - 1)

    def least(self) -> Amount:
        """The least that gives a report by models."""
        calls = self._taken(_Work("research", LEAST_CALL_TOKENS - 400, 400, LEAST_CALLS))
        return replace(calls, seconds=LEAST_SECONDS)

    def _searching(self, stage: Stage, topics: int) -> float:
        if stage is not Stage.GATHERING:
            return 0.0
        return math.ceil(topics / self.at_once) * self.searches * _SEARCH_SECONDS

    def _taken(self, work: _Work) -> Amount:
        model = self.models.get(work.role) or self.models[""]
        in_a_row = math.ceil(work.calls / self.at_once) if work.side_by_side else work.calls
        if model == EXTRACTIVE:
            return Amount(seconds=in_a_row * _OWN_CALL_SECONDS)
        cost = self.price(model, work.input_tokens, work.output_tokens)
        return Amount(
            calls=work.calls,
            tokens=work.calls * (work.input_tokens + work.output_tokens),
            cost=None if cost is None else work.calls * cost,
            seconds=in_a_row * call_seconds(work.output_tokens),
        )


def call_seconds(output_tokens: int) -> float:
    """How long a language model is expected to take for such an answer."""
    return _CALL_SECONDS + output_tokens / _TOKENS_A_SECOND


@dataclass(frozen=True)
class _Work:
    """Equal calls of a role with the tokens of each; those `side_by_side` are made `at_once` at a time."""

    role: str
    input_tokens: int
    output_tokens: int
    calls: int = 1
    side_by_side: bool = False


_READING_FOR_GAPS = _Work("compression", 9_000, 1_500)


def _planning(shape: Shape) -> list[_Work]:
    return [_Work("research", 900, 100), _Work("research", 3_500, 300 + 120 * shape.sub_queries)]


def _gathering(shape: Shape) -> list[_Work]:
    read = 1_500 + shape.sources * _SOURCE_TOKENS
    return [
        _Work("reflection", 1_000, 150, shape.sub_queries * shape.searches, side_by_side=True),
        _Work("compression", read, 2_500, shape.sub_queries, side_by_side=True),
    ]


def _analysis(shape: Shape) -> list[_Work]:
    return [
        _Work("research", 2_000 + _findings(shape) + shape.sub_queries * _NOTES_TOKENS, 1_500),
        _Work("verification", 1_500 + MOST_PAIRS * _PAIR_TOKENS, MOST_PAIRS * _VERDICT_TOKENS),
    ]


def _writing(shape: Shape) -> list[_Work]:
    each = shape.words * _TOKENS_A_WORD // shape.sections
    shown = 6_500 + 2 * _findings(shape) // shape.sections
    return [
        _Work("report", 2_000 + _findings(shape), 900),
        _Work("report", shown, each, shape.sections, side_by_side=True),
        _Work("report", 1_500 + shape.words * _TOKENS_A_WORD, 900),
    ]


def _verification(shape: Shape) -> list[_Work]:
    statements = shape.words // _WORDS_A_STATEMENT
    together = max(1, STATEMENTS_OF_A_BATCH * shape.sections // statements)
    batches = max(math.ceil(shape.sections / together), math.ceil(statements / STATEMENTS_OF_A_BATCH))
    return [
        _batch(statements // batches, batches + 1),
        _Work("report", 7_000, 500, math.ceil(shape.sections / 2), side_by_side=True),
        _batch(STATEMENTS_OF_A_BATCH // 2, 1),
    ]


def _batch(statements: int, calls: int) -> _Work:
    """Calls that verify so many statements each, shown with their passages."""
    tokens = 1_500 + statements * _STATEMENT_TOKENS
    return _Work("verification", tokens, statements * _VERDICT_TOKENS, calls, side_by_side=True)


def _findings(shape: Shape) -> int:
    return shape.sub_queries * _FINDINGS * _FINDING_TOKENS


_WORK: Mapping[Stage, Callable[[Shape], Sequence[_Work]]] = {
    Stage.PLANNING: _planning,
    Stage.GATHERING: _gathering,
    Stage.ANALYSIS: _analysis,
    Stage.WRITING: _writing,
    Stage.VERIFICATION: _verification,
}
