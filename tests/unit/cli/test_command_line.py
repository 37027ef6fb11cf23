"""The command line before anything runs: help, version, wrong use, wrong names, wrong places."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graph_research
from tests.support.cli.cli_process import PATIENCE_SECONDS, User
from tests.support.cli.cli_user import QUESTION

COMMANDS = [
    *(
        "run",
        "resume",
        "worker",
        "serve",
        "token",
        "status",
        "list",
        "history",
        "cancel",
        "delete",
        "report",
        "verify",
        "doctor",
        "capabilities",
    ),
    *("graph list", "graph validate", "graph export", "graph run", "config show", "config trust"),
    *("library add", "library list", "library search", "library remove"),
]
HEAVY = (
    "pydantic",
    "jinja2",
    "httpx",
    "fastapi",
    "uvicorn",
    "rich",
    "asyncio",
    "sqlite3",
    "graph_research.app.research",
)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['graph-research', '--help']\n"
        "from graph_research.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("LOADED []")
    assert "run " in done.stdout


def test_the_http_client_is_loaded_without_its_own_command_line() -> None:
    code = (
        "import sys\n"
        "from graph_research.__main__ import skip_unused_imports\n"
        "skip_unused_imports()\n"
        "import httpx\n"
        "print([name for name in ('pygments', 'rich') if name in sys.modules], httpx.get.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] get"


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "graph-research: interrupted\n"), (signal.SIGTERM, -signal.SIGTERM, "")],
)
def test_a_signal_before_the_program_is_loaded_ends_it_at_once(
    sent: signal.Signals, code: int, said: str, user: User
) -> None:
    slow = "print('loading', flush=True)\nwhile True: pass\n"  # a signal just before a sleep would not end it
    user.write("slow/typer.py", slow)
    command = [sys.executable, "-m", "graph_research", "list"]
    environ = {**os.environ, "PYTHONPATH": str(user.folder / "slow")}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(sent)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (code, said)


def test_a_reader_that_has_seen_enough_is_no_failure_in_the_middle_of_a_command_either(user: User) -> None:
    user.write(
        "echo.yaml",
        "graph: echo\nstate: {text: {type: string, input: true}}\nstart: done\n"
        "nodes: {done: {end: completed}}\nedges: []\n",
    )
    with user.start("graph", "run", "echo.yaml", "--set", f'text="{"x" * 100_000}"') as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # as `| head` does; a text of this size is written at once
        err = process.stderr.read()
        process.wait(PATIENCE_SECONDS)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command: str, user: User) -> None:
    done = user.run(*command.split(), "--help")
    assert f"  graph-research {command}" in done.out
    assert not user.home.exists()


@pytest.mark.requirement("1.9")
@pytest.mark.parametrize("tool", ["dispatch-to-agent", "evaluate-phase-completion", "decide-iteration", "think-pause"])
def test_the_supervisors_tools_are_no_commands_and_no_public_names(tool: str, user: User) -> None:
    assert "No such command" in user.run(tool, expect=2).err
    assert tool.replace("-", "_") not in graph_research.__all__


def test_the_version_is_printed(user: User) -> None:
    assert user.run_process("--version").out.startswith("graph-research 0.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "missing argument"),
        (["runn"], "runn"),
        (["run", "why?", "--max-iterations", "x"], "--max-iterations"),
        (["report", "r", "--format", "rtf"], "rtf"),
        (["list", "--nothing"], "--nothing"),
    ],
)
def test_wrong_use_is_reported_in_text_and_in_json(arguments: list[str], message: str, user: User) -> None:
    done = user.run(*arguments, "--json", expect=2)
    assert message in done.json["error"]["message"].lower()
    assert len(done.err.splitlines()) == 1


REFUSED: dict[str, tuple[list[str], str]] = {
    "empty question": (["run", " "], "question-invalid"),
    "question of 100,000 characters": (["run", "x" * 100_000], "question-invalid"),
    "run id with a path": (["run", QUESTION, "--run-id", "../x"], "name-invalid"),
    "run id too long": (["run", QUESTION, "--run-id", "x" * 65], "name-invalid"),
    "no such time": (["run", QUESTION, "--now", "noon"], "timestamp-invalid"),
    "no such model": (["run", QUESTION, "--llm", "extractiv"], "unknown-model"),
    "a model without its key": (["run", QUESTION, "--llm", "openai:gpt-5"], "key-missing"),
    "a model at no address": (["run", QUESTION, "--llm", "openai:m@http://"], "unknown-model"),
    "a model behind a password": (["run", QUESTION, "--llm", "openai:m@http://me:pw@127.0.0.1/v1"], "unknown-model"),
    "a model with an option that is none": (
        ["run", QUESTION, "--llm", "openai:m?t=1@http://127.0.0.1"],
        "unknown-model",
    ),
    "a command line that is none": (["run", QUESTION, "--llm", "[cli]nobody:m"], "unknown-model"),
    "a command line that is not installed": (["run", QUESTION, "--llm", "[cli]codex:m"], "command-missing"),
    "no such role": (["run", QUESTION, "--role", "boss=extractive"], "request-invalid"),
    "no such search": (["run", QUESTION, "--search", "lokal"], "no-provider"),
    "a script that is not there": (["run", QUESTION, "--llm", "scripted:no.json"], "script-invalid"),
    "no such graph": (["run", QUESTION, "--graph", "deep_reserch"], "unknown-graph"),
    "no such graph file": (["run", QUESTION, "--graph", "no.yaml"], "unknown-graph"),
    "no such library": (["run", QUESTION, "--library", "nowhere"], "library-missing"),
    "a search without its key": (["run", QUESTION, "--search", "tavily"], "no-provider"),
    "a setting out of range": (["run", QUESTION, "--max-iterations", "0"], "setting-invalid"),
    "unknown run: status": (["status", "nobody"], "unknown-run"),
    "unknown run: resume": (["resume", "nobody"], "unknown-run"),
    "unknown run: cancel": (["cancel", "nobody"], "unknown-run"),
    "unknown run: delete": (["delete", "nobody"], "unknown-run"),
    "unknown run: report": (["report", "nobody"], "unknown-run"),
    "unknown run: verify": (["verify", "nobody"], "unknown-run"),
    "unknown run: history": (["history", "nobody"], "unknown-run"),
    "a path as a run id": (["status", "../../etc/passwd"], "name-invalid"),
    "a channel that is no JSON": (["graph", "run", "deep_research", "--set", "n=x"], "input-invalid"),
    "nothing to trust": (["config", "trust"], "nothing-to-trust"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_with_one_clear_error(name: str, user: User) -> None:
    arguments, code = REFUSED[name]
    done = user.run(*arguments, "--json", expect=2)
    error: dict[str, Any] = done.json["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["help"]
    assert error["message"][:60] in done.err
    assert not (user.folder / "research").exists()


def test_a_library_without_readable_documents_is_empty(user: User) -> None:
    (user.folder / "pictures").mkdir()
    user.write("pictures/a.png", "x")
    error = user.run("run", QUESTION, "--library", "pictures", "--json", expect=2).json["error"]
    assert error["code"] == "library-empty"
    assert "pictures" in error["message"]


@pytest.mark.parametrize("command", [["list"], ["run", QUESTION, "--library", "library"], ["library", "list"]])
def test_a_home_that_cannot_be_written_ends_before_any_work(command: list[str], user: User) -> None:
    user.write("file", "")
    environ = {"GRAPH_RESEARCH_HOME": str(user.folder / "file" / "home")}
    error = user.run(*command, "--json", expect=2, environ=environ).json["error"]
    assert error["code"] == "home-unusable"
    assert "GRAPH_RESEARCH_HOME" in error["help"]


def test_an_output_folder_that_cannot_be_written_is_refused_before_the_run(user: User) -> None:
    user.write("file", "")
    done = user.run("run", QUESTION, "--library", "library", "--out", "file/out", "--json", expect=2)
    assert done.json["error"]["code"] == "output-unwritable"
    assert user.run("list", "--json").json == []


def test_a_setting_of_the_home_is_reported_with_file_and_line(user: User) -> None:
    user.home.mkdir()
    (user.home / "config.toml").write_text("[research]\nmax_iteratons = 2\n")
    error = user.run("config", "show", "--json", expect=2).json["error"]
    assert (Path(error["file"]).name, error["line"]) == ("config.toml", 2)
    assert "max_iterations" in error["help"]


def test_config_show_tells_origins_and_never_a_key(user: User) -> None:
    environ = {"GRAPH_RESEARCH_MAX_ITERATIONS": "2", "OPENAI_API_KEY": "sk-very-secret"}
    shown = user.run("config", "show", "--json", environ=environ)
    assert shown.json["settings"]["max_iterations"] == 2
    assert shown.json["origins"]["max_iterations"] == "environment GRAPH_RESEARCH_MAX_ITERATIONS"
    assert shown.json["origins"]["max_searches"] == "default"
    assert shown.json["keys"]["OPENAI_API_KEY"] is True
    for command in (["config", "show"], ["doctor", "--offline"], ["doctor", "--offline", "--json"]):
        done = user.run(*command, environ=environ)
        assert "sk-very-secret" not in shown.out + done.out + done.err


def test_a_cloned_folders_settings_are_left_out_until_trusted(user: User) -> None:
    user.write("graph-research.toml", "[research]\nmax_iterations = 7\n")
    before = user.run("config", "show", "--json")
    assert before.json["settings"]["max_iterations"] == 3
    assert "graph-research config trust" in before.err
    user.run("config", "trust")
    after = user.run("config", "show", "--json")
    assert after.json["settings"]["max_iterations"] == 7
    assert after.err == ""


def test_a_trusted_folder_still_names_no_host(user: User) -> None:
    user.write("graph-research.toml", '[research]\ndefault_provider = "openai:m@http://10.0.0.1/v1"\n')
    user.run("config", "trust")
    error = user.run("config", "show", "--json", expect=2).json["error"]
    assert "model URLs" in error["message"]


def test_doctor_says_what_is_there_and_what_is_missing(user: User) -> None:
    done = user.run("doctor", "--offline", "--json").json
    checks = {check["name"]: check for check in done["checks"]}
    assert done["ok"] is True
    assert all(checks[name]["ok"] for name in ("Python", "SQLite", "data home", "models", "PDF"))
    assert checks["search"]["text"].startswith("semantic_scholar; left out: tavily (TAVILY_API_KEY is not set)")
    assert checks["library index"]["ok"] is False
    assert checks["tavily"]["ok"] is False
    assert "TAVILY_API_KEY is not set" in checks["tavily"]["text"]


def test_capabilities_list_what_this_version_has(user: User) -> None:
    known = user.run("capabilities", "--json").json
    assert set(known["models"]) == {"extractive", "openai", "anthropic", "gemini", "[cli]", "scripted"}
    assert {"local", "web", "tavily", "google", "arxiv", "wikipedia", "searxng", "scripted"} <= set(known["search"])
    assert {"deep_research", "topic_research", "pipeline"} <= set(known["graphs"])
    assert known["roles"]["report"] == "extractive"
    assert known["jobs"] == {"at_once": 3, "model_call_seconds": 60.0}


def test_capabilities_for_people_are_lines_of_plain_text(user: User) -> None:
    lines = user.run("capabilities").out.splitlines()
    assert "  extractive: extractive: sentences selected word for word by code" in "\n".join(lines)
    assert "mcp_servers: none" in lines
    assert any(line.startswith("  openai:gpt-5: input ") for line in lines)
    assert not any(sign in line for line in lines for sign in ("{'", "['", "None"))


def test_an_error_that_nobody_named_leaves_one_line_and_a_marker(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from graph_research.cli.errors import install_crash_hook\n"
        "install_crash_hook(os.environ, json=True)\n"
        "raise ZeroDivisionError('by nothing')\n"
    )
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "unexpected"
    assert len(done.stderr.splitlines()) == 1
    assert "ZeroDivisionError" in (tmp_path / "home" / "crash" / "command.crash").read_text()
