"""How the end of a run is reported: an exit code, and a line that offers only commands that work."""

import pytest

from graph_research.app.runs.run import RunResult
from graph_research.cli.errors import ABORTED, FAILED
from graph_research.cli.exit_status import end_of
from tests.support.cli.cli_process import User

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


@pytest.mark.parametrize(("cause", "code"), [("cancelled", ABORTED), ("timeout", ABORTED), ("error", FAILED)])
def test_an_abort_from_outside_offers_to_go_on(cause: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(run_id="r1", status="aborted", cause=cause, error="why", waiting_for=None, state={})
    assert end_of(result) == code
    assert "graph-research resume r1" in capsys.readouterr().err


def test_a_cause_is_not_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    result = RunResult(run_id="r1", status="aborted", cause="cancelled", error="cancelled", waiting_for=None, state={})
    assert end_of(result) == ABORTED
    assert "r1 was cancelled; its state is kept" in capsys.readouterr().err
