"""Fitting a prompt into a window: it is rendered again with less material, and what it lacks is reported.

The question, the markers of quotations and the answer's form stay whole. Where less material is not enough, the longest
quotations are shortened in the rendered text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
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
Render = Callable[[Mapping[str, Any]], str]
Settle = Callable[[dict[str, Any]], dict[str, Any]]
"""Removes from a material what belonged to rows that were left out."""


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
    rank: Callable[[Row], float] = field(default=lambda _row: 0.0, compare=False, repr=False)
    """The rows of the lowest rank go first, of equal ones the last."""
    shorten: Callable[[Row, int], str] | None = field(default=None, compare=False, repr=False)
    """Chooses the best of a row's text in at most so many characters; None: its beginning."""

    def text_of(self, row: Row) -> str:
        """The part of a row that may be shortened."""
        return str(row.get(self.text) or "")


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
        if material.get(section.name):
            text, shown = _reduced_prompt(section, material[section.name], shown, render, limit_chars, settle)
        if len(text) <= limit_chars:
            break
    named = {section.name: section for section in sections}
    truncations = tuple(lack for section in named.values() if (lack := _truncation(section, material, shown)))
    quotes = shortened_quotes(text, limit_chars)
    return FittedPrompt(text=quotes.text, material=shown, truncations=truncations or quotes.truncations)


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
    section: Section, given: Any, shown: dict[str, Any], render: Render, limit_chars: int, settle: Settle | None
) -> tuple[str, dict[str, Any]]:
    """The prompt with as much of one `given` section as there is room for, found by bisection."""

    def at(room: int) -> tuple[str, dict[str, Any]]:
        less = {**shown, section.name: _reduced(section, given, room)}
        less = settle(less) if settle else less
        return render(less), less

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
    leaving = sorted(rows, key=lambda place: (section.rank(rows[place]), -place))
    for place in leaving[: max(len(rows) - section.keep, 0)]:
        if _fits(section, rows.values(), room):
            break
        del rows[place]
    if not section.text:
        return list(rows.values())
    cap = max(_text_cap(section, rows.values(), room), section.least_chars)
    return [_with_text(row, section, cap) for row in rows.values()]


def _fits(section: Section, rows: Collection[Row], room: int) -> bool:
    """Whether the rows fit into `room` characters, where possible with no text below the section's least."""
    if not section.text:
        return _size(section, rows) <= room
    longest = max(len(section.text_of(row)) for row in rows)
    return _text_cap(section, rows, room) >= min(section.least_chars, longest)


def _text_cap(section: Section, rows: Collection[Row], room: int) -> int:
    return _cap([len(section.text_of(row)) for row in rows], room - _ROW_CHARS * len(rows))


def _cap(lengths: Sequence[int], total: int) -> int:
    """The length to which the longest are cut so that all together take `total`."""
    left, rest = total, len(lengths)
    for length in sorted(lengths):
        if length * rest > left:
            return max(left // rest, 0)
        left, rest = left - length, rest - 1
    return max(lengths, default=0)


def _with_text(row: Row, section: Section, most_chars: int) -> Row:
    text = section.text_of(row)
    if len(text) <= most_chars:
        return row
    return {**row, section.text: section.shorten(row, most_chars) if section.shorten else shortened(text, most_chars)}


def _size(section: Section, given: Any) -> int:
    if isinstance(given, str):
        return len(given)
    if section.text:
        return sum(len(section.text_of(row)) + _ROW_CHARS for row in given)
    return sum(map(_row_chars, given))


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
    keys = [_key(row, place) for place, row in enumerate(before)]
    shares = [_share(row, kept.get(key), section) for key, row in zip(keys, before, strict=True)]
    return Truncation(
        noun=section.noun,
        rows=len(before),
        in_part=sum(0 < share < 1 for share in shares),
        left_out=len(before) - len(after or []),
        shares={str(key): round(share, 4) for key, share in zip(keys, shares, strict=True) if share < 1},
    )


def _key(row: Any, place: int) -> Any:
    return row.get("id", place) if isinstance(row, Mapping) else place


def _share(before: Any, after: Any, section: Section) -> float:
    """How much of a row's text is shown, 0 to 1."""
    if after is None:
        return 0.0
    text = section.text_of(before) if section.text else ""
    return min(1.0, len(section.text_of(after)) / len(text)) if text else 1.0
