"""Limits at the command line: what ended a run, how it is reported, and the option that `resume` needs then."""

from __future__ import annotations

import json
import re
import signal
from typing import Any

import pytest

from graph_research import deep_research
from graph_research.app.runs.limits.budget import Budget
from graph_research.app.runs.limits.reserve import LimitTooSmall
from graph_research.providers.llm.base import Usage
from graph_research.providers.llm.model_data import Price, Prices
from tests.support.cli.cli_process import Done, User
from tests.support.cli.cli_user import QUESTION
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.unit.cli.test_run import running

BRIEF = {"*": [{"need_clarification": False, "question": "", "verification": "ok"}]}
LATE = {"*": [{"delay_seconds": 60, "text": "{}"}]}
ANSWER = 'question="How do tide mills store water?"'


def pipeline(user: User, run_id: str, script: dict[str, Any], *options: str) -> Done:
    """A run of a graph that keeps no part of its limits for a report, and ends by them."""
    more = ["--library", "library", "--llm", user.script("brief.json", script), "--run-id", run_id, *options]
    return user.run("graph", "run", "pipeline", "--set", ANSWER, *more, expect=3)


def dear(user: User) -> str:
    """A run `dear` that a budget of one token ended after its first call; what was said."""
    return pipeline(user, "dear", BRIEF, "--max-tokens", "1").err


def offered(said: str) -> list[str]:
    """The last command that a text names, without the program."""
    return re.findall(r"graph-research (resume .*)", said)[-1].split()


def test_the_end_names_the_option_that_goes_on_and_it_does(user: User) -> None:
    command = offered(dear(user))
    assert command[:3] == ["resume", "dear", "--max-tokens"]
    told = json.loads(user.run(*command, "--json", expect=3).out)
    assert told["limit"]["words"].endswith(f"of {int(command[3]):,} tokens")
    assert "decompose" in [step["node"] for step in user.run("history", "dear", "--json").json]


def test_a_limit_that_was_raised_stays_raised(user: User) -> None:
    dear(user)
    user.run("resume", "dear", "--max-tokens", "2", expect=3)
    assert "of 2 tokens" in user.run("status", "dear").out
    assert "of 2 tokens" in user.run("resume", "dear", expect=3).err


def test_status_and_report_name_the_limit_and_the_option_too(user: User) -> None:
    command = offered(dear(user))
    status = user.run("status", "dear")
    assert "ended by:  the models used" in status.out
    assert offered(status.out) == command
    limit = user.run("status", "dear", "--json").json["limit"]
    assert limit["option"] == " ".join(command[2:])
    refused = user.run("report", "dear", expect=2).err
    assert "before it had anything to report" in refused
    assert "of 1 tokens)" in refused
    assert offered(refused) == command


def test_status_tells_what_models_took_of_a_run_that_has_no_report(user: User) -> None:
    dear(user)
    [row] = user.run("status", "dear", "--json").json["usage"]
    assert (row["role"], row["phase"], row["calls"]) == ("research", "decompose", 1)
    assert row["input_tokens"] > row["output_tokens"] > 0
    told = user.run("status", "dear").out
    assert f"used:      1 model call, {row['input_tokens']:,} tokens read, {row['output_tokens']:,} written\n" in told


def test_status_counts_no_model_where_code_alone_worked(user: User) -> None:
    user.run("run", QUESTION, "--library", "library", "--run-id", "alone", "--max-iterations", "1")
    assert "used: " not in user.run("status", "alone").out


async def test_a_call_in_python_has_the_same_limits(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    spec, environ = user.script("brief.json", BRIEF), {"GRAPH_RESEARCH_HOME": str(user.home)}
    options: dict[str, Any] = {"library": ["library"], "llm": spec, "max_cost": 5, "environ": environ}
    with pytest.raises(LimitTooSmall, match="the least that works is about 24,000"):
        await deep_research(QUESTION, max_tokens=1, **options)
    result = await deep_research(QUESTION, max_tokens=100_000, run_id="called", **options)
    assert result.status == "completed"


def test_a_graph_of_any_kind_is_run_within_a_budget(user: User) -> None:
    options = ["--library", "library", "--llm", user.script("brief.json", BRIEF), "--run-id", "any"]
    done = user.run("graph", "run", "pipeline", "--set", ANSWER, *options, "--max-tokens", "1", "--json", expect=3)
    assert (done.json["status"], done.json["cause"]) == ("aborted", "cancelled")
    assert done.json["limit"]["option"].startswith("--max-tokens ")
    assert offered(done.err)[:3] == ["resume", "any", "--max-tokens"]
    assert user.run("resume", "any", "--max-tokens", "1000000", "--json").json["status"] == "completed"
    assert "--max-cost" in user.run("graph", "run", "pipeline", "--set", ANSWER, "--max-cost", "0", expect=2).err


def test_a_run_out_of_time_is_offered_more(user: User) -> None:
    assert offered(pipeline(user, "late", LATE, "--timeout", "1").err) == ["resume", "late", "--timeout", "2"]
    assert offered(user.run("status", "late").out) == ["resume", "late", "--timeout", "2"]


def test_the_time_that_a_graph_allows_is_given_again_and_not_raised(user: User) -> None:
    user.run("graph", "new", "canal")
    graph = user.folder / "canal" / "canal.yaml"
    graph.write_text(graph.read_text().replace("limits: {steps: 100}", "limits: {seconds: 0.2}"))
    spec = user.script("slow.json", {"*": [{"delay_seconds": 60, "text": "{}"}]})
    options = ["--llm", spec, "--timeout", "30", "--run-id", "short"]
    said = user.run("graph", "run", "canal/canal.yaml", *options, expect=3).err
    assert "short timed out (its graph allows 0.2 s)" in said
    assert offered(said) == ["resume", "short"]


def test_a_step_that_no_model_answers_in_time_is_named(user: User) -> None:
    user.run("graph", "new", "canal")
    graph = user.folder / "canal" / "canal.yaml"
    timed = graph.read_text().replace("    prompt:", "    timeout_seconds: 0.2\n    prompt:", 1)
    graph.write_text(timed)
    spec = user.script("slow.json", {"*": [{"delay_seconds": 60, "text": "{}"}]})
    said = user.run("graph", "run", "canal/canal.yaml", "--llm", spec, "--run-id", "slow", expect=3).err
    assert "slow timed out (" in said and "it took longer than its timeout_seconds)" in said
    assert "it took longer than its timeout_seconds" in user.run("status", "slow").out


def test_a_run_that_somebody_stopped_is_called_interrupted_at_once(user: User) -> None:
    with running(user, "int") as process:
        assert "is running in the phase" in user.run("report", "int", expect=2).err
        process.send_signal(signal.SIGINT)
        process.finish()
    with running(user, "killed") as process:
        process.kill()
        process.finish()
    for run_id in ("int", "killed"):
        lines = user.run("status", run_id).out.splitlines()
        assert lines[0] == f"{run_id}: running (interrupted)"
        assert f"{run_id}  running (interrupted)" in re.sub(" {2,}", "  ", user.run("list").out)
        assert lines[-1] == f"go on with: graph-research resume {run_id}"
        refused = user.run("report", run_id, expect=2).err
        assert "was interrupted in the phase" in refused
        assert offered(refused) == ["resume", run_id]


def test_the_report_of_a_run_that_was_cancelled_before_it_had_anything_says_so(user: User) -> None:
    with running(user, "stopped") as process:
        process.kill()
        process.finish()
    user.run("cancel", "stopped")
    refused = user.run("report", "stopped", "--json", expect=2).json["error"]
    assert refused["code"] == "no-report"
    assert "was cancelled in the phase" in refused["message"]
    assert refused["help"] == "it is kept; resume it: graph-research resume stopped"


def test_a_graph_that_is_no_research_has_no_report(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.run("graph", "run", "countdown.yaml", "--run-id", "count")
    refused = user.run("report", "count", expect=2).err
    assert "only a research has a report; `graph-research history count` shows its steps" in refused


@pytest.mark.parametrize(
    ("limits", "used", "expected"),
    [
        ({"max_tokens": 100}, 99, None),
        ({"max_tokens": 100}, 100, {"max_tokens": 200}),
        ({"max_tokens": 100}, 5_000, {"max_tokens": 12800}),
        ({"max_cost": 0.5}, 1_000_000, {"max_cost": 4}),
    ],
)
def test_the_option_leaves_as_much_again_as_was_used(
    limits: dict[str, float], used: int, expected: dict[str, float] | None
) -> None:
    prices = Prices({"m": Price(input=2.0, output=0.0)})
    budget = Budget(run_id="r", prices=prices, **limits)  # type: ignore[arg-type]
    budget.count("m", Usage(input_tokens=used, output_tokens=0))
    reached = budget.spent()
    assert (None if reached is None else reached.options) == expected
