"""The rows of the specification and the tests that name them; as a program it writes the page of both."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "requirements.md"
_TABLE = ROOT / "tests" / "requirements.toml"

_HEAD = """# Requirements and their tests

Each row of the specification with the tests that hold it. A row is *tested* where at least one test names it, else
*open*. This page is written by `make requirements` from `tests/requirements.toml` and the tests' marks
(`@pytest.mark.requirement("11.4")`).
"""


def groups() -> Mapping[str, Mapping[str, str]]:
    """The rows by group: number to what it asks for."""
    return tomllib.loads(_TABLE.read_text())


def marked_tests() -> dict[str, list[str]]:
    """By row the tests that name it, as `FILE::TEST`, in order; a mark of a whole file counts as the file."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if "mark.requirement" not in text:
            continue
        name = str(path.relative_to(ROOT / "tests"))
        for rows, test in _marks(ast.parse(text)):
            for row in rows:
                found.setdefault(row, []).append(f"{name}::{test}" if test else name)
    return found


def _marks(tree: ast.Module) -> Iterator[tuple[list[str], str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in node.targets):
            for call in ast.walk(node.value):
                yield _rows(call), ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                yield _rows(decorator), node.name


def _rows(node: ast.AST) -> list[str]:
    """The rows of a call `pytest.mark.requirement(...)`; none of anything else."""
    is_mark = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement"
    return [arg.value for arg in node.args if isinstance(arg, ast.Constant)] if is_mark else []


def page() -> str:
    """The text of `docs/reference/requirements.md`."""
    tests = marked_tests()
    lines = [_HEAD]
    for group, rows in groups().items():
        lines += [f"\n## {group}\n", "| row | asks for | state | tests |", "| --- | --- | --- | --- |"]
        for row, text in rows.items():
            names = tests.get(row, [])
            shown = "<br>".join(f"`{name}`" for name in names) or "–"
            lines.append(f"| {row} | {text} | {'tested' if names else 'open'} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
