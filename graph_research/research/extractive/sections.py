"""Sections of a report: the quotations by the part of the question that they answer, then by where they stand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.research.models.report_options import LENGTHS
from graph_research.text.document import Document
from graph_research.text.language.words import unspaced_runs
from graph_research.text.relevance.query import MOST_PARTS
from graph_research.text.wording import shortened

_NEAR_THE_BEST = 0.6
_USUAL_WORDS = sum(LENGTHS["standard"])
_MOST_OF_A_SECTION = 3
_MOST_HEADING_CHARS = 120
_CHARS_OF_AN_UNSPACED_WORD = 2

_Place = tuple[int, str, tuple[str, ...]]
"""The number of a part of the question, a source and the headings above a quotation."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Quotations of one source from below one heading in the order of the text; `heading` is the source's title and the
    headings below it, `part` the number of the part of the question that they answer."""

    heading: str
    groups: tuple[Group, ...]
    part: int


def outline(analysis: Analysis, asked: tuple[int, int], documents: Mapping[str, Document]) -> list[Section]:
    """Sections by the parts of the question; of one part the source that ranks best is first, and of a source the place
    that does.

    The best quotations come with their sources to as many words as `asked`, from and to: for a question of one part the
    least. They are three of a place at most, and of a small table every row; each scores
    near the best of its part, less near in a report of more than the usual words.
    """
    least, most = asked
    room = least + (most - least) * (len(analysis.parts) - 1) // (MOST_PARTS - 1)
    nearness = _NEAR_THE_BEST * min(1.0, math.sqrt(_USUAL_WORDS / sum(asked)))
    sections: dict[_Place, list[Group]] = {}
    for group in analysis.groups:
        place = _place(group, documents)
        if group.lead.score < nearness and sections and not group.lead.completes_table:
            continue
        held = {_row_or_table(other) for other in sections.get(place, ())}
        if (len(held) >= _MOST_OF_A_SECTION and _row_or_table(group) not in held) or group.lead.text in place[2]:
            continue
        room -= _words_in(group.lead.text) + _words_in(analysis.sources[group.lead.source_id].title)
        if room < 0 and sections:
            break
        sections.setdefault(place, []).append(group)
    best: dict[tuple[int, str], int] = {}
    for number, (part, source, _) in enumerate(sections):
        best.setdefault((part, source), number)
    ordered = sorted(sections, key=lambda place: (place[0], best[place[:2]]))
    return [
        Section(
            heading=_heading(place, analysis),
            groups=tuple(sorted(sections[place], key=lambda group: group.lead.start)),
            part=place[0],
        )
        for place in ordered
    ]


def _place(group: Group, documents: Mapping[str, Document]) -> _Place:
    lead = group.lead
    document = documents.get(lead.source_id)
    return lead.part, lead.source_id, document.path_at(lead.start) if document else ()


def _row_or_table(group: Group) -> tuple[bool, int]:
    lead = group.lead
    return lead.table > 0, lead.table if lead.table > 0 else lead.start


def _heading(place: _Place, analysis: Analysis) -> str:
    _, source, path = place
    title = analysis.sources[source].title
    below = [heading for heading in path[-1:] if heading.casefold() not in title.casefold()]
    return shortened(" › ".join(filter(None, [title, *below])), _MOST_HEADING_CHARS)


def _words_in(text: str) -> int:
    """How many words a text has; a script without spaces counts by characters."""
    return len(text.split()) + sum(map(len, unspaced_runs(text))) // _CHARS_OF_AN_UNSPACED_WORD
