"""The tables of fixed words, one TOML file a language, and which of them a report takes."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from graph_research.text.language.tags import is_traditional_chinese, primary

if TYPE_CHECKING:
    from graph_research.research.report.labels.table import Labels

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "zh", "ja")
"""Languages that have a table."""


def labels_for(language: str) -> Labels:
    """The labels of a BCP 47 tag's language, of Chinese in the characters of its script or region; English where there
    are none of it."""
    if is_traditional_chinese(language):
        return _traditional()
    return _table(primary(language) if has_labels(language) else "en")


def has_labels(language: str) -> bool:
    return primary(language) in LANGUAGES


def left_out(stage: str) -> str:
    """What a run left out at a stage to keep within its limits, in English: as messages and stored records have it."""
    return labels_for("en").left_out[stage]


@cache
def _table(language: str) -> Labels:
    return _labels(_text(language))


@cache
def _traditional() -> Labels:
    """The Chinese table, words and characters replaced by their traditional counterparts."""
    kept = tomllib.loads(_text("traditional"))
    text = _text("zh")
    for simplified, traditional in kept["words"].items():
        text = text.replace(simplified, traditional)
    return replace(_labels(text.translate(str.maketrans(kept["simplified"], kept["traditional"]))), language="zh-Hant")


def _text(name: str) -> str:
    return files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def _labels(text: str) -> Labels:
    from graph_research.research.report.labels.table import Labels  # takes long to define, and most commands show none

    table: dict[str, Any] = tomllib.loads(text)
    table |= {name: tuple(value) for name, value in table.items() if isinstance(value, list)}
    return Labels(**table)
