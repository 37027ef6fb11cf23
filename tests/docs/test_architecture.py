"""The map of the program names every package, and nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
PACKAGES = {str(file.parent.relative_to(ROOT)) + "/" for file in (ROOT / "graph_research").rglob("__init__.py")}
PATHS = sorted(set(re.findall(r"`((?:benchmarks|graph_research|tests|graphs|prompts|schemas)/[\w/.]*)`", PAGE)))


def test_the_map_has_a_row_for_every_package() -> None:
    rows = set(re.findall(r"^\| `(graph_research/[\w/]*/)` \|", PAGE, re.MULTILINE))
    assert rows == PACKAGES - {"graph_research/"}


@pytest.mark.parametrize("path", [path for path in PATHS if not re.search(r"/[ab]/|/[A-Z]", path)])
def test_every_path_on_the_page_exists(path: str) -> None:
    assert (ROOT / path).exists()
