"""Sections of a report: the quotations by the part of the question that they answer, then by their source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.research.models.report_options import LENGTHS
from graph_research.text.document import Document
from graph_research.text.language.words import unspaced_runs
from graph_research.text.relevance.alike import says
from graph_research.text.relevance.query import MOST_PARTS
from graph_research.text.wording import shortened

_NEAR_THE_BEST = 0.6
_USUAL_WORDS = sum(LENGTHS["standard"])
_MOST_OF_A_PLACE = 3
_FEWEST_OF_A_SECTION = 3
_MOST_HEADING_CHARS = 120
_MOST_OF_A_HEADING = 0.7
_CHARS_OF_AN_UNSPACED_WORD = 2


@dataclass(frozen=True, kw_only=True)
class Section:
    """Quotations for the part of the question with the number `part`. Those of one source are in the order of the text
    below its title and the headings that all of them stand under; where `heading` is empty they are of several sources,
    of which each has too few for a heading, best first."""

    heading: str
    groups: tuple[Group, ...]
    part: int


def outline(analysis: Analysis, asked: tuple[int, int], documents: Mapping[str, Document]) -> list[Section]:
    """Sections by the parts of the question: of each part the quotations without a heading, then the sources with
    several, of which the one that ranks best is first."""
    by_source: dict[int, dict[str, list[Group]]] = {}
    for group in _chosen(analysis, asked, documents):
        by_source.setdefault(group.lead.part, {}).setdefault(group.lead.source_id, []).append(group)
    sections = []
    for part, sources in sorted(by_source.items()):
        first = next(iter(sources.values()))
        leading = [] if first[0].lead.table >= 0 else [first.pop(0)]
        single = [group for groups in sources.values() for group in groups if not _is_section(groups)]
        if leading or single:
            sections.append(Section(heading="", groups=(*leading, *single), part=part))
        for source, groups in sources.items():
            if _is_section(groups):
                ordered = tuple(sorted(groups, key=lambda group: group.lead.start))
                title = analysis.sources[source].title
                sections.append(Section(heading=_heading(title, ordered, documents), groups=ordered, part=part))
    return sections


def _chosen(analysis: Analysis, asked: tuple[int, int], documents: Mapping[str, Document]) -> list[Group]:
    """The best quotations that come with their sources to as many words as `asked`, from and to: for a question of one
    part the least. They are three of one place below a heading at most, and of a small table every row; each scores
    near the best of its part, less near in a report of more than the usual words.
    """
    least, most = asked
    room = least + (most - least) * (len(analysis.parts) - 1) // (MOST_PARTS - 1)
    nearness = _NEAR_THE_BEST * min(1.0, math.sqrt(_USUAL_WORDS / sum(asked)))
    whole = {(group.lead.source_id, group.lead.table) for group in analysis.groups if group.lead.completes_table}
    chosen: list[Group] = []
    places: dict[tuple[int, str, tuple[str, ...]], set[tuple[bool, int]]] = {}
    for group in analysis.groups:
        path = _path(group, documents)
        held = places.setdefault((group.lead.part, group.lead.source_id, path), set())
        goes_on = _row_or_table(group) in held
        if group.lead.score < nearness and chosen and (group.lead.source_id, group.lead.table) not in whole:
            continue
        if (len(held) >= _MOST_OF_A_PLACE and not goes_on) or group.lead.text in path:
            continue
        room -= _words_in(group.lead.text) + _words_in(analysis.sources[group.lead.source_id].title)
        if room < 0 and chosen:
            break
        held.add(_row_or_table(group))
        chosen.append(group)
    return chosen


def _is_section(groups: Sequence[Group]) -> bool:
    return len({_row_or_table(group) for group in groups}) >= _FEWEST_OF_A_SECTION


def _path(group: Group, documents: Mapping[str, Document]) -> tuple[str, ...]:
    document = documents.get(group.lead.source_id)
    return document.path_at(group.lead.start) if document else ()


def _row_or_table(group: Group) -> tuple[bool, int]:
    lead = group.lead
    return lead.table >= 0, lead.table if lead.table >= 0 else lead.start


def _heading(title: str, groups: Sequence[Group], documents: Mapping[str, Document]) -> str:
    paths = zip(*(_path(group, documents) for group in groups), strict=False)
    shared = [headings[0] for headings in takewhile(lambda headings: len(set(headings)) == 1, paths)]
    below = [heading for heading in shared[-1:] if not says(title, heading, least=_MOST_OF_A_HEADING)]
    return shortened(" › ".join([title, *below]), _MOST_HEADING_CHARS)


def _words_in(text: str) -> int:
    """How many words a text has; a script without spaces counts by characters."""
    return len(text.split()) + sum(map(len, unspaced_runs(text))) // _CHARS_OF_AN_UNSPACED_WORD
