"""Hints of errors: the command line words them, nothing below it does."""

import ast
import re
from pathlib import Path

import pytest
import typer

import graph_research
from graph_research.cli import _application
from graph_research.cli.hints import help_of, hint_text, in_words
from graph_research.errors import Action, GraphResearchError, Hint


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (Hint(Action.CANCEL_RUN, "run-1"), "graph-research cancel run-1"),
        (Hint(Action.RESUME_RUN, "run-1", {"max_tokens": 2000}), "graph-research resume run-1 --max-tokens 2000"),
        (Hint(Action.RESUME_RUN, "r", {"accept_changes": True}), "graph-research resume r --accept-changes"),
        (Hint(Action.SET_OPTION, options={"library": ""}), "--library DIR"),
        (Hint(Action.SET_OPTION, options={"timeout_seconds": 2.5}), "--timeout 2.5"),
        (Hint(Action.SET_OPTION, options={"max_sub_queries": ""}), "--max-sub-queries N"),
        (Hint(Action.RUN_GRAPH, "my graph.yaml"), "graph-research graph run 'my graph.yaml'"),
    ],
)
def test_a_hint_becomes_a_command_or_an_option(hint: Hint, text: str) -> None:
    assert hint_text(hint) == text


def test_every_action_has_its_words() -> None:
    assert all(hint_text(Hint(action, "x", {"run_id": ""})) for action in Action)


def test_an_error_is_worded_with_its_help_and_its_hint() -> None:
    error = GraphResearchError("it is busy", help="wait, or cancel it", hint=Hint(Action.CANCEL_RUN, "r"))
    assert str(error) == "it is busy; wait, or cancel it"
    assert in_words(error) == "it is busy; wait, or cancel it: graph-research cancel r"
    assert help_of(error) == "wait, or cancel it: graph-research cancel r"
    assert in_words(GraphResearchError("broken")) == "broken"
    alone = GraphResearchError("unknown", hint=Hint(Action.LIST_RUNS))
    assert (in_words(alone), help_of(alone)) == (
        "unknown; `graph-research list` shows the stored runs",
        "`graph-research list` shows the stored runs",
    )


COMMANDS = typer.main.get_command(_application()).commands  # type: ignore[attr-defined]
_OPTION = re.compile(r"(?<![\w-])--[a-z]|graph-research (" + "|".join(sorted(COMMANDS)) + r")\b")
_OTHERS = {"providers/llm/command_line.py", "graph/export/svg.py"}
"""Options of other programs, and properties of CSS."""

_FRONT_ENDS = ("cli/", "service/")
"""They word what users do; the service is set up on the command line."""


def test_nothing_below_the_front_ends_names_commands_or_options() -> None:
    package = Path(graph_research.__file__).parent
    found = [
        f"{name}:{node.lineno}: {node.value[:80]!r}"
        for file in sorted(package.rglob("*.py"))
        if not (name := str(file.relative_to(package))).startswith(_FRONT_ENDS) and name not in _OTHERS
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OPTION.search(node.value)
    ]
    assert not found, "\n".join(found)
