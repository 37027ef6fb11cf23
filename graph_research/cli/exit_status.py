"""How a run's end becomes an exit code and, where it is not 0, a line that says why and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_research.cli.display.output import say
from graph_research.cli.errors import ABORTED, DONE, FAILED, WAITING
from graph_research.cli.hints import resume_command

if TYPE_CHECKING:
    from graph_research.app.runs.budget import LimitReached


def end_of(
    run_id: str,
    status: str,
    cause: str | None,
    error: str | None,
    question: str | None = None,
    limit: LimitReached | None = None,
) -> int:
    """The exit code of a run that ended with `status` and `cause`, at a `limit` perhaps; says why where that is not
    0."""
    if status == "completed":
        return DONE
    if status == "awaiting_input":
        say(f"graph-research: the run asks: {question or 'for an answer'}")
        answer = resume_command(run_id, {"answer": ""})
        say(f"graph-research: answer with: {answer}")
        return WAITING
    if status == "paused":
        say(f"graph-research: the run is paused; go on with: {resume_command(run_id)}")
        return WAITING
    if cause is None:
        say(f"graph-research: {run_id} ended {status}, as its graph decided; its state is kept")
        return ABORTED if status == "aborted" else FAILED
    if status == "aborted" and cause in {"cancelled", "timeout"}:
        what = "was cancelled" if cause == "cancelled" else "timed out"
        why = f" ({error})" if error else ""
        go_on = resume_command(run_id, limit.options if limit else {})
        say(f"graph-research: {run_id} {what}{why}; its state is kept, go on with: {go_on}")
        return ABORTED
    say(f"graph-research: {run_id} failed: {error or cause or status}; try again with: {resume_command(run_id)}")
    return FAILED
