"""The origin of a source: its publisher, site or authors. Copies of one text have one origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from graph_research.research.models.source import Source
from graph_research.research.scoring.site import site_of

NEAR_DUPLICATE = 0.6
"""Share of five-word runs that two texts must have in common (Jaccard) to count as copies of each other."""

_RUN_WORDS = 5
_LOCAL = "local"  # what stands behind a document of the user's own library they have said themselves
_MOST_RUNS = 4_000
_MOST_KEPT = 64  # texts of which the runs are kept, half a megabyte each at most: a run compares the same ones often

_Runs = frozenset[str]
"""Texts and not tuples: a text keeps its hash, which comparing each source with all others asks for again and again."""


UNNAMED = ""
"""The one origin of all documents that name neither a publisher nor an author: nothing shows that they are independent
of each other. Folders and file names are the user's, and say nothing of it."""


def origin(source: Source) -> str:
    """The publisher, else the site of a web address, else the authors, else `UNNAMED`. Of a paper that a search found
    its authors: a journal does not answer for what two of its papers say."""
    authors = ", ".join(source.authors).casefold()
    if source.doi and authors and source.provider != _LOCAL:
        return authors
    if source.publisher:
        return " ".join(source.publisher.split()).casefold()
    return site_of(source.url) or authors or UNNAMED


def origins(sources: Sequence[Source], texts: Mapping[str, str]) -> dict[str, str]:
    """The origin of each source by id; near-duplicates and translations take the origin of the first of them. `texts`
    maps source ids to canonical texts; a source without one is compared with nothing."""
    of_pages: dict[str, str] = {}
    behind = {source.id: of_pages.setdefault(source.page, origin(source)) for source in sources}
    copies = _copies({source.id: texts.get(source.id, "") for source in sources})
    return {source_id: behind[first] for source_id, first in copies.items()}


def independent(origins: Iterable[str]) -> int:
    """How many different origins there are; documents that name nobody add none to those of others."""
    different = set(origins)
    return len(different - {UNNAMED}) or len(different)


def near_copies(texts: Mapping[str, str]) -> dict[str, str]:
    """The ids of the texts, by source id, that nearly repeat an earlier one, each with that one's id."""
    return {source_id: first for source_id, first in _copies(texts).items() if source_id != first}


def _copies(texts: Mapping[str, str]) -> dict[str, str]:
    """Of each source by id the first source that has nearly the same text; its own id where there is none."""
    found: dict[str, str] = {}
    seen: list[tuple[_Runs, str]] = []
    for source_id, text in texts.items():
        runs = word_runs(text)
        found[source_id] = next((first for other, first in seen if _alike(runs, other)), source_id)
        if runs:
            seen.append((runs, found[source_id]))
    return found


@lru_cache(maxsize=_MOST_KEPT)
def word_runs(text: str) -> _Runs:
    """The runs of five words in the first 4,000 words of a text."""
    return all_word_runs(text, _MOST_RUNS)


def all_word_runs(text: str, most_words: int = 100_000) -> _Runs:
    """The runs of five words in so many words of a text, which are not kept."""
    words = re.findall(r"\w+", text.casefold())[: most_words + _RUN_WORDS]
    return frozenset(" ".join(words[start : start + _RUN_WORDS]) for start in range(len(words) - _RUN_WORDS + 1))


def _alike(one: _Runs, other: _Runs) -> bool:
    if not one or not other or min(len(one), len(other)) < NEAR_DUPLICATE * max(len(one), len(other)):
        return False
    shared = len(one & other)
    return shared >= NEAR_DUPLICATE * (len(one) + len(other) - shared)
