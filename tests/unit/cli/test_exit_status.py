"""How the end of a run is reported: an exit code, and a line that offers only commands that work."""

from types import SimpleNamespace

import pytest

from graph_research import cli
from graph_research.app.runs.run import RunResult
from graph_research.cli.errors import ABORTED, FAILED
from graph_research.cli.exit_status import end_of
from graph_research.graph.errors import InputInvalid
from tests.support.cli.cli_process import User
from tests.support.graph.countdown_graph import COUNTDOWN

REFUSES = """
graph: refuses
version: "1"
state: {n: {type: integer, default: 0}}
start: look
nodes:
  look: {set: {n: n + 1}}
  refused: {end: aborted}
edges:
  - {from: look, to: refused}
"""


def test_an_end_that_the_graph_decided_offers_no_resume(user: User) -> None:
    (user.folder / "refuses.yaml").write_text(REFUSES)
    done = user.run("graph", "run", "refuses.yaml", "--run-id", "no", "--json", expect=ABORTED)
    assert (done.json["status"], done.json["cause"]) == ("aborted", None)
    assert "as its graph decided" in done.err
    assert "resume" not in done.err


def test_a_run_that_took_too_many_steps_goes_on_when_its_graph_allows_more(user: User) -> None:
    short = COUNTDOWN.replace("start: tick", "start: tick\nlimits: {steps: 2}")
    user.write("short.yaml", short)
    for command in (("graph", "run", "short.yaml", "--run-id", "r"), ("resume", "r")):
        told = user.run(*command, expect=FAILED).err
        assert "r failed: tick: more than 2 steps; raise `limits.steps` of the graph" in told
    user.write("short.yaml", short.replace("steps: 2", "steps: 20"))
    assert "resume r --accept-changes" in user.run("resume", "r", expect=2).err
    assert user.run("resume", "r", "--accept-changes", "--json").json["status"] == "completed"


@pytest.mark.parametrize(("cause", "code"), [("cancelled", ABORTED), ("timeout", ABORTED), ("error", FAILED)])
def test_an_abort_from_outside_offers_to_go_on(cause: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(run_id="r1", status="aborted", cause=cause, error="why", waiting_for=None, state={})
    assert end_of(result) == code
    assert "graph-research resume r1" in capsys.readouterr().err


def test_a_cause_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(run_id="r1", status="aborted", cause="cancelled", error="cancelled", waiting_for=None, state={})
    assert end_of(result) == ABORTED
    assert "r1 was cancelled; its state is kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("failed", "code"),
    [([InputInvalid("no such page")], 2), ([ExceptionGroup("inner", [InputInvalid("no such page")])], 2)],
)
def test_what_fails_side_by_side_is_told_by_its_first_error(
    failed: list[Exception], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(**_: object) -> None:
        raise ExceptionGroup("unhandled errors in a TaskGroup", failed)

    monkeypatch.setattr(cli, "_command", lambda: SimpleNamespace(main=command))
    assert cli.execute(["list"]) == code
    assert capsys.readouterr().err == "graph-research: no such page\n"


def test_an_error_without_a_name_beside_others_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(**_: object) -> None:
        raise ExceptionGroup("unhandled errors in a TaskGroup", [InputInvalid("no such page"), ValueError("a bug")])

    monkeypatch.setattr(cli, "_command", lambda: SimpleNamespace(main=command))
    with pytest.raises(ExceptionGroup):
        cli.execute(["list"])
