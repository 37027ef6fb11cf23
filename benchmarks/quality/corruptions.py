"""True claims made false by one change each, and the same claims reworded but true."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from graph_research.text.language.words import weight

_MONTHS = list(calendar.month_name)[1:]
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})(?= \d)")
_YEAR = re.compile(r"(?<![\d,.-])(1[5-9]\d\d|20[0-3]\d)(?![\d,%-]|\.\d)")
_NUMBER = re.compile(r"(?<![\w.,/:-])\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|(?<![\w.,/:-])\d+(?:\.\d+)?(?![\w/:-]|[.,]\d)")
_NO_YEAR = re.compile(rf"(?!{_YEAR.pattern})(?:{_NUMBER.pattern})")
_SPELLED = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_SPELLED_NUMBER = re.compile(rf"\b({'|'.join(_SPELLED)})\b")
_AUXILIARY = re.compile(r"\b(is|was|are|were|has|have|had|can|could|will|would|should|must|may|does|did|do)\b(?! not)")
_DENIED = re.compile(r"\b(is|was|are|were|has|have|had|can|could|will|would|should|must|may) not\b|\b(can)not\b")
_NAME = re.compile(r"(?<![.!?:“\"] )(?<!^)\b[A-Z][\w'’-]*[a-z](?: (?:(?:of|the|de|van|von) )?[A-Z][\w'’-]*)*")
_SWAPPED_QUANTIFIERS = {
    "all": "none of",
    "every": "no",
    "each": "none",
    "most": "few",
    "many": "few",
    "some": "all",
    "few": "most",
    "several": "no",
    "always": "never",
    "never": "always",
    "often": "never",
    "usually": "never",
    "only": "not only",
    "both": "neither",
    "none": "all",
    "no": "every",
}
_COMPARATIVES = """
more less, higher lower, increase decrease, increased decreased, increases decreases, increasing decreasing,
larger smaller, greater smaller, longer shorter, before after, above below, better worse, earlier later, older younger,
first last, largest smallest, highest lowest, oldest youngest, rose fell, gained lost, positive negative, faster slower,
improved worsened, improves worsens, stronger weaker, maximum minimum, up down, over under, upper lower,
majority minority"""
_PAIRS = [pair.split() for pair in _COMPARATIVES.split(",")]
_SWAPPED_COMPARATIVES = {**{b: a for a, b in _PAIRS}, **dict(_PAIRS)}


def corrupted(claim: str, cited: str) -> Iterator[tuple[str, str]]:
    """`(kind of error, claim)` for each way in which the claim can be made false; `cited` has names and figures to
    borrow."""
    for kind, change in _CHANGES.items():
        changed = change(claim, cited)
        if changed and changed != claim:
            yield kind, changed


def reworded(claim: str) -> str:
    """The claim with its last phrase of time or place moved to the front, or its asides left out."""
    plain = re.sub(r"\s*\([^()]*\)", "", claim)
    moved = re.fullmatch(r"([A-Z][^,;:]{25,}) ((?:in|on|at|during|after|before|since) [^,;:]{3,40})\.", plain)
    if moved:
        first = (
            moved[1] if weight(moved[1].split()[0]) > 1.0 or " " not in moved[1] else moved[1][0].lower() + moved[1][1:]
        )
        return f"{moved[2][0].upper()}{moved[2][1:]}, {first}."
    led = re.fullmatch(r"((?:In|On|At|During|After|Before|Since) [^,;:]{3,60}), ([^;:]{25,})\.", plain)
    if led:
        return f"{led[2][0].upper()}{led[2][1:]} {led[1][0].lower()}{led[1][1:]}."
    return re.sub(
        r"^(?:However|Moreover|Therefore|Thus|Also|Additionally|Furthermore), (\w)", lambda m: m[1].upper(), plain
    )


def _number(claim: str, _: str) -> str:
    for match in _NUMBER.finditer(claim):
        if _YEAR.fullmatch(match[0]) or re.search(r"\b[A-Z]\w+ $", claim[: match.start()]):
            continue
        plain = match[0].replace(",", "")
        other = (
            f"{float(plain) * 1.5 + 0.3:.{len(plain.partition('.')[2])}f}"
            if "." in plain
            else f"{int(plain) + max(1, int(plain) // 3):,}"
        )
        return claim[: match.start()] + other + claim[match.end() :]
    return _SPELLED_NUMBER.sub(lambda m: _SPELLED[(_SPELLED.index(m[1]) + 2) % len(_SPELLED)], claim, count=1)


def _date(claim: str, _: str) -> str:
    if _MONTH.search(claim) and len(claim) % 2:
        return _MONTH.sub(lambda m: _MONTHS[(_MONTHS.index(m[1]) + 5) % 12], claim, count=1)
    return _YEAR.sub(lambda m: str(int(m[1]) - 2 - len(claim) % 7), claim, count=1)


def _negation(claim: str, _: str) -> str:
    if _DENIED.search(claim):
        return _DENIED.sub(lambda m: m[1] or m[2], claim, count=1)
    return _AUXILIARY.sub(lambda m: f"{m[1]} not", claim, count=1)


def _name(claim: str, cited: str) -> str:
    others = names(cited)
    mine = list(_NAME.finditer(claim))
    for match in mine:
        for other in others:
            if other not in claim and other.count(" ") == match[0].count(" ") and other.split()[0] not in claim:
                return claim[: match.start()] + other + claim[match.end() :]
    return ""


def _roles(claim: str, _: str) -> str:
    mine = [(m.start(), m.end()) for m in re.finditer(rf"^[A-Z]\w*[a-z](?: [A-Z]\w+)*|{_NAME.pattern}", claim)]
    mine = [(a, b) for a, b in mine if a or weight(claim[a:b].split()[0]) > 1.5]
    for (a, b), (c, d) in pairwise(mine):
        between = claim[b:c].split()
        middle = any(word.islower() and weight(word) > 0.0 for word in between)
        if middle and len(between) <= 8 and "," not in claim[b:c] and not {"and", "or", "with", "is"} & set(between):
            return claim[:a] + claim[c:d] + claim[b:c] + claim[a:b] + claim[d:]
    return ""


def _values(claim: str, _: str) -> str:
    numbers = [match for match in _NUMBER.finditer(claim) if not _YEAR.fullmatch(match[0])]
    for one, other in pairwise(numbers):
        if one[0] != other[0]:
            between = claim[one.end() : other.start()]
            return claim[: one.start()] + other[0] + between + one[0] + claim[other.end() :]
    return ""


def _borrowed(pattern: re.Pattern[str], claim: str, cited: str) -> str:
    """The first figure of the claim that the cited text has, in its place another one of that text."""
    theirs = [match[0] for match in pattern.finditer(cited)]
    for match in pattern.finditer(claim):
        others = [other for other in theirs if other not in claim] if match[0] in theirs else []
        if others:
            return claim[: match.start()] + others[0] + claim[match.end() :]
    return ""


def _by_table(table: dict[str, str]) -> Callable[[str, str], str]:
    pattern = re.compile(rf"\b({'|'.join(table)})\b", re.IGNORECASE)

    def change(claim: str, _: str) -> str:
        return pattern.sub(lambda m: _like(table[m[1].lower()], m[1]), claim, count=1)

    return change


def _like(word: str, written: str) -> str:
    return word[0].upper() + word[1:] if written[0].isupper() else word


def names(text: str) -> list[str]:
    """Capitalised words within sentences, as they are written."""
    return list(dict.fromkeys(match[0] for match in _NAME.finditer(text)))


_CHANGES: dict[str, Callable[[str, str], str]] = {
    "number": _number,
    "date": _date,
    "negation": _negation,
    "name": _name,
    "roles": _roles,
    "values": _values,
    "year of another sentence": partial(_borrowed, _YEAR),
    "number of another sentence": partial(_borrowed, _NO_YEAR),
    "quantifier": _by_table(_SWAPPED_QUANTIFIERS),
    "comparative": _by_table(_SWAPPED_COMPARATIVES),
}
