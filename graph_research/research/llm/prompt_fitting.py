"""Fitting a prompt into a window: it is rendered again with less material, and what it lacks is reported.

The question, the markers of quotations and the answer's form stay whole. Where less material is not enough, the longest
quotations are shortened in the rendered text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from graph_research.text.tokens import count_tokens

MARK = " […]"
"""Ends a text that was shortened."""

_QUOTED = re.compile(r"(\[(QUOTED-[0-9a-f]+): ([^\]\n]*)\]\n)(.*?)(\n\[/\2\])", re.DOTALL)
_KEPT_LABELS = ("research question",)
_LEAST_QUOTE_CHARS = 80
_FULL = 0.98
_AIM = 0.99
"""The share of a limit that a prompt uses where it cannot hold much more, and the one that is aimed at."""

_T = TypeVar("_T")
Row = Mapping[str, Any]
Render = Callable[[Mapping[str, Any]], str]
Settle = Callable[[dict[str, Any]], dict[str, Any]]
"""Removes from a material what belonged to rows that were left out."""


@dataclass(frozen=True, kw_only=True)
class PromptLimit:
    """How long a prompt may be; None: as long as it is."""

    chars: int | None = None
    tokens: int | None = None

    def holds(self, text: str) -> bool:
        """Whether `text` is within the limit."""
        return self.used(text) <= 1.0

    def used(self, text: str) -> float:
        """The share of the limit that `text` takes, above 1 where it is longer."""
        of_chars = 0.0 if self.chars is None else len(text) / max(self.chars, 1)
        return max(of_chars, 0.0 if self.tokens is None else count_tokens(text) / max(self.tokens, 1))

    def share(self, text: str, parts: int) -> int:
        """How many characters of `text`, about, take one of `parts` parts of the limit."""
        chars = len(text) if self.chars is None else self.chars // parts
        if self.tokens is not None:
            chars = min(chars, len(text) * (self.tokens // parts) // max(count_tokens(text), 1))
        return chars


ALL_ROWS = sys.maxsize
"""`keep` of a section whose rows are only shortened."""


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
    allot: Callable[[Sequence[Row], int], Sequence[int]] | None = field(default=None, compare=False, repr=False)
    """Divides so many characters among the texts of the rows; None: the longer texts share them equally."""

    def text_of(self, row: Row) -> str:
        """The part of a row that may be shortened."""
        return str(row.get(self.text) or "") if self.text else ""


@dataclass(frozen=True, kw_only=True)
class Truncation:
    """What a prompt shows less of: how many rows of how many in part, and how many not at all."""

    noun: str
    rows: int
    in_part: int
    left_out: int

    def description(self) -> str:
        """Such as "12 of 20 sources in part, 3 of 20 sources not at all"."""
        plural = f"{self.noun[:-1]}ies" if self.noun.endswith("ry") else f"{self.noun}s"
        whole = f"{self.rows} {self.noun if self.rows == 1 else plural}"
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
    limit: PromptLimit,
    *,
    settle: Settle | None = None,
) -> FittedPrompt:
    """The rendered `material` within `limit`, as far as that is possible.

    The sections are reduced in their order, each down to its least before the next; a list may stand among them twice.
    What is longer still has its longest quotations shortened; a prompt whose own words exceed the limit stays longer.
    """
    has_room = limit.chars != 0
    shown = dict(material) if has_room else _least(material, sections, settle)
    text = render(material if has_room else shown)
    for section in sections if has_room else ():
        if limit.holds(text):
            break
        if material.get(section.name):
            text, shown = _reduced(section, material[section.name], text, shown, render, limit, settle)
    named = {section.name: section for section in sections}
    truncations = tuple(lack for section in named.values() if (lack := _truncation(section, material, shown)))
    quotes = shortened_quotes(text, limit)
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


def own_chars(text: str) -> int:
    """The characters of a text that may have been shortened, without the marks of that."""
    return len(text) - text.count(MARK) * len(MARK)


def shortened_quotes(text: str, limit: PromptLimit) -> FittedPrompt:
    """A rendered prompt whose longest quotations lose their ends until it fits, or until none is worth cutting. The
    research question is never cut, and no marker of a quotation."""
    if limit.holds(text):
        return FittedPrompt(text=text)
    lengths = [len(match[4]) for match in _QUOTED.finditer(text) if match[3] not in _KEPT_LABELS]

    def at(cap: int) -> tuple[str, int]:
        def cut(match: re.Match[str]) -> str:
            return match[0] if match[3] in _KEPT_LABELS else f"{match[1]}{shortened(match[4], cap)}{match[5]}"

        return _QUOTED.sub(cut, text), sum(length > cap for length in lengths)

    longest = max(lengths, default=0)
    fitted, in_part = _largest(at(_LEAST_QUOTE_CHARS), _LEAST_QUOTE_CHARS, longest, at, limit, limit.used(text))
    truncations = (Truncation(noun="quotation", rows=len(lengths), in_part=in_part, left_out=0),) if in_part else ()
    return FittedPrompt(text=fitted, truncations=truncations)


def _least(material: Mapping[str, Any], sections: Sequence[Section], settle: Settle | None) -> dict[str, Any]:
    """The material with the least of each section, for a prompt that has no room."""
    shown = dict(material)
    for section in sections:
        if given := material.get(section.name):
            shown = _with_less(shown, section, given, section.keep, section.least_chars, settle)
    return shown


def _with_less(
    shown: Mapping[str, Any], section: Section, given: Any, count: int, chars: int, settle: Settle | None
) -> dict[str, Any]:
    """The material with at most `chars` characters of a given text, or with `count` rows whose texts have no more."""
    part = shortened(given, chars) if isinstance(given, str) else _rows(section, given, count, chars)
    less = {**shown, section.name: part}
    return settle(less) if settle else less


def _reduced(
    section: Section,
    given: Any,
    text: str,
    shown: dict[str, Any],
    render: Render,
    limit: PromptLimit,
    settle: Settle | None,
) -> tuple[str, dict[str, Any]]:
    """The prompt, which is `text` with all of one `given` section, with as much of that as the limit holds: all rows
    with texts that are cut to one length, or where not even the least of each fits, fewer rows."""
    rows = [] if isinstance(given, str) else given
    longest = len(given) if isinstance(given, str) else max(len(section.text_of(row)) for row in rows)

    def at(count: int, chars: int) -> tuple[str, dict[str, Any]]:
        less = _with_less(shown, section, given, count, chars, settle)
        return render(less), less

    least = at(len(rows), section.least_chars)
    if isinstance(given, str) or limit.holds(least[0]):
        return _largest(least, section.least_chars, longest, partial(at, len(rows)), limit, limit.used(text))
    fewest = min(section.keep, len(rows))
    above, least = limit.used(least[0]), at(fewest, section.least_chars)
    return _largest(least, fewest, len(rows), lambda count: at(count, section.least_chars), limit, above)


def _largest(
    best: tuple[str, _T], low: int, high: int, at: Callable[[int], tuple[str, _T]], limit: PromptLimit, above: float
) -> tuple[str, _T]:
    """The prompt `at` the largest size below `high` that the limit holds, to within two percent of the size or of the
    limit; `best`, the one at `low`, where none fits. The one at `high` uses `above` of the limit. A prompt grows about
    evenly with its size, so the size that is tried next is on the line between both."""
    used = limit.used(best[0])
    while used < _FULL and high - low > max(1, low // 50):
        middle = low + int((high - low) * (_AIM - used) / (above - used))
        middle = min(max(middle, low + 1), high - 1)
        tried = at(middle)
        share = limit.used(tried[0])
        if share <= 1.0:
            low, best, used = middle, tried, share
        else:
            high, above = middle, share
    return best


def _rows(section: Section, rows: Sequence[Row], count: int, most_chars: int) -> list[Row]:
    """The `count` rows of the highest rank in their order, each text in at most `most_chars` characters, or with an
    allotment in so many on average."""
    ranked = sorted(range(len(rows)), key=lambda place: (-section.rank(rows[place]), place))
    chosen = [rows[place] for place in sorted(ranked[:count])]
    limits = section.allot(chosen, most_chars * len(chosen)) if section.allot else [most_chars] * len(chosen)
    shown = []
    for row, most in zip(chosen, limits, strict=True):
        text = section.text_of(row)
        if len(text) > most:
            cut = section.shorten(row, most) if section.shorten else shortened(text, most)
            row = {**row, section.text: cut}
        shown.append(row)
    return shown


def _truncation(section: Section, material: Mapping[str, Any], shown: Mapping[str, Any]) -> Truncation | None:
    before, after = material.get(section.name), shown.get(section.name)
    if not before or before == after:
        return None
    if isinstance(before, str):
        return Truncation(noun=section.noun, rows=1, in_part=1, left_out=0)
    kept = {_key(row, place): row for place, row in enumerate(after or [])}
    pairs = [(row, kept.get(_key(row, place))) for place, row in enumerate(before)]
    in_part = [
        whole for whole, cut in pairs if cut is not None and 0 < len(section.text_of(cut)) < len(section.text_of(whole))
    ]
    return Truncation(
        noun=section.noun, rows=len(before), in_part=len(in_part), left_out=len(before) - len(after or [])
    )


def _key(row: Any, place: int) -> Any:
    return row.get("id", place) if isinstance(row, Mapping) else place
