"""How much of a source was shown to a model, as a level of fidelity."""

from __future__ import annotations

from graph_research.research.models.source import Source

_LEVELS = ((0.9, "full"), (0.6, "condensed"), (0.3, "compressed"), (0.15, "key_points"), (0.0, "headline"))
"""Fidelity levels by the least share of a text that is shown."""


def with_shown_share(source: Source, share: float, *, is_new: bool) -> Source:
    """The source with the share of its text that a prompt showed, 0 to 1, where that is more than any prompt before
    showed; else the source itself. Of a source that is not new all was shown before, where nothing else is known."""
    before = source.metadata.get("shown_share", -1.0 if is_new else 1.0)
    if share <= before or (share == 1.0 and "shown_share" not in source.metadata):
        return source
    level = next(level for least, level in _LEVELS if share >= least) if share else "dropped"
    return source.model_copy(
        update={
            "fidelity": _lower(source, level),
            "metadata": {"gathered_fidelity": source.fidelity, **source.metadata, "shown_share": share},
        }
    )


def _lower(source: Source, shown: str) -> str:
    """What was gathered of a source, or what was shown of that, whichever is less."""
    gathered = source.metadata.get("gathered_fidelity", source.fidelity)
    names = [name for _, name in _LEVELS]
    return shown if gathered not in names or shown not in names else max(gathered, shown, key=names.index)
