"""The command lines of `[cli]` models: how each is called so that it only answers, and where the answer stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["COMMANDS", "Command", "own_command"]

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
        return [one.replace("{model}", model).replace("{policy}", policy) for one in self.arguments]


def own_command(arguments: Sequence[str], key_name: str) -> Command:
    """A command line of the user's own, whose standard output is the answer, or a document that has it."""
    return Command(arguments=tuple(arguments), key_name=key_name)


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
            *(
                "--ignore-user-config",
                "--disable",
                "shell_tool",
                "-c",
                'web_search="disabled"',
                "--color",
                "never",
                "-",
            ),
        ),
        key_name="CODEX_API_KEY",
    ),
}
"""The tools that are known by name. Each is started without tools of its own: no shell, no files, no web, no servers,
and without what its user configured for other work."""
