"""Models behind a command line: the prompt on standard input, the answer on standard output, and no tools between."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import orjson

from graph_research.providers.clients import Clients
from graph_research.providers.errors import (
    CommandMissing,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    UnknownModel,
)
from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage, estimated
from graph_research.providers.llm.error_mapping import context_error
from graph_research.providers.llm.model_spec import CLI, ModelSpec
from graph_research.providers.llm.provider_spec import OWN_SECONDS, ModelProviderSpec, window_in
from graph_research.providers.llm.subprocess_run import OutputTooLong, ProgramResult, ProgramTimedOut, run_program
from graph_research.text.wording import one_line

_MOST_BYTES = 8_000_000
_MOST_CHARS = 300
_LOCALE = {"LANG": "C.UTF-8"}
_DENY_ALL = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
"""A policy of Gemini CLI, whose tools have no other switch; tools that it denies are not even shown to the model."""

_NOT_LET_IN = re.compile(
    r"log ?in|not authenticated|unauthorized|invalid api key|api key not valid|credit balance|usage limit|\b401\b",
    re.IGNORECASE,
)


@dataclass(kw_only=True, eq=False)
class CommandModel:
    """A command-line agent that is used as a model.

    It runs without a shell in an empty folder that is removed afterwards, sees of the environment PATH, HOME and the
    one variable that its `command` names, and is killed with all it started when it is cancelled or takes longer than
    `timeout_seconds`. `CommandMissing` where the program is not there.
    """

    command: Command
    spec: str
    model: str
    environ: Mapping[str, str] = field(repr=False)
    timeout_seconds: float
    window_tokens: int | None = None
    in_process: ClassVar[bool] = False

    def __post_init__(self) -> None:
        key_name = self.command.key_name
        self._program = _program_path(self.command, self.environ, self.spec)
        self._secret = self.environ.get(key_name, "") if key_name else ""

    async def complete(self, request: ModelRequest) -> ModelReply:
        given = f"{request.system}\n\n{request.user}" if request.system else request.user
        with tempfile.TemporaryDirectory(prefix="graph-research-") as name:
            folder, policy = Path(name) / "empty", Path(name) / "policy.toml"
            folder.mkdir()
            policy.write_text(_DENY_ALL, encoding="utf-8")
            finished = await self._run(given, folder, policy)
        if finished.code != 0:
            raise self._failed(finished)
        text, usage = self._answer(finished.output, request)
        if request.on_text is not None:
            request.on_text(text)
        return ModelReply(text=text, usage=usage, model=self.spec)

    async def _run(self, given: str, folder: Path, policy: Path) -> ProgramResult:
        filled = self.command.filled(model=self.model, policy=str(policy))
        try:
            return await run_program(
                [self._program, *filled[1:]],
                given,
                folder=folder,
                environ=_clean(self.command, self.environ),
                timeout_seconds=self.timeout_seconds,
                most_bytes=_MOST_BYTES,
            )
        except OSError as error:
            raise self._refused(f"cannot be started: {error.strerror or error}") from error
        except ProgramTimedOut as error:
            raise ProviderUnavailable(
                f"{self.spec} did not answer in {self.timeout_seconds:g} s",
                provider=self.spec,
                help="give it longer with the setting `model_timeout`",
            ) from error
        except OutputTooLong as error:
            raise self._refused(f"wrote more than {_MOST_BYTES:,} bytes") from error

    def _answer(self, output: str, request: ModelRequest) -> tuple[str, Usage]:
        """The answer in the tool's JSON document, else the whole output: another version of the tool, or a wrapper, may
        print the answer itself. The document's shape decides, since a command may call any tool."""
        document = _document(output)
        kind = self.command.output
        is_result = document.get("type") == "result" and not document.keys().isdisjoint(
            ("result", "subtype", "is_error")
        )
        if is_result or (kind == "claude" and isinstance(document.get("result"), str)):
            return self._of_claude(document, request)
        if kind == "gemini" or document.keys() >= {"response", "stats"}:
            error = document.get("error")
            if error:
                raise self._error_of(str(error.get("message", error)) if isinstance(error, dict) else str(error))
            if isinstance(document.get("response"), str):
                return document["response"], estimated(request, document["response"])
        return output.strip(), estimated(request, output.strip())

    def _of_claude(self, document: Mapping[str, Any], request: ModelRequest) -> tuple[str, Usage]:
        text = document.get("result")
        if document.get("is_error") or not isinstance(text, str):
            raise self._error_of(str(text or document.get("subtype") or "an error"))
        usage = document.get("usage")
        counted = usage if isinstance(usage, dict) else {}
        cached = _count(counted, "cache_read_input_tokens")
        sent = _count(counted, "input_tokens") + _count(counted, "cache_creation_input_tokens") + cached
        if not sent:
            return text, estimated(request, text)
        written = _count(counted, "output_tokens")
        return text, Usage(input_tokens=sent, output_tokens=written, cached_input_tokens=cached)

    def _failed(self, finished: ProgramResult) -> ProviderError:
        how = f"ended with {finished.code}" if finished.code > 0 else f"was ended by signal {-finished.code}"
        return self._error_of(finished.errors or finished.output, how)

    def _error_of(self, text: str, how: str = "gave an error") -> ProviderError:
        """The error for a tool's error message."""
        if (exceeded := context_error(text, self.spec)) is not None:
            return exceeded
        shown = self._shown(text)
        if _NOT_LET_IN.search(text):
            variable = f", or set {self.command.key_name}" if self.command.key_name else ""
            return ProviderRefused(
                f"{self.spec} {how}: {shown}",
                provider=self.spec,
                help=f"run {self.command.arguments[0]} once in a terminal and log in{variable}",
            )
        return ProviderUnavailable(f"{self.spec} {how}: {shown}", provider=self.spec)

    def _shown(self, text: str) -> str:
        """The end of a message on one line, without the key."""
        hidden = text.replace(self._secret, "***") if self._secret else text
        line = one_line(hidden)
        return line if len(line) <= _MOST_CHARS else f"…{line[-_MOST_CHARS:]}"

    def _refused(self, what: str) -> ProviderRefused:
        return ProviderRefused(f"{self.spec} {what}", provider=self.spec)


def _document(output: str) -> Mapping[str, Any]:
    """The JSON document that was printed, after lines of other kinds or as the last of a list; empty where none was."""
    start = re.search(r"^[{\[]", output, re.MULTILINE)
    try:
        document = orjson.loads(output[start.start() :] if start else output)
    except ValueError:
        return {}
    last = document[-1] if isinstance(document, list) and document else document
    return last if isinstance(last, dict) else {}


def _program_path(command: Command, environ: Mapping[str, str], spec: str) -> str:
    program = command.arguments[0]
    path = shutil.which(program, path=environ.get("PATH", ""))
    if path is None:
        raise CommandMissing(
            f"model {spec} needs the program {program!r}, which is not on PATH",
            help="install it, or say in the setting `cli_commands` how it is called",
        )
    return str(Path(path).resolve() if "/" in program else path)


def _clean(command: Command, environ: Mapping[str, str]) -> dict[str, str]:
    names = ("PATH", "HOME", *((command.key_name,) if command.key_name else ()))
    return {**_LOCALE, **{name: environ[name] for name in names if environ.get(name)}}


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0


Output = Literal["text", "claude", "gemini"]
"""What stands on standard output: the answer itself, or the tool's JSON document."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program with its arguments. `{model}` in them is the model's name, `{policy}` a file that denies every tool.

    `key_name` is the one variable that it gets beside PATH and HOME, if it is set; empty: none.
    """

    arguments: Sequence[str]
    output: Output = "text"
    key_name: str = ""

    @property
    def wants_model(self) -> bool:
        return any("{model}" in argument for argument in self.arguments)

    def filled(self, *, model: str, policy: str) -> list[str]:
        """The arguments with what they stand for."""
        return [argument.replace("{model}", model).replace("{policy}", policy) for argument in self.arguments]


COMMANDS: Mapping[str, Command] = {
    "claude": Command(
        arguments=(
            *("claude", "--print", "--model", "{model}", "--output-format", "json"),
            *("--tools", "", "--strict-mcp-config", "--setting-sources", "", "--no-session-persistence"),
        ),
        output="claude",
        key_name="ANTHROPIC_API_KEY",
    ),
    "gemini": Command(
        arguments=(
            *("gemini", "--model", "{model}", "--output-format", "json", "--approval-mode", "default"),
            *("--admin-policy", "{policy}", "--extensions", "none", "--allowed-mcp-server-names", "none"),
            "--skip-trust",
        ),
        output="gemini",
        key_name="GEMINI_API_KEY",
    ),
    "codex": Command(
        arguments=(
            *("codex", "exec", "--model", "{model}", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral"),
            *("--ignore-user-config", "--disable", "shell_tool"),
            *("-c", 'web_search="disabled"', "--color", "never", "-"),
        ),
        key_name="CODEX_API_KEY",
    ),
}
"""The tools that are known by name. Each is started without tools of its own: no shell, no files, no web, no servers,
and without what its user configured for other work."""


def _build(spec: ModelSpec, clients: Clients) -> CommandModel:
    settings = clients.settings
    command = COMMANDS.get(spec.command)
    if spec.command in settings.cli_commands:
        key_name = settings.model_keys.get(f"{CLI}{spec.command}", "")
        command = Command(arguments=tuple(settings.cli_commands[spec.command]), key_name=key_name)
    if command is None:
        known = ", ".join(sorted({*COMMANDS, *settings.cli_commands}))
        raise UnknownModel(
            f"no command line {spec.command!r}", help=f"there are {known}; add yours with the setting `cli_commands`"
        )
    if command.wants_model != bool(spec.model):
        lacks = "names no model" if command.wants_model else "names a model that its command line has no {model} for"
        raise UnknownModel(f"model {spec.text!r} {lacks}", help=f"write it as [cli]{spec.command}:MODEL")
    return CommandModel(
        command=command,
        spec=spec.text,
        model=spec.model,
        environ=clients.environ,
        timeout_seconds=settings.model_timeout or OWN_SECONDS,
        window_tokens=window_in(spec, settings),
    )


SPEC = ModelProviderSpec(
    name=CLI,
    usage="[cli]NAME:MODEL",
    summary=f"a command-line agent that is used as a model: {', '.join(COMMANDS)}, or one of the setting cli_commands",
    needs="the program",
    build=_build,
)
