"""What the sources explain of the things that a section is about: settings, options, functions, modes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from graph_research.research.agents.writing.further_passages import FurtherPassages
from graph_research.research.models.outline import OutlineSection
from graph_research.text.relevance.entries import Entries, names_in
from graph_research.text.relevance.query import Query

_MOST_NAMED_CHARS, _MOST_MENTIONED_CHARS, _MOST_OF_AN_ENTRY = 4_500, 800, 600
"""So much is shown of what explains the things that the section, or one of its findings, names, and of each of them."""


def add_definitions(
    further: FurtherPassages,
    outline: Sequence[OutlineSection],
    open_texts: Iterable[str],
    findings: Mapping[str, str],
    besides: Collection[str],
    query: Query,
    shares: Callable[[str], Sequence[float]],
) -> set[str]:
    """Add what explains the things that the first section of the outline and what is open in it name, `besides` these
    names, then those that only its findings name, each with what it says on the query; gives the names. Where findings
    of several sections name a thing, the section has it that its explanation has most to do with: `shares` are those of
    the sections in a text, in their order."""
    entries = Entries(further.documents)
    named = list(entries.named(_text([outline[0]], open_texts), besides))
    for entry in named:
        further.add_entry(entry, query, min(_MOST_OF_AN_ENTRY, _MOST_NAMED_CHARS // len(named)))
    explained = {entry.name for entry in named}
    most = further.chars + _MOST_MENTIONED_CHARS
    asked = {*besides, *explained, *names_in(_text(outline, ()))}
    naming = [Counter(name for key in row.finding_ids for name in names_in(findings.get(key, ""))) for row in outline]
    for entry in entries.named("\n".join(name for name, _ in naming[0].most_common()), asked):
        share = shares(further.documents[entry.source].text[entry.start : entry.end])
        rivals = [value for value, counted in zip(share, naming, strict=True) if counted[entry.name]]
        if further.chars < most and share[0] == max(rivals, default=0.0):
            further.add_entry(entry, query, _MOST_OF_AN_ENTRY)
            explained.add(entry.name)
    return explained


def _text(sections: Iterable[OutlineSection], open_texts: Iterable[str]) -> str:
    """What the sections are to tell of, and what is open."""
    return "\n".join([text for row in sections for text in (row.answers, row.form, *row.parts)] + [*open_texts])
