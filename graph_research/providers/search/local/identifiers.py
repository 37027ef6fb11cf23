"""Identifiers in running text: `TaskGroup` is found by its parts, `task group` finds it too."""

from __future__ import annotations

import re

__all__ = ["identifier_parts", "parts_of_text", "path_words"]

_CAMEL = re.compile(r"[^\W_]*[a-z][A-Z][^\W_]*|[A-Z]{2,}[a-z][^\W_]*")
_HYPHENATED = re.compile(r"\b[^\W\d_]+(?:-[^\W\d_]+)+\b")
_WORD = re.compile(r"[^\W_]+")
_JOINT = re.compile(r"[a-z][A-Z]|[A-Z][A-Z][a-z]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def identifier_parts(word: str) -> list[str]:
    """`["Task", "Group"]` for `TaskGroup`; empty for a word that is no compound."""
    parts = _PART.findall(word) if _CAMEL.fullmatch(word) else []
    return parts if len(parts) > 1 else []


def parts_of_text(text: str) -> str:
    """What the index keeps beside the text itself: the parts of every compound, and hyphenated words as one."""
    compounds = (" ".join(identifier_parts(word)) for word in dict.fromkeys(_WORD.findall(text)) if _JOINT.search(word))
    joined = (word.replace("-", "") for word in dict.fromkeys(_HYPHENATED.findall(text)))
    return " . ".join(part for part in (*compounds, *joined) if part)


def path_words(url: str) -> str:
    """The words of a relative path without its suffix: `library asyncio task` for `library/asyncio-task.html`."""
    return " ".join(_WORD.findall(url.rpartition(".")[0] or url))
