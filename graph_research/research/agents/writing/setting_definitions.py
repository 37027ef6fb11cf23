"""What the sources explain of the things that a section is about: settings, options, functions, modes."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from graph_research.research.agents.writing.further_passages import FurtherPassages
from graph_research.research.models.outline import OutlineSection
from graph_research.text.relevance.entries import Entries
from graph_research.text.relevance.query import Query

_MOST_CHARS, _MOST_OF_AN_ENTRY = 4_500, 600
"""So much is shown of what explains the things that the section names, and of each of them."""


def add_definitions(
    further: FurtherPassages,
    section: OutlineSection,
    open_texts: Iterable[str],
    besides: Collection[str],
    query: Query,
) -> set[str]:
    """Add what explains the things that the section and what is open in it name, `besides` these names, each with what
    it says on the query; gives the names."""
    told = [section.answers, section.form, *section.parts, *open_texts]
    named = list(Entries(further.documents).named("\n".join(told), besides))
    for entry in named:
        further.add_entry(entry, query, min(_MOST_OF_AN_ENTRY, _MOST_CHARS // len(named)))
    return {entry.name for entry in named}
