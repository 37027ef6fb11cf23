"""The tables of fixed words, one TOML file a language, and which of them a report takes."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from graph_research.research.report.labels.table import Labels
from graph_research.text.language.tags import primary

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "zh", "ja")
"""Languages that have a table."""


def labels_for(language: str) -> Labels:
    """The labels of a BCP 47 tag's language; English where there are none of it."""
    return _table(primary(language) if has_labels(language) else "en")


def has_labels(language: str) -> bool:
    return primary(language) in LANGUAGES


def left_out(stage: str) -> str:
    """What a run left out at a stage to keep within its limits, in English: as messages and stored records have it."""
    return labels_for("en").left_out[stage]


@cache
def _table(language: str) -> Labels:
    table: dict[str, Any] = tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    table |= {name: tuple(value) for name, value in table.items() if isinstance(value, list)}
    return Labels(**table)
