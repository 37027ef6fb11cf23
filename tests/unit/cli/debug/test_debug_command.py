"""`debug` as a user has it: the installed command with a script, on graphs, questions and stored runs."""

from __future__ import annotations

import io
import json
import re
import signal
import socket
import zipfile
from pathlib import Path

import pytest

from tests.support.cli.cli_process import NOW, User
from tests.support.cli.cli_user import QUESTION
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.network.http_server import Answer, WireServer
from tests.unit.cli.test_run import SLOW


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


def test_steps_are_counted_on_and_back(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    out = debugged(user, "next 3\nback 1\nback 2\nstep 3\nhelp back\n", "--graph", "countdown.yaml", "--set", "n=5")
    stops = re.findall(r" · ((?:before|after) tick:\d)", out)
    assert stops == ["before tick:1", "before tick:4", "before tick:3", "before tick:1", "after tick:2"]
    assert "back [COUNT]" in out
    user.write("script", "next 2\nback 3\n")
    done = user.run("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert "script:2: the history has only 2 nodes before this one" in done.err


def test_a_new_run_says_which_models_it_asks_and_why(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.write("script", "quit\n")
    options = ["--graph", "countdown.yaml", "--script", "script"]
    done = user.run("debug", *options, environ={"ANTHROPIC_API_KEY": "sk-a"})
    assert "since ANTHROPIC_API_KEY is set" in done.err
    assert "models: anthropic:" in done.err
    assert "models: " not in user.run("debug", *options).err


def test_a_stored_run_says_which_models_and_searches_it_goes_on_with(researcher: User, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("quit\n")
    assert researcher.run("debug", "tides", "--script", str(script)).err.splitlines() == [
        "models: extractive",
        "searches: local",
    ]


def test_a_line_that_is_no_command_ends_the_script_with_its_place(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.write("script", "next\n\nflyy\n")
    done = user.run("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert "graph-research: script:3: no command 'flyy'" in done.err
    user.write("script", "break tock\n")
    done = user.run("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert 'graph-research: script:1: no node "tock" in' in done.err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("goto 99", "there is no step 99; the last so far is 0"),
        ("out 3", "`out` takes no argument"),
        ("step 0", "0 is not a count; give a whole number from 1 on"),
        ("next two", "'two' is not a number; give a whole number"),
        ("back 1", "this is where the history begins"),
        ("break tick:0", "no breakpoint 'tick:0'"),
        ("help flyy", "no command 'flyy'"),
    ],
)
def test_what_a_script_cannot_mean_is_not_done_in_another_way(user: User, line: str, why: str) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    user.write("script", f"help step\n{line}\n")
    done = user.run("debug", "--graph", "countdown.yaml", "--script", "script", expect=2)
    assert f"script:2: {why}" in done.err
    assert "to the next moment" in done.out


def test_a_question_is_debugged_down_to_its_prompts(user: User) -> None:
    script = "until clarify\nprompt\nuntil search\nwhere\nup\nprint question\nuntil analyze\nprompt\nout\ncalls\n"
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


def test_a_stored_run_is_stepped_through_and_its_documents_cannot_move_the_cursor(
    researcher: User, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("until gather\ndiff\nnext\nback\nhistory\n")
    out = researcher.run("debug", "tides", "--script", str(script)).out
    assert "tides · before dispatch_clarify:1 · step 0 · history" in out
    assert "tides · before gather:1 · step" in out
    assert "\x1b" not in out
    assert researcher.run("status", "tides", "--json").json["status"] == "completed"


def test_what_cannot_be_debugged_is_named(user: User) -> None:
    assert "nothing to debug is named" in user.run("debug", expect=2).err
    unknown = user.run("debug", "tydes", expect=2).err
    assert "there is no run 'tydes'" in unknown
    assert "end a question of one word with a question mark" in unknown
    user.write("script", "quit\n")
    user.run("debug", "tides?", "--library", "library", "--script", "script")
    assert "cannot be read" in user.run("debug", "--graph", "x.yaml", "--script", "nowhere", expect=2).err


def test_a_budget_ends_a_debugged_run_and_its_forks(user: User) -> None:
    spec = user.script("brief.json", {"*": ["{}"]})
    options = ["--library", "library", "--llm", spec, "--max-tokens", "1", "--run-id", "dear"]
    out = debugged(user, "continue\nfork 1\ncontinue\n", "--graph", "pipeline", "--set", 'question="Why?"', *options)
    assert "dear · the end: aborted (cancelled)" in out
    assert re.search(r"run-\w+ · the end: aborted \(cancelled\)", out)


def test_a_time_limit_ends_a_debugged_research(user: User) -> None:
    options = ["--library", "library", "--llm", user.script("slow.json", SLOW), "--timeout", "3", "--run-id", "late"]
    out = debugged(user, "continue\n", QUESTION, *options)
    assert "late · the end: aborted (timeout)" in out


def test_an_interrupt_tells_at_once_what_the_run_is_doing(user: User, server: WireServer) -> None:
    user.write("script", "continue\n")
    server.on("*", Answer(fault="hang"))
    model = f"openai:m@{server.url}/v1"
    options = ["--graph", "pipeline", "--library", "library", "--llm", model, "--run-id", "r", "--script", "script"]
    with user.start("debug", QUESTION, *options) as process:
        server.wait_for_request()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        lines = []
        while not lines or "it is held at its next event" not in lines[-1]:
            lines.append(process.stderr.readline())
            assert lines[-1], "standard error ended before it said so"
        process.send_signal(signal.SIGINT)
        _, err = process.finish()
    assert any("decompose:1 is at work for" in line for line in lines)
    assert process.returncode == 130
    assert err == "graph-research: interrupted; go on with: graph-research resume r\n"
    assert user.run("status", "r", "--json").json["interrupted"]


def test_the_extension_for_vs_code_is_a_zip_that_names_this_command(user: User, tmp_path: Path) -> None:
    first, second = tmp_path / "a.vsix", tmp_path / "b.vsix"
    assert f"code --install-extension {first}" in user.run("debug", "--write-extension", str(first)).out
    user.run("debug", "--write-extension", str(second))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(io.BytesIO(first.read_bytes())) as archive:
        assert {"[Content_Types].xml", "extension.vsixmanifest", "extension/package.json"} == set(archive.namelist())
        package = json.loads(archive.read("extension/package.json"))
    (debugger,) = package["contributes"]["debuggers"]
    assert Path(debugger["runtime"]).is_file()
    assert debugger["runtimeArgs"] == ["debug", "--dap"]


def test_a_port_that_cannot_be_listened_on_is_reported(user: User) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = user.run("debug", "--dap", "--listen", port, expect=2)
        assert f"port {port} of 127.0.0.1 cannot be listened on" in done.err
    assert "ports are 0 to 65535" in user.run("debug", "--dap", "--listen", "99999", expect=2).err
