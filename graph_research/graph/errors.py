"""The errors of the engine: in a graph's definition, in its run and in its store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from graph_research.errors import Action, GraphResearchError, Hint, UserMistake
from graph_research.graph.source import Place


class Severity(StrEnum):
    """A definition with an error is not run; a warning does not keep it from that."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, order=True)
class Finding:
    """One thing that static validation found; lines and columns count from 1.

    `code` is a stable kebab-case name such as `unknown-node`. `message` says what, `help` what to do about it.
    """

    file: str
    line: int
    column: int
    code: str
    severity: Severity = Severity.ERROR
    message: str = ""
    help: str = ""

    @classmethod
    def at(cls, place: Place, code: str, message: str, help: str, *, warning: bool = False) -> Finding:
        """The finding `code` at `place`; an error unless `warning`."""
        return cls(
            file=place.file,
            line=place.line,
            column=place.column,
            code=code,
            severity=Severity.WARNING if warning else Severity.ERROR,
            message=message,
            help=help,
        )

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}:{self.column}: {self.message}"
        return f"{text}; {self.help}" if self.help else text

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        return dict(vars(self))


class GraphInvalid(UserMistake):
    """A definition with at least one finding of severity `error`. `findings` holds all of them, warnings too; its text
    is that of the errors, one a line."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.errors = tuple(finding for finding in findings if finding.severity == Severity.ERROR)
        first = self.errors[0]
        super().__init__(first.message, help=first.help, file=first.file, line=first.line, column=first.column)
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


class InputInvalid(UserMistake):
    """A run's input lacks a required channel, names an unknown one or has the wrong type."""


class HandoffInvalid(GraphResearchError):
    """A node's input or output does not fit its schema.

    `path` is the JSON Pointer of the value at fault, `value` the value itself, shortened in the message only.
    """

    def __init__(self, message: str, *, node: str, schema: str, path: str, value: Any, help: str = "") -> None:
        super().__init__(message, help=help)
        self.node = node
        self.schema = schema
        self.path = path
        self.value = value


class ExpressionFailed(GraphResearchError):
    """An expression of the graph could not be evaluated; file, line and column are the expression's."""


class NodeFailed(GraphResearchError):
    """A node failed for a reason the engine itself states: no edge applies, a limit, a child that did not complete."""


class GraphTimeout(TimeoutError):
    """The time of the whole graph, not of one of its nodes, is over; a handler may raise it, too, where what is left of
    that time is of no use."""


class GraphChanged(UserMistake):
    """A run was started with another definition than the one it is to be resumed with."""


class RunExists(UserMistake):
    """A run with this id is already stored."""


class UnknownRun(UserMistake):
    """No run with this id is stored."""

    def __init__(self, message: str, *, run_id: str, help: str = "", hint: Hint | None = None) -> None:
        super().__init__(message, help=help, hint=hint)
        self.run_id = run_id

    @classmethod
    def of(cls, run_id: str) -> UnknownRun:
        """The error of a store that has no such run."""
        return cls(f"there is no run {run_id!r:.80}", run_id=run_id, hint=Hint(Action.LIST_RUNS))


class RunBusy(UserMistake):
    """Another process drives this run right now."""

    @classmethod
    def by(cls, run_id: str, owner: str | int) -> RunBusy:
        """The error that names the process which drives the run."""
        return cls(
            f"run {run_id} is driven by process {owner} right now",
            help="wait for it, or cancel the run",
            hint=Hint(Action.CANCEL_RUN, run_id),
        )


class StoreDamaged(GraphResearchError):
    """The checkpoint store cannot be read or written as it must: a broken page, a full disk, a wrong hash."""


class StoreUnreachable(StoreDamaged):
    """The store cannot be used now, since its database does not answer or its disk is full; the run can go on later."""


class DatabaseAddressInvalid(UserMistake):
    """The address of a database is none that PostgreSQL's client can read."""


class RunTooLarge(UserMistake):
    """A run took more than whoever drives it allows to any: nothing more of it is written, and no edge is taken."""


ENDS_THE_DRIVE = (StoreDamaged, RunTooLarge)
"""No node fails by these and no edge is taken for them: whoever drives the run gets them."""
