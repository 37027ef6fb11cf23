"""`run --detach` and `worker`: a run goes on after its command has ended, and other commands know it from the start."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graph_research.cli.jobs.work import locked
from tests.support.cli.cli_process import NOW, User, wait_until
from tests.support.cli.cli_user import QUESTION

SLOW = {"planner": [{"delay_seconds": 60, "text": "{}"}], "*": [{"need_clarification": False, "question": ""}]}


WITH_A_RUN = (
    ("resume", "q"),
    ("report", "q"),
    ("verify", "q"),
    ("history", "q"),
    ("show", "q", "--step", "1"),
    ("guide", "q", "Mind prices."),
    ("ask", "q", "And in winter?"),
    ("refresh", "q"),
    ("exclude", "q", "1"),
    ("edit", "q", "s1", "--drop"),
    ("versions", "q"),
    ("diff", "q", "q"),
    ("fork", "q", "--step", "1"),
    ("replay", "q"),
    ("export-run", "q", "-o", "q.grb"),
    ("graph", "export", "deep_research", "--format", "mermaid", "--run", "q"),
    ("debug", "q"),
)
"""Commands that need a run which has begun."""


def submit(user: User, run_id: str, *options: str, **more: Any) -> Any:
    asked = ("run", QUESTION, "--library", "library", "--run-id", run_id, "--now", NOW, "--detach", "--json")
    return user.run(*asked, *options, **more).json


def status(user: User, run_id: str) -> str:
    return str(user.run("status", run_id, "--json").json["status"])


def listed(user: User) -> dict[str, str]:
    return {run["run_id"]: run["status"] for run in user.run("list", "--json").json}


@pytest.fixture
def no_worker(user: User) -> Iterator[None]:
    """Somebody else holds the lock of the background's worker, so that none is started."""
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock") as is_mine:
        assert is_mine
        yield


@pytest.mark.requirement("1.15")
def test_a_detached_run_outlives_its_command_and_its_terminal(user: User) -> None:
    asked = ("run", QUESTION, "--library", "library", "--run-id", "bg", "--detach", "--out", "out")
    with user.start(*asked, start_new_session=True) as process:
        out, err = process.finish()
    assert (process.returncode, out) == (0, "bg\n")
    assert "graph-research status bg" in err
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGHUP)  # the worker is in no group of the command's
    wait_until(lambda: status(user, "bg") == "completed")
    wait_until(lambda: lock_is_free(user))
    assert sorted(path.name for path in (user.folder / "out").iterdir()) == ["report.html", "report.json", "report.md"]
    assert user.run("report", "bg").out == (user.folder / "out" / "report.md").read_text()
    assert "job bg is COMPLETED" in (user.home / "worker.log").read_text()
    assert user.run("verify", "bg", "--json").json["invalid"] == 0


def lock_is_free(user: User) -> bool:
    with locked(user.home / "worker.lock") as is_free:
        return is_free


@pytest.mark.usefixtures("no_worker")
def test_a_queued_run_is_shown_and_cannot_go_on_yet(user: User) -> None:
    assert submit(user, "q") == {"run_id": "q", "question": QUESTION, "status": "queued"}
    shown = user.run("status", "q", "--json").json
    assert (shown["status"], shown["cause"], shown["question"], shown["step"]) == ("queued", None, QUESTION, 0)
    assert "q: queued" in user.run("status", "q").out
    assert "`graph-research worker` starts another" in user.run("status", "q").out
    assert listed(user) == {"q": "queued"}
    for command in WITH_A_RUN:
        refused = user.run(*command, expect=2).err
        assert "run q is queued and has not begun; it begins when a worker is free" in refused, command
        assert "`graph-research worker` starts another" in refused
    assert "a queued run q exists" in user.run("run", QUESTION, "--library", "library", "--run-id", "q", expect=2).err
    assert "there is no run" in user.run("status", "nobody", expect=2).err


@pytest.mark.usefixtures("no_worker")
def test_a_queued_run_is_cancelled_and_deleted(user: User) -> None:
    submit(user, "q")
    cancelled = user.run("cancel", "q", "--json").json
    assert (cancelled["status"], cancelled["cause"]) == ("aborted", "cancelled")
    assert listed(user) == {}
    submit(user, "r")
    user.run("delete", "r")
    assert listed(user) == {}
    user.run("status", "r", expect=2)


def test_a_worker_drives_what_is_queued_and_ends(user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "a", "--out", "a")
        submit(user, "b", "--out", "b")
        assert listed(user) == {"a": "queued", "b": "queued"}
    done = user.run("worker", "--until-idle", "--concurrency", "1")
    assert done.out == ""
    assert "job b is COMPLETED" in done.err
    assert listed(user) == {"a": "completed", "b": "completed"}
    assert (user.folder / "a" / "report.md").read_bytes() == (user.folder / "b" / "report.md").read_bytes()


@pytest.mark.requirement("11.20")
def test_a_queued_run_uses_the_digests_of_an_earlier_one(user: User) -> None:
    user.home.mkdir(mode=0o700)
    (user.home / "config.toml").write_text('[research]\ndeep_research_digest_policy = "always"\nmax_iterations = 1\n')
    with locked(user.home / "worker.lock"):
        submit(user, "first")
        submit(user, "again")
    user.run("worker", "--until-idle", "--concurrency", "1")
    hits = {
        run_id: {event["data"]["cache_hit"] for event in user.audit(run_id) if "cache_hit" in event.get("data", {})}
        for run_id in ("first", "again")
    }
    assert hits == {"first": {False}, "again": {True}}


def test_a_second_worker_until_idle_waits_for_the_first(user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "a")
        second = user.start("worker", "--until-idle")
        assert second.stderr is not None
        assert "another worker" in second.stderr.readline()
        assert status(user, "a") == "queued"
    with second:
        _, err = second.finish()
    assert second.returncode == 0, err
    assert status(user, "a") == "completed"


@pytest.mark.usefixtures("no_worker")
def test_what_is_wrong_with_a_run_is_said_before_it_is_queued(user: User) -> None:
    for options in (("--library", "nowhere"), ("--llm", "openai:gpt-x"), ("--graph", "nothing"), ("--plan-only",)):
        user.run("run", QUESTION, *options, "--detach", expect=2)
    assert listed(user) == {}


def test_a_run_that_fails_before_it_begins_says_why(user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "q")
        for file in (user.folder / "library").iterdir():
            file.unlink()
    user.run("worker", "--until-idle")
    shown = user.run("status", "q", "--json").json
    assert (shown["status"], shown["cause"]) == ("failed", "error")
    assert "library" in shown["error"]
    assert listed(user) == {"q": "failed"}
    assert "run q is failed and never began" in user.run("report", "q", expect=2).err


def test_a_run_that_waits_is_taken_over_by_resume(user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "p", "--plan")
    user.run("worker", "--until-idle")
    assert status(user, "p") == "paused"
    assert user.run("resume", "p", "--out", "out", "--json").json["status"] == "completed"
    assert "job" not in user.run("worker", "--until-idle").err
    assert listed(user) == {"p": "completed"}


def test_a_run_that_waits_is_not_pruned(user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "p", "--plan")
        submit(user, "d")
    user.run("worker", "--until-idle")
    assert user.run("prune", "--keep", "0", "--json").json["runs"] == ["d"]
    assert user.run("resume", "p", "--out", "out", "--json").json["status"] == "completed"


@pytest.mark.parametrize("received", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_is_stopped_gives_its_runs_back(received: signal.Signals, user: User) -> None:
    user.home.mkdir(mode=0o700)
    with locked(user.home / "worker.lock"):
        submit(user, "slow", "--llm", user.script("slow.json", SLOW))
    with user.start("worker") as process:
        log = user.home / "audit" / "slow.jsonl"
        wait_until(lambda: log.exists() and '"path":"plan"' in log.read_text())
        assert status(user, "slow") == "running"
        process.send_signal(received)
        _, err = process.finish()
    assert process.returncode == 0
    logged = [json.loads(line) for line in err.splitlines()]
    assert [(line.get("run_id"), line["message"].split(": ")[1]) for line in logged] == [
        (None, "waiting for runs, 3 at once"),
        ("slow", "job slow, claim 1"),
        (None, "stopping; its runs go back into the queue"),
        ("slow", "job slow is given back"),
    ]
    assert status(user, "slow") == "queued"
    cancelled = user.run("cancel", "slow", "--json").json
    assert (cancelled["status"], cancelled["cause"]) == ("aborted", "cancelled")


def test_cancel_ends_a_run_that_a_worker_drives(user: User) -> None:
    submit(user, "slow", "--llm", user.script("slow.json", SLOW))
    log: Path = user.home / "audit" / "slow.jsonl"
    wait_until(lambda: log.exists() and '"path":"plan"' in log.read_text())
    cancelled = user.run("cancel", "slow", "--json").json
    assert (cancelled["status"], cancelled["cause"]) == ("aborted", "cancelled")
    wait_until(lambda: lock_is_free(user))
    assert "job slow is CANCELLED" in (user.home / "worker.log").read_text()
