"""The page of the graph language names every finding of the static checks, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECKS = ["definition", "expressions", "validation"]
CODE = re.compile(r'"([a-z]+(?:-[a-z]+)+|alias)"')
IN_TABLE = re.compile(r"`([a-z-]+)`")
BUILT = {"ask-in-branch", "end-in-branch"}
"""Codes that are put together from a node's kind."""


def codes() -> set[str]:
    folder = ROOT / "graph_research" / "graph"
    files = [folder / "loader.py", *(file for name in CHECKS for file in (folder / name).glob("*.py"))]
    return {code for file in files for code in CODE.findall(file.read_text())} | BUILT


def told() -> set[str]:
    section = (ROOT / "docs" / "reference" / "graph-language.md").read_text().split("\n## Findings\n", 1)[1]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    found = {code for row in rows for code in IN_TABLE.findall(row.split("|")[1])}
    family = next(row for row in rows if row.startswith("| `unknown-…`"))
    return found | {f"unknown{ending}" for ending in IN_TABLE.findall(family.split("|")[2])}


def test_every_finding_is_on_the_page_and_no_other() -> None:
    assert told() == codes()
