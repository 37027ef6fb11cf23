"""Fitting a prompt into a window: what it quotes is shown in section or left out, and what was cut is said.

A prompt is never chopped: it is rendered again with less material, so that its fences, the question and the form of
the answer stay whole. Only where that is not enough, or nothing is known of the material, are the longest quotations
shortened where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MARK = " […]"
"""Ends a text that was shortened."""

_QUOTED = re.compile(r"(\[(QUOTED-[0-9a-f]+) begin: ([^\]\n]*)\]\n)(.*?)(\n\[\2 end\])", re.DOTALL)
_KEPT_LABELS = ("research question",)
_LEAST_QUOTE_CHARS = 80
_CLOSE_CHARS = 40
"""Tolerance of the search for the right length, in characters."""
_ROW_CHARS = 160
"""About what the fence and the heading of a row take."""

Row = Mapping[str, Any]
Shorten = Callable[[Row, int], str]
"""A row's text in at most so many characters, the best of it."""

Render = Callable[[Mapping[str, Any]], str]
Settle = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes out of a material what belonged to rows that were left out."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A list of an agent's material, or a text, of which a prompt may show less. The rows come most important first.

    `text` names the member of a row that may be shortened; without it rows are shown whole or not at all. `noun` says
    what a row is, in the singular. `least_chars` is the shortest text worth showing; at least `keep` rows stay.
    """

    name: str
    noun: str
    text: str = ""
    least_chars: int = 300
    keep: int = 1
    rank: Callable[[Row], float] | None = field(default=None, compare=False, repr=False)
    """The rows of the lowest rank go first, of equal ones the last; None: the last."""
    shorten: Shorten | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Truncation:
    """What a prompt shows less of: how many rows of how many in part, and how many not at all. `shares` says for rows
    with an id how much of their text is shown, 0 to 1; rows that are shown whole are not in it."""

    noun: str
    rows: int
    in_part: int
    left_out: int
    shares: Mapping[str, float] = field(default_factory=dict)

    def description(self) -> str:
        """Such as "12 of 20 sources in part, 3 of 20 sources not at all"."""
        whole = f"{self.rows} {self.noun if self.rows == 1 else _plural(self.noun)}"
        parts = [f"{self.in_part} of {whole} in part"] if self.in_part else []
        parts += [f"{self.left_out} of {whole} not at all"] if self.left_out else []
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class FittedPrompt:
    """A prompt with the material that it shows and what that lacks."""

    text: str
    material: Mapping[str, Any] = field(default_factory=dict, repr=False)
    truncations: tuple[Truncation, ...] = ()


def fit_prompt(
    material: Mapping[str, Any],
    sections: Sequence[Section],
    render: Render,
    limit_chars: int | None,
    *,
    settle: Settle | None = None,
) -> FittedPrompt:
    """The rendered `material` in at most `limit_chars` characters, as far as that is possible.

    The sections are reduced in their order, each down to its least before the next; a list may stand among them twice.
    What is longer still has its longest quotations shortened; a prompt whose own words exceed the limit stays longer.
    """
    text = render(material)
    if limit_chars is None or len(text) <= limit_chars:
        return FittedPrompt(text=text, material=material)
    shown: dict[str, Any] = dict(material)
    for section in sections:
        text, shown = _reduced_prompt(section, material, shown, render, limit_chars, settle)
        if len(text) <= limit_chars:
            break
    named = {section.name: section for section in sections}
    truncations = tuple(lack for section in named.values() if (lack := _truncation(section, material, shown)))
    quotes = shortened_quotes(text, limit_chars)
    if quotes.truncations and not truncations:
        truncations = quotes.truncations
    return FittedPrompt(text=quotes.text, material=shown, truncations=truncations)


def shortened(text: str, most_chars: int) -> str:
    """The beginning of `text` in at most `most_chars` characters, whole words, marked where it goes on."""
    if len(text) <= most_chars:
        return text
    room = most_chars - len(MARK)
    if room <= 0:
        return ""
    head = text[:room]
    if not text[room].isspace():
        head = head.rpartition(" ")[0] or head
    return head.rstrip() + MARK


def shortened_quotes(text: str, limit_chars: int) -> FittedPrompt:
    """A rendered prompt whose longest quotations lose their ends until it fits, or until none is worth cutting. The
    research question is never cut, and no fence is broken."""
    over = len(text) - limit_chars
    if over <= 0:
        return FittedPrompt(text=text)
    lengths = [len(match[4]) for match in _QUOTED.finditer(text) if match[3] not in _KEPT_LABELS]
    cap = max(_cap(lengths, sum(lengths) - over), _LEAST_QUOTE_CHARS)
    in_part = sum(length > cap for length in lengths)

    def cut(match: re.Match[str]) -> str:
        return match[0] if match[3] in _KEPT_LABELS else f"{match[1]}{shortened(match[4], cap)}{match[5]}"

    truncations = (Truncation(noun="quotation", rows=len(lengths), in_part=in_part, left_out=0),) if in_part else ()
    return FittedPrompt(text=_QUOTED.sub(cut, text), truncations=truncations)


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"


def _reduced_prompt(
    section: Section,
    material: Mapping[str, Any],
    shown: dict[str, Any],
    render: Render,
    limit_chars: int,
    settle: Settle | None,
) -> tuple[str, dict[str, Any]]:
    """The prompt with as much of one section as there is room for, found by halving."""
    given = material.get(section.name)

    def at(room: int) -> tuple[str, dict[str, Any]]:
        less = {**shown, section.name: _reduced(section, given, room)}
        less = less if settle is None else settle(less)
        return render(less), less

    if not given:
        return render(shown), shown
    low, high = 0, _size(section, given)
    best = at(low)
    while high - low > max(_CLOSE_CHARS, high // 100) and len(best[0]) <= limit_chars:
        middle = (low + high) // 2
        tried = at(middle)
        if len(tried[0]) <= limit_chars:
            low, best = middle, tried
        else:
            high = middle
    return best


def _reduced(section: Section, given: Any, room: int) -> Any:
    """The section in about `room` characters, but not below its least."""
    if isinstance(given, str):
        return shortened(given, max(room, section.least_chars))
    rows = dict(enumerate(given))
    leaving = iter(sorted(rows, key=lambda place: (_rank(section, rows[place]), -place)))
    if not section.text:
        while len(rows) > section.keep and sum(map(_row_chars, rows.values())) > room:
            del rows[next(leaving)]
        return list(rows.values())
    lengths = {place: len(_text_of(row, section)) for place, row in rows.items()}
    while len(rows) > section.keep:
        cap = _cap(list(lengths.values()), room - _ROW_CHARS * len(rows))
        if cap >= min(section.least_chars, max(lengths.values())):
            break
        place = next(leaving)
        del rows[place], lengths[place]
    cap = max(_cap(list(lengths.values()), room - _ROW_CHARS * len(rows)), section.least_chars)
    return [_with_text(row, section, cap) for row in rows.values()]


def _rank(section: Section, row: Any) -> float:
    return 0.0 if section.rank is None else section.rank(row)


def _cap(lengths: Sequence[int], total: int) -> int:
    """The length to which the longest are cut so that all together take `total`."""
    left, rest = total, len(lengths)
    for length in sorted(lengths):
        if length * rest > left:
            return max(left // rest, 0)
        left, rest = left - length, rest - 1
    return max(lengths, default=0)


def _with_text(row: Row, section: Section, most_chars: int) -> Row:
    text = _text_of(row, section)
    if len(text) <= most_chars:
        return row
    shorten = section.shorten
    return {**row, section.text: shorten(row, most_chars) if shorten else shortened(text, most_chars)}


def _text_of(row: Row, section: Section) -> str:
    return str(row.get(section.text) or "")


def _size(section: Section, given: Any) -> int:
    if isinstance(given, str):
        return len(given)
    if not given:
        return 0
    if not section.text:
        return sum(map(_row_chars, given))
    return sum(len(_text_of(row, section)) + _ROW_CHARS for row in given)


def _row_chars(row: Any) -> int:
    """About what a row takes in a prompt: its texts."""
    if isinstance(row, Mapping):
        return sum(_row_chars(value) for value in row.values()) + 8
    if isinstance(row, list):
        return sum(_row_chars(value) for value in row)
    return len(str(row)) + 8


def _truncation(section: Section, material: Mapping[str, Any], shown: Mapping[str, Any]) -> Truncation | None:
    before, after = material.get(section.name), shown.get(section.name)
    if not before or before == after:
        return None
    if isinstance(before, str):
        return Truncation(noun=section.noun, rows=1, in_part=1, left_out=0)
    kept = {_key(row, place): row for place, row in enumerate(after or [])}
    shares: dict[str, float] = {}
    in_part = 0
    for place, row in enumerate(before):
        key = _key(row, place)
        share = _share(row, kept.get(key), section)
        in_part += 0 < share < 1
        if share < 1:
            shares[str(key)] = round(share, 4)
    left_out = len(before) - len(after or [])
    return Truncation(noun=section.noun, rows=len(before), in_part=in_part, left_out=left_out, shares=shares)


def _key(row: Any, place: int) -> Any:
    return row.get("id", place) if isinstance(row, Mapping) else place


def _share(before: Any, after: Any, section: Section) -> float:
    if after is None:
        return 0.0
    if not section.text or not _text_of(before, section):
        return 1.0
    return min(1.0, len(_text_of(after, section)) / len(_text_of(before, section)))
