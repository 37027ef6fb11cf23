"""The root of one error tree; every error a user can meet descends from `GraphResearchError`.

GraphResearchError
├── UserMistake            wrong use or invalid input: exit code 2
│   ├── GraphInvalid       (graph/errors.py) a definition with findings
│   ├── InputInvalid       a run's input does not fit the graph's channels
│   ├── SettingInvalid     (config.py) a setting with a wrong name, type or place
│   ├── RunExists, UnknownRun, RunBusy   (graph/errors.py)
│   ├── JobExists, UnknownJob, JobNotWaiting   (jobs/errors.py)
│   ├── TokenMissing, TooManyJobs, …   (service/errors.py) a request that the service refuses
│   └── NameInvalid        an id that is no id
├── HandoffInvalid         (graph/errors.py) an agent's input or output breaks its schema
├── ExpressionFailed       (graph/errors.py) an expression that failed while it was evaluated
├── StoreDamaged           (graph/errors.py) the checkpoint store cannot be trusted or written
│   └── StoreUnreachable   its database does not answer, its disk is full
├── ClaimLost              (jobs/errors.py) a job that is no longer this worker's
├── JobStoreUnusable       the store of jobs cannot be read or written
├── ProviderError          (providers/errors.py) something outside said no
│   ├── ProviderUnavailable   worth another try
│   │   └── ProviderUnreachable   not at once: an unknown name, a certificate that is not trusted
│   ├── ProviderRefused       a key, a quota or a request that will not get better
│   │   └── FetchRefused      a page that is not fetched: its address, size, kind or robots.txt
│   │       ├── PageGone      its server answered 404 or 410
│   │       └── PageUnchanged its server answered 304
│   └── ContextExceeded       the prompt is longer than the model's window
└── DocumentUnreadable     (text/errors.py) a file that gives no text
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Action(StrEnum):
    """What a user can do next; a front end words it in its own commands."""

    SET_OPTION = "set-option"
    RESUME_RUN = "resume-run"
    CANCEL_RUN = "cancel-run"
    SHOW_STATUS = "show-status"
    SHOW_STEPS = "show-steps"
    SHOW_VERSIONS = "show-versions"
    LIST_RUNS = "list-runs"
    EXPORT_RUN = "export-run"
    RUN_GRAPH = "run-graph"
    DRAW_GRAPH = "draw-graph"
    LIST_GRAPHS = "list-graphs"
    ADD_DOCUMENTS = "add-documents"
    LIST_DOCUMENTS = "list-documents"
    CHECK_PROVIDERS = "check-providers"


@dataclass(frozen=True)
class Hint:
    """An action on `target` (the id of a run, the name of a graph), with `options` by the names of Python parameters,
    such as `{"max_tokens": 2000}`. True is an option without a value, "" one whose value the user chooses."""

    action: Action
    target: str = ""
    options: Mapping[str, str | float | bool] = field(default_factory=dict)


class GraphResearchError(Exception):
    """Anything that went wrong in a way we can name.

    `message` says what and where; `help` what to do about it, `hint` the same for a front end to word; `file`, `line`
    and `column` (1-based) are set where the cause stands in a file of the user's. `code` names the kind of error for
    programs: the name of the class in lower case, with a hyphen between its words, unless a class sets its own.
    """

    code = "error"

    def __init_subclass__(cls) -> None:
        if "code" not in cls.__dict__:
            cls.code = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    def __init__(
        self,
        message: str,
        *,
        help: str = "",
        hint: Hint | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.hint = hint
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}; {self.help}" if self.help else text


class UserMistake(GraphResearchError):
    """The request itself is wrong; asking again without a change cannot help. Ends a command with exit code 2."""

    code = "invalid"


class NameInvalid(UserMistake):
    """An id that does not match `NAME_PATTERN`; no path is ever built from such a thing."""


def check_name(name: str, what: str) -> str:
    """Return `name` if it is an id (`[a-z0-9][a-z0-9_-]{0,63}`), else raise `NameInvalid` saying `what` it is for."""
    if not NAME_PATTERN.fullmatch(name):
        shown = name if len(name) <= 80 else name[:77] + "..."
        raise NameInvalid(
            f"{what} {shown!r} is not a valid name",
            help="use 1 to 64 characters of a-z, 0-9, _ and -, starting with a letter or digit",
        )
    return name


def suggestion(name: str, known: Iterable[str]) -> str:
    """`did you mean "NAME"? `, with the space, for the nearest of the `known` names; empty where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f'did you mean "{near[0]}"? ' if near else ""


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """The reason as the end of a sentence, without the file's name."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is no UTF-8 text"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "you have no permission to read it"
    return error.strerror or type(error).__name__


def why_unreachable(path: Path) -> str | None:
    """Why the system refuses to say whether a file or folder is there, as the end of a sentence; None where it says."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return why_unreadable(error)
    return None
