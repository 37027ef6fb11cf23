"""Command-line agents as models, with small real programs in their place."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph_research.providers.errors import CommandMissing, ContextExceeded, ProviderRefused, ProviderUnavailable
from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.llm.command_line import COMMANDS, Command, CommandModel
from graph_research.providers.llm.subprocess_run import run_program

KEY = "sk-MARKED-in-the-environment"
Make = Callable[..., CommandModel]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a model of a Python program; it finds `out`, a folder of the test's, under HOME."""

    def build(code: str, *, output: Any = "text", timeout_seconds: float = 30.0, **environ: str) -> CommandModel:
        program = tmp_path / "program"
        program.write_text(f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n{code}\n")
        program.chmod(0o755)
        return CommandModel(
            command=Command(
                arguments=(str(program), "--model", "{model}", "{policy}"), output=output, key_name="THE_KEY"
            ),
            spec="[cli]program:m",
            model="m",
            environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environ},
            timeout_seconds=timeout_seconds,
        )

    return build


def asked(**changes: Any) -> ModelRequest:
    return ModelRequest(**{"agent": "a", "role": "research", "system": "S", "user": "U", **changes})


async def test_the_prompt_comes_in_and_the_answer_goes_out(make: Make) -> None:
    pieces: list[str] = []
    reply = await make("print(sys.stdin.read().upper() + '?')").complete(
        asked(system="be brief", on_text=pieces.append)
    )
    assert reply.text == "BE BRIEF\n\nU?"
    assert pieces == [reply.text]
    assert reply.model == "[cli]program:m"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (2, 3)


async def test_a_long_prompt_with_any_character_comes_in_whole(make: Make) -> None:
    reply = await make("print(len(sys.stdin.buffer.read()))").complete(asked(user="ü\x01🌍\n" * 100_000))
    assert reply.text == str(len(("S\n\n" + "ü\x01🌍\n" * 100_000).encode()))


async def test_it_stands_in_an_empty_folder_that_goes_away(make: Make) -> None:
    code = "open('left', 'w'); print(json.dumps([os.getcwd(), os.listdir('.'), sys.argv[1:3]]))"
    folder, held, arguments = json.loads((await make(code).complete(asked())).text)
    assert held == ["left"]
    assert arguments == ["--model", "m"]
    assert not await asyncio.to_thread(Path(folder).exists)


async def test_it_sees_of_the_environment_what_it_needs_and_nothing_else(make: Make, tmp_path: Path) -> None:
    secrets = {"THE_KEY": KEY, "OPENAI_API_KEY": "sk-another", "GRAPH_RESEARCH_HOME": "/h", "SSH_AUTH_SOCK": "/s"}
    seen = json.loads((await make("print(json.dumps(dict(os.environ)))", **secrets).complete(asked())).text)
    seen.pop("LC_CTYPE", None)
    assert len(seen.pop("STARTED_BY_GRAPH_RESEARCH")) == 32, "by which it is found when it has to end"
    assert seen == {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "THE_KEY": KEY}


async def test_there_is_no_shell_between(make: Make) -> None:
    model = make("print(sys.argv[2])")
    shell = "$(touch /tmp/never); `id` | cat"
    model.model = shell
    assert (await model.complete(asked())).text == shell


async def test_a_program_that_ends_badly_is_unavailable_and_says_why_without_the_key(make: Make) -> None:
    model = make("print('boom ' + os.environ['THE_KEY'], file=sys.stderr); sys.exit(3)", THE_KEY=KEY)
    with pytest.raises(ProviderUnavailable, match="ended with 3: boom") as caught:
        await model.complete(asked())
    assert KEY not in str(caught.value)


async def test_a_program_that_is_not_logged_in_is_refused_with_the_remedy(make: Make) -> None:
    with pytest.raises(ProviderRefused, match="log in"):
        await make("sys.exit('Please run /login')").complete(asked())


async def test_a_window_that_is_too_small_is_an_error_of_its_own(make: Make) -> None:
    with pytest.raises(ContextExceeded) as caught:
        await make("sys.exit('prompt is too long: 9 tokens > 8 maximum')").complete(asked())
    assert caught.value.limit_tokens == 8


PARENT = """
child = subprocess.Popen(['sleep', '300'])
open(PIDS + '.part', 'w').write(f'{os.getpid()} {child.pid}')
os.rename(PIDS + '.part', PIDS)
time.sleep(60)
"""


async def test_a_program_that_takes_too_long_is_killed_with_its_children(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, seconds_ahead = asyncio.get_running_loop(), [0.0]
    true_time = loop.time
    monkeypatch.setattr(loop, "time", lambda: true_time() + seconds_ahead[0])
    code = f"PIDS = {str(tmp_path / 'pids')!r}\n{PARENT}"
    call = asyncio.create_task(make(code, timeout_seconds=300.0).complete(asked()))
    await asyncio.to_thread(wait_for, tmp_path / "pids")
    seconds_ahead[0] = 300.0
    with pytest.raises(ProviderUnavailable, match="did not answer in 300 s"):
        await call
    assert_gone(tmp_path / "pids")


DAEMON = """
if not (child := os.fork()):
    os.setsid()
    if os.fork():
        os._exit(0)
    open(PIDS + '.part', 'w').write(str(os.getpid()))
    os.rename(PIDS + '.part', PIDS)
    os.execvp('sleep', ['sleep', '300'])
os.waitpid(child, 0)
"""
STRANGER = """
child = subprocess.Popen(['sleep', '300'], env={}, start_new_session=True, stdout=subprocess.DEVNULL)
open(PIDS + '.part', 'w').write(str(child.pid))
os.rename(PIDS + '.part', PIDS)
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell what belongs together")
@pytest.mark.parametrize("leaves", [DAEMON, STRANGER])
async def test_what_left_its_process_group_is_killed_with_it(leaves: str, make: Make, tmp_path: Path) -> None:
    code = f"PIDS = {str(tmp_path / 'pids')!r}\n{leaves}\ntime.sleep(60)"
    call = asyncio.create_task(make(code).complete(asked()))
    await asyncio.to_thread(wait_for, tmp_path / "pids")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert_gone(tmp_path / "pids")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell what belongs together")
async def test_a_call_that_is_cancelled_while_its_program_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    code = f"import os, subprocess, time\nPIDS = {str(tmp_path / 'pids')!r}\n{STRANGER}\ntime.sleep(60)"
    call = asyncio.create_task(
        run_program([sys.executable, "-c", code], "", folder=tmp_path, environ={}, timeout_seconds=30, most_bytes=1_000)
    )
    for _ in range(2):
        await asyncio.sleep(0)
    wait_for(tmp_path / "pids")  # in the loop's own thread: the program runs, and the call does not know it yet
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert_gone(tmp_path / "pids")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not tell what belongs together")
async def test_a_daemon_does_not_outlive_the_answer(make: Make, tmp_path: Path) -> None:
    code = f"PIDS = {str(tmp_path / 'pids')!r}\n{DAEMON}\nwhile not os.path.exists(PIDS): pass\nprint('done')"
    assert (await make(code).complete(asked())).text == "done"
    assert_gone(tmp_path / "pids")


async def test_a_call_that_is_cancelled_leaves_no_process_behind(make: Make, tmp_path: Path) -> None:
    code = f"PIDS = {str(tmp_path / 'pids')!r}\n{PARENT}"
    call = asyncio.create_task(make(code).complete(asked()))
    await asyncio.to_thread(wait_for, tmp_path / "pids")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert_gone(tmp_path / "pids")


async def test_what_a_program_leaves_running_does_not_hold_up_its_answer(make: Make) -> None:
    began = time.monotonic()
    reply = await make("subprocess.Popen(['sleep', '300'])\nprint('done', flush=True)").complete(asked())
    assert reply.text == "done"
    assert time.monotonic() - began < 30


async def test_what_left_its_process_group_holds_nothing_up_either(make: Make) -> None:
    began = time.monotonic()
    code = "subprocess.Popen(['sleep', '100'], start_new_session=True)\nprint('done', flush=True)"
    assert (await make(code).complete(asked())).text == "done"
    assert time.monotonic() - began < 80


async def test_output_without_end_is_cut_off(make: Make) -> None:
    with pytest.raises(ProviderRefused, match="wrote more than"):
        await make("while True: print('x' * 100000)").complete(asked())


async def test_a_program_that_does_not_read_its_prompt_is_judged_by_its_answer(make: Make) -> None:
    assert (await make("print('yes')").complete(asked(user="x" * 1_000_000))).text == "yes"


def test_a_program_that_is_not_there_is_refused_before_anything_starts() -> None:
    with pytest.raises(CommandMissing, match="claude") as caught:
        CommandModel(
            command=COMMANDS["claude"], spec="[cli]claude:haiku", model="haiku", environ={"PATH": ""}, timeout_seconds=1
        )
    assert "cli_commands" in str(caught.value)


async def test_what_claude_prints_is_understood(make: Make) -> None:
    printed = {
        "type": "result",
        "is_error": False,
        "result": '{"a": 1}',
        "usage": {
            "input_tokens": 3,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 90,
            "output_tokens": 5,
        },
    }
    reply = await make(f"print({json.dumps(printed)!r})", output="claude").complete(asked())
    assert reply.text == '{"a": 1}'
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens, reply.usage.output_tokens) == (100, 90, 5)


async def test_an_error_that_claude_prints_is_an_error(make: Make) -> None:
    printed = {"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"}
    with pytest.raises(ProviderRefused, match="log in"):
        await make(f"print({json.dumps(printed)!r})", output="claude").complete(asked())


async def test_what_gemini_prints_is_understood(make: Make) -> None:
    reply = await make('print(\'{"response": "yes", "stats": {}}\')', output="gemini").complete(asked())
    assert reply.text == "yes"
    with pytest.raises(ProviderUnavailable, match="quota of the day"):
        await make('print(\'{"error": {"message": "quota of the day"}}\')', output="gemini").complete(asked())


@pytest.mark.parametrize("output", ["claude", "gemini", "text"])
@pytest.mark.parametrize("printed", ["hello", "[]", "{}", '{"a": 1}', '{"response": "yes"', '[1]\n{"b": 2}'])
async def test_a_tool_that_prints_no_document_prints_its_answer(output: str, printed: str, make: Make) -> None:
    assert (await make(f"print({printed!r})", output=output).complete(asked())).text == printed


@pytest.mark.parametrize("output", ["claude", "gemini", "text"])
@pytest.mark.parametrize(
    "printed",
    [
        {"type": "result", "subtype": "success", "is_error": False, "result": "yes"},
        [{"type": "system", "subtype": "init"}, {"type": "result", "is_error": False, "result": "yes"}],
        {"response": "yes", "stats": {"models": {}}},
    ],
)
async def test_a_document_is_understood_from_any_command_line_and_after_other_lines(
    output: str, printed: Any, make: Make
) -> None:
    code = f"print('Loaded cached credentials.'); print({json.dumps(printed, indent=1)!r})"
    assert (await make(code, output=output).complete(asked())).text == "yes"


def test_known_tools_are_called_without_tools_of_their_own() -> None:
    flags = {name: " ".join(command.arguments) for name, command in COMMANDS.items()}
    assert "--tools  --strict-mcp-config" in flags["claude"]
    assert "--admin-policy {policy}" in flags["gemini"]
    assert "--disable shell_tool" in flags["codex"]
    assert all(command.wants_model for command in COMMANDS.values())


@pytest.mark.parametrize("answer", [{"type": "result", "value": 3}, {"stats": [1, 2], "error": "a tenth"}])
async def test_an_answer_that_only_resembles_a_tools_document_is_an_answer(answer: Any, make: Make) -> None:
    reply = await make(f"print({json.dumps(json.dumps(answer))})", output="text").complete(asked())
    assert json.loads(reply.text) == answer


async def test_gemini_gets_a_policy_that_denies_every_tool(make: Make) -> None:
    policy = (await make("print(open(sys.argv[3]).read())").complete(asked())).text
    assert 'toolName = "*"' in policy
    assert 'decision = "deny"' in policy


def assert_gone(pids: Path) -> None:
    """Killed processes may stay as zombies of whoever reaps them, but none of them runs."""
    deadline = time.monotonic() + 60
    for pid in pids.read_text().split():
        while is_running(int(pid)):
            assert time.monotonic() < deadline, f"process {pid} still runs"


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not come"


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
