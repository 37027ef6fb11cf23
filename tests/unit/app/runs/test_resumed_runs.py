"""`resume` and what it says: answers nobody asked for, new limits, where a run stands, and a run that is cut short."""

from __future__ import annotations

import json
import signal

from tests.support.cli.cli_process import User
from tests.unit.app.runs.test_limits import LATE, pipeline
from tests.unit.cli.test_run import WAITING, running


def test_an_answer_that_nobody_asked_for_is_refused_and_the_one_that_was_taken_may_come_again(user: User) -> None:
    user.write("ask.yaml", WAITING)
    user.run("graph", "run", "ask.yaml", "--run-id", "asked", expect=4)
    assert user.run("resume", "asked", "--answer", "Ada", "--json").json["state"] == {"name": "Ada"}
    assert user.run("resume", "asked", "--answer", "Ada", "--json").json["status"] == "completed"
    refused = user.run("resume", "asked", "--answer", "Bob", "--json", expect=2).json["error"]
    assert refused["message"] == "run asked is completed and waits for no answer; nothing was done"
    assert "graph-research resume asked" in refused["help"]


def test_a_run_that_was_cancelled_refuses_an_answer_too(user: User) -> None:
    user.write("ask.yaml", WAITING)
    user.run("graph", "run", "ask.yaml", "--run-id", "asked", expect=4)
    user.run("cancel", "asked")
    assert "waits for no answer" in user.run("resume", "asked", "--answer", "Ada", expect=2).err


def test_a_new_time_limit_takes_the_place_of_the_runs_own(user: User) -> None:
    pipeline(user, "late", LATE, "--timeout", "1")
    user.script("brief.json", {"*": [{"delay_seconds": 0.4, "text": "{}"}]})
    done = user.run("resume", "late", "--timeout", "60", "--json", expect=(0, 1))
    assert done.json["cause"] != "timeout"
    assert "--timeout" in user.run("resume", "late", "--timeout", "0", expect=2).err


def test_a_resumed_run_says_at_which_node_it_goes_on(user: User) -> None:
    with running(user, "stopped") as process:
        process.kill()
        process.finish()
    user.script("slow.json", {"*": ["{}"]})
    assert user.run("resume", "stopped").err.startswith("[1] plan\n")


def test_a_run_that_another_process_drives_is_refused_before_anything_is_said(user: User) -> None:
    with running(user, "busy") as process:
        said = user.run("resume", "busy", expect=2).err
        process.send_signal(signal.SIGTERM)
        process.finish()
    assert said.startswith("graph-research: run busy is driven by process")


def test_a_run_that_is_interrupted_prints_its_json_document(user: User) -> None:
    with running(user, "slow", "--json") as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.finish()
    assert process.returncode == 130
    result = json.loads(out)
    assert (result["run_id"], result["status"], result["cause"]) == ("slow", "running", None)
    assert result["interrupted"] is True
    assert result["report"] is None


def test_a_graph_that_is_run_with_a_question_is_listed_with_it(user: User) -> None:
    user.write(
        "echo.yaml",
        "graph: echo\nstart: done\nstate: {question: {type: string, input: true}}\nnodes: {done: {end: completed}}\n",
    )
    user.run("graph", "run", "echo.yaml", "--set", 'question="Why is the sky blue?"')
    assert [run["question"] for run in user.run("list", "--json").json] == ["Why is the sky blue?"]


def test_a_value_that_is_nested_too_deep_is_refused(user: User) -> None:
    user.write("ask.yaml", WAITING)
    deep = "[" * 300 + "]" * 300
    assert "nested deeper than 100" in user.run("graph", "run", "ask.yaml", "--set", f"name={deep}", expect=2).err


def test_a_folder_without_documents_is_named(user: User) -> None:
    user.write("pictures/a.png", "x")
    done = user.run("library", "add", "pictures")
    assert "a.png: unsupported file type" in done.err
    assert done.err.endswith("no file that can be read was found in pictures\n")
    assert done.out == "0 added, 0 updated, 0 unchanged, 0 removed, 0 failed, 1 of types that are not read\n"
