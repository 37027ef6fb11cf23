"""The composition root: the only part that puts the others together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_research.app.research import ResearchResult, deep_research

__all__ = ["ResearchResult", "deep_research"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from graph_research.app import research

    return getattr(research, name)
