"""Which source tells of which setting of a block to copy, so that a reader need not open all of them for one line."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from graph_research.research.code_blocks import settings_in, tells_of
from graph_research.research.evidence.cited import Citation


def settings_by_source(
    code: str, language: str, names: Iterable[str], citations: Mapping[str, Citation], besides: Container[str]
) -> dict[int, list[str]]:
    """By number of the cited source, the settings of the block, in its order, that a cited passage of it names, or
    explains under their name, but those of `besides`: each beside the first source of which such a passage also has the
    value that the block gives it, else beside the first one; a source with none has an empty list."""
    told: dict[int, list[str]] = {}
    for citation in map(citations.__getitem__, names):
        told.setdefault(citation.n, []).append(f"{citation.term}\n{citation.quote}")
    found: dict[int, list[str]] = {n: [] for n in sorted(told)}
    for given in (name for name in settings_in(code, language) if name not in besides):
        naming = [(n, text) for n in found for text in told[n] if tells_of(text, given)]
        best = next((n for n, text in naming if tells_of(text, given, code)), naming[0][0] if naming else None)
        if best is not None:
            found[best].append(given)
    return found
