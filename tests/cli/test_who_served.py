"""A run says which models and searches it uses before it begins, and which of them did the work when it is over."""

from __future__ import annotations

from pathlib import Path

from world import Faults, open_world

from tests.cli.conftest import User


def test_models_searches_and_what_fell_back_are_told_at_the_start_and_at_the_end(user: User, tmp_path: Path) -> None:
    deaf = Faults(deaf_agents=frozenset({"synthesizer"}))
    with open_world(tmp_path / "world.log", faults=deaf) as world:
        done = user.run(
            *("run", "What does the lagoon do to salmon smolts?", "--llm", world.model),
            *("--role", f"report={world.model},extractive", "--search", "searxng,google"),
            *("--max-iterations", "1", "--out", "out", "--json"),
            environ=world.environ(),
        )

    lines = done.err.splitlines()
    assert f"models: {world.model}; report: {world.model}, else extractive" in lines
    assert "searches: searxng" in lines
    assert "searches left out: google (GOOGLE_API_KEY and GOOGLE_CSE_ID are not set)" in lines
    served = done.json["statistics"]["model_roles"]
    assert list(served["research"]["models"]) == [world.model]
    assert list(served["report"]["models"]) == ["extractive"]
    assert served["report"]["failures"][0]["model"] == world.model
    report = (user.folder / "out" / "report.md").read_text()
    assert f"; report: extractive ({world.model} did not answer). Search: searxng." in report
    assert report.count("research, reflection") == 1


def test_searches_that_nobody_chose_are_told_with_the_reason(user: User) -> None:
    user.run("library", "add", "library")
    done = user.run("run", "How do tide mills store water?", "--llm", "extractive", "--out", "out")
    assert "models: extractive" in done.err
    assert "searches: local (what has documents or its key; --search chooses others)" in done.err
    assert "Model: extractive. Search: local." in (user.folder / "out" / "report.md").read_text()
