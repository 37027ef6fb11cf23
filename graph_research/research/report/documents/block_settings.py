"""Which source tells of which setting of a block to copy, so that a reader need not open all of them for one line."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

from graph_research.research.code_blocks import settings_in
from graph_research.research.evidence.cited import Citation


def settings_by_source(
    code: str, language: str, names: Iterable[str], citations: Mapping[str, Citation], besides: Container[str]
) -> dict[int, list[str]]:
    """By number of the cited source, the settings of the block, in its order, that a cited passage of it names, each
    beside the first source that does, but those of `besides`; a source with none has an empty list."""
    quotes: dict[int, list[str]] = {}
    for name in names:
        quotes.setdefault(citations[name].n, []).append(citations[name].quote)
    found: dict[int, list[str]] = {n: [] for n in sorted(quotes)}
    for given in (name for name in settings_in(code, language) if name not in besides):
        named = re.compile(rf"(?<![\w.-]){re.escape(given)}(?![\w-])")
        first = next((n for n in found if any(map(named.search, quotes[n]))), None)
        if first is not None:
            found[first].append(given)
    return found
