"""The origin of a source: its publisher, site, product or authors. Copies of one text have one origin."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from graph_research.research.models.source import Source
from graph_research.research.scoring.site import site_of

NEAR_DUPLICATE = 0.6
"""Share of five-word runs that two texts must have in common (Jaccard) to count as copies of each other."""

_RUN_WORDS = 5
_LIBRARY = "library"  # the folder of a local document that its user has added, in a source's metadata
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_LOCAL = "local"  # what stands behind a document of the user's own library they have said themselves
_MOST_RUNS = 4_000
_MOST_KEPT = 64  # texts of which the runs are kept, half a megabyte each at most: a run compares the same ones often

_Runs = frozenset[str]
"""Texts and not tuples: a text keeps its hash, which comparing each source with all others asks for again and again."""


def origin(source: Source) -> str:
    """The publisher, else the site of a web address, else a local file's authors, else its folder, else its name. Of a
    paper that a search found its authors: a journal does not answer for what two of its papers say."""
    if source.doi and source.authors and source.provider != _LOCAL:
        return ", ".join(source.authors).casefold()
    if source.publisher:
        return " ".join(source.publisher.split()).casefold()
    if source.url is None:
        return source.id
    if source.url.startswith(("http://", "https://")):
        return site_of(source.url) or source.id
    if source.authors:
        return ", ".join(source.authors).casefold()
    folder, _, name = source.url.rpartition("/")
    return folder or name


def origins(sources: Sequence[Source], texts: Mapping[str, str]) -> dict[str, str]:
    """The origin of each source by id; near-duplicates take the origin of the first of them.

    Local web pages without a publisher or authors are the pages of one site for each folder that was added, or for each
    of its subfolders where none of the pages lies above these. `texts` maps source ids to canonical texts; a source
    without one is compared with nothing.
    """
    pages = [source for source in sources if _is_local_page(source)]
    flat = {source.metadata[_LIBRARY] for source in pages if "/" not in (source.url or "")}
    sites = {source.id: _local_site(source, flat) for source in pages}
    behind = {source.id: sites.get(source.id) or origin(source) for source in sources}
    copies = _copies({source.id: texts.get(source.id, "") for source in sources})
    return {source_id: behind[first] for source_id, first in copies.items()}


def near_copies(texts: Mapping[str, str]) -> dict[str, str]:
    """The ids of the texts, by source id, that nearly repeat an earlier one, each with that one's id."""
    return {source_id: first for source_id, first in _copies(texts).items() if source_id != first}


def _is_local_page(source: Source) -> bool:
    stated = source.publisher or source.authors
    return not stated and source.media_type in _PAGES and bool(source.metadata.get(_LIBRARY))


def _local_site(source: Source, flat: Collection[str]) -> str:
    library = str(source.metadata[_LIBRARY])
    return library if library in flat else f"{library}/{(source.url or '').partition('/')[0]}"


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
    words = re.findall(r"\w+", text.casefold())[: _MOST_RUNS + _RUN_WORDS]
    return frozenset(" ".join(words[start : start + _RUN_WORDS]) for start in range(len(words) - _RUN_WORDS + 1))


def _alike(one: _Runs, other: _Runs) -> bool:
    if not one or not other or min(len(one), len(other)) < NEAR_DUPLICATE * max(len(one), len(other)):
        return False
    shared = len(one & other)
    return shared >= NEAR_DUPLICATE * (len(one) + len(other) - shared)
