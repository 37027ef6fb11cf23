"""Fitting a prompt into a window: what it quotes is shown in part or left out, and what was cut is said.

A prompt is never chopped: it is rendered again with less material, so that its fences, the question and the form of
the answer stay whole. Only where that is not enough, or nothing is known of the material, are the longest quotations
shortened where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["MARK", "Cut", "Fitted", "Part", "fitted", "shortened", "shortened_quotes"]

MARK = " […]"
"""Ends a text that goes on."""

_QUOTED = re.compile(r"(\[(QUOTED-[0-9a-f]+) begin: ([^\]\n]*)\]\n)(.*?)(\n\[\2 end\])", re.DOTALL)
_KEPT_LABELS = ("research question",)
_LEAST_QUOTE_CHARS = 80
_CLOSE_CHARS = 40
"""Nearer to the limit than this is near enough."""
_ROW_CHARS = 160
"""What the fence and the heading of a row take, about."""

Row = Mapping[str, Any]
Shorten = Callable[[Row, int], str]
"""A row's text in at most so many characters, the best of it."""

Render = Callable[[Mapping[str, Any]], str]
Settle = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes out of a material what belonged to rows that were left out."""


@dataclass(frozen=True, kw_only=True)
class Part:
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
class Cut:
    """What a prompt shows less of: how many rows of how many in part, and how many not at all. `shares` says for rows
    with an id how much of their text is shown, 0 to 1; rows that are shown whole are not in it."""

    noun: str
    rows: int
    in_part: int
    left_out: int
    shares: Mapping[str, float] = field(default_factory=dict)

    def told(self) -> str:
        """Such as "12 of 20 sources in part, 3 of 20 sources not at all"."""
        whole = f"{self.rows} {self.noun if self.rows == 1 else _several(self.noun)}"
        parts = [f"{self.in_part} of {whole} in part"] if self.in_part else []
        parts += [f"{self.left_out} of {whole} not at all"] if self.left_out else []
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A prompt with the material that it shows and what was cut."""

    text: str
    material: Mapping[str, Any] = field(default_factory=dict, repr=False)
    cuts: tuple[Cut, ...] = ()


def fitted(
    material: Mapping[str, Any],
    parts: Sequence[Part],
    render: Render,
    limit_chars: int | None,
    *,
    settle: Settle | None = None,
) -> Fitted:
    """The rendered `material` in at most `limit_chars` characters, as far as that is possible.

    The parts give way in their order, each down to its least before the next does; a list may stand among them twice.
    What is longer still has its longest quotations shortened; a prompt whose own words exceed the limit stays longer.
    """
    text = render(material)
    if limit_chars is None or len(text) <= limit_chars:
        return Fitted(text=text, material=material)
    shown: dict[str, Any] = dict(material)
    for part in parts:
        text, shown = _given_way(part, material, shown, render, limit_chars, settle)
        if len(text) <= limit_chars:
            break
    named = {part.name: part for part in parts}
    cuts = tuple(cut for part in named.values() if (cut := _cut(part, material, shown)) is not None)
    quotes = shortened_quotes(text, limit_chars)
    if quotes.cuts and not cuts:
        cuts = quotes.cuts
    return Fitted(text=quotes.text, material=shown, cuts=cuts)


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


def shortened_quotes(text: str, limit_chars: int) -> Fitted:
    """A rendered prompt whose longest quotations lose their ends until it fits, or until none is worth cutting. The
    research question is never cut, and no fence is broken."""
    over = len(text) - limit_chars
    if over <= 0:
        return Fitted(text=text)
    lengths = [len(match[4]) for match in _QUOTED.finditer(text) if match[3] not in _KEPT_LABELS]
    cap = max(_cap(lengths, sum(lengths) - over), _LEAST_QUOTE_CHARS)
    in_part = sum(length > cap for length in lengths)

    def cut(match: re.Match[str]) -> str:
        return match[0] if match[3] in _KEPT_LABELS else f"{match[1]}{shortened(match[4], cap)}{match[5]}"

    cuts = (Cut(noun="quotation", rows=len(lengths), in_part=in_part, left_out=0),) if in_part else ()
    return Fitted(text=_QUOTED.sub(cut, text), cuts=cuts)


def _several(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"


def _given_way(
    part: Part,
    material: Mapping[str, Any],
    shown: dict[str, Any],
    render: Render,
    limit_chars: int,
    settle: Settle | None,
) -> tuple[str, dict[str, Any]]:
    """The prompt with as much of one part as there is room for, found by halving."""
    given = material.get(part.name)

    def at(room: int) -> tuple[str, dict[str, Any]]:
        less = {**shown, part.name: _reduced(part, given, room)}
        less = less if settle is None else settle(less)
        return render(less), less

    if not given:
        return render(shown), shown
    low, high = 0, _size(part, given)
    best = at(low)
    while high - low > max(_CLOSE_CHARS, high // 100) and len(best[0]) <= limit_chars:
        middle = (low + high) // 2
        tried = at(middle)
        if len(tried[0]) <= limit_chars:
            low, best = middle, tried
        else:
            high = middle
    return best


def _reduced(part: Part, given: Any, room: int) -> Any:
    """The part in about `room` characters, but not below its least."""
    if isinstance(given, str):
        return shortened(given, max(room, part.least_chars))
    rows = dict(enumerate(given))
    leaving = iter(sorted(rows, key=lambda place: (_rank(part, rows[place]), -place)))
    if not part.text:
        while len(rows) > part.keep and sum(map(_row_chars, rows.values())) > room:
            del rows[next(leaving)]
        return list(rows.values())
    lengths = {place: len(_text_of(row, part)) for place, row in rows.items()}
    while len(rows) > part.keep:
        cap = _cap(list(lengths.values()), room - _ROW_CHARS * len(rows))
        if cap >= min(part.least_chars, max(lengths.values())):
            break
        place = next(leaving)
        del rows[place], lengths[place]
    cap = max(_cap(list(lengths.values()), room - _ROW_CHARS * len(rows)), part.least_chars)
    return [_with_text(row, part, cap) for row in rows.values()]


def _rank(part: Part, row: Any) -> float:
    return 0.0 if part.rank is None else part.rank(row)


def _cap(lengths: Sequence[int], total: int) -> int:
    """The length to which the longest are cut so that all together take `total`."""
    left, rest = total, len(lengths)
    for length in sorted(lengths):
        if length * rest > left:
            return max(left // rest, 0)
        left, rest = left - length, rest - 1
    return max(lengths, default=0)


def _with_text(row: Row, part: Part, most_chars: int) -> Row:
    text = _text_of(row, part)
    if len(text) <= most_chars:
        return row
    shorten = part.shorten
    return {**row, part.text: shorten(row, most_chars) if shorten else shortened(text, most_chars)}


def _text_of(row: Row, part: Part) -> str:
    return str(row.get(part.text) or "")


def _size(part: Part, given: Any) -> int:
    if isinstance(given, str):
        return len(given)
    if not given:
        return 0
    if not part.text:
        return sum(map(_row_chars, given))
    return sum(len(_text_of(row, part)) + _ROW_CHARS for row in given)


def _row_chars(row: Any) -> int:
    """About what a row takes in a prompt: its texts."""
    if isinstance(row, Mapping):
        return sum(_row_chars(value) for value in row.values()) + 8
    if isinstance(row, list):
        return sum(_row_chars(value) for value in row)
    return len(str(row)) + 8


def _cut(part: Part, material: Mapping[str, Any], shown: Mapping[str, Any]) -> Cut | None:
    before, after = material.get(part.name), shown.get(part.name)
    if not before or before == after:
        return None
    if isinstance(before, str):
        return Cut(noun=part.noun, rows=1, in_part=1, left_out=0)
    kept = {_key(row, place): row for place, row in enumerate(after or [])}
    shares: dict[str, float] = {}
    in_part = 0
    for place, row in enumerate(before):
        key = _key(row, place)
        share = _share(row, kept.get(key), part)
        in_part += 0 < share < 1
        if share < 1:
            shares[str(key)] = round(share, 4)
    left_out = len(before) - len(after or [])
    return Cut(noun=part.noun, rows=len(before), in_part=in_part, left_out=left_out, shares=shares)


def _key(row: Any, place: int) -> Any:
    return row.get("id", place) if isinstance(row, Mapping) else place


def _share(before: Any, after: Any, part: Part) -> float:
    if after is None:
        return 0.0
    if not part.text or not _text_of(before, part):
        return 1.0
    return min(1.0, len(_text_of(after, part)) / len(_text_of(before, part)))
