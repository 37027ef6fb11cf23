"""Versions of a document: its title without version, date and draft words, which version it is, and whether it says of
itself that it no longer holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from graph_research.text.language.dates import dates_in
from graph_research.text.language.tables import listed

_VERSION_WORD = r"(?:version|versión|versione|versie|wersja|revision|rev|release|edition|ausgabe|auflage|fassung|v|r)"
_NUMBER = re.compile(rf"(?<![a-z]){_VERSION_WORD}[\s._-]*(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}})(?![\w%])", re.IGNORECASE)
_POINTED = r"(\d{1,4}(?:\.\d{1,4}){1,3})(?![\w%]|[.,]\d)"
_STAGE = re.compile(r"(?<![^\W_])(?:draft|final|entwurf|old|new|alt|neu|copy|kopie|outdated|archived)(?![^\W_])", re.I)
_DATE = re.compile(
    r"(?<!\d)(?:19|20)\d{2}(?:[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
    r"|(?<![^\W_])q[1-4](?![^\W_])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_HEAD_CHARS = 1_500
_SUBJECT = (
    r"(?:this|the\s+present)\s+(?:document|page|policy|version|edition|report|guide|manual|specification|standard|notice"
    r"|article|procedure|release|rfc|memo)\s+(?:is|has\s+been|was)\s+(?:now\s+)?"
)
_SUPERSEDED = re.compile(
    rf"{_SUBJECT}(?:superseded|obsoleted?|replaced|withdrawn|deprecated|outdated|out\s+of\s+date|no\s+longer\s+"
    r"(?:valid|current|maintained|in\s+force))\b"
    r"|\bstatus\s*:\s*(?:superseded|obsolete|withdrawn|deprecated|replaced|outdated)\b"
    r"|(?:^|[.!?:|]\s)(?:superseded|obsoleted|replaced|ersetzt|remplacé|sustituido|sostituito|vervangen)\s+(?:by|durch|par"
    r"|por|da|door)\s"
    r"|\b(?:dieses\s+dokument|diese\s+(?:fassung|version|richtlinie|seite))\s+(?:ist|wurde)\s+"
    r"(?:ersetzt|veraltet|überholt|zurückgezogen|nicht\s+mehr\s+gültig)\b",
    re.IGNORECASE,
)


def _either(subject: str) -> str:
    return "|".join(re.escape(word.replace("_", " ")) for words in listed(subject).values() for word in words)


_RETRACTED_TITLE = re.compile(rf"\W*(?:{_either('retracted')})(?:\W|$)", re.IGNORECASE)
_RETRACTION_NOTICE = re.compile(
    rf"(?<!\w)(?:{_either('this_work')})[^.!?。！？]{{0,80}}?(?:{_either('retracted')})", re.IGNORECASE
)


class VersionMark(NamedTuple):
    """A version in the order of versions: its number (empty for none), then its date as ISO 8601 (empty for none)."""

    number: tuple[int, ...]
    date: str


def newest_named_version(name: str, texts: Iterable[str]) -> str:
    """The highest version of a thing that texts write behind its name, as in `SQLite version 3.40.1`, or without such a
    word where a line begins with it; empty where there is none. A number without a point counts behind such a word
    only."""
    behind = rf"{re.escape(name)}[^\S\n]+"
    worded = rf"(?<!\w){behind}(?i:{_VERSION_WORD})[^\S\n]*(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}})(?![\w%]|[.,]\d)"
    pattern = re.compile(rf"{worded}|^{behind}{_POINTED}", re.MULTILINE)
    named = {match[1] or match[2] for text in texts for match in pattern.finditer(text)}
    return max(named, key=lambda version: tuple(map(int, version.split("."))), default="")


def says_it_is_superseded(text: str) -> bool:
    """Whether a document says at its beginning that it is replaced, withdrawn or out of date."""
    return _SUPERSEDED.search(text[:_HEAD_CHARS]) is not None


def says_it_is_retracted(title: str, text: str) -> bool:
    """Whether a document says that it was retracted or withdrawn: its title begins with such a word ("RETRACTED: …"),
    or a sentence at its beginning says so of "this article", in a language whose table has these words."""
    return _RETRACTED_TITLE.match(title) is not None or _RETRACTION_NOTICE.search(text[:_HEAD_CHARS]) is not None


def title_key(title: str) -> str:
    """What the versions of a document have in common in their titles; empty where a title is nothing but a version."""
    for pattern in (_NUMBER, _DATE, _STAGE):
        title = pattern.sub(" ", title)
    return " ".join(_WORD.findall(title.casefold()))


def version_mark(*names: str, date: str = "") -> VersionMark:
    """The version that the first of some titles or file names tells, else the date that one of them tells, else
    `date`."""
    number: tuple[int, ...] = ()
    for name in names:
        if match := _NUMBER.search(name):
            number = tuple(map(int, match[1].split(".")))
            break
    written = next((found[0] for name in names if (found := _DATE.search(name)) and found[0][:1].isdigit()), "")
    spoken = next((f"{one.year:04}" for name in names for one in dates_in(name) if one.year), "")
    digits = re.sub(r"\D", "", written)
    iso = "-".join(part for part in (digits[:4], digits[4:6], digits[6:8]) if part)
    return VersionMark(number, iso or spoken or date)
