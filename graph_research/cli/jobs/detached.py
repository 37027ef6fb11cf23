"""`run --detach`: puts a run into the queue, and sees to it that a worker drives it after this command has ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graph_research.app.application import Application
from graph_research.app.job_runner import JobRequest
from graph_research.app.request import RunRequest
from graph_research.app.research import report_folder
from graph_research.app.runs.run import new_run_id
from graph_research.app.workspace import Workspace
from graph_research.cli.display.output import say, show, show_json
from graph_research.cli.jobs.queue import QUEUED, open_jobs
from graph_research.cli.jobs.work import locked
from graph_research.jobs.job import LOCAL_USER, NewJob


async def submit(
    workspace: Workspace, request: RunRequest, *, run_id: str | None, out: Path | None, json: bool
) -> None:
    """Queue a run, start a worker where none is alive, and print its id."""
    chosen, folder = await queued(workspace, request, run_id=run_id, out=out)
    if json:
        show_json({"run_id": chosen, "question": request.question or "", "status": QUEUED})
    else:
        show(chosen)
    say(f"queued; `graph-research status {chosen}` shows where it stands, its report goes to {folder}")


async def queued(
    workspace: Workspace, request: RunRequest, *, run_id: str | None = None, out: Path | None = None
) -> tuple[str, Path]:
    """Check a run as if it began, queue it, start a worker where none is alive: its id, and where its report goes."""
    chosen = new_run_id() if run_id is None else run_id
    folder = report_folder(workspace, chosen, out)
    async with Application(workspace) as app:
        async with app.prepared(request, run_id=chosen):
            pass  # what is wrong with it is said now, not in the log of a worker
        async with open_jobs(workspace.home) as jobs:
            job = JobRequest(run=request, folder=str(workspace.folder), out=str(folder.absolute()), user=LOCAL_USER)
            question = request.question or ""
            await jobs.submit(
                NewJob(id=chosen, user=LOCAL_USER, question=question, request=job.to_json(), keeps_run=True)
            )
    start_worker(workspace)
    return chosen, folder


def start_worker(workspace: Workspace) -> None:
    """Start a worker that ends when nothing is left to do, in a session of its own: neither Ctrl-C nor the end of the
    terminal reaches it. Nothing is started where one is alive."""
    with locked(workspace.home.worker_lock) as is_free:
        pass
    if not is_free:
        return
    log = (str(workspace.home.worker_log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    command = [sys.executable, "-m", "graph_research", "worker", "--until-idle"]
    streams = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, *log)]
    os.posix_spawn(
        sys.executable, command, os.environ, file_actions=[*streams, (os.POSIX_SPAWN_DUP2, 1, 2)], setsid=True
    )
