"""Versions of a document: its title without version, date and draft words, which version it is, and whether it says of
itself that it no longer holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.dates import dates_in
from graph_research.text.language.tables import any_of, facts

_VERSION_WORD = r"(?:version|versión|versione|versie|wersja|revision|rev|release|edition|ausgabe|auflage|fassung|v|r)"
_VERSION_WORDS = r"(?:versions|versionen|versiones|versioni|versies|wersje|revisions|releases|editions)"
_NUMBER = deferred(rf"(?<![a-z]){_VERSION_WORD}[\s._-]*(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}})(?![^\W_]|%)", re.IGNORECASE)
_LETTER = deferred(r"(?<![^\W_])(?i:revision|rev|version|release|ausgabe|fassung)[\s._-]*([A-Za-z])(?![^\W_]|\s+[a-z])")
_ASKED_LETTER = deferred(r"(?<![^\W_])(?i:revision|rev|version|ausgabe|fassung)[\s._-]*([A-HJ-Z])(?![^\W_])")
_WORD_BEFORE = deferred(
    rf"\b(?:{_VERSION_WORD}|{_VERSION_WORDS}|versão|versões)\s$|\bv$|(?:バージョン|版本)\s?$", re.IGNORECASE
)
_LABEL = deferred(rf"\W*{_VERSION_WORD}[\s._-]*(?:\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[A-Za-z])\W*", re.IGNORECASE)
_YEAR = deferred(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_POINTED = r"(\d{1,4}(?:\.\d{1,4}){1,3})(?![\w%]|[.,]\d)"
_ASKED = deferred(r"(?<![\w.])\d{1,4}(?:\.\d{1,4}){1,3}(?![\w%]|[.,]\d)")
_DOCUMENT_WORD = r"documentation|manual|reference|handbook|release\s+notes|dokumentation|handbuch|manuel|manuale"
_DAY = r"(?:19|20)\d{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_RELEASE = rf"(?:{_VERSION_WORD}[^\S\n]*|(?<![^\W_][^\S\n]))(\d{{1,4}}(?:\.\d{{1,4}}){{1,3}})"
"""Behind another word than one for a version it may be of whatever that word names."""
_OWN_RELEASE = deferred(
    rf"\W*(?:{_DAY}[^\S\n]*[(\[]{_RELEASE}[)\]]|{_RELEASE}\]?[^\S\n]*[(–—-][^\S\n]*{_DAY}(?![\w-])"
    rf"|{_POINTED}[^\S\n]+(?:{_DOCUMENT_WORD})\b)",
    re.IGNORECASE,
)
_STAGE = deferred(rf"(?<![^\W_])(?:{any_of('old_names')}|{any_of('new_names')})(?![^\W_])", re.IGNORECASE)
_OLD_COPY_NAME = deferred(rf"(?<![^\W_])(?:{any_of('old_names')})(?![^\W_])", re.IGNORECASE)
_OLD_FOLDER = deferred(rf"(?:{any_of('old_names')}|{any_of('old_folders')})", re.IGNORECASE)
_DATE = deferred(
    r"(?<!\d)(?:19|20)\d{2}(?:[-_.]?(?:0[1-9]|1[0-2])(?:[-_.]?(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
    r"|(?<![^\W_])q[1-4](?![^\W_])",
    re.IGNORECASE,
)
_SEASON = deferred(r"(?<!\d)((?:19|20)\d{2})\s?[-–/_]\s?((?:19|20)?\d{2})(?![-_.]?\d)")
_WORD = deferred(r"[^\W_]+")
_HEAD_CHARS = 1_500
_NAMED_WITHIN = 100  # characters of a stamp, and behind the word that says that a document is superseded
_STAMP_CHARS = 20  # of a version or a date
_STAMPED_WITHIN = 5  # paragraphs, the title among them
_ENDS = (".", "!", "?", "。", "！", "？")
_FILE_NAME = deferred(r"[\w-][\w.-]*\.[A-Za-z0-9]{1,5}(?!\w)")
_RELEASE_NOTES = facts("release_notes")
_OF_NO_USE = r"archived|old|outdated|obsolete|superseded"
_OLD_COPY = rf"(?:{_OF_NO_USE})\s+(?:version|edition|copy|page|document)"


def _either(subject: str) -> str:
    return f"(?:{'|'.join(facts(subject).values())})".replace(" ", r"\s+")


_NO_LONGER_VALID, _SINCE = _either("no_longer_valid"), _either("no_longer_valid_since")
_NOT_CURRENT = f"(?:{_NO_LONGER_VALID}|{_either('replaced')})"
_MAY_BE_SUPERSEDED = deferred(f"{_NOT_CURRENT}|{_OF_NO_USE}")
_SUPERSEDED = deferred(
    rf"\b(?:{_either('this_document')}|status\s*:\s*){_NOT_CURRENT}\b|\bthis\s+is\s+an?\s+{_OLD_COPY}\b"
)
_STAMP = deferred(
    rf"(?:{_NO_LONGER_VALID}|{_OLD_COPY})(?:\s*[:–—-]|[.!]\s|\W*$)|{_NOT_CURRENT}\s+{_either('replaced_by')}\b"
    rf"|{_NO_LONGER_VALID}(?P<names>\s*[,;(]|\s+{_SINCE}\b|\s(?=\d))",
    re.IGNORECASE,
)
"""Behind `names` stands the version, the date or the file that holds instead."""
_RETRACTED_TITLE = deferred(rf"\W*(?:{any_of('retracted')})(?:\W|$)", re.IGNORECASE)
_RETRACTED_MARK = deferred(rf"\W*(?:{any_of('retracted')})(?:\s\w+)?\s*[:：\])】–—]", re.IGNORECASE)
_RETRACTION_NOTICE = deferred(
    rf"(?<!\w)(?:{any_of('this_work')})[^.!?。！？]{{0,80}}?(?:{any_of('retracted')})", re.IGNORECASE
)


class VersionMark(NamedTuple):
    """A version in the order of versions: its number (empty for none), then its date as ISO 8601, or as `2023/24` where
    it goes over the turn of a year (empty for none)."""

    number: tuple[int, ...]
    date: str

    @property
    def is_of_a_day(self) -> bool:
        """Whether the version is known by a month or a day alone."""
        return not self.number and "-" in self.date


def named_versions(name: str, lines: Iterable[str]) -> set[str]:
    """The versions of a thing that lines such as a title give behind its name, as in `SQLite version 3.40.1`; without
    a word for it where a line begins with the name, or the version is that of a manual: `Kite » 3.11.2 Documentation`.
    A number without a point counts behind such a word only."""
    literal = re.escape(name)  # the pattern begins with it, so that it is looked for as fast as a plain text
    worded = rf"(?i:{_VERSION_WORD})[^\S\n]*(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}})(?![\w%]|[.,]\d)"
    documented = rf"(?:[>»|/][^\S\n]*)?{_POINTED}(?=[^\S\n]+(?i:{_DOCUMENT_WORD})\b)"
    behind = rf"[^\S\n]+(?:{worded}|{documented})|(?<=^{literal})[^\S\n]+{_POINTED}"
    pattern = re.compile(rf"{literal}(?<!\w{literal})(?:{behind})", re.MULTILINE)
    return {next(filter(None, match.groups())) for match in pattern.finditer("\n".join(lines))}


def head_and_foot(paragraphs: Sequence[str]) -> list[str]:
    """The few paragraphs above the first sentence and below the last one, where a page tells what it is of. A version
    that a sentence names, as in `since SQLite version 3.9`, may be an older one, or one to come."""
    edges = [*_to_first_sentence(paragraphs), *_to_first_sentence(reversed(paragraphs))]
    return [paragraph for paragraph in edges if len(paragraph) <= _NAMED_WITHIN and not paragraph.endswith(_ENDS)]


def is_version_label(text: str) -> bool:
    """Whether a text names a version and nothing else: `Version 1,`, `Rev. B (`."""
    return _LABEL.fullmatch(text) is not None


def is_behind_version_word(text: str, place: int) -> bool:
    """Whether a word for a version stands right before a place of a text: the 15 of `version 15`."""
    return bool(_WORD_BEFORE.search(text[:place]))


def names_version(text: str, version: str, *, worded: bool = False) -> bool:
    """Whether a text has a version, or one that begins with it as 3.11.0 does with 3.11, behind a word; with `worded`
    behind one for a version, as in `New in version 3.11`."""
    before = rf"\b(?:{_VERSION_WORD}|{_VERSION_WORDS})\s" if worded else r"[^\W\d_][\s/(-]v?"
    whole = rf"{before}{re.escape(version)}(?:\.\d+)*(?![\w%]|[.,]\d)"
    return re.search(whole, text, re.IGNORECASE) is not None


def is_of_another_version(asked: str, title: str, heading: str) -> bool:
    """Whether a title, or the heading of a release, names a version, and none of those that are asked for with a point,
    as in `3.40`, which has 3.40.1."""
    wanted = set(_ASKED.findall(asked))
    own = own_versions(title, [heading])
    return bool(wanted and own) and not any(
        f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.") for one in own for other in wanted
    )


def asked_version(question: str, *names: str) -> str:
    """Of the version that the first of some titles or file names tells, what a question names: its number behind a word
    for it, as in `version 3` (a letter as its place in the alphabet), else its years; empty for another version."""
    mark = version_mark(*names)
    numbers = {tuple(map(int, match[1].split("."))) for match in _NUMBER.finditer(question)}
    numbers |= {_place(match[1]) for match in _ASKED_LETTER.finditer(question)}
    if numbers:
        return ".".join(map(str, mark.number)) if mark.number in numbers else ""
    seasons = _seasons(question)
    if mark.date in seasons:
        return mark.date
    years = _YEAR.findall(_SEASON.sub(" ", question)) if "/" in mark.date else _YEAR.findall(question)
    return next((year for year in years if mark.date.startswith(year)), "")


def own_versions(title: str, paragraphs: Iterable[str]) -> set[str]:
    """The versions that a document about a single thing names without its name: behind a word for it in the title, such
    as `Release 15.14`, one without a point only at its end, and where a paragraph begins that of a manual, as in
    `3.11.2 Documentation`, and beside the date of each release in a list of them: `2022-12-28 (3.40.1)`, `## [1.4.0] -
    2024-03-01`."""
    number = _NUMBER.search(title)
    titled = number[1] if number and ("." in number[1] or not title[number.end() :].strip()) else ""
    released = filter(None, map(_OWN_RELEASE.match, paragraphs))
    return {next(filter(None, match.groups())) for match in released} | ({titled} if titled else set())


def highest_version(versions: Iterable[str]) -> str:
    """The highest of some version numbers; empty where there is none."""
    return max(versions, key=lambda version: tuple(map(int, version.split("."))), default="")


def release_queries(name: str, language: str) -> list[str]:
    """What one searches for to find the list of a thing's releases, and the page of one release, in English and in a
    language."""
    words = [_RELEASE_NOTES[known] for known in dict.fromkeys(("en", language)) if known in _RELEASE_NOTES]
    return [" ".join([name, *words]), *(f"{name} {one.split()[0]}" for one in words)]


def says_it_is_superseded(text: str, paragraphs: Iterable[str]) -> bool:
    """Whether a document says at its beginning that it is replaced, withdrawn or out of date: in a sentence about
    itself, or in one of its first paragraphs, up to the first sentence, that is no more than such a stamp, behind its
    version or date at most: `OBSOLETE`, `Superseded: see policy-2.md`, `Version 1, May 2022. No longer valid, see that
    of 2025.` A single word that is not in capitals heads a list, as in the notes of a release."""
    head = text[:_HEAD_CHARS].lower()
    if not _MAY_BE_SUPERSEDED.search(head):  # alone it is much faster
        return False
    return _SUPERSEDED.search(head) is not None or any(map(_is_stamp, _to_first_sentence(paragraphs)))


def _to_first_sentence(paragraphs: Iterable[str]) -> Iterator[str]:
    """The first paragraphs, up to one that ends as a sentence does."""
    for paragraph in islice(paragraphs, _STAMPED_WITHIN):
        yield paragraph
        if paragraph.endswith(_ENDS):
            return


def _is_stamp(paragraph: str) -> bool:
    if len(paragraph) > _NAMED_WITHIN or (len(_WORD.findall(paragraph)) == 1 and not paragraph.isupper()):
        return False
    return any(
        _stands_alone(paragraph[: match.start()]) and (not match["names"] or _names_version(paragraph[match.end() :]))
        for match in _STAMP.finditer(paragraph)
    )


def _stands_alone(before: str) -> bool:
    """Whether what is before a stamp in its paragraph is empty or a label with a version or a date."""
    return not _WORD.search(before) or (before.rstrip().endswith((*".,;:(–—-",)) and _names_version(before))


def _names_version(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_YEAR, _NUMBER, _FILE_NAME))


def named_successors(text: str) -> tuple[str, ...]:
    """The file names that stand right behind the words by which a document says at its beginning that it no longer
    holds, as in "superseded by policy-v2.md"."""
    head = text[:_HEAD_CHARS]
    ends = (match.end() for match in _MAY_BE_SUPERSEDED.finditer(head.lower()))
    return tuple(name for end in ends for name in _FILE_NAME.findall(head[end : end + _NAMED_WITHIN]))


def has_name_of_an_old_copy(title: str, path: PurePosixPath) -> bool:
    """Whether a document is called a draft or an old copy, in its title or its file's name (`policy-draft`,
    `policy_old`), or lies in a folder for these (`archive/policy`)."""
    named = any(map(_OLD_COPY_NAME.search, (title, path.stem)))
    return named or any(map(_OLD_FOLDER.fullmatch, path.parent.parts))


def is_stamped_as_a_draft(title: str, text: str) -> bool:
    """Whether a document begins, before or behind its title, with a stamp that calls it a draft or an old copy: such a
    word in capitals, or one with a version or a date right behind it: `DRAFT`, `Draft of 3 May 2024`."""
    said = text[:_HEAD_CHARS].removeprefix(title).lstrip(" *[(")
    stamp = _OLD_COPY_NAME.match(said)
    return stamp is not None and (stamp[0].isupper() or _names_version(said[: stamp.end() + _STAMP_CHARS]))


def says_it_is_retracted(title: str, text: str) -> bool:
    """Whether a document says that it was retracted or withdrawn: its title begins with such a word ("RETRACTED: …"),
    or a sentence at its beginning says so of "this article", in a language whose table has these words."""
    return _RETRACTED_TITLE.match(title) is not None or _RETRACTION_NOTICE.search(text[:_HEAD_CHARS]) is not None


def is_marked_as_retracted(title: str) -> bool:
    """Whether a mark before the title says that the work was retracted: "RETRACTED: …", "[Retracted article] …"."""
    return _RETRACTED_MARK.match(title) is not None


def title_key(title: str) -> str:
    """What the versions of a document have in common in their titles; empty where a title is nothing but a version."""
    if mark := _RETRACTED_MARK.match(title):
        title = title[mark.end() :]
    title = _SEASON.sub(lambda match: " " if _season(match) else match[0], title)
    for pattern in (_NUMBER, _LETTER, _DATE, _STAGE):
        title = pattern.sub(" ", title)
    return " ".join(_WORD.findall(title.casefold()))


def version_mark(*names: str, date: str = "") -> VersionMark:
    """The version that the first of some titles or file names tells, that of a letter by its place in the alphabet,
    else the date that one of them tells, else `date`."""
    number = next(filter(None, (_number(name) or _letter(name) for name in names)), ())
    season = next((season for name in names for season in _seasons(name)), "")
    written = next((found[0] for name in names if (found := _DATE.search(name)) and found[0][:1].isdigit()), "")
    digits = re.sub(r"\D", "", written)
    iso = "-".join(part for part in (digits[:4], digits[4:6], digits[6:8]) if part)
    spoken = (f"{one.year:04}" for name in names for one in dates_in(name) if one.year)
    return VersionMark(number, season or iso or next(spoken, date))


def _seasons(text: str) -> list[str]:
    return list(filter(None, map(_season, _SEASON.finditer(text))))


def _season(match: re.Match[str]) -> str:
    """Two years in a row, `2023-2024` or `2023/24`, as `2023/24`; empty for other numbers."""
    year, following = int(match[1]), int(match[2])
    return f"{year}/{following % 100:02}" if (following - year) % 100 == 1 else ""


def _number(name: str) -> tuple[int, ...]:
    match = _NUMBER.search(name)
    return tuple(map(int, match[1].split("."))) if match else ()


def _letter(name: str) -> tuple[int, ...]:
    match = _LETTER.search(name)
    return _place(match[1]) if match else ()


def _place(letter: str) -> tuple[int]:
    return (ord(letter.upper()) - ord("A") + 1,)
