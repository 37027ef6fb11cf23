"""Steering a research at the command line: its plan before it costs anything, and wishes while it runs."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_process import PATIENCE_SECONDS, ROOT, SCRIPT, User, wait_until
from tests.support.cli.cli_user import QUESTION
from tests.unit.cli.test_run import running

APPROVAL = ROOT / "examples" / "graphs" / "approval.yaml"
PLAN = {
    "research_brief": "How they store water.",
    "sub_queries": [
        {"query": "tide mills store water", "rationale": "how", "priority": 1},
        {"query": "power of tide mills", "rationale": "how much", "priority": 2},
    ],
}
CLEAR = {"need_clarification": False, "question": "", "verification": "Tide mills."}
ASKED = ["run", QUESTION, "--library", "library", "--max-iterations", "1"]


def planned(user: User, run_id: str, *options: str) -> Any:
    """A run that waits with its plan, and the plan."""
    return user.run(*ASKED, "--run-id", run_id, "--plan-only", "--json", *options).json


def state(user: User, run_id: str, channel: str) -> Any:
    """A channel of a run as it stands."""
    last = max(step["step"] for step in user.run("history", run_id, "--json").json if "/" not in step["node"])
    return user.run("show", run_id, "--step", str(last), "--path", channel, "--json").json


def calls(user: User, run_id: str) -> dict[str, int]:
    """How many calls of models a run made, by phase."""
    rows = user.run("status", run_id, "--json").json["usage"]
    return {row["phase"]: row["calls"] for row in rows}


def test_the_plan_alone_has_its_contract_and_asks_nothing_that_gathers(user: User) -> None:
    told = planned(user, "only")
    assert {"sub_queries", "checklist", "providers", "estimate"} <= set(told)
    assert {"calls", "tokens", "cost", "seconds"} == set(told["estimate"])
    assert told["estimate"]["calls"] == 0, "no language model is asked"
    assert told["providers"] == ["local"]
    assert len(told["sub_queries"]) >= 2
    assert set(calls(user, "only")) <= {"clarify", "plan", "review_plan"}
    assert user.run("status", "only", "--json").json["status"] == "paused"


def test_a_run_goes_on_with_the_plan_that_was_shown(user: User) -> None:
    told = planned(user, "goes-on")
    done = user.run("resume", "goes-on", "--json").json
    assert done["status"] == "completed"
    asked = [row["query"] for row in state(user, "goes-on", "sub_queries") if row["iteration"] == 1]
    assert asked == [row["query"] for row in told["sub_queries"]]
    assert user.run("replay", "goes-on", "--json").json["identical"] is True


def test_a_plan_that_was_changed_is_what_is_done_and_replays(user: User) -> None:
    told = planned(user, "changed")
    plan = {**told, "sub_queries": [{"query": "the oldest tide mill"}], "checklist": [{"text": "When was it built?"}]}
    file = user.write("plan.json", json.dumps(plan))
    assert user.run("resume", "changed", "--plan", str(file), "--json").json["status"] == "completed"
    assert [row["query"] for row in state(user, "changed", "sub_queries")] == ["the oldest tide mill"]
    assert state(user, "changed", "checklist") == [{"id": "chk-1", "text": "When was it built?", "kind": "part"}]
    adopted = [step for step in user.run("history", "changed", "--json").json if step["node"] == "adopt_plan"]
    assert len(adopted) == 1
    assert user.run("replay", "changed", "--json").json["identical"] is True


def test_a_plan_with_a_mistake_is_refused_with_its_line_and_the_run_still_waits(user: User) -> None:
    planned(user, "wrong")
    file = user.write("plan.yaml", "sub_queries:\n  - query: mills\n    priority: first\n")
    refused = user.run("resume", "wrong", "--plan", str(file), "--json", expect=2).json["error"]
    assert (refused["code"], refused["line"]) == ("plan-invalid", 3)
    assert user.run("status", "wrong", "--json").json["status"] == "paused"
    assert "cannot be read" in user.run("resume", "wrong", "--plan", "none.yaml", expect=2).err


def test_only_a_run_that_waits_with_its_plan_takes_one(researcher: User, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("sub_queries: [{query: mills}]\n")
    refused = researcher.run("resume", "tides", "--plan", str(file), expect=2).err
    assert "does not wait with a plan" in refused


def test_without_a_terminal_the_plan_is_printed_and_the_run_waits(user: User) -> None:
    done = user.run(*ASKED, "--run-id", "waits", "--plan", expect=4)
    assert "sub-queries:\n  1. " in done.out
    assert "estimate:  no call of a language model, cost 0.00 USD, " in done.out
    assert "graph-research resume waits" in done.err


def test_a_graph_without_a_plan_cannot_wait_with_it(user: User) -> None:
    refused = user.run(*ASKED, "--graph", "pipeline", "--plan", expect=2).err
    assert 'graph "pipeline" has no input channel "plan_first"' in refused


def test_a_run_that_was_killed_while_it_planned_still_waits_with_its_plan(user: User) -> None:
    with running(user, "killed", "--plan-only") as process:
        process.kill()
        process.finish()
    user.script("slow.json", {"clarifier": [CLEAR], "planner": [PLAN], "*": ["{}"]})
    assert "  1. tide mills store water" in user.run("resume", "killed", expect=4).out
    assert user.run("status", "killed", "--json").json["status"] == "paused"


class Terminal:
    """A user at the keys: what the program says, and what they type."""

    def __init__(self, descriptor: int, process: subprocess.Popen[bytes]) -> None:
        self._descriptor = descriptor
        self.process = process
        self._unread = ""

    def expect(self, text: str) -> None:
        """Read on until the program has said this."""
        while text not in self._unread:
            self._unread += os.read(self._descriptor, 10_000).decode()
        self._unread = self._unread.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())


@contextmanager
def at_terminal(user: User, editor: str, *arguments: str, stdout: int = subprocess.DEVNULL) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    environ = {**user.environment(), "TERM": "dumb", "EDITOR": editor}
    with subprocess.Popen(
        ["setsid", "--ctty", SCRIPT, *arguments],
        cwd=user.folder,
        env=environ,
        stdin=theirs,
        stdout=stdout,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        try:
            yield Terminal(ours, process)
            process.wait(PATIENCE_SECONDS)
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(ours)


ASKING = """\
graph: asking
version: "1"
state: {mills: {type: integer, default: 0}}
start: ask
nodes:
  ask: {ask: '"How many mills?"', into: mills}
  done: {end: completed}
edges:
  - {from: ask, to: done}
"""


def test_at_a_terminal_an_answer_that_does_not_fit_is_asked_for_again(user: User) -> None:
    file = user.write("asking.yaml", ASKING)
    arguments = ("graph", "run", str(file), "--interactive", "--run-id", "asking")
    with at_terminal(user, "true", *arguments) as terminal:
        terminal.expect("How many mills?")
        terminal.type("several\n")
        terminal.expect("is not of type integer; answer again")
        terminal.expect("How many mills?")
        terminal.type("7\n")

    assert terminal.process.returncode == 0
    assert user.run("status", "asking", "--json").json["status"] == "completed"


def test_at_a_terminal_the_plan_is_changed_in_the_editor_and_its_mistakes_are_told(user: User) -> None:
    first = user.write("first.yaml", "sub_queries:\n  - query: mills\n    priority: first\n")
    second = user.write("second.yaml", "sub_queries:\n  - query: monks and tide mills\n")
    editor = user.write("edit.sh", f"#!/bin/sh\ncp {first} $1\ncp {second} {first}\n")
    editor.chmod(0o755)
    with at_terminal(user, str(editor), *ASKED, "--run-id", "edited", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("e\n")
        terminal.expect("plan.yaml:3: priority is a whole number")
        terminal.expect("as it was: ")
        terminal.type("\n")
        terminal.expect("1. monks and tide mills")
        terminal.expect("s stops: ")
        terminal.type("\n")
        terminal.expect("[1] decide")
    assert terminal.process.returncode == 0
    assert [row["query"] for row in state(user, "edited", "sub_queries")] == ["monks and tide mills"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("rm $1", "sub-queries:"),
        ("exit 3", "ended with 3; set EDITOR to another one"),
        ("exec /no/such/program", "ended with 127; set EDITOR"),
    ],
)
def test_after_an_editor_that_leaves_no_plan_the_user_is_asked_again(user: User, script: str, said: str) -> None:
    editor = user.write("edit.sh", f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    with at_terminal(user, str(editor), *ASKED, "--run-id", "asked", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("e\n")
        terminal.expect(said)
        terminal.expect("s stops: ")
        terminal.type("s\n")
        terminal.expect("graph-research resume asked")
    assert terminal.process.returncode == 4


def test_without_an_editor_the_user_is_asked_again(user: User) -> None:
    with at_terminal(user, "/no/such/editor", *ASKED, "--run-id", "asked", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("e\n")
        terminal.expect("the editor '/no/such/editor' cannot be started; set EDITOR to one that can")
        terminal.expect("s stops: ")
        terminal.type("s\n")
        terminal.expect("graph-research resume asked")
    assert terminal.process.returncode == 4


END_OF_INPUT, INTERRUPT = "\x04", "\x03"


def test_the_end_of_the_input_leaves_a_wrong_plan_as_it_was(user: User) -> None:
    editor = user.write("edit.sh", "#!/bin/sh\necho 'queries: []' > $1\n")
    editor.chmod(0o755)
    with at_terminal(user, str(editor), *ASKED, "--run-id", "asked", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("e\n")
        terminal.expect("as it was: ")
        terminal.type(END_OF_INPUT)
        terminal.expect("s stops: ")
        terminal.type(END_OF_INPUT)
        terminal.expect("graph-research resume asked")
    assert terminal.process.returncode == 4


def test_an_interrupt_at_the_question_about_the_plan_ends_at_once(user: User) -> None:
    with at_terminal(user, "true", *ASKED, "--run-id", "asked", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type(INTERRUPT)
        terminal.expect("interrupted; the state is kept, go on with: graph-research resume asked")
    assert terminal.process.returncode == 130


def test_an_interrupt_in_the_editor_is_the_editors(user: User) -> None:
    changed = "sub_queries: [{query: monks and tide mills}]"
    editor = user.write(
        "edit.sh", f"#!/bin/sh\ntrap 'echo \"{changed}\" > $1; exit 0' INT\necho opened >&2\nread line\n"
    )
    editor.chmod(0o755)
    with at_terminal(user, str(editor), *ASKED, "--run-id", "asked", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("e\n")
        terminal.expect("opened")
        terminal.type(INTERRUPT)
        terminal.expect("1. monks and tide mills")
        terminal.expect("s stops: ")
        terminal.type("s\n")
        terminal.expect("graph-research resume asked")
    assert terminal.process.returncode == 4


def test_at_a_terminal_the_plan_alone_is_printed_with_the_command_that_goes_on(user: User) -> None:
    asked = [*ASKED, "--run-id", "p", "--plan-only"]
    with (
        (user.folder / "plan.txt").open("w") as file,
        at_terminal(user, "true", *asked, stdout=file.fileno()) as terminal,
    ):
        terminal.expect("go on with: graph-research resume p")
    assert "sub-queries:" in (user.folder / "plan.txt").read_text()


def test_at_a_terminal_the_user_may_stop_and_go_on_later(user: User) -> None:
    with at_terminal(user, "true", *ASKED, "--run-id", "later", "--plan") as terminal:
        terminal.expect("s stops: ")
        terminal.type("s\n")
        terminal.expect("graph-research resume later")
    assert terminal.process.returncode == 4
    assert user.run("resume", "later", "--json").json["status"] == "completed"


def test_a_wish_from_another_process_reaches_the_next_phase_and_replays(user: User) -> None:
    script = {
        "clarifier": [CLEAR],
        "planner": [{"delay_seconds": 3, "json": PLAN}],
        "*": ["{}"],
    }
    spec = user.script("wishing.json", script)
    process = user.start(*ASKED, "--llm", spec, "--run-id", "wished", "--json")
    log = user.home / "audit" / "wished.jsonl"
    with process:
        wait_until(lambda: log.exists() and '"path":"plan"' in log.read_text())
        assert user.run("guide", "wished", "Mind the year 1850.", "--json").json["guidance"] == ["Mind the year 1850."]
        assert "gets 2 wishes" in user.run("guide", "wished", "Monks matter.").out
        process.finish()
    assert process.returncode == 0
    assert state(user, "wished", "guidance").startswith("Mind the year 1850.\nMonks matter.")
    asked = (user.home / "audit" / "wished.jsonl").read_text()
    assert "instructions" in asked
    assert user.run("replay", "wished", "--json").json["identical"] is True


def test_a_wish_to_a_run_that_was_killed_is_taken_up_when_it_goes_on(user: User) -> None:
    with running(user, "dead") as process:
        process.send_signal(signal.SIGKILL)
        process.finish()
    user.run("guide", "dead", "Mind the monks.")
    user.script("slow.json", {"clarifier": [CLEAR], "planner": [PLAN], "*": ["{}"]})
    user.run("resume", "dead")
    assert state(user, "dead", "guidance").startswith("Mind the monks.")
    assert user.run("replay", "dead", "--json").json["identical"] is True


@pytest.mark.parametrize(
    ("run_id", "wish", "why"),
    [
        ("tides", "Mind the monks.", "is completed; no phase follows"),
        ("tides", "  ", "a wish is a text"),
        ("nobody", "Mind the monks.", "there is no run"),
    ],
)
def test_a_wish_that_nobody_could_heed_is_refused(researcher: User, run_id: str, wish: str, why: str) -> None:
    assert why in researcher.run("guide", run_id, wish, expect=2).err


def test_a_graph_that_takes_no_wishes_says_so(user: User) -> None:
    user.run("graph", "run", str(APPROVAL), "--run-id", "asks", expect=4)
    assert "has no channel guidance" in user.run("guide", "asks", "Faster.", expect=2).err


def test_a_fork_keeps_the_wishes_in_force_and_takes_its_own(user: User) -> None:
    with running(user, "first") as process:
        process.kill()
        process.finish()
    user.run("guide", "first", "Mind the monks.")
    script = {"clarifier": [CLEAR], "planner": [PLAN], "*": ["{}"]}
    user.script("slow.json", script)
    user.run("resume", "first")
    steps = user.run("history", "first", "--json").json
    reviewed = next(row["step"] for row in steps if row["node"] == "review_gather")
    process = user.start("fork", "first", "--step", str(reviewed), "--run-id", "second")
    log = user.home / "audit" / "second.jsonl"
    with process:
        wait_until(log.exists)
        process.kill()
        process.finish()
    user.run("guide", "second", "Mind the year.")
    user.run("resume", "second")
    assert state(user, "second", "guidance").startswith("Mind the monks.\nMind the year.")
