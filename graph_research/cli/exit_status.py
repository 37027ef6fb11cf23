"""How a run's end becomes an exit code and, where it is not 0, a line that says why and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_research.cli.display.output import say
from graph_research.cli.errors import ABORTED, DONE, FAILED, WAITING
from graph_research.cli.hints import resume_command
from graph_research.graph.statuses import Cause, RunStatus

if TYPE_CHECKING:
    from graph_research.app.research import ResearchResult
    from graph_research.app.runs.run import RunResult


def end_of(result: RunResult | ResearchResult) -> int:
    """The exit code of a run that ended or waits; says why where that is not 0."""
    run_id, status, cause = result.run_id, result.status, result.cause
    if status == RunStatus.COMPLETED:
        return DONE
    if status == RunStatus.AWAITING_INPUT:
        say(f"graph-research: the run asks: {result.waiting_for or 'for an answer'}")
        answer = resume_command(run_id, {"answer": ""})
        say(f"graph-research: answer with: {answer}")
        return WAITING
    if status == RunStatus.PAUSED:
        say(f"graph-research: the run is paused; go on with: {resume_command(run_id)}")
        return WAITING
    if cause is None:
        say(f"graph-research: {run_id} ended {status}, as its graph decided; its state is kept")
        return ABORTED if status == RunStatus.ABORTED else FAILED
    if status == RunStatus.ABORTED and cause in (Cause.CANCELLED, Cause.TIMEOUT):
        what = "was cancelled" if cause == Cause.CANCELLED else "timed out"
        why = f" ({result.error})" if result.error and result.error != cause else ""
        go_on = resume_command(run_id, result.limit.options if result.limit else {})
        say(f"graph-research: {run_id} {what}{why}; its state is kept, go on with: {go_on}")
        return ABORTED
    say(f"graph-research: {run_id} failed: {result.error or cause}; try again with: {resume_command(run_id)}")
    return FAILED
