"""`debug` as a user has it: the installed command with a script, on graphs, questions and stored runs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import NOW, QUESTION, Run, User

COUNTDOWN = """\
graph: countdown
version: "1"
state: {n: {type: integer, default: 3, input: true}, seen: {type: array, reduce: append, default: []}}
start: tick
loops: {down: {while: n > 0, most: 10}}
nodes:
  tick: {set: {seen: "[n]", n: n - 1}}
  done: {end: completed}
edges:
  - {from: tick, to: tick, when: n > 0, loop: down}
  - {from: tick, to: done}
"""


def debugged(user: User, script: str, *arguments: str, expect: int = 0) -> str:
    user.write("script", script)
    return user.run("debug", *arguments, "--script", "script", expect=expect).out


def test_a_graph_is_stepped_through_edited_and_left(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    script = (
        "# from the start\nbreak\nc\n\nprint seen\nguards\ndiff\nset n = 1\nstate\ncontinue\nhist\nquit\nnonsense\n"
    )
    out = debugged(
        user, script, "--graph", "countdown.yaml", "--set", "n=5", "--break", "tick if n == 3", "--run-id", "r"
    )
    assert out.startswith("r · before tick:1 · step 0\n  countdown.yaml:7\n")
    assert '  ->    7    tick: {set: {seen: "[n]", n: n - 1}}\n' in out
    assert "1: tick if n == 3\n" in out
    assert "r · before tick:3 · step 2 · tick if n == 3" in out
    assert "(debug) print seen\n[5, 4]\n" in out
    assert "tick -> tick (loop down): holds, when n > 0: yes; loop down was taken 2 of 10 times <- taken" in out
    assert "n: 5 -> 3\nseen: [] -> [5, 4]\n" in out
    forked = re.search(r"(run-\w+) · before tick:3 · step \d+\n  forked from r at step 2", out)
    assert forked is not None
    assert 'n = 1\nseen = [5, 4]\nloops = {"down": 2}\n' in out
    assert f"{forked[1]} · the end: completed" in out
    assert out.rstrip().endswith("(debug) quit")


def test_a_line_that_is_no_command_ends_the_script_with_its_place(user: User, here: Run) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.write("script", "next\n\nflyy\n")
    done = here("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert "graph-research: script:3: no command 'flyy'" in done.err
    user.write("script", "break tock\n")
    done = here("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert 'graph-research: script:1: no node "tock" in' in done.err


def test_a_question_is_debugged_down_to_its_prompts(user: User) -> None:
    script = "prompt\nuntil search\nwhere\nup\nprint question\nuntil analyze\nprompt\nout\ncalls\n"
    out = debugged(user, script, QUESTION, "--library", "library", "--run-id", "r", "--now", NOW)
    prompts = out.split("(debug) prompt\n")
    assert prompts[1].startswith("its first call: model\n")
    assert QUESTION in prompts[1]
    assert "-> 0  gather[0]/search:1 in topic_research" in out
    assert f'(debug) print question\n"{QUESTION}"\n' in out
    assert "--- system\n" in prompts[2]
    assert "the end: completed" in out
    assert re.search(r"^\d+ calls, .* tokens, 0\.0000 USD$", out, re.MULTILINE)
    assert user.run("report", "r").code == 0


def test_a_stored_run_is_walked_and_its_documents_cannot_move_the_cursor(there: Run, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("until gather\ndiff\nnext\nback\nhistory\n")
    out = there("debug", "tides", "--script", str(script)).out
    assert "tides · before clarify:1 · step 0 · history" in out
    assert "tides · before gather:1 · step" in out
    assert "\x1b" not in out
    assert there("status", "tides", "--json").json["status"] == "completed"


def test_what_cannot_be_debugged_is_named(here: Run) -> None:
    assert "nothing to debug is named" in here("debug", expect=2).err
    assert "there is no run 'tydes'" in here("debug", "tydes", expect=2).err
    assert "cannot be read" in here("debug", "--graph", "x.yaml", "--script", "nowhere", expect=2).err
