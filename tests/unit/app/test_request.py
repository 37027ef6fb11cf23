"""A request: what is refused before anything starts, and what is kept with the run."""

from pathlib import Path
from typing import Any

import pytest

from graph_research.app.request import QuestionInvalid, RequestInvalid, RunRequest, request_for
from graph_research.app.runs.limits.budget import Budget
from graph_research.app.store import request_of
from graph_research.app.workspace import Workspace, open_workspace
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.providers.llm.base import Usage
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.harness import graph_of, runtime


def workspace(tmp_path: Path, **options: Any) -> Workspace:
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    return open_workspace(environ, tmp_path, may_use=lambda _: False, options=options)


@pytest.mark.parametrize("question", ["", "  \n", "x" * 50_001, "a\x00b", "\ud800"])
def test_a_question_that_cannot_be_asked_is_refused(tmp_path: Path, question: str) -> None:
    with pytest.raises(QuestionInvalid):
        request_for(workspace(tmp_path), question)


@pytest.mark.parametrize("question", ["?", "x" * 50_000, "Wie heiß? 🌍"])
def test_a_question_of_any_allowed_length_is_taken_as_it_is(tmp_path: Path, question: str) -> None:
    assert request_for(workspace(tmp_path), question).question == question


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"roles": ["reports=extractive"]}, 'did you mean "report"'),
        ({"roles": ["report"]}, "not ROLE=SPEC"),
        ({"max_tokens": 0}, "max_tokens must be greater than 0"),
        ({"max_cost": -1.0}, "max_cost must be greater than 0"),
        ({"now": "tomorrow"}, "not a valid timestamp"),
    ],
)
def test_a_wrong_option_is_named_with_the_remedy(tmp_path: Path, options: dict[str, Any], what: str) -> None:
    with pytest.raises(UserMistake, match=what):
        request_for(workspace(tmp_path), "why?", **options)


def test_a_cost_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestInvalid):
        request_for(workspace(tmp_path), "why?", max_cost=float("nan"))


def test_a_request_comes_back_from_its_json_as_it_was(tmp_path: Path) -> None:
    space = workspace(tmp_path, library=["papers"], search_providers="local,scripted:hits.json", task_timeout=9.5)
    request = request_for(
        space, "why?", graph="my.yaml", roles=["report=extractive", "report=scripted:a.json"], max_tokens=7
    )
    assert RunRequest.from_json({**request.to_json(), "added_later": 1}) == request
    assert request.library == (str(tmp_path / "papers"),)
    assert request.search == ("local", f"scripted:{tmp_path / 'hits.json'}")
    assert request.roles == {"report": ("extractive", f"scripted:{tmp_path / 'a.json'}")}
    assert request.graph == str(tmp_path / "my.yaml")


def test_a_budget_is_spent_once_its_limit_is_reached() -> None:
    budget = Budget(run_id="r", max_tokens=100)
    budget.count("scripted:a.json", Usage(input_tokens=60, output_tokens=39))
    assert budget.spent() is None
    budget.count("scripted:a.json", Usage(input_tokens=1))
    assert "100 of 100 tokens" in str(budget.spent())


@pytest.mark.requirement("16.4")
def test_models_with_commas_between_them_are_a_fallback_order(tmp_path: Path) -> None:
    space = workspace(tmp_path, default_provider=["openai:a@http://127.0.0.1:1/v1, extractive", "scripted:a.json"])
    assert request_for(space, "why?").models == (
        "openai:a@http://127.0.0.1:1/v1",
        "extractive",
        f"scripted:{tmp_path / 'a.json'}",
    )


@pytest.mark.requirement("6.7")
@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"research": {"question": "why?", "graph": "g"}, "question": "why?"}, RunRequest(question="why?", graph="g")),
        ({"graph_run": {"name": "g", "models": ["extractive"]}}, RunRequest(graph="g", interactive=True)),
    ],
)
async def test_requests_that_earlier_versions_stored_are_read(metadata: dict[str, Any], expected: RunRequest) -> None:
    store = MemoryCheckpointer()
    await runtime(graph_of(COUNTDOWN), store).run({}, run_id="old", metadata=metadata)
    assert request_of(await store.run("old")) == expected
