"""The plan as a text that a user edits: it comes back as it was, and each mistake is told with its line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.app.runs.limits.estimate import Shape
from graph_research.app.runs.plan import Plan, PlanInvalid, read_plan
from graph_research.providers.llm.model_data import Price, Prices
from graph_research.research.models.plan import ChecklistItem, ChecklistKind, SubQuery

line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(
    lambda text: text.strip()
)


def plan_of(
    queries: list[str], points: list[str], brief: str | None = "Brief.", *, looked_for: Sequence[str] = ()
) -> Plan:
    return Plan(
        research_brief=brief,
        sub_queries=[
            SubQuery(
                id=f"sq-1-{n}", query=" ".join(query.split()), rationale="why", priority=n, look_for=list(looked_for)
            ).to_json()
            for n, query in enumerate(queries, start=1)
        ],
        checklist=[
            ChecklistItem(id=f"chk-{n}", text=" ".join(text.split()), kind=ChecklistKind.NUMBER).to_json()
            for n, text in enumerate(points, start=1)
        ],
    )


@given(
    queries=st.lists(line, min_size=1, max_size=8),
    points=st.lists(line, max_size=5),
    looked_for=st.lists(line, max_size=3),
)
def test_a_plan_that_nobody_changes_comes_back_as_it_was(
    queries: list[str], points: list[str], looked_for: list[str]
) -> None:
    plan = plan_of(queries, points, looked_for=[" ".join(text.split()) for text in looked_for])
    assert read_plan(plan.text(), "plan.yaml").to_json() == plan.to_json()
    assert read_plan(json.dumps(plan.to_json(), ensure_ascii=False), "plan.json").to_json() == plan.to_json()


def test_what_the_user_writes_is_completed_and_numbered_again() -> None:
    text = (
        "sub_queries:\n  - query: tide   mills\n  - {query: dams, source_types: [news, web], priority: 1}\n"
        "checklist:\n  - text: when?\n"
    )
    plan = read_plan(text, "plan.yaml")
    assert [(row["id"], row["query"], row["priority"], row["source_types"]) for row in plan.sub_queries] == [
        ("sq-1-1", "tide mills", 1, []),
        ("sq-1-2", "dams", 1, ["web", "news"]),
    ]
    assert plan.checklist == [{"id": "chk-1", "text": "when?", "kind": "part"}]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "a plan has research_brief, sub_queries and checklist"),
        (
            "sub_queries:\n  - query: a\n  quer: b\n",
            3,
            "while parsing a block collection; a text that contains `: `",
        ),
        ("research_brief: a\nsub_queries: []\n", 1, "at least one sub-query"),
        ("research_brief: a\n", 1, "at least one sub-query"),
        ("sub_queries:\n  - query: a\n    prioritty: 2\n", 3, 'did you mean "priority"'),
        ("sub_queries:\n  - query: a\n    priority: high\n", 3, "whole number from 1"),
        ("sub_queries:\n  - query: a\n    source_types: [radio]\n", 3, "web, academic, news"),
        ("sub_queries:\n  - query: a\n    look_for: [1]\n", 3, "look_for is a list of texts"),
        ("sub_queries:\n  - query: a\n    look_for: silt\n", 3, "look_for is a list of texts"),
        ("sub_queries:\n  - rationale: a\n", 2, "query is missing"),
        ("sub_queries:\n  - query: ''\n", 2, "query is empty"),
        ("sub_queries:\n  - tide mills\n", 2, "written as `query: …`"),
        ("sub_queries:\n  - query: [a]\n", 2, "query is a text"),
        (f"sub_queries:\n  - query: {'x' * 1_001}\n", 2, "at most 1,000"),
        ("sub_queries:\n" + "  - query: a\n" * 9, 10, "at most 8"),
        ("sub_queries:\n  - query: a\nchecklist:\n  - text: b\n    kind: joke\n", 5, "part, comparison, decision"),
        ("sub_queries: tide mills\n", 1, "is a list"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, line: int, what: str) -> None:
    with pytest.raises(PlanInvalid) as caught:
        read_plan(text, "plan.yaml")
    assert caught.value.file == "plan.yaml"
    assert any(number == line and what in problem for number, problem in caught.value.problems), caught.value.problems


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(PlanInvalid, match="and 1 more") as caught:
        read_plan("sub_queries:\n  - query: ''\n  - query: a\n    priority: 0\n", "plan.yaml")
    assert [line for line, _ in caught.value.problems] == [2, 4]


def shape(**changes: Any) -> Shape:
    prices = Prices({"dear": Price(input=10.0, output=30.0)})
    inputs = {"max_iterations": 1, **changes}
    return Shape.of(inputs, changes.pop("models", ["openai:dear"]), {}, prices)


def test_an_estimate_grows_with_what_is_asked_for() -> None:
    small, large = shape(max_sub_queries=2).whole(), shape(max_sub_queries=6).whole()
    brief, long = (shape(report_options={"length": length}).whole() for length in ("brief", "long"))
    one, two = shape().whole(), shape(max_iterations=2).whole()
    for less, more in ((small, large), (brief, long), (one, two)):
        assert less.calls < more.calls
        assert less.tokens < more.tokens
        assert less.seconds < more.seconds
        assert (less.cost or 0) < (more.cost or 0)


def test_the_cost_is_unknown_where_a_price_is() -> None:
    assert shape(models=["openai:never-heard-of"]).whole().cost is None


def test_the_keyless_model_takes_time_and_nothing_else() -> None:
    amount = shape(models=["extractive"]).whole()
    assert (amount.calls, amount.tokens, amount.cost) == (0, 0, 0.0)
    assert amount.seconds > 0
