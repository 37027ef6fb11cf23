"""What a writer sets by judgement: numbers and lines of code that no source has to state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.quantities import SPACED_LETTER, Value, figures
from graph_research.text.language.stated import unstated
from graph_research.text.language.tables import word_of

_JUDGED = deferred(rf"(?:#|--|;|//|%)[^\n]*{word_of('judgement')}", re.IGNORECASE)
"""A comment that says in one of the languages with labels that the writer chose the value of its line."""
_NUMBER_OR_UNIT = re.compile(r"\s+|(?<=\d)(?=[^\W\d_])")


def without_judged_lines(code: str) -> str:
    """The code without the lines whose value the writer chose, by a comment on the line or alone on the one above,
    for formats in which a comment may follow no value."""
    lines = code.splitlines()
    judged = [_JUDGED.search(line) for line in lines]
    alone = [match is not None and not line[: match.start()].strip() for line, match in zip(lines, judged, strict=True)]
    above = [False, *alone]
    return "\n".join(line for n, line in enumerate(lines) if not (judged[n] or above[n]))


def without_judged(new: Sequence[Value], text: str, judged: Iterable[str]) -> list[Value]:
    """The numbers without those that the writer sets by judgement, wherever the text has them as a whole, with a space
    before the unit or none; how often something happens is one, too, "every hour". An entry of `judged` that holds
    more than one number counts for nothing, nor does one for what the text writes as a date."""
    single = [value.strip() for value in judged if len(figures(value) or unstated(value, ())) == 1]
    written = [r"\s?".join(re.escape(piece) for piece in _NUMBER_OR_UNIT.split(value)) for value in single]
    spans = [
        match.span()
        for value in written
        for match in re.finditer(rf"(?<!{SPACED_LETTER})(?<![.,]){value}(?!(?<=\D){SPACED_LETTER}|\d|[.,]\d)", text)
    ]
    return [figure for figure in new if figure.date or not any(start <= figure.start < end for start, end in spans)]
