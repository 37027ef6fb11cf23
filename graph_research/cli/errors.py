"""How an error ends a command: the line on standard error, the JSON document, the crash marker and the exit code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from graph_research.cli.display.output import say, show_json
from graph_research.cli.hints import help_of, in_words
from graph_research.errors import GraphResearchError, UserMistake
from graph_research.settings.home import CRASH_NOTE, find_home

HELP_OPTIONS = ["-h", "--help"]
DONE, FAILED, INVALID, ABORTED, WAITING, INTERRUPTED = 0, 1, 2, 3, 4, 130


class CommandEnded(Exception):
    """A command has said all it has to say and ends with `exit_code`."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for JSON; known before it is parsed, for a wrong one is answered in JSON too."""
    return "--json" in _options(arguments)


def wants_help(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for help, and so for nothing else."""
    return not set(HELP_OPTIONS).isdisjoint(_options(arguments))


def _options(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def end_with(error: GraphResearchError, *, json: bool) -> int:
    """Report an error we have a name for and return the exit code."""
    say(f"graph-research: {in_words(error)}")
    if json:
        show_json({"error": _as_json(error)})
    return INVALID if isinstance(error, UserMistake) else FAILED


def install_crash_hook(environ: Mapping[str, str], *, json: bool) -> None:
    """From now on an unexpected error ends in one line and a crash marker in the data home, exit code 1."""

    def crashed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        marker = _write_marker(environ, error, trace)
        where = f"; the details are in {marker}" if marker else ""
        message = f"{kind.__name__}: {error}" if str(error) else kind.__name__
        first_line = message.splitlines()[0]
        say(f"graph-research: unexpected error: {first_line}{where}")
        if json:
            help_text = f"details in {marker}" if marker else ""
            show_json({"error": {"code": "unexpected", "message": first_line, "help": help_text}})

    sys.excepthook = crashed


def _as_json(error: GraphResearchError) -> dict[str, Any]:
    place = {"file": error.file, "line": error.line, "column": error.column}
    return {
        "code": error.code,
        "message": error.message,
        "help": help_of(error),
        **{name: value for name, value in place.items() if value is not None},
    }


def _write_marker(environ: Mapping[str, str], error: BaseException, trace: TracebackType | None) -> Path | None:
    """The marker of a run is written where the run is known, and is named in a note; any other crash gets its own."""
    written = [note for note in getattr(error, "__notes__", ()) if note.startswith(CRASH_NOTE)]
    if written:
        return Path(written[0].removeprefix(CRASH_NOTE))
    text = "".join(traceback.format_exception(type(error), error, trace))
    try:
        marker = find_home(environ).crash_file("command")
        marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        marker.write_text(text, encoding="utf-8")
    except OSError:
        return None
    return marker
