"""The tables of providers in the documentation are made from their specs; `UPDATE_DOCS=1` writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from graph_research.app.wiring.models import MODELS
from graph_research.providers.keys import KEYS
from graph_research.providers.search.catalog import SEARCHES

DOCS = Path(__file__).parents[2] / "docs"
VARIABLE = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:searxng_url|wikipedia_language|cli_commands)\b")


def marked(text: str) -> str:
    """Names of variables and settings as code."""
    return VARIABLE.sub(lambda name: f"`{name[0]}`", text)


def searches() -> list[str]:
    return [
        f"| `{spec.name}` | {marked(spec.summary)} | {spec.content} | {marked(spec.needs)} |" for spec in SEARCHES.specs
    ]


def keys() -> list[str]:
    return [f"| `{name}` | {marked(purpose)} |" for name, purpose in KEYS.items()]


def models() -> list[str]:
    usages = {spec.name: " or ".join(f"`{usage}`" for usage in spec.usage.split(" or ")) for spec in MODELS.values()}
    return [f"| {usages[spec.name]} | {marked(spec.summary)} | {marked(spec.needs)} |" for spec in MODELS.values()]


TABLES = {
    "how-to/use-a-model.md": ("| `extractive` |", models()),
    "how-to/search-the-web.md": ("| `tavily` |", searches()),
    "reference/settings.md": (f"| `{next(iter(KEYS))}` |", keys()),
}


@pytest.mark.parametrize("page", TABLES)
def test_a_table_has_what_the_specs_say(page: str) -> None:
    file = DOCS / page
    first, rows = TABLES[page]
    lines = file.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(first))
    written = lines[start : start + len(rows)]
    if os.environ.get("UPDATE_DOCS"):
        file.write_text("\n".join([*lines[:start], *rows, *lines[start + len(rows) :]]) + "\n")
    else:
        assert written == rows
