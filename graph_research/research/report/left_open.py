"""What a report leaves open: its questions and what was not found in reading, without what its own text answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graph_research.research.evidence.cited import Cited, CitedStatement
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockOf, Draft, Statement
from graph_research.research.models.finding import Gap
from graph_research.research.models.ids import gap_id
from graph_research.research.models.plan import SubQuery
from graph_research.research.models.source import Source
from graph_research.research.report.model import SubQueryOutcome
from graph_research.research.topic_functions import with_open_limits
from graph_research.text.relevance.open_points import Told, asked_again, is_answered, left_open, without_place

_SHOWN = (Status.PROVED, Status.VERIFIED, Status.CITED)
"""What a source says; an inference, or a value set by judgement, is no answer of a source."""


def outcomes_of(state: Mapping[str, Any]) -> list[SubQueryOutcome]:
    """The sub-questions with what their reading did not find, each once, as far as nothing read later answers it."""
    gaps = [row["description"] for row in state.get("gaps") or [] if not row.get("addressed")]
    told = [*(state.get("answered_limits") or []), *gaps]
    topics = {topic["sub_query_id"]: topic for topic in with_open_limits(state.get("topics") or [], told)}
    return [
        SubQueryOutcome(
            **sub_query.model_dump(include={"id", "query", "status", "iteration", "error"}),
            sources=len(topics.get(sub_query.id, {}).get("source_ids") or []),
            limits=list(topics.get(sub_query.id, {}).get("limits") or []),
        )
        for sub_query in map(SubQuery.model_validate, state.get("sub_queries") or [])
    ]


def gaps_of(gaps: Sequence[Gap], draft: Draft, iteration: int) -> list[Gap]:
    """The gaps, and the parts of the question that the draft has no section for, where no open gap asks the same."""
    again = asked_again(draft.not_answered, [row.description for row in gaps if not row.addressed])
    parts = [text for place, text in enumerate(draft.not_answered) if place not in again and text.strip()]
    return [*gaps, *(Gap(id=gap_id(text), description=text, iteration=iteration) for text in parts)]


def told_in(cited: Cited) -> list[Told]:
    """What the sections say that their passages show."""
    shown = {row.id for section in cited.sections for row in section.statements() if row.status in _SHOWN}
    return [one for section in cited.sections for one in told_by(section.heading, section.blocks, shown)]


def told_by(
    heading: str, blocks: Iterable[BlockOf[Statement]] | Iterable[BlockOf[CitedStatement]], shown: Collection[str]
) -> Iterator[Told]:
    """What the blocks of a section say in the statements with the ids `shown`; a cell with its row's label, its column
    and its table's title."""
    for block in blocks:
        yield from (Told(row.text, heading=heading) for row in block.prose() if row.id in shown)
        for cells in block.rows:
            for place in range(len(cells)):
                label = cells[0].text if place else ""
                under = filter(None, (label, *block.header[place : place + 1], block.caption))
                if cells[place].id in shown:
                    yield Told(cells[place].text, ". ".join(under), heading)


def gaps_left_open(gaps: Sequence[Gap], told: Sequence[Told]) -> list[Gap]:
    """The gaps; an open one that is answered is closed, and of one that is answered in part the rest is open."""
    return [row if row.addressed else _beside(row, told) for row in gaps]


def outcomes_left_open(
    outcomes: Sequence[SubQueryOutcome], told: Sequence[Told], sources: Sequence[Source]
) -> list[SubQueryOutcome]:
    """The sub-questions without the limits that are answered, which may name sources by their titles, and without the
    word that another one would stand in a source that was read."""
    titles = [source.title for source in sources]

    def left(limits: Sequence[str]) -> list[str]:
        left = (limit for limit in limits if not is_answered(limit, told, titles))
        return [left_open(named := without_place(limit, titles), told) or named for limit in left]

    return [row.model_copy(update={"limits": left(row.limits)}) for row in outcomes]


def _beside(gap: Gap, told: Sequence[Told]) -> Gap:
    left = left_open(gap.description, told)
    if not left:
        return gap.model_copy(update={"addressed": True, "addressed_in": gap.iteration})
    return gap.model_copy(update={"description": left})
