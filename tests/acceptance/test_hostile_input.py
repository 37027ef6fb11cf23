"""What a demanding user does: unreadable libraries, odd questions, full disks, closed pipes, two processes."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from graph_research import SqliteCheckpointer
from tests.support.cli.cli_process import (
    PATIENCE_SECONDS,
    SCRIPT,
    CommandProcess,
    Done,
    User,
    run_on_full_disk,
    stop_between_writes,
    wait_until,
)

DEMO_QUESTION = "What is the span of the Kelda footbridge?"
BRIDGE = (
    "# The Kelda footbridge\n\nThe Kelda footbridge opened to walkers on 3 June 2011. The Kelda footbridge has a span "
    "of 84 metres. Cyclists have been allowed on the Kelda footbridge since 2014.\n"
)
UNREADABLE: dict[str, bytes] = {
    "broken.pdf": b"%PDF-1.4 and then nothing",
    "no.pdf": b"this is no PDF",
    "binary.txt": bytes(range(256)) * 20,
    "empty.md": b"",
}


@pytest.fixture
def kelda(shell: User) -> User:
    """A user with a folder `docs` of one document."""
    write(shell, "docs/bridge.md", BRIDGE)
    return shell


def write(shell: User, name: str, content: str | bytes) -> Path:
    path = shell.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def arguments(*options: str, question: str = DEMO_QUESTION) -> list[str]:
    return ["run", "--library", "docs", "--run-id", "kelda", "--out", "out", *options, "--", question]


def one_line(done: Done) -> str:
    """The reason of a failure: one line on standard error, that of the program."""
    (line,) = (line for line in done.err.splitlines() if line.startswith("graph-research: "))
    return line


# --- Libraries ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("B6")
def test_an_empty_library_is_refused_before_anything_starts(shell: User) -> None:
    (shell.folder / "docs").mkdir()

    done = shell.run(*arguments("--json"), expect=2)

    assert done.json["error"]["code"] == "library-empty"
    assert "docs" in one_line(done)
    assert shell.run("list", "--json").json == []


def test_unreadable_files_are_named_and_the_run_goes_on(kelda: User) -> None:
    for name, content in UNREADABLE.items():
        write(kelda, f"docs/{name}", content)
    os.mkfifo(kelda.folder / "docs" / "pipe.txt")
    (kelda.folder / "docs" / "passwd.txt").symlink_to("/etc/passwd")
    (kelda.folder / "docs" / "dangling.md").symlink_to("/nowhere")

    done = kelda.run(*arguments())

    assert done.err.count("not indexed: ") == 6, "five are named, the others counted"
    assert "84 metres" in done.out


def test_a_library_of_nothing_but_unreadable_files_says_which_and_why(shell: User) -> None:
    for name, content in UNREADABLE.items():
        write(shell, f"docs/{name}", content)

    done = shell.run(*arguments(), expect=2)

    assert "broken.pdf" in done.err
    assert "no document can be read" in one_line(done)


# --- Questions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["x", "the of and", "桥🙂?", "--help $(reboot) `id`; 'Kelda' \"<b>\"\n\tspan"])
def test_any_question_ends_in_a_report(kelda: User, question: str) -> None:
    done = kelda.run(*arguments("--json", question=question))

    assert Path(done.json["report"]["md"]).exists()


def test_the_answer_to_a_question_back_is_what_is_researched(kelda: User) -> None:
    asked = kelda.run(*arguments("--interactive", question="What is it?"), expect=4)
    assert "resume kelda --answer" in asked.err

    answered = kelda.run("resume", "kelda", "--answer", DEMO_QUESTION, "--out", "out")

    assert "The Kelda footbridge has a span of 84 metres." in answered.out


@pytest.mark.parametrize("question", ["   ", "x" * 50_001, "x" * 100_000])
def test_a_question_without_words_or_without_end_is_refused(kelda: User, question: str) -> None:
    done = kelda.run(*arguments("--json", question=question), expect=2)

    assert done.json["error"]["code"] == "question-invalid"
    assert "50,000" in one_line(done)
    assert kelda.run("list", "--json").json == []


def test_the_longest_question_is_answered(kelda: User) -> None:
    done = kelda.run(*arguments(question=("Kelda footbridge span " * 2_273)[:50_000]))

    assert "84 metres" in done.out


def test_a_question_that_the_library_does_not_cover_is_not_found(kelda: User) -> None:
    kelda.run(*arguments(question="How did Roman engineers build aqueducts?"))

    report = (kelda.folder / "out" / "report.md").read_text()
    assert "## Not found" in report
    assert "Searched for:" in report


# --- Options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("--timeout=0", "--timeout"),
        ("--llm=", "no model is named"),
        ("--llm=scripted:", "scripted:FILE"),
        ("--search=scripted", "scripted:FILE"),
        ("--graph=topic_research", "sub_query"),
        ("--max-iterations=x", "integer, unable to parse string as an integer; "),
    ],
)
def test_a_wrong_option_is_named_before_anything_starts(kelda: User, option: str, named: str) -> None:
    done = kelda.run(*arguments(option), expect=2)

    assert named in one_line(done)
    assert kelda.run("list", "--json").json == []


def test_a_report_that_cannot_be_written_is_not_lost(kelda: User) -> None:
    done = kelda.run(*arguments("--out", "/proc/nowhere"), expect=2)

    assert "graph-research resume kelda --out" in one_line(done)
    kelda.run("resume", "kelda", "--out", "out")
    assert (kelda.folder / "out" / "report.md").exists()


# --- Disks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most_bytes", [1_000, 100_000])
def test_a_full_disk_ends_in_one_clear_message_and_loses_nothing(kelda: User, most_bytes: int) -> None:
    done = run_on_full_disk(kelda, *arguments(), most_bytes=most_bytes, expect=(1, 2))

    assert "graph-research: " in done.err
    assert "unexpected" not in done.err
    stored = kelda.run("list", "--json").json
    kelda.run(*(["resume", "kelda", "--out", "out"] if stored else arguments()))
    assert "84 metres" in (kelda.folder / "out" / "report.md").read_text()


@pytest.mark.parametrize("home", ["/proc/nowhere", "occupied", "occupied/inside"])
def test_a_home_that_cannot_be_written_is_refused(kelda: User, home: str) -> None:
    write(kelda, "occupied", "a file")

    done = kelda.run(*arguments("--json"), environ={"GRAPH_RESEARCH_HOME": home}, expect=2)

    assert done.json["error"]["code"] == "home-unusable"
    assert "GRAPH_RESEARCH_HOME" in one_line(done)


def test_doctor_finds_a_store_that_is_none(kelda: User) -> None:
    write(kelda, "home/runs.db", os.urandom(5_000))

    checks = {check["name"]: check for check in kelda.run("doctor", "--offline", "--json", expect=1).json["checks"]}

    assert checks["run store"]["ok"] is False


# --- Streams -----------------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_early_does_not_stop_a_run(kelda: User) -> None:
    with kelda.start(*arguments()) as process:
        assert process.stderr is not None
        process.stderr.close()
        assert process.stdout is not None
        out = process.stdout.read()
        code = process.wait(PATIENCE_SECONDS)

    assert (code, "84 metres" in out) == (0, True)


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_does_not_stop_a_run(kelda: User, closed: int) -> None:
    kelda.run_process(*arguments(), preexec_fn=lambda: os.close(closed))

    assert "84 metres" in (kelda.folder / "out" / "report.md").read_text()


@pytest.mark.parametrize("arguments", ["capabilities", "--help", "graph run -h"])
def test_a_full_disk_behind_standard_output_is_said(kelda: User, arguments: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [SCRIPT, *arguments.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=kelda.environment(),
            check=False,
        )

    assert done.returncode == 2
    assert done.stderr.startswith("graph-research: standard output cannot be written: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_narrow_encoding_gets_what_it_can_hold(kelda: User) -> None:
    kelda.run(*arguments())

    done = kelda.run_process("report", "kelda", environ={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})

    assert "\\u201cThe Kelda footbridge has a span of 84 metres.\\u201d" in done.out


def test_a_terminal_that_cannot_redraw_gets_lines(kelda: User) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, *arguments()],
        cwd=kelda.folder,
        env={**kelda.environment(), "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        code = process.wait(PATIENCE_SECONDS)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)

    assert code == 0
    assert "[1] gather: 2/2 sub-queries" in shown
    assert "\x1b[" not in shown


# --- Processes ---------------------------------------------------------------------------------------------------


def started(shell: User) -> CommandProcess:
    """A run of a big library that has written its first events."""
    for number in range(40):
        write(shell, f"docs/{number}.md", BRIDGE.replace("84", str(100 + number)).replace("Kelda", f"Kelda {number}"))
    process = shell.start(*arguments(), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    log = shell.home / "audit" / "kelda.jsonl"
    wait_until(lambda: log.exists() and log.read_bytes().count(b"\n") > 3)
    return process


def test_a_second_process_on_the_same_run_is_refused(shell: User) -> None:
    with started(shell) as process:
        stop_between_writes(process, shell.home / "runs.db")
        for command in (["resume", "kelda"], ["delete", "kelda"]):
            done = shell.run(*command, "--json", expect=2)
            assert done.json["error"]["code"] == "run-busy"
            assert str(process.pid) in one_line(done)
        assert shell.run(*arguments("--json"), expect=2).json["error"]["code"] == "run-exists"
        process.send_signal(signal.SIGCONT)
        process.finish()

    assert process.returncode == 0


def test_ctrl_c_keeps_the_state_and_says_how_to_go_on(shell: User) -> None:
    with started(shell) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.finish()

    assert process.returncode == 130
    assert "graph-research resume kelda" in err
    assert shell.run("status", "kelda", "--json").json["interrupted"] is True
    shell.run("resume", "kelda", "--out", "out")
    assert (shell.folder / "out" / "report.md").exists()


@pytest.mark.parametrize("received", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_before_the_run_began_is_said_too(shell: User, received: signal.Signals) -> None:
    for number in range(400):
        write(shell, f"docs/{number}.md", BRIDGE)
    with shell.start(
        *arguments(), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)
    ) as process:
        wait_until((shell.home / "index" / "library.db").exists)
        process.send_signal(received)
        _, err = process.finish()

    assert process.returncode == 130
    assert "graph-research: interrupted" in err
    assert "Traceback" not in err


@pytest.mark.requirement("6.1")
def test_cancel_from_another_process_stops_a_run_and_keeps_it(shell: User) -> None:
    with started(shell) as process, shell.start("cancel", "kelda") as cancelling:
        stop_between_writes(process, shell.home / "runs.db")
        wait_until(lambda: cancel_is_requested(shell))
        process.send_signal(signal.SIGCONT)
        process.finish()
        cancelling.finish()

    assert (process.returncode, cancelling.returncode) == (3, 0)
    status = shell.run("status", "kelda", "--json").json
    assert (status["status"], status["cause"]) == ("aborted", "cancelled")
    shell.run("resume", "kelda", "--out", "out")
    assert (shell.folder / "out" / "report.md").exists()


def cancel_is_requested(shell: User) -> bool:
    async def ask() -> bool:
        store = SqliteCheckpointer(shell.home / "runs.db")
        try:
            return await store.cancel_requested("kelda")
        finally:
            await store.close()

    return asyncio.run(ask())
