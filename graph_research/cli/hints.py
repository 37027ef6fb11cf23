"""Hints of errors in the words of the command line: which command to give, with which options."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from graph_research.errors import Action, GraphResearchError, Hint
from graph_research.settings.groups import SOURCE_RULES

if TYPE_CHECKING:
    from graph_research.app.runs.limits.budget import LimitReached

_COMMANDS = {
    Action.SET_OPTION: "",
    Action.RESUME_RUN: "resume",
    Action.CANCEL_RUN: "cancel",
    Action.SHOW_STATUS: "status",
    Action.SHOW_STEPS: "history",
    Action.SHOW_VERSIONS: "versions",
    Action.LIST_RUNS: "list",
    Action.EXPORT_RUN: "export-run",
    Action.RUN_GRAPH: "graph run",
    Action.DRAW_GRAPH: "graph export",
    Action.LIST_GRAPHS: "graph list",
    Action.LIST_DOCUMENTS: "library list",
    Action.CHECK_PROVIDERS: "doctor",
}
_SHOWS = {
    Action.SHOW_STATUS: "where it stands",
    Action.SHOW_STEPS: "its steps",
    Action.SHOW_VERSIONS: "its versions",
    Action.LIST_RUNS: "the stored runs",
    Action.LIST_GRAPHS: "the known graphs",
    Action.LIST_DOCUMENTS: "the indexed folders",
    Action.CHECK_PROVIDERS: "which providers answer, and which keys are set",
}
"""What a command that changes nothing shows."""
_OPTIONS = {
    "allow_domains": "allow-domain",
    "assignments": "set",
    "deny_domains": "deny-domain",
    "published_from": "from",
    "published_until": "until",
    "report_type": "type",
    "roles": "role",
    "source_rules": "source-rule",
    "timeout_seconds": "timeout",
}
"""Options whose name is not that of the Python parameter."""
_VALUES = {
    "allow_domains": "DOMAIN",
    "answer": '"…"',
    "assignments": "PATH=JSON",
    "audience": "TEXT",
    "deny_domains": "DOMAIN",
    "graph": "NAME",
    "language": "CODE",
    "length": "brief|standard|long|WORDS",
    "library": "DIR",
    "llm": "SPEC",
    "max_cost": "USD",
    "out": "FOLDER",
    "published_from": "DATE",
    "published_until": "DATE",
    "report_type": "report|comparison|timeline|survey|memo",
    "roles": "ROLE=SPEC",
    "run_id": "ID",
    "search": "NAME",
    "source_rules": "RULE=VALUE",
    "text": "TEXT",
    "timeout_seconds": "S",
}
"""What stands for a value that the user chooses, N unless it is here."""


def in_words(error: GraphResearchError) -> str:
    """The error in one line, with what to do about it."""
    return f"{error}{_mark(error)}{hint_text(error.hint)}"


def help_of(error: GraphResearchError) -> str:
    """What to do about an error: its help, and the command or option that does it."""
    return f"{error.help}{_mark(error) if error.help else ''}{hint_text(error.hint)}"


def _mark(error: GraphResearchError) -> str:
    """What stands between an error and its hint: a command that does what its help says follows a colon."""
    if error.hint is None:
        return ""
    if not error.help or error.hint.action in _SHOWS:
        return " " if error.help.endswith("?") else "; "
    return ": "


def hint_text(hint: Hint | None) -> str:
    """The command line of a hint, or its options alone; empty without one."""
    if hint is None:
        return ""
    if hint.action is Action.ADD_DOCUMENTS:
        return "--library DIR for this run, or graph-research library add DIR for all"
    command = _COMMANDS[hint.action]
    words = ["graph-research", command, *([shlex.quote(hint.target)] if hint.target else [])] if command else []
    line = " ".join([*words, *(_option(name, value) for name, value in hint.options.items())])
    return f"`{line}` shows {_SHOWS[hint.action]}" if hint.action in _SHOWS else line


def resume_command(run_id: str, options: Mapping[str, str | float] = MappingProxyType({})) -> str:
    """The command line that goes on with a run, with the `options` that it cannot go on without."""
    return hint_text(Hint(Action.RESUME_RUN, run_id, options))


def limit_json(limit: LimitReached | None) -> dict[str, str] | None:
    """The limit that ended a run, with the option that raises it."""
    if limit is None:
        return None
    return {"words": limit.words, "option": hint_text(Hint(Action.SET_OPTION, options=limit.options))}


def _option(name: str, value: str | float | bool) -> str:
    if name in SOURCE_RULES and name not in _OPTIONS:
        return f"--source-rule {name}={value or 'VALUE'}"
    option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
    if value is True:
        return option
    if value == "":
        return f"{option} {_VALUES.get(name, 'N')}"
    return f"{option} {f'{value:g}' if isinstance(value, float) else shlex.quote(str(value))}"
