"""The way from what the searches found to what the report cites, in the manner of a PRISMA flow diagram."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from graph_research.research.report.formatting import clean, number
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource

_WIDTH, _GAP, _SIDE = 230, 46, 300
_LINE, _PADDING = 19, 12
_CHARACTER = 7.4  # of a line of 14 pixels, wide letters included
_WIDE = 1.9  # how much wider a character of a script without spaces is


class Stage(NamedTuple):
    """A step with the number of sources that are left at it, and what was removed or is to be said at it."""

    label: str
    number: int
    notes: tuple[str, ...] = ()

    def in_words(self, labels: Labels) -> str:
        """Such as `Found: 1,204`."""
        return labels.pair.format(name=self.label, value=number(self.number, labels))


def flow_of(report: Report, labels: Labels) -> list[Stage]:
    """Found, read, cited, and why the others were left out."""
    gathered, sources = report.statistics.gathering, report.sources
    cited = [source for source in sources if source.citations]
    duplicates = gathered.duplicates_skipped
    excluded = sum(gathered.excluded.values())
    partly = sum(source.fidelity != "full" for source in sources)
    return [
        Stage(
            labels.flow_found,
            len(sources) + duplicates + excluded,
            _notes((labels.flow_duplicates, duplicates), (labels.flow_excluded, excluded))
            + _reasons(labels.flow_excluded_why, gathered.excluded),
        ),
        Stage(
            labels.flow_read,
            len(sources),
            _notes(
                (labels.flow_partly, partly),
                (labels.flow_unread, gathered.pages_failed),
                (labels.flow_left_out, len(sources) - len(cited)),
            )
            + _left_out([source for source in sources if not source.citations], labels),
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


def flow_svg(stages: Sequence[Stage], labels: Labels) -> str:
    """The stages as boxes from top to bottom, their notes in boxes beside them; colours come from the page's style."""
    parts: list[str] = []
    top = 1.0
    for place, stage in enumerate(stages):
        notes = [line for note in stage.notes for line in _wrapped(note)]
        label = _wrapped(stage.label, _WIDTH)
        height = max(_height(len(label) + 1), _height(len(notes)) if notes else 0)
        middle = top + height / 2
        parts.append(_box("stage", 1, top, _WIDTH, height))
        lines = [*((line, "") for line in label), (number(stage.number, labels), "number")]
        start = middle - len(lines) * _LINE / 2 + _LINE * 0.72
        parts += [
            _text(line, 1 + _WIDTH / 2, start + n * _LINE, f"middle {kind}") for n, (line, kind) in enumerate(lines)
        ]
        if notes:
            left = 1 + _WIDTH + _GAP
            parts.append(_arrow(1 + _WIDTH, middle, left, middle))
            parts.append(_box("note", left, middle - _height(len(notes)) / 2, _SIDE, _height(len(notes))))
            start = middle - len(notes) * _LINE / 2 + _LINE * 0.72
            parts += [_text(line, left + _PADDING, start + n * _LINE, "") for n, line in enumerate(notes)]
        top += height
        if place + 1 < len(stages):
            parts.append(_arrow(1 + _WIDTH / 2, top, 1 + _WIDTH / 2, top + _GAP * 0.7))
            top += _GAP * 0.7
    width = _WIDTH + _GAP + _SIDE + 2
    said = escape(labels.semicolon.join(stage.in_words(labels) for stage in stages), {'"': "&quot;"})
    return (
        f'<svg class="flow" viewBox="0 0 {width} {top + 1:.0f}" width="{width}" role="img" aria-label="{said}">'
        f"{''.join(parts)}</svg>"
    )


def _wrapped(text: str, width: float = _SIDE) -> list[str]:
    text = clean(text)
    wide = sum(ord(character) >= 0x2E80 for character in text) / max(1, len(text))
    columns = (width - 2 * _PADDING) / (_CHARACTER * (1 + wide * (_WIDE - 1)))
    return textwrap.wrap(text, max(8, int(columns)), subsequent_indent="  " if text.startswith("–") else "") or [""]


def _height(lines: int) -> float:
    return lines * _LINE + 2 * _PADDING


def _box(kind: str, left: float, top: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5"/>'


def _text(text: str, left: float, top: float, kind: str) -> str:
    return f'<text class="{kind.strip()}" x="{left:.0f}" y="{top:.0f}">{escape(text)}</text>'


def _arrow(left: float, top: float, right: float, bottom: float) -> str:
    head = (
        f"M{right - 6:.0f} {bottom - 4:.0f}l6 4l-6 4"
        if top == bottom
        else f"M{right - 4:.0f} {bottom - 6:.0f}l4 6l4 -6"
    )
    return f'<path class="arrow" d="M{left:.0f} {top:.0f}L{right:.0f} {bottom:.0f}{head}"/>'
