"""The way from what the searches found to what the report cites, in the manner of a PRISMA flow diagram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource


class Stage(NamedTuple):
    """A step with the number of sources that are left at it, and what was removed or is to be said at it."""

    label: str
    number: int
    notes: tuple[str, ...] = ()


def flow_of(report: Report, labels: Labels) -> list[Stage]:
    """Found, read, cited, and why the others were left out."""
    gathered, sources = report.statistics.gathering, report.sources
    cited = [source for source in sources if source.citations]
    duplicates = gathered.duplicates_skipped
    excluded = sum(gathered.excluded.values())
    read = [source for source in sources if source.is_read]
    partly = sum(source.fidelity != "full" for source in read)
    return [
        Stage(
            labels.flow_found,
            len(sources) + duplicates + excluded,
            _notes(
                (labels.flow_duplicates, duplicates),
                (labels.flow_excluded, excluded),
                (labels.flow_no_room, len(sources) - len(read)),
            )
            + _reasons(labels.flow_excluded_why, gathered.excluded),
        ),
        Stage(
            labels.flow_read,
            len(read),
            _notes(
                (labels.flow_partly, partly),
                (labels.flow_unread, gathered.pages_failed),
                (labels.flow_left_out, len(read) - len(cited)),
            )
            + _left_out([source for source in read if not source.citations], labels),
        ),
        Stage(labels.flow_cited, len(cited), _notes((labels.flow_passages, len(report.citations)))),
    ]


def _notes(*counts: tuple[str, int]) -> tuple[str, ...]:
    return tuple(template.format(n=n) for template, n in counts if n)


def _left_out(sources: Sequence[ReportSource], labels: Labels) -> tuple[str, ...]:
    return _reasons(labels.flow_left_out_why, Counter(_why_left_out(source) for source in sources))


def _reasons(templates: Mapping[str, str], counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"– {template.format(n=counts[key])}" for key, template in templates.items() if counts.get(key))


def _why_left_out(source: ReportSource) -> str:
    return "flagged" if source.tier == "FLAGGED" else "low" if source.quality == "low" else "other"
