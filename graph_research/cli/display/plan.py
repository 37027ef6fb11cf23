"""The plan of a run on the terminal: shown, changed in an editor, and decided on."""

from __future__ import annotations

import asyncio
import os
import shlex
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path

from graph_research.app.runs.plan import Plan, PlanInvalid, read_plan
from graph_research.app.runs.steering import PlannedRun
from graph_research.cli.display.output import in_line, say
from graph_research.cli.display.prompt import typed_line
from graph_research.errors import UserMistake
from graph_research.text.wording import counted

_EDITOR = "vi"


class Decision(StrEnum):
    """What the user decided about a plan."""

    GO = "go"
    EDIT = "edit"
    STOP = "stop"


class EditorFailed(UserMistake):
    """The user's editor cannot be started, or ended with an error."""


def plan_lines(planned: PlannedRun) -> Iterable[str]:
    """The plan in words."""
    yield f"question:  {in_line(planned.question)}"
    if planned.plan.research_brief:
        yield f"brief:     {in_line(planned.plan.research_brief)}"
    yield "sub-queries:"
    for number, row in enumerate(planned.plan.sub_queries, start=1):
        kinds = f" ({', '.join(row['source_types'])})" if row.get("source_types") else ""
        yield f"  {number}. {in_line(row['query'])}{kinds}"
        if row.get("rationale"):
            yield f"     {in_line(row['rationale'])}"
        if row.get("look_for"):
            yield f"     looks for: {'; '.join(map(in_line, row['look_for']))}"
    if planned.plan.checklist:
        yield "the report has to answer:"
        for row in planned.plan.checklist:
            yield f"  - {in_line(row['text'])} ({row['kind']})"
    yield f"searches:  {', '.join(map(in_line, planned.providers)) or 'none'}"
    yield f"models:    {'; '.join(_models(planned))}"
    yield f"estimate:  {_estimate(planned)}"


def _models(planned: PlannedRun) -> Iterable[str]:
    default = tuple(planned.models["default"])
    yield ", else ".join(map(in_line, default))
    for role, specs in planned.models.items():
        if tuple(specs) != default:
            yield f"{role}: {', else '.join(map(in_line, specs))}"


def _estimate(planned: PlannedRun) -> str:
    amount = planned.estimate.to_json()
    cost = "unknown, since the price of a model is" if amount["cost"] is None else f"{amount['cost']:.2f} USD"
    minutes = amount["seconds"] / 60
    time = f"{amount['seconds']} seconds" if minutes < 2 else f"{minutes:.0f} minutes"
    if not amount["calls"]:
        return f"no call of a language model, cost {cost}, {time}"
    return f"about {counted(amount['calls'], 'model call')}, {amount['tokens']:,} tokens, cost {cost}, {time}"


async def ask_about_plan() -> Decision:
    """Ask on the terminal until an answer is understood; the end of the input stops."""
    while True:
        line = await typed_line("Enter goes on, e changes the plan in your editor, s stops: ")
        match line.strip().lower():
            case "" if line:
                return Decision.GO
            case "g" | "go":
                return Decision.GO
            case "e" | "edit":
                return Decision.EDIT
            case "" | "s" | "stop" | "q" | "quit":
                return Decision.STOP


async def edited_in_editor(plan: Plan, while_open: Callable[[], AbstractContextManager[None]]) -> Plan | None:
    """The plan as the user leaves it in `$VISUAL` or `$EDITOR`, which is opened again for what is wrong, each time
    within `while_open`; None where they leave it as it is, empty or without a file. `EditorFailed` where there is no
    such program."""
    text = before = plan.text()
    with tempfile.TemporaryDirectory(prefix="graph-research-") as folder:
        file = Path(folder) / "plan.yaml"
        while True:
            file.write_text(text, encoding="utf-8")
            with while_open():
                await _open_editor(file)
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            if not text.strip() or text == before:
                return None
            try:
                return read_plan(text, "plan.yaml")
            except PlanInvalid as invalid:
                for line, problem in invalid.problems:
                    say(f"plan.yaml:{line}: {problem}")
                answer = await typed_line("Enter opens the editor again, s leaves the plan as it was: ")
                if answer.strip() or not answer:
                    return None


async def _open_editor(file: Path) -> None:
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _EDITOR
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(named), str(file))
    except (OSError, ValueError) as error:
        raise EditorFailed(f"the editor {named!r} cannot be started", help="set EDITOR to one that can") from error
    status = await process.wait()
    if status:
        raise EditorFailed(f"the editor {named!r} ended with {status}", help="set EDITOR to another one")
