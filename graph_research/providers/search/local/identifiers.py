"""Identifiers in running text: `TaskGroup` is found by its parts, `task group` finds it too."""

from __future__ import annotations

import re

__all__ = ["identifier_parts", "parts_of_text"]

_CAMEL = re.compile(r"[^\W_]*[a-z][A-Z][^\W_]*|[A-Z]{2,}[a-z][^\W_]*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def identifier_parts(word: str) -> list[str]:
    """`["Task", "Group"]` for `TaskGroup`; empty for a word that is no compound."""
    parts = _PART.findall(word) if _CAMEL.fullmatch(word) else []
    return parts if len(parts) > 1 else []


def parts_of_text(text: str) -> str:
    """The parts of every different compound in `text`, in order; what the index keeps beside the text itself."""
    compounds = dict.fromkeys(_CAMEL.findall(text))
    return " . ".join(" ".join(parts) for parts in map(identifier_parts, compounds) if parts)
